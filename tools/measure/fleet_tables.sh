#!/usr/bin/env bash
# Prints two tables of docs/measurements/fleets.md: kilobytes per key, by detector, columns and rows; and what a new host
# would gain by beginning with what others have learned.
#   tools/measure/fleet_tables.sh [BUILD]     BUILD: where oif and liboif.a are, build/release-gcc if not given
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/release-gcc}
program=$(mktemp)
trap 'rm -f "$program"' EXIT
tools/measure/key_memory.sh "$build"
echo
"${CC:-cc}" -std=c11 -O2 -Isrc -Iinclude tools/measure/common_start.c "$build/liboif.a" -lm -lpthread -o "$program"
"$program"

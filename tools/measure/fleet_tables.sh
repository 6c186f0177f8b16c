#!/usr/bin/env bash
# Prints two tables of docs/measurements/fleets.md: kilobytes per key, by detector, columns and rows; and what a new host
# would gain by beginning with what others have learned.
#   tools/measure/fleet_tables.sh [BUILD]     BUILD: where liboif.a is, build/release-gcc if not given
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/release-gcc}
program=$(mktemp)
trap 'rm -f "$program"' EXIT
for table in key_memory common_start; do
    "${CC:-cc}" -std=c11 -O2 -Isrc -Iinclude "tools/measure/$table.c" "$build/liboif.a" -lm -lpthread -o "$program"
    "$program"
    echo
done

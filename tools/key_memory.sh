#!/usr/bin/env bash
# Prints the table of docs/manual/fleets.md: kilobytes per key, by detector, columns and rows.
#   tools/key_memory.sh [BUILD]     BUILD: where liboif.a is, build/release-gcc if not given
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release-gcc}
program=$(mktemp)
trap 'rm -f "$program"' EXIT
"${CC:-cc}" -std=c11 -O2 -Isrc -Iinclude tools/key_memory.c "$build/liboif.a" -lm -lpthread -o "$program"
"$program"

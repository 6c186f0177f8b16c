#!/usr/bin/env bash
# Configures and compiles a preset of CMakePresets.json. The progress is one line on a terminal; elsewhere a line before and after.
#
#   tools/build/build.sh PRESET [TARGET...]
set -euo pipefail

cd "$(dirname "$0")/../.."
preset=${1:?a preset of CMakePresets.json, such as release}
shift
targets=(${1:+--target "$@"})
log=build/configure.$preset.log
mkdir -p build
cmake --preset "$preset" >"$log" || { cat "$log"; exit 1; }
left=$(ninja -C "build/$preset" -n "${@:-all}" 2>/dev/null | grep -c '^\[' || true)
if [ "$left" -gt 20 ]; then echo "compiling $left files into build/$preset"; fi
if [ -t 1 ]; then
    NINJA_STATUS='%p, file %f of %t, %e s: ' cmake --build --preset "$preset" "${targets[@]}"
else
    cmake --build --preset "$preset" "${targets[@]}" -- --quiet
fi
if [ "$left" -gt 20 ]; then echo "compiled in $SECONDS s"; fi

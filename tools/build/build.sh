#!/usr/bin/env bash
# Configures and compiles a preset of CMakePresets.json. The progress is one line on a terminal; elsewhere the first time is announced.
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
[ -e "build/$preset/.ninja_log" ] || echo "compiling into build/$preset: a minute or two"
if [ -t 1 ]; then
    NINJA_STATUS='%p, file %f of %t, %e s: ' cmake --build --preset "$preset" "${targets[@]}"
else
    cmake --build --preset "$preset" "${targets[@]}" -- --quiet
fi

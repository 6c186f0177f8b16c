#!/usr/bin/env bash
# Builds the native half of the Java binding where Maven takes it from: build/java/resources.
#
#     tools/build/make_java.sh            for this machine
#     tools/build/make_java.sh aarch64    for another one, with Debian's cross compiler
set -euo pipefail
cd "$(dirname "$0")/../.."

own=$(uname -m)
machine=${1:-$own}
options=(-DOIF_JAVA=ON -DOIF_WERROR=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_RULE_MESSAGES=OFF -DCMAKE_TARGET_MESSAGES=OFF)
compiler=$(command -v gcc || command -v cc) # gcc, as in the preset release-gcc, for a compiler cache
if [ "$machine" != "$own" ]; then
    compiler=$machine-linux-gnu-gcc
    command -v "$compiler" >/dev/null || {
        echo "make_java: $compiler is missing: apt-get install gcc-${machine//_/-}-linux-gnu" >&2
        exit 1
    }
    options+=(-DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=$machine")
fi
options+=("-DCMAKE_C_COMPILER=$compiler")
build=build/java/$machine
cmake -S . -B "$build" "${options[@]}" >/dev/null
cmake --build "$build" --target oifjni -- -s -j2
install -C -D -m 755 "$build/java/liboifjni.so" "build/java/resources/oif/native/linux-$machine/liboifjni.so"

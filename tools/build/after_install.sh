#!/usr/bin/env bash
# After make install: tells the loader about the library, and prints what the shell and compilers lack to find everything.
#
#   tools/build/after_install.sh PREFIX
set -uo pipefail

prefix=$(cd "$1" && pwd) || exit
library=$(dirname "$(find "$prefix"/lib* -name liboif.so -print -quit)")
[ "$(id -u)" -ne 0 ] || ldconfig 2>/dev/null || true

echo "installed into $prefix; build/release/install_manifest.txt lists the files"
missing=$(
    [[ :$PATH: == *":$prefix/bin:"* ]] || echo "export PATH=$prefix/bin:\$PATH"
    [ "$(command -v pkg-config)" = "" ] || pkg-config --exists oif ||
        echo "export PKG_CONFIG_PATH=$library/pkgconfig"
    ldconfig -p 2>/dev/null | grep -q "$library/liboif.so" || [[ :${LD_LIBRARY_PATH:-}: == *":$library:"* ]] ||
        echo "export LD_LIBRARY_PATH=$library"
)
[ -z "$missing" ] || printf 'to find it from there:\n\n%s\n' "$missing"

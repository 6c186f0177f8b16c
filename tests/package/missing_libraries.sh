#!/usr/bin/env bash
# Configuring prints a line for each part that is built without a library, and none if nothing is missing. Libraries are hidden by cache
# variables.
#
#   tests/package/missing_libraries.sh WORK_DIR
set -euo pipefail

folder=$(cd "$(dirname "$0")/../.." && pwd)
work=$1/missing_libraries
rm -rf "$work"
mkdir -p "$work"

configure() { # configure NAME OPTION...: what is left out, a line each
    "${CMAKE:-cmake}" -G Ninja -S "$folder" -B "$work/$1" -DCMAKE_C_COMPILER="${CC:-cc}" "${@:2}" >"$work/$1.log" 2>&1 ||
        { cat "$work/$1.log" >&2; exit 1; }
    sed -n 's/^-- \(.* is missing .*\)/\1/p' "$work/$1.log"
    rm -rf "${work:?}/$1"
}

expect() { # expect WHAT WANTED GOT
    if [ "$2" != "$3" ]; then
        printf '%s: wanted\n%s\ngot\n%s\n' "$1" "$2" "$3" >&2
        exit 1
    fi
    echo "$1: ok"
}

expect 'nothing is missing' '' "$(configure all)"
expect 'all is missing' \
    '.gz files: not read, zlib is missing (apt-get install zlib1g-dev)
.zst files: not read, libzstd is missing (apt-get install libzstd-dev)
oif serve: not built, libmicrohttpd is missing (apt-get install libmicrohttpd-dev)
oif serve: not built, GnuTLS is missing (apt-get install libgnutls28-dev)
oif serve: not built, jansson is missing (apt-get install libjansson-dev)
oif serve: not built, libcurl is missing (apt-get install libcurl4-openssl-dev)' \
    "$(configure none -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON -DCMAKE_DISABLE_FIND_PACKAGE_CURL=ON -DCMAKE_DISABLE_FIND_PACKAGE_GnuTLS=ON \
        -DZSTD_LIBRARY=OFF -DMICROHTTPD_LIBRARY=OFF -DJANSSON_LIBRARY=OFF)"
expect 'snappy is missing' \
    'oif serve: built without remote write of Prometheus, libsnappy is missing (apt-get install libsnappy-dev)' \
    "$(configure snappy -DSNAPPY_LIBRARY=OFF)"
expect 'what is turned off is not missing' '' \
    "$(configure off -DOIF_ZLIB=OFF -DOIF_ZSTD=OFF -DOIF_SERVE=OFF -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON -DMICROHTTPD_LIBRARY=OFF)"

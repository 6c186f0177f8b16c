#!/usr/bin/env bash
# Makes the files of a release in build/wheels: a wheel per machine and C library, each audited, and the sdist.
#
#   tools/build/make_wheels.sh [TARGET...]    x86_64-gnu aarch64-gnu sdist, all if none is named; or x86_64-musl
#                                       aarch64-musl: the first compiles, but auditwheel fails; the second was not run
#   tools/build/make_wheels.sh --check [PYTHON...]    the wheel of this machine, installed into an empty environment of python3,
#                                       or of each of these, must give the scores of the package that gcc compiled
#
# A wheel serves Python 3.9 and later (abi3). The compiler is zig's clang, from PyPI: it links against the C library of
# 2014 (glibc 2.17) and compiles for any of the machines on any of them. What a wheel cannot run on is an error here:
# abi3audit checks the symbols of Python, auditwheel those of the C library. The same commit gives the same bits in any folder
# (tools/build/make_packages.sh compares); beside a wheel, WHEEL.linked lists what was linked into it, for the SBOM.
set -euo pipefail

cd "$(dirname "$0")/../.."
tools/build/install_dependencies.sh test
top=$PWD
out=$top/build/wheels
venv=${OIF_WHEELS_VENV:-$top/build/wheels-venv}
# The time of all files in the wheels.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y include/oif.h)}
export SOURCE_DATE_EPOCH

make_environment() {
    local wanted
    wanted=$(python3 --version; cat tools/requirements/wheels.txt)
    [ "$wanted" = "$(cat "$venv/requirements.txt" 2>/dev/null)" ] && return
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip --quiet --disable-pip-version-check install -r tools/requirements/wheels.txt
    echo "$wanted" >"$venv/requirements.txt"
}

# Headers and archives away from those of this machine's C library, which must not be seen.
make_prefix() { # make_prefix FOLDER MACHINE LIBC
    local include config name compiler
    rm -rf "$1"
    mkdir -p "$1/include" "$1/lib" "$1/notices" "$1/python"
    include=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
    config=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_config_h_filename())')
    # Debian's is for several machines and refuses others. What the limited API uses of it is the same on all of these.
    cp -r "$include/." "$1/python/"
    while grep -q 'include <[a-z0-9_-]*/python[0-9.]*/pyconfig.h>' "$config"; do
        config=/usr/include/$(uname -m)-linux-gnu/python${include##*python}/pyconfig.h
    done
    cp --remove-destination "$config" "$1/python/pyconfig.h"
    # Which instructions a machine has is asked by a function of gcc's library; zig has none.
    compiler=$2-linux-gnu-gcc
    [ "$2" = "$(uname -m)" ] && compiler=gcc
    [ "$2" != x86_64 ] || cp "$("$compiler" -print-libgcc-file-name)" "$1/lib/"
    [ "$2-$3" = "$(uname -m)-gnu" ] || return 0
    # The program reads .gz and .zst where there are archives to link.
    for name in zlib.h zconf.h zstd.h zdict.h zstd_errors.h; do
        find /usr/include -maxdepth 2 -name "$name" -exec cp {} "$1/include/" \; -quit
    done
    for name in libz.a libzstd.a; do
        find /usr/lib -maxdepth 2 -name "$name" -exec cp {} "$1/lib/" \; -quit
    done
    cp /usr/share/doc/zlib1g-dev/copyright "$1/notices/zlib.txt"
    cp /usr/share/doc/libzstd-dev/copyright "$1/notices/zstd.txt"
}

# The packages whose archives are linked: KIND NAME VERSION per line.
list_linked() { # list_linked FOLDER
    local name file package
    for name in libz.a libzstd.a libgcc.a; do
        [ -f "$1/lib/$name" ] || continue
        file=$(find /usr/lib -name "$name" -exec cmp -s {} "$1/lib/$name" \; -print -quit)
        if package=$(dpkg-query -S "$file" 2>/dev/null); then
            echo "deb ${package%%:*} $(dpkg-query -W -f '${Version}' "${package%%:*}")"
        else
            echo "generic $name" # not from Debian
        fi
    done
    "$venv/bin/python" -c 'import importlib.metadata as m; print("pypi ziglang", m.version("ziglang"))'
}

make_tools() { # make_tools FOLDER ZIG_TARGET
    local zig
    zig=$("$venv/bin/python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')
    mkdir -p "$1"
    printf '#!/bin/sh\nexec "%s" cc -target %s "$@"\n' "$zig" "$2" >"$1/cc"
    printf '#!/bin/sh\nexec "%s" ar "$@"\n' "$zig" >"$1/ar"
    printf '#!/bin/sh\nexec "%s" ranlib "$@"\n' "$zig" >"$1/ranlib"
    chmod +x "$1"/*
}

make_wheel() { # make_wheel MACHINE LIBC
    local machine=$1 libc=$2 more="" work=$out/work/$1-$2 zig_target=$1-linux-$2 platform=musllinux_1_2 wheel
    [ "$libc" = gnu ] && zig_target+=.2.17 && platform=manylinux_2_17
    make_prefix "$work/prefix" "$machine" "$libc"
    [ ! -f "$work/prefix/lib/libgcc.a" ] || more=$work/prefix/lib/libgcc.a
    make_tools "$work/tools" "$zig_target"
    rm -rf "$work/raw"
    PATH=$venv/bin:$PATH CC=$work/tools/cc CFLAGS="-I$work/prefix/python -g0 -ffile-prefix-map=$top=." LDFLAGS=-s \
        ZIG_GLOBAL_CACHE_DIR=$venv/zig-cache _PYTHON_HOST_PLATFORM=linux-$machine \
        "$venv/bin/python" -m pip --quiet --disable-pip-version-check wheel --no-build-isolation --no-deps \
        --wheel-dir "$work/raw" --config-settings=build-dir="$work/build" \
        --config-settings=cmake.define.CMAKE_SYSTEM_NAME=Linux \
        --config-settings=cmake.define.CMAKE_SYSTEM_PROCESSOR="$machine" \
        --config-settings=cmake.define.CMAKE_AR="$work/tools/ar" \
        --config-settings=cmake.define.CMAKE_RANLIB="$work/tools/ranlib" \
        --config-settings=cmake.define.CMAKE_C_STANDARD_LIBRARIES="$more" \
        --config-settings=cmake.define.CMAKE_PREFIX_PATH="$work/prefix" \
        --config-settings=cmake.define.OIF_NOTICES="$(find "$work/prefix/notices" -type f | sort | paste -sd ';')" \
        --config-settings=cmake.define.CMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF \
        --config-settings=cmake.define.CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF .
    wheel=$(echo "$work"/raw/*.whl)
    "$venv/bin/python" -m abi3audit --strict "$wheel" 2>&1 | tail -n 1
    rm -f "$out"/*-"${platform%%_*}"*"_$machine.whl"*
    PATH=$venv/bin:$PATH \
        "$venv/bin/python" -m auditwheel repair --wheel-dir "$out" "$wheel"
    # "auto" takes the best tag that the symbols allow; it must not be a worse one than promised.
    compgen -G "$out/*${platform}_$machine.whl" >/dev/null || { ls "$out"; echo "no wheel for ${platform}_$machine"; return 1; }
    list_linked "$work/prefix" >"$(echo "$out"/*"${platform}_$machine.whl").linked"
}

make_sdist() {
    rm -f "$out"/*.tar.gz
    "$venv/bin/python" -c "import scikit_build_core.build as b; b.build_sdist('$out')" >/dev/null
}

# The scores of every detector, in hexadecimal; the rows are the same with any version of NumPy.
scores='
import hashlib, numpy, oif
i = numpy.arange(60000, dtype=float)
rows = (i * 7919 % 10007 / 10007).reshape(-1, 3)
rows[17000] = 9
for name in (info["name"] for info in oif._core.detector_infos()):
    print(name, hashlib.sha256(oif.Pipeline(name).process(rows)["score"].tobytes()).hexdigest())
'

# A wheel carries the notice of every library that is linked into its program.
check_notices() { # check_notices ENVIRONMENT
    local name
    for name in zlib zstd; do
        [ -f "$out/work/$(uname -m)-gnu/prefix/lib/lib${name/zlib/z}.a" ] || continue
        compgen -G "$1/lib/python*/site-packages/online_iforest-*.dist-info/licenses/$name.txt" >/dev/null ||
            { echo "the wheel has no notice of $name"; return 1; }
    done
}

check_wheel() { # check_wheel PYTHON...
    local expected found python environment=$out/work/check-venv
    tools/build/make_venv.sh test
    expected=$(build/test-venv/bin/python -c "$scores")
    for python; do
        rm -rf "$environment"
        "$python" -m venv "$environment"
        "$environment/bin/python" -m pip --quiet --disable-pip-version-check install "$out"/*-manylinux*"_$(uname -m).whl"
        found=$(cd "$environment" && bin/python -c "$scores")
        [ "$found" = "$expected" ] || { printf 'other scores with %s:\n%s\nexpected:\n%s\n' "$python" "$found" "$expected"; return 1; }
        "$environment/bin/oif" --version
        check_notices "$environment"
        "$environment/bin/python" -c 'import sys, numpy; print("same scores with Python", sys.version.split()[0], "NumPy", numpy.__version__)'
    done
}

make_environment
mkdir -p "$out"
if [ "${1:-}" = --check ]; then
    shift
    make_wheel "$(uname -m)" gnu
    [ $# -gt 0 ] || set -- python3
    check_wheel "$@"
    echo "$(($# + 2)) passed, 0 failed" # each Python, and the two audits
    exit
fi
[ $# -gt 0 ] || set -- x86_64-gnu aarch64-gnu sdist
for target; do
    case $target in
    sdist) make_sdist ;;
    x86_64-gnu | aarch64-gnu | x86_64-musl | aarch64-musl) make_wheel "${target%-*}" "${target#*-}" ;;
    *) sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
done
ls -l "$out"/*.whl "$out"/*.tar.gz 2>/dev/null || true

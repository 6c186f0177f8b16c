#!/usr/bin/env bash
# Installs a finished build, moves the installed tree, and builds consumer.c against it in every way that
# users have: pkg-config and find_package, shared and static, C and C++. Each header compiles alone, and
# the programs of examples/ run.
#
#   tests/package/run.sh BUILD_DIR
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
cmake=${CMAKE:-cmake}
cc=${CC:-cc}
case $cc in *clang) cxx=${cc}++ ;; *) cxx=g++ ;; esac
warnings="-Wall -Wextra -Wpedantic -Werror"
version=$(sed -n 's/.*OIF_VERSION_M[AI][JN]OR  *//p; s/.*OIF_VERSION_PATCH  *//p' \
    "$here/../../include/oif.h" | head -n 3 | paste -sd.)
expected="oif $version: 20 outliers of 2000 rows score higher"

work=$build/package
rm -rf "$work"
mkdir -p "$work"
cd "$work"
"$cmake" --install "$build" --prefix "$work/installed" >install.log
mv installed moved # package files that hold the old path fail from here on
prefix=$work/moved
libdir=$(dirname "$(find "$prefix" -name liboif.a)")
export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir

expect() { # expect WHAT WANTED GOT
    if [ "$2" != "$3" ]; then
        printf '%s: wanted\n  %s\ngot\n  %s\n' "$1" "$2" "$3" >&2
        exit 1
    fi
    echo "$1: ok"
}

find_rustc() { # rustup may leave a rustc in the path that has no compiler
    for one in rustc /usr/bin/rustc ~/.cargo/bin/rustc; do
        "$one" --version >/dev/null 2>&1 && echo "$one" && return
    done
    return 1
}

links_shared_oif() { readelf -d "$1" | grep -q 'NEEDED.*\[liboif\.so\.' && echo yes || echo no; }

expect "pkg-config version" "$version" "$(pkg-config --modversion oif)"

# shellcheck disable=SC2046,SC2086 # the flags are meant to be split into words
{
    $cc -std=c11 $warnings "$here/consumer.c" -o shared $(pkg-config --cflags --libs oif)
    $cc -std=c11 $warnings "$here/consumer.c" -o static -static $(pkg-config --static --cflags --libs oif)
    $cxx -std=c++11 -x c++ $warnings "$here/consumer.c" -o cxx $(pkg-config --cflags --libs oif)
}
for program in shared static cxx; do
    expect "pkg-config, $program" "$expected" "$("./$program")"
done
expect "pkg-config shared takes liboif.so" yes "$(links_shared_oif shared)"
expect "pkg-config static does not" no "$(links_shared_oif static)"

# shellcheck disable=SC2086 # the flags are meant to be split into words
for header in "$prefix"/include/*.h; do # -x: a header is compiled as a program's only file
    $cc -std=c11 $warnings -Wdouble-promotion -x c -fsyntax-only "$header"
    $cxx -std=c++11 $warnings -x c++ -fsyntax-only "$header"
    echo "$(basename "$header") alone, C and C++: ok"
done
for compiler in "$cxx" clang++; do
    command -v "$compiler" >/dev/null || continue # where it is, NAN in a default argument warns
    for standard in 17 20 2b; do
        # shellcheck disable=SC2086
        $compiler -std=c++$standard $warnings -Wshadow -Wconversion -Wdouble-promotion -Wold-style-cast -x c++ -fsyntax-only \
            "$prefix/include/oif.hpp"
        echo "oif.hpp alone, $compiler, C++$standard: ok"
    done
done
if $cxx -std=c++14 -fsyntax-only -x c++ "$prefix/include/oif.hpp" 2>old.txt || ! grep -q 'error: .*needs C++17, so compile with' old.txt; then
    echo "oif.hpp in C++14 does not ask for C++17:" >&2
    head -5 old.txt >&2
    exit 1
fi

for standard in 17 20; do
    # shellcheck disable=SC2046,SC2086
    $cxx -std=c++$standard $warnings "$here/wrapper.cpp" -o "wrapper$standard" $(pkg-config --cflags --libs oif)
    expect "oif.hpp in a program, C++$standard" "oif.hpp works" "$("./wrapper$standard")"
done

python3 "$here/header_examples.py" "$prefix/include/oif.h" >header_examples.c
# shellcheck disable=SC2046,SC2086
$cc -std=c11 -O2 $warnings -c header_examples.c -o header_examples.o $(pkg-config --cflags oif)
echo "the examples in oif.h: ok"

# A pump: every 97th row is a fault, with a high flow and a low pressure.
pump() { # pump DELIMITER
    awk -v OFS="$1" 'BEGIN { for (i = 1; i <= 5000; i++) { fault = i % 97 == 0
        print 60 + 20 * fault + i * 7919 % 400 / 100, 4 - 3 * fault + i * 10473 % 500 / 1000 } }'
}
# shellcheck disable=SC2046,SC2086
for example in "$here"/../../examples/*.c; do
    $cc -std=c11 $warnings "$example" -o "$(basename "$example" .c)" $(pkg-config --cflags --libs oif)
done
# shellcheck disable=SC2046,SC2086
$cxx -std=c++17 $warnings "$here/../../examples/scorer.cpp" -o scorer_cpp $(pkg-config --cflags --libs oif)
pump , | ./scorer >scorer.txt
pump , | ./scorer_cpp >scorer_cpp.txt
pump ' ' | sed 's/^/pump /' | ./alerts >alerts.txt
expect "examples/scorer.c" "5000 rows" "$(tail -n 1 scorer.txt | cut -d, -f1)"
expect "examples/scorer.c prints faults only" "82.86,1.262 is unusual" "$(head -n 1 scorer.txt | cut -d: -f1)"
# The same rows, the same scores, whatever the language; the last lines differ.
expect "examples/scorer.cpp" "$(grep unusual scorer.txt)" "$(grep unusual scorer_cpp.txt)"
rustc=$(find_rustc) || { echo "examples/scorer.rs: there is no rustc: apt-get install rustc" >&2; exit 1; }
"$rustc" "$here/../../examples/scorer.rs" -L "native=$libdir" -o scorer_rs
pump , | ./scorer_rs >scorer_rs.txt
expect "examples/scorer.rs" "5000 rows" "$(tail -n 1 scorer_rs.txt)"
expect "examples/scorer.rs prints faults only" "82.86,1.262 is unusual" "$(head -n 1 scorer_rs.txt | cut -d: -f1)"
expect "examples/alerts.c" "5000 rows of 1 hosts" "$(tail -n 1 alerts.txt)"
expect "examples/alerts.c explains" "load high" "$(grep -o 'load high' alerts.txt | head -n 1)"

"$cmake" -G Ninja -S "$here" -B cmake -DCMAKE_PREFIX_PATH="$prefix" -DWANTED_VERSION="$version" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" >cmake.log
"$cmake" --build cmake >>cmake.log || { cat cmake.log >&2; exit 1; }
for program in consumer_oif consumer_oif_cxx consumer_static consumer_static_cxx; do
    expect "find_package, $program" "$expected" "$("cmake/$program")"
done
expect "find_package oif::oif takes liboif.so" yes "$(links_shared_oif cmake/consumer_oif)"
expect "find_package oif::static does not" no "$(links_shared_oif cmake/consumer_static)"

expect "installed program" "oif $version" "$("$prefix/bin/oif" --version)"
share=$prefix/share
expect "manual pages" "$(printf 'oif-%s.1\n' demo eval score serve state-feedback state-inspect state-size state; echo oif.1)" \
    "$(cd "$share/man/man1" && LC_ALL=C printf '%s\n' *)"
for completion in bash-completion/completions/oif zsh/site-functions/_oif fish/vendor_completions.d/oif.fish; do
    expect "$completion" yes "$(test -s "$share/$completion" && echo yes)"
done
installed=$share/doc/oif/examples
for name in nyc_taxi.csv nyc_taxi.LICENSE; do
    expect "$name" yes "$(cmp "$here/../../examples/$name" "$installed/$name" && echo yes)"
done
if [ -x "$prefix/libexec/oif/oif-serve" ]; then
    deploy=$here/../../deploy
    expect "rules, dashboard and manifests of the service" "$(cd "$deploy" && find . -type f | sort)" \
        "$(cd "$installed" && find . -type f ! -name 'nyc_taxi.*' -exec cmp {} "$deploy/{}" \; -print | sort)"
fi

# Section 3: a page for each group of functions, and for each function one that leads there.
for name in oif_detector_new oif_pipeline_process oif_state_file_open oif_params_set; do
    page=$share/man/man3/$name.3
    expect "$name(3)" yes "$(cd "$share/man" && grep -q "$name(" "$(sed 's/^.so //' "$page")" && echo yes)"
done
expect "every function has a page" "" "$(grep -oE '\<oif_[a-z_0-9]+\(' "$prefix/include/oif.h" | tr -d '(' | sort -u |
    while read -r name; do [ -s "$share/man/man3/$name.3" ] || echo "$name"; done)"
if command -v mandoc >/dev/null; then
    expect "mandoc finds no error" "" "$(cd "$share/man" && { mandoc -T lint -W error man3/*.3 2>&1 || true; })"
fi

# make uninstall: all that was installed goes, and nothing else; not from another folder.
uninstall=$here/../../tools/build/uninstall.sh
"$cmake" --install "$build" --prefix "$work/again" >again.log
cp "$build/install_manifest.txt" manifest.txt
touch again/bin/other
expect "uninstall from another folder" "the last make install was not into $work/moved: it has installed $(head -n 1 manifest.txt); \
name its folder with PREFIX=" "$("$uninstall" manifest.txt moved 2>&1 || true)"
expect "uninstall" "removed $(wc -l <<<"$(cat manifest.txt)") files from $work/again" "$("$uninstall" manifest.txt again)"
expect "uninstall leaves other files only" "$(printf '%s\n' again/bin/other)" "$(find again -type f -o -type l)"
expect "uninstall leaves no folder of its own" "" "$(find again -name oif)"
expect "uninstall twice" "there is no manifest.txt, the list of what was installed; make install PREFIX=$work/again writes it again" \
    "$("$uninstall" manifest.txt again 2>&1 || true)"

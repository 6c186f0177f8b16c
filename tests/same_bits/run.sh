#!/usr/bin/env bash
# Same seed, same rows, same bits: builds this program with every compiler, optimisation and machine we
# promise, runs it for block sizes 1, 7 and 100, and compares each output with tests/golden/scores.txt.
# Other machines run under qemu, one that the kernel can run without. The library is compiled directly, so cmake's flags cannot
# hide anything; in the short form gcc -O3 and clang -O3 are the libraries of the presets release-gcc and release-clang.
#
#   tests/same_bits/run.sh            compare
#   tests/same_bits/run.sh --quick    fewer of them; on other machines only -O1 and blocks of 7
#   tests/same_bits/run.sh --accept   rewrite the golden scores from gcc -O0, one row at a time, then compare
#
# tests/golden/snapshots has what `same_bits --save` has written for each format of snapshots since 0.1.0; it must stay readable.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit
golden=tests/golden/scores.txt
snapshots=tests/golden/snapshots
work=build/same_bits
host=$(uname -m)
quick=no others=-O3
[ "${1:-}" = --quick ] && quick=yes others=-O1
mkdir -p "$work"

# One line per combination: name | machine | compiler and options
combinations() {
    echo "gcc -O0|$host|gcc -O0"
    if [ "$quick" = yes ]; then
        echo "release-gcc|$host|gcc build/release-gcc/liboif.a"
        echo "release-clang|$host|clang build/release-clang/liboif.a"
    else
        echo "gcc -O3|$host|gcc -O3"
        echo "clang -O3|$host|clang -O3"
        echo "gcc -O3 -march=native|$host|gcc -O3 -march=native"
        echo "gcc -O3, portable|$host|gcc -O3 -DOIF_PORTABLE"
        echo "clang -O0|$host|clang -O0"
    fi
    for machine in x86_64 aarch64 s390x; do
        [ "$machine" = "$host" ] || echo "$machine gcc $others|$machine|$machine-linux-gnu-gcc $others -static"
    done
    echo "i686 gcc $others|i386|i686-linux-gnu-gcc $others -static -msse2 -mfpmath=sse"
}

emulator_of() { # emulator_of MACHINE PROGRAM: the command that runs a program of the machine; nothing where the kernel can
    if [ "$1" = "$host" ] || { [ "$1" = i386 ] && runs_alone "$2"; }; then return; fi
    command -v "qemu-$1-static" || command -v "qemu-$1" || echo "qemu-$1-is-not-installed"
}

runs_alone() { # runs_alone PROGRAM: without arguments it prints how it is used and exits with 2
    "$1" >"$work/alone.txt" 2>&1
    [ $? -eq 2 ]
}

blocks_for() { # blocks_for MACHINE: the sizes of blocks to try
    if [ "$quick" = yes ] && [ "$1" != "$host" ]; then echo 7; else echo 1 7 100; fi
}

build() { # build PROGRAM COMPILER OPTION...: with the sources of the library, or the archive among the options
    local sources=(src/*/*.c src/*/*/*.c)
    [[ $* != *.a ]] || sources=()
    "$2" -std=c11 -ffp-contract=off -fno-math-errno -pthread -Iinclude -Isrc tests/same_bits/*.c "${sources[@]}" "${@:3}" -o "$1"
}

# Prints one line for each block size, with ok, DIFFERS or FAILED at its start.
check_combination() { # check_combination NAME MACHINE COMPILER OPTION...
    local name=$1 machine=$2 file emulator block output
    shift 2
    file=$work/$(echo "$name" | tr -c 'a-zA-Z0-9\n' _)
    if ! build "$file" "$@"; then
        echo "FAILED   $name does not compile: $*"
        return
    fi
    emulator=$(emulator_of "$machine" "$file")
    for block in $(blocks_for "$machine"); do
        output=$file.blocks_of_$block.txt
        # shellcheck disable=SC2086 # no emulator, no word
        if ! $emulator "$file" $block $snapshots >"$output"; then
            echo "FAILED   $name, blocks of $block: the program did not end well"
        elif ! diff "$golden" "$output" >"$output.diff"; then
            echo "DIFFERS  $name, blocks of $block, in: $(sed -n 's/^[<>] \([^ ]*\).*/\1/p' "$output.diff" | sort -u | paste -sd' ')"
        else
            echo "ok       $name, blocks of $block"
        fi
    done
}

if [ "${1:-}" = --accept ]; then
    mkdir -p "$(dirname "$golden")"
    build "$work/accept" gcc -O0 && "$work/accept" 1 $snapshots >"$work/accept.txt" && cp "$work/accept.txt" "$golden" || exit 1
fi
if [ "$quick" = yes ]; then
    for preset in release-gcc release-clang; do tools/build/build.sh $preset oif_static || exit; done
fi
[ -f "$golden" ] || { echo "$golden is missing; --accept makes it" >&2; exit 1; }

# As many at a time as there are cores: the emulated runs take most of the time.
combinations | {
    while IFS='|' read -r name machine command; do
        while [ "$(jobs -pr | wc -l)" -ge "$(nproc)" ]; do wait -n; done
        # shellcheck disable=SC2086 # a compiler and its options
        check_combination "$name" "$machine" $command &
    done
    wait
} | tee "$work/results.txt"

passed=$(grep -c '^ok ' "$work/results.txt")
failed=$(grep -c '^DIFFERS \|^FAILED ' "$work/results.txt")
echo "same bits: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

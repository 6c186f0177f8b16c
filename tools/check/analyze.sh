#!/usr/bin/env bash
# Static analysis of the library, the program, the Python extension and the native half of the Java binding: cppcheck over all of
# it, clang's warnings and gcc -fanalyzer file by file. With FILES, these over those alone.
#
#   tools/check/analyze.sh [FILE...]
#
# A complaint is fixed, or suppressed where it stands with the reason.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit
log=build/analysis
mkdir -p "$log"
rm -f "$log"/*.log

# As cmake/compiler_flags.cmake has them, as far as they change the code. -O2: without inlining the analyzer sees less.
libraries=(-DOIF_HAS_ZLIB -DOIF_HAS_ZSTD -DOIF_HAS_SNAPPY)
warnings=(-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes)
flags=(-std=c11 -O2 -ffp-contract=off -D_POSIX_C_SOURCE=200809L "${libraries[@]}" -I. -Iinclude -Isrc)
python_headers=$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')
python_flags=(-DPy_LIMITED_API=0x030B0000 -isystem "$python_headers")
java_home=$(dirname "$(dirname "$(readlink -f "$(command -v javac || echo /usr/bin/javac)")")")
java_flags=(-isystem "$java_home/include" -isystem "$java_home/include/linux")

# With the configuration that is compiled alone: with up to twelve cppcheck takes up to six times as long. A detector is one block of
# memory in which every array begins on a cache line (base/memory.h), so that bytes there may be taken for whatever was laid out there:
# invalidPointerCast.
run_cppcheck() { # run_cppcheck OPTION... PLACE...
    cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
        -D_POSIX_C_SOURCE=200809L "${libraries[@]}" --suppress=invalidPointerCast -j "$(nproc)" -I. -Iinclude -Isrc "$@"
}

analyze_file() { # analyze_file SOURCE FLAG...: leaves a log if there are complaints
    local complaints=build/analysis/${1//\//_}.log
    { clang "${@:2}" -Werror -fsyntax-only "$1" && gcc "${@:2}" -fanalyzer -Werror -c "$1" -o /dev/null; } 2>"$complaints" && rm "$complaints"
    return 0
}
export -f analyze_file

check_all() {
    run_cppcheck src front cli serve &&
        run_cppcheck -DPy_LIMITED_API=0x030B0000 -I"$python_headers" --suppress="*:$python_headers/*" python/src &&
        run_cppcheck java
}

sources=("$@")
failed=0
if [ $# -eq 0 ]; then
    sources=(src/*/*.c src/*/*/*.c front/*/*.c cli/*/*.c serve/*/*.c python/src/*.c java/oif-java/src/main/c/*.c)
    check_all || failed=1
else
    run_cppcheck "$@" || failed=1
fi
printf '%s\n' "${sources[@]}" |
    xargs -P "$(nproc)" -I{} bash -c 'analyze_file "$@"' _ {} "${warnings[@]}" "${flags[@]}" "${python_flags[@]}" "${java_flags[@]}"
for complaints in "$log"/*.log; do
    [ -e "$complaints" ] || continue
    cat "$complaints"
    failed=$((failed + 1))
done
echo "cppcheck, and clang and gcc -fanalyzer over ${#sources[@]} files:"
echo "$((${#sources[@]} + 1 - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]

#!/usr/bin/env bash
# Runs test programs of build/release-gcc under valgrind's memcheck: no report, nothing leaked.
#
#   tools/test/valgrind.sh [TEST...]     such as base.memory; without names all but the heaviest
#
# The sanitizers see more of the stack, valgrind also sees numbers that nobody wrote, in the code that users get.
set -uo pipefail

cd "$(dirname "$0")/../../tests" || exit
programs=../build/release-gcc/tests
logs=../build/valgrind
export OIF_VALGRIND=1
rm -rf "$logs"
mkdir -p "$logs"

# Left out: distributions, twins and costs take many rows and no new paths; valgrind runs one thread at a time, so that those
# with sixteen take many minutes (ASan and TSan see them).
heavy='random|number_text|stable_math|against_plain|complexity|rrcf_law|threads|allocation'
if [ $# -eq 0 ]; then
    mapfile -t names < <(find "$programs" -maxdepth 1 -name 'test_*.*' -perm -u+x | sed 's/.*test_//' | grep -vE "$heavy" | sort)
    set -- "${names[@]}"
fi

check_one() { # check_one PROGRAMS LOGS TEST
    valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite,indirect,possible --error-exitcode=99 \
        "$1/test_$3" >"$2/$3.log" 2>&1 && grep -q '^\[  PASSED  \]' "$2/$3.log" && ! grep -q '^==[0-9]*==' "$2/$3.log" &&
        touch "$2/$3.passed"
}
export -f check_one

printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} bash -c 'check_one "$@"' _ "$programs" "$logs" {}
failed=0
for name; do
    if [ -e "$logs/$name.passed" ]; then
        echo "memcheck: nothing to report in $name"
    else
        echo "memcheck: $name"
        tail -n 40 "$logs/$name.log"
        failed=$((failed + 1))
    fi
done
echo "$(($# - failed)) passed, $failed failed"
[ "$failed" -eq 0 ] && [ $# -gt 0 ]

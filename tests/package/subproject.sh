#!/usr/bin/env bash
# The library as a part of another project (tests/package/subproject): it builds no program, installs nothing, and takes no name from
# its parent. It is built without threads and files (OIF_THREADS=OFF, OIF_FILES=OFF), which must be true of its symbols, and its scores
# are those of any other build.
#
#   tests/package/subproject.sh WORK_DIR
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder=$(cd "$here/../.." && pwd)
cmake=${CMAKE:-cmake}
work=$1/subproject
rm -rf "$work"
mkdir -p "$work"
cd "$work"

expect() { # expect WHAT WANTED GOT
    if [ "$2" != "$3" ]; then
        printf '%s: wanted\n  %s\ngot\n  %s\n' "$1" "$2" "$3" >&2
        exit 1
    fi
    echo "$1: ok"
}

configure() { # configure BUILD_DIR OPTION...
    "$cmake" -G Ninja -S "$here/subproject" -B "$@" -DOIF_FOLDER="$folder" -DCMAKE_C_COMPILER="${CC:-cc}" >"$1.log" 2>&1 ||
        { cat "$1.log" >&2; exit 1; }
}

targets() { ninja -C "$1" -t targets all | sed -n 's/: .*//p'; }

configure added -DOIF_INSTALL=OFF
expect "add_subdirectory has no program" "" "$(targets added | grep -E 'oif_program|oif_server|oif/oif$' || true)"
expect "oif::oif is static" "oif/liboif.a" "$(ninja -C added -t query consumer | grep -o 'oif/liboif\.[a-z]*' | sort -u)"
configure shared -DBUILD_SHARED_LIBS=ON
expect "with BUILD_SHARED_LIBS it is not" "oif/liboif.so" "$(ninja -C shared -t query consumer | grep -o 'oif/liboif\.[a-z]*' | sort -u)"

# Little optimisation: it is compiled in half the time.
configure bare -DBY_FETCH_CONTENT=ON -DOIF_THREADS=OFF -DOIF_FILES=OFF -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O1 -DNDEBUG"
"$cmake" --build bare --target all same_bits >bare.build.log || { cat bare.build.log >&2; exit 1; }
library=$(find bare -name liboif.a)
expect "only what is linked is built" "" "$(find bare -name 'liboif.so*')"
expect "FetchContent, consumer" "20 outliers of 2000 rows score higher" "$(bare/consumer | sed 's/.*: //')"
"$cmake" --install bare --prefix "$work/installed" >install.log
expect "only the parent is installed" "installed/bin/consumer" "$(find installed -type f)"

# What it takes from outside: memory, texts, and what compilers insert.
allowed='^(mem(chr|cmp|cpy|move|set)|str(chr|cmp|cpy|cspn|len|ncat|ncmp|pbrk|rchr|spn|str)|v?snprintf|aligned_alloc|free|qsort|ldexp|__(cpu|stack|builtin|gcc|popcount|udiv|umod).*)$'
nm --format=posix "$library" | awk '$2 ~ /[TDRBVWVC]/ { print $1 }' | sort -u >defined.txt
nm --format=posix "$library" | awk '$2 == "U" { print $1 }' | sort -u | comm -23 - defined.txt | grep -vE "$allowed|^_GLOBAL_OFFSET_TABLE_$" >outside.txt || true
expect "needs no threads, no files, no libm" "" "$(cat outside.txt)"

cat >refused.c <<'END'
#include <oif.h>
#include <stdio.h>
int main(void)
{
    oif_params params;
    oif_detector *detector = NULL;
    oif_error error;
    if (oif_params_init(&params, OIF_DEFAULT_DETECTOR, &error) != OIF_OK || oif_detector_new(&params, 2, &detector, &error) != OIF_OK)
        return 1;
    if (oif_detector_set_threads(detector, 1, &error) != OIF_OK || oif_detector_set_threads(detector, 2, &error) != OIF_EPARAM)
        return 2;
    printf("%s: %s\n", oif_cause_name(error.cause), error.message);
    if (oif_detector_save_file(detector, "x", &error) != OIF_EWRITE)
        return 3;
    printf("%s: %s\n", oif_cause_name(error.cause), error.message);
    oif_detector_free(detector);
    return 0;
}
END
"${CC:-cc}" -I"$folder/include" refused.c "$library" -o refused
expect "threads and files are refused" "not_built: this library was built without threads; set threads to 1, or build it with -DOIF_THREADS=ON
not_built: this library was built without files; save to memory, or build it with -DOIF_FILES=ON" "$(./refused)"

(cd "$folder" && "$work/bare/same_bits" 7 tests/golden/snapshots) >scores.txt
diff "$folder/tests/golden/scores.txt" scores.txt >scores.diff || { head -n 5 scores.diff >&2; exit 1; }
echo "the scores of every detector: ok"

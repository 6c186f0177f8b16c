#!/usr/bin/env bash
# Checks the names in the finished library: what it gives to programs starts with oif_, and what it takes
# from libc prints nothing, ends nothing and reads neither clock, environment nor locale.
#
#   tools/check/check_symbols.sh liboif.so liboif.a
set -euo pipefail

shared=$1
static=$2
forbidden='v?f?d?printf|v?printf|puts|fputs|putchar|fwrite|perror|exit|_exit|abort|getenv|secure_getenv'
forbidden+='|time|clock|clock_gettime|gettimeofday|setlocale|localeconv|strtod|atof|s?rand|random'
failed=0

complain() { # complain WHAT NAMES
    [ -z "$2" ] && return
    printf '%s\n' "$1:" "$2" | sed '2,$s/^/    /' >&2
    failed=1
}

defined_in() { nm --defined-only --extern-only "$@" | awk 'NF == 3 && $2 != "A" { sub("@.*", "", $3); print $3 }' | sort -u; }
taken_by() { nm -D --undefined-only "$1" | awk '{ sub("@.*", "", $2); print $2 }' | sort -u; }

exported=$(defined_in -D "$shared")
[ -n "$exported" ] || complain "$shared" "exports nothing"
complain "$shared exports names that do not start with oif_" "$(grep -v '^oif_' <<<"$exported" || true)"
soname=$(readelf -d "$shared" | sed -n 's/.*soname: \[liboif\.so\.\(.*\)\]/\1/p')
complain "$shared exports names without the version OIF_$soname" \
    "$(nm -D --defined-only --extern-only --with-symbol-versions "$shared" | awk '$2 != "A" { print $3 }' | grep -v "@@OIF_$soname\$" || true)"
complain "$static defines global names that do not start with oif_" \
    "$(defined_in "$static" | grep -v '^oif_' || true)"
complain "$shared must not call" "$(taken_by "$shared" | grep -Ex "(__)?($forbidden)(_chk)?" || true)"

# Every function of the headers is there, and nothing is exported that the headers do not announce.
headers=("$(dirname "$0")"/../../include/*.h)
announced=$(grep -ohE '\boif_[a-z0-9_]+\(' "${headers[@]}" | tr -d '(' | sort -u)
complain "include/ announces what $shared does not export" \
    "$(comm -23 <(cat <<<"$announced") <(cat <<<"$exported"))"
complain "$shared exports what include/ does not announce" \
    "$(comm -13 <(cat <<<"$announced") <(cat <<<"$exported"))"

[ "$failed" -eq 0 ] && echo "$(wc -l <<<"$exported") exported names, all oif_ and all in include/"
exit "$failed"

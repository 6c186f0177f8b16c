#!/usr/bin/env bash
# Checks which compiled layer needs symbols of which: front needs none of a program, and no program one of the other.
#
#   tools/check/check_layers.sh FRONT CLI SERVE     each an archive, such as libfront.a; SERVE may be left out
set -euo pipefail

front=$1 cli=$2 serve=${3:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

defined_in() { nm --defined-only --extern-only "$1" | awk 'NF == 3 { print $3 }' | sort -u; }
# The archive's own symbols are left out: programs may have a function of the same name, such as main.
needed_by() { nm --undefined-only "$1" | awk '$1 == "U" { print $2 }' | sort -u | comm -23 - <(defined_in "$1"); }

check() { # check ARCHIVE OTHER: nothing in ARCHIVE may need a symbol that OTHER defines
    local needed
    [ -n "$1" ] && [ -n "$2" ] || return 0
    needed_by "$1" >"$folder/needed"
    defined_in "$2" >"$folder/defined"
    if [ ! -s "$folder/needed" ] || [ ! -s "$folder/defined" ]; then
        echo "$1 or $2 has no symbols" >&2
        failed=1
    fi
    needed=$(comm -12 "$folder/needed" "$folder/defined")
    [ -z "$needed" ] && return
    printf '%s\n' "$(basename "$1") must not need what $(basename "$2") defines:" "$needed" | sed '2,$s/^/    /' >&2
    failed=1
}

check "$front" "$cli"
check "$front" "$serve"
check "$cli" "$serve"
check "$serve" "$cli"
[ "$failed" -eq 0 ] && echo "front needs no program, and no program the other"
exit "$failed"

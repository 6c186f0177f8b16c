#!/usr/bin/env bash
# Prints how large the project is: lines per folder, words of documents, options, routes, functions, formats on disk, locks.
#
#   tools/measure/sizes.sh [CHECKOUT [OIF]]
#
# CHECKOUT is a Git checkout, by default this one; OIF its program, by default build/release-gcc/oif. To compare with an earlier
# commit: git worktree add /tmp/before COMMIT.
set -euo pipefail

cd "${1:-$(dirname "$0")/../..}"
oif=${2:-build/release-gcc/oif}

lines() { # lines FOLDER...: of code and tests, comments included
    git ls-files -z -- "$@" | grep -zE '\.(c|h|hpp|cpp|js|css|html|py|pyi|java|bats|bash|sh|rs|go)$' | xargs -0r cat | wc -l
}

count() { # count WHAT: of the lines that come in
    printf '%-34s %8d\n' "$1" "$(wc -l)"
}

for folder in include src front cli serve python java tests fuzz; do
    printf '%-34s %8d\n' "lines of $folder" "$(lines "$folder")"
done
printf '%-34s %8d\n' "lines of src, front, cli and serve" "$(lines src front cli serve)"
printf '%-34s %8d\n' "words of docs" "$(git ls-files -z -- 'docs/*.md' | xargs -0 cat | wc -w)"
git ls-files -- 'docs/*.md' | count "pages of docs"
if [ -x "$oif" ]; then
    "$oif" score --help-all | sed -n '/^Usage/,$p' | grep -oE '^  (-., )?--?[a-z-]+' | sort -u | count "options of oif score"
    "$oif" --help | sed -n '/^Commands/,/^$/p' | grep -E '^  [a-z]' | count "commands"
fi
grep -E '^    \{"[A-Z]+", (STREAM|")' serve/api/routes.c | count "routes of oif serve"
grep -oE '\boif_[a-z_0-9]+\(' include/oif.h | sort -u | count "functions of oif.h"
git grep -ohE '"oif[a-z]+[0-9]"' -- src front cli serve | sort -u | count "formats of files of oif serve"
git grep -ohE 'stream_path\([a-z]+, "[a-z]+' -- serve | sort -u | count "files of a stream"
git grep -hE '(background_start|pthread_create)\(&' -- serve | count "places that start threads in serve"
git grep -hE '^ +(static )?pthread_mutex_t |^static pthread_mutex_t ' -- serve | count "mutexes of serve"
grep -oE '^[a-z-]+:.*##' Makefile | count "targets of make"

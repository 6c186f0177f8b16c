#!/usr/bin/env bash
# make uninstall: removes what the last make install has put into PREFIX, and the folders that only oif has.
#
#   tools/build/uninstall.sh MANIFEST PREFIX      cmake --install writes the manifest: a path per line
set -euo pipefail

manifest=$1 prefix=$(realpath -m "$2")
if [ ! -s "$manifest" ]; then
    echo "there is no $manifest, the list of what was installed; make install PREFIX=$prefix writes it again" >&2
    exit 1
fi
mapfile -t files < <(grep . "$manifest")
other=$(realpath -m -- "${files[@]}" | awk -v inside="$prefix/" 'index($0, inside) != 1 && !found++')
if [ -n "$other" ]; then
    echo "the last make install was not into $prefix: it has installed $other; name its folder with PREFIX=" >&2
    exit 1
fi
rm -f -- "${files[@]}"
realpath -m -- "${files[@]%/*}" | sort -u | while read -r folder; do
    while [[ ${folder#"$prefix"}/ == */oif/* ]]; do # a folder oif, or inside of one
        rmdir --ignore-fail-on-non-empty -- "$folder" 2>/dev/null || true
        folder=${folder%/*}
    done
done
rm -f -- "$manifest"
[ "$(id -u)" -ne 0 ] || ldconfig 2>/dev/null || true
echo "removed ${#files[@]} files from $prefix"

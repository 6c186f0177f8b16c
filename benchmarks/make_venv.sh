#!/usr/bin/env bash
# Makes build/bench-venv with requirements.txt and every peer of peers.txt that installs; does nothing when it
# is already so. The last lines of pip on a peer that does not are left in build/bench-venv/failed/. Remove the folder to
# try them again.
set -euo pipefail

cd "$(dirname "$0")/.."
venv=build/bench-venv
wanted=$(cat benchmarks/requirements.txt benchmarks/peers.txt)
installed=$venv/requirements.txt # written last, so a half-made environment is made anew
[ "$wanted" = "$(cat $installed 2>/dev/null)" ] && exit 0

rm -rf $venv
python3 -m venv $venv
mkdir -p $venv/failed
pip=("$venv/bin/python" -m pip --quiet --disable-pip-version-check install)
"${pip[@]}" -r benchmarks/requirements.txt
# dSalmon's setup looks for numpy's headers where numpy 1 had them.
CPATH=$($venv/bin/python -c 'import numpy; print(numpy.get_include())')
export CPATH

log=$(mktemp)
trap 'rm -f "$log"' EXIT
while read -r line; do
    read -ra arguments <<<"$line"
    peer=${arguments[-1]%%[=<>]*}
    echo "installing $peer"
    if ! "${pip[@]}" "${arguments[@]}" >"$log" 2>&1; then
        tail -n 40 "$log" >"$venv/failed/$peer"
        echo "    it does not install; the results will say so"
    fi
done < <(grep -v '^ *\(#\|$\)' benchmarks/peers.txt)
echo "$wanted" >$installed

#!/usr/bin/env bash
# Makes build/venv with what tests/requirements.txt and tests/requirements-no-deps.txt ask for; does nothing
# when it is already so. Of the packages in the second file only their own code is wanted.
set -euo pipefail

cd "$(dirname "$0")/.."
wanted=$(cat tests/requirements.txt tests/requirements-no-deps.txt)
installed=build/venv/requirements.txt # written last, so a half-made environment is made anew
[ "$wanted" = "$(cat $installed 2>/dev/null)" ] && exit 0
rm -rf build/venv
python3 -m venv build/venv
pip=(build/venv/bin/python -m pip install --quiet --disable-pip-version-check)
"${pip[@]}" -r tests/requirements.txt
"${pip[@]}" --no-deps -r tests/requirements-no-deps.txt
echo "$wanted" >$installed

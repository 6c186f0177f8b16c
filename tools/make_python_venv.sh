#!/usr/bin/env bash
# Makes build/python-venv with what python/tests/requirements.txt asks for (does nothing when it is already so), then
# builds the wheel as build/wheel/*.whl and installs it there.
set -euo pipefail

cd "$(dirname "$0")/.."
venv=build/python-venv
wanted=$(cat python/tests/requirements.txt)
installed=$venv/requirements.txt # written last, so a half-made environment is made anew
pip=("$venv/bin/python" -m pip --quiet --disable-pip-version-check)
if [ "$wanted" != "$(cat $installed 2>/dev/null)" ]; then
    rm -rf $venv
    python3 -m venv $venv
    "${pip[@]}" install -r python/tests/requirements.txt
    echo "$wanted" >$installed
fi

rm -rf build/wheel
"${pip[@]}" wheel --no-build-isolation --no-deps --wheel-dir build/wheel \
    --config-settings=build-dir=build/python . # kept, so that the next time only what changed is compiled
"${pip[@]}" install --no-deps --force-reinstall build/wheel/oif-*.whl

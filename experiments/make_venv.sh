#!/usr/bin/env bash
# Makes build/paper-venv with what experiments/requirements.txt asks for (does nothing when it is already so), then builds
# the wheel as build/wheel/*.whl and installs it there.
set -euo pipefail

cd "$(dirname "$0")/.."
venv=build/paper-venv
wanted=$(cat experiments/requirements.txt)
installed=$venv/requirements.txt # written last, so a half-made environment is made anew
pip=("$venv/bin/python" -m pip --quiet --disable-pip-version-check install)
if [ "$wanted" != "$(cat $installed 2>/dev/null)" ]; then
    rm -rf $venv
    python3 -m venv $venv
    "${pip[@]}" -r experiments/requirements.txt
    echo "$wanted" >$installed
fi

tools/make_python_venv.sh
"${pip[@]}" --no-deps --force-reinstall build/wheel/oif-*.whl

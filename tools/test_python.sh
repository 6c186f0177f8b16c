#!/usr/bin/env bash
# Builds the wheel, installs it into build/python-venv and tests it there.
#
#   tools/test_python.sh [PYTEST OPTION...]
set -euo pipefail

cd "$(dirname "$0")/.."
tools/make_python_venv.sh
build/python-venv/bin/python -m pytest -q -rs -p no:cacheprovider --color=no python/tests "$@"

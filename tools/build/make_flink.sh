#!/usr/bin/env bash
# Fetches Flink for the tests on a real cluster: its jars, from PyPI, to build/flink/packages (331 MB).
set -euo pipefail
cd "$(dirname "$0")/../.."
version=2.3.0
[ "$(cat build/flink/version 2>/dev/null)" = $version ] && exit 0
rm -rf build/flink/packages build/flink/version
python3 -m venv build/flink/venv # a machine may have no other pip
build/flink/venv/bin/python -m pip --quiet --disable-pip-version-check install --no-deps --target build/flink/packages "apache-flink-libraries==$version"
echo $version >build/flink/version # last, so an interrupted download starts over

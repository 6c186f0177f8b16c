#!/usr/bin/env bash
# Tests the operator on a real Flink cluster: managers are killed, jobs rescaled and upgraded, and each result compared bit
# for bit with that of one process, build/release-gcc/oif.
#
#   tools/test/test_flink.sh [--long] [PYTEST OPTION...]    --long: 50 kills and more, half an hour instead of two minutes
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/build/install_dependencies.sh test-all
options=(-q -rs)
[ "${1:-}" = --long ] && { export OIF_FLINK_LONG=1; options=(-v -rsP); shift; }
tools/build/make_flink.sh
tools/build/make_java.sh
tools/build/make_venv.sh serve
jar=java/oif-flink-demo/target/oif-flink-demo-0.1.0-job.jar
if [ ! -e $jar ] || find java build/java/resources -type f -newer $jar ! -path '*/target/*' | grep -q .; then
    java/mvn -q -DskipTests package
fi
exec build/serve-venv/bin/python -m pytest "${options[@]}" -p no:cacheprovider --color=no --durations=0 --durations-min=1 \
    --basetemp build/flink/tmp "$@" tests/flink

#!/usr/bin/env bash
# Runs a recipe of docs/ once, with a kill, and compares every result bit for bit with that of build/release-gcc/oif.
#
#   tools/test/test_recipes.sh spark [ROWS KEYS]    docs/engines.md (fetches Spark, some 850 MB)
#   tools/test/test_recipes.sh kafka-streams        docs/engines.md (fetches Kafka, 120 MB)
set -euo pipefail
cd "$(dirname "$0")/../.."
case ${1:-} in
spark)
    tools/build/make_venv.sh spark
    exec build/spark-venv/bin/python tests/recipes/spark.py build/release-gcc/oif build/recipes/spark "${@:2}"
    ;;
kafka-streams) exec tools/test/test_kafka.sh streams "${@:2}" ;;
*) sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

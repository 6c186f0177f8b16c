#!/usr/bin/env bash
# Tests topic to topic, exactly once, on a real Kafka broker (KRaft, from the jars of Maven Central, on loopback): the
# committed records are compared bit for bit with what one process says, build/release-gcc/oif.
#
#   tools/test/test_kafka.sh flink      a Flink job on a real cluster; a task manager is killed
#   tools/test/test_kafka.sh streams    the Kafka Streams program of docs/engines.md; it is killed
#
# OIF_KAFKA_ROWS is the number of rows (200000). Needs 120 MB for Kafka, and for Flink 331 MB more.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/build/install_dependencies.sh java
case ${1:-} in flink | streams) ;; *) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac
[ "$1" != flink ] || tools/build/make_flink.sh
tools/build/make_java.sh
tools/build/make_venv.sh serve
jar=java/oif-kafka/target/oif-kafka-0.1.0-job.jar
if [ ! -e $jar ] || find java build/java/resources -type f -newer $jar ! -path '*/target/*' | grep -q .; then
    java/mvn -q -Pkafka -DskipTests package
fi
exec build/serve-venv/bin/python -m pytest -q -rsP -p no:cacheprovider --color=no --basetemp build/kafka "tests/kafka/test_$1.py" "${@:2}"

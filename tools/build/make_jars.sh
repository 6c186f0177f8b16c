#!/usr/bin/env bash
# Makes java/*/target/*.jar, with the native libraries of x86_64 and aarch64; of oif-java and oif-flink also sources and javadoc.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/build/install_dependencies.sh test-all
tools/build/make_java.sh x86_64
tools/build/make_java.sh aarch64
java/mvn -q -DskipTests package
java/mvn -q -Prelease -DskipTests -pl oif-java,oif-flink package

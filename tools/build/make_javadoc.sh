#!/usr/bin/env bash
# Makes the pages of the Java binding and Flink's operator: build/java/javadoc. A warning is an error.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/build/install_dependencies.sh test-all
tools/build/make_java.sh
java/mvn -q -pl oif-java,oif-flink -DskipTests package javadoc:javadoc
rm -rf build/java/javadoc
mkdir -p build/java/javadoc
for module in oif-java oif-flink; do
    pages=$(find java/$module/target -type d -name apidocs -print -quit)
    cp -r "$pages" build/java/javadoc/$module
done
echo "build/java/javadoc/oif-flink/index.html"

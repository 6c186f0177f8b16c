#!/usr/bin/env bash
# Builds the job of the demonstration and of the benchmark, and fetches Flink.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/build/install_dependencies.sh java
mkdir -p build
tools/build/make_java.sh >build/make_java.log 2>&1 || { cat build/make_java.log; exit 1; }
java/mvn -q -DskipTests package
tools/build/make_flink.sh

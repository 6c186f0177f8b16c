#!/usr/bin/env bash
# Tests the Java binding and Flink's operator: JUnit under -Xcheck:jni, Flink's harness, and both Flink versions by the compiler.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/build/install_dependencies.sh test-all
tools/build/make_java.sh
java/mvn -q -Dflink.version=1.20.5 -pl oif-flink -am compile
# Surefire's last line is counted by run_tests.sh.
java/mvn package | grep -vE '^\[INFO\] *$' | tee build/java/test.log | grep -E 'Tests run|ERROR|BUILD' || true
awk '/Tests run:.*Time elapsed/ { gsub(",", ""); passed += $4 - $6 - $8; failed += $6 + $8 }
     /BUILD SUCCESS/ { built = 1 }
     END { print passed + 0 " passed, " (failed + !built) " failed"; exit failed || !built }' build/java/test.log

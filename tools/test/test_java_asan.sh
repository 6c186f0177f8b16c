#!/usr/bin/env bash
# Runs the tests of the Java binding with its native library under AddressSanitizer and UndefinedBehaviorSanitizer, and under
# -Xcheck:jni. Java itself is not built so, hence LD_PRELOAD; it handles its own segmentation faults, and what it never frees is
# not a finding.
#
#     tools/test/test_java_asan.sh [TIMES]    then TIMES times (1) what once crashed the JVM: a detector that is closed while another
#                                             thread is in a call, and a pipeline that eight threads share
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/build/install_dependencies.sh test-all
times=${1:-1}
tools/build/make_java.sh
build=build/java/asan
mkdir -p $build
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" -DCMAKE_C_COMPILER=gcc -DOIF_JAVA=ON \
    -DOIF_SANITIZE=address,undefined >$build/configure.log || { cat $build/configure.log; exit 1; }
cmake --build $build --target oifjni -- --quiet
java/mvn -q -pl oif-java test-compile # what Maven fetches and compiles itself need not be watched

log=$build/test.log
library=-Doif.library=$PWD/$build/java/liboifjni.so

sanitized() { # sanitized COMMAND...: appends what it prints to the log
    local status=0
    LD_PRELOAD=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so) \
        ASAN_OPTIONS=handle_segv=0:allow_user_segv_handler=1:detect_leaks=0:allocator_may_return_null=1 \
        UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 "$@" >>$log 2>&1 || status=$?
    if [ $status -ne 0 ] || grep -qE 'AddressSanitizer|runtime error:|WARNING in native method|FATAL ERROR' $log; then
        cat $log
        echo "test_java_asan: status $status; see $log and java/oif-java/target/surefire-reports" >&2
        exit 1
    fi
}

: >$log
sanitized java/mvn -pl oif-java test "-Doif.test.options=$library"
grep -E 'Tests run:.*Time elapsed' $log
jars=$(find "$PWD/build/maven" -name 'junit-*.jar' -o -name 'opentest4j-*.jar' | paste -sd:)
for kind in close share; do
    sanitized java -Xcheck:jni -Xmx256m "$library" -cp "java/oif-java/target/classes:java/oif-java/target/test-classes:$jars" \
        oif.SharedUseTest $kind "$times"
    echo "SharedUseTest $kind: $times times, no report"
done

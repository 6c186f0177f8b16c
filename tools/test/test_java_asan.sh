#!/usr/bin/env bash
# Runs the tests of the Java binding with its native library under AddressSanitizer and UndefinedBehaviorSanitizer. Java itself
# is not built so, hence LD_PRELOAD; it handles its own segmentation faults, and what it never frees is not a finding.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/build/make_java.sh
build=build/java/asan
mkdir -p $build
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" -DCMAKE_C_COMPILER=gcc -DOIF_JAVA=ON \
    -DOIF_SANITIZE=address,undefined >$build/configure.log || { cat $build/configure.log; exit 1; }
cmake --build $build --target oifjni -- --quiet
java/mvn -q -pl oif-java test-compile # what Maven fetches and compiles itself need not be watched

log=$build/test.log status=0
LD_PRELOAD=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so) \
    ASAN_OPTIONS=handle_segv=0:detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
    java/mvn -pl oif-java test "-Doif.test.options=-Doif.library=$PWD/$build/java/liboifjni.so" >$log 2>&1 || status=1
if [ $status -ne 0 ] || grep -qE 'AddressSanitizer|runtime error:' $log; then
    cat $log
    echo "test_java_asan: see $log and java/oif-java/target/surefire-reports" >&2
    exit 1
fi
grep -E 'Tests run:.*Time elapsed' $log

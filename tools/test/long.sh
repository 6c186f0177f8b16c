#!/usr/bin/env bash
# Builds what a long test needs, and runs it. `make test-all` runs a short form of each.
#
#   tools/test/long.sh asan         all C, CLI and service tests under AddressSanitizer and UBSan: most of an hour
#   tools/test/long.sh valgrind     the C tests but the heaviest under memcheck, many minutes; or those that are named
#   tools/test/long.sh fuzz         every harness for 30 minutes
#   tools/test/long.sh faults       fail every allocation of every call, detectors as created and lines of 12 MiB
#   tools/test/long.sh soak [ROWS]  1e8 rows through every detector, a pipeline and the reader; rrcf takes half an hour
#   tools/test/long.sh corrupt      50,000 damaged snapshots of each small detector under ASan and UBSan, some minutes
#   tools/test/long.sh kill         kill -9 a program that saves its state 10,000 times, on a disk and in memory
#   tools/test/long.sh serve-kill   kill -9 oif serve 1,000 times while three writers post numbered batches, some minutes
#   tools/test/long.sh senders      real senders feed oif serve: the OpenTelemetry SDK and collector, Telegraf
#   tools/test/long.sh numbers      read and print 10^8 numbers beside strtod, some minutes
#   tools/test/long.sh snapshots    save, load and clone 5,000 detectors at random moments, 10^4 scores each
set -euo pipefail

cd "$(dirname "$0")/../.."
name=${1:-}
shift || true
programs=build/release-gcc/tests

build() { # build PRESET
    tools/build/install_dependencies.sh "${2:-test}"
    tools/build/build.sh "$1"
}

kill_writers() { # on the disk of TMPDIR
    local test
    for test in snapshot.kill pipeline.evicted_models_kill pipeline.pipeline_updates_kill; do
        OIF_KILL_TRIALS=10000 $programs/test_$test
    done
}

case $name in
asan) build asan test-all; ctest --preset asan -j 2 "$@" ;;
valgrind) build release-gcc test-all; tools/test/valgrind.sh "$@" ;;
fuzz) build fuzz test-all; tools/test/fuzz.sh 1800 ;;
faults) build release-gcc; cd tests; OIF_FAULTS_LONG=1 ../$programs/test_faults.allocation ;;
soak) build release-gcc; $programs/soak "${1:-1e8}" "${@:2}" ;;
corrupt) build asan; ASAN_OPTIONS=allocator_may_return_null=1 OIF_CORRUPT_TRIALS=50000 build/asan/tests/test_snapshot.corrupt ;;
kill) build release-gcc; kill_writers; TMPDIR=/dev/shm kill_writers ;;
serve-kill) build release-gcc; OIF=$PWD/build/release-gcc/oif OIF_SERVE_KILLS=1000 tests/serve/run.sh tests/serve/test_kill.py -s ;;
senders)
    build release-gcc
    tools/test/get_senders.sh
    OIF=$PWD/build/release-gcc/oif tests/serve/run.sh tests/serve/test_opentelemetry.py tests/serve/real_senders.py "$@" ;;
numbers) build release-gcc; OIF_NUMBER_TRIALS=100000000 $programs/test_base.number_text ;;
snapshots) build release-gcc; OIF_SNAPSHOT_PAIRS=5000 $programs/test_snapshot.detector_snapshot ;;
*) sed -n '2,14s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

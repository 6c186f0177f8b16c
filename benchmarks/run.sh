#!/usr/bin/env bash
# Builds what a benchmark needs, and runs it. The options are those of the benchmark: --help lists them.
#
#   benchmarks/run.sh peers           ours beside the peers from PyPI and Maven Central: make bench
#   benchmarks/run.sh instructions    instructions per row against benchmarks/limits.json: make bench-quick
#   benchmarks/run.sh aarch64         the same for some cases of the program for aarch64, counted by qemu
#   benchmarks/run.sh plain           ours beside the plain translation of the paper, and text in and out
#   benchmarks/run.sh compare COMMIT  this checkout beside an earlier commit, in turns
#   benchmarks/run.sh python          the Python package beside its peers and the C library, against its bars
#   benchmarks/run.sh text            megabytes per second of CSV and NDJSON, and their share of oif score
#   benchmarks/run.sh serve           rows by HTTP beside oif score, also during a snapshot, what agents send; against their bars
#   benchmarks/run.sh flink           Flink's operator beside the C library, checkpoints, quiet keys, against their bars
#   benchmarks/run.sh keys            rows of many keys in turn beside sorted ones, bytes of a key (--check: limits, half a minute)
#   benchmarks/run.sh key-state       bytes and times of a key's model, live and saved: the table of docs/flink.md
#   benchmarks/run.sh million         a million keys through oif score, the service or Python: minutes, 10 GB
set -euo pipefail

cd "$(dirname "$0")/.."
name=${1:-}
shift || true

need() { # need GOAL: what is installed
    tools/build/install_dependencies.sh "$1"
}

programs() {
    need test
    tools/build/build.sh benchmarks
}

program() { # the tool and the service
    need test
    tools/build/build.sh release-gcc
}

python() { # python NAME FILE [OPTION...]: in build/NAME-venv
    tools/build/make_venv.sh "$1"
    exec "build/$1-venv/bin/python" "${@:2}"
}

aarch64() {
    need aarch64
    mkdir -p build
    cmake --preset benchmarks -B build/benchmarks-aarch64 -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_SYSTEM_NAME=Linux \
        -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_EXE_LINKER_FLAGS=-static >build/configure.aarch64.log ||
        { cat build/configure.aarch64.log; exit 1; }
    cmake --build build/benchmarks-aarch64 --target bench_stream -- --quiet
    cc -O2 -shared -fPIC benchmarks/count_instructions.c -o build/benchmarks-aarch64/count_instructions.so
    exec benchmarks/instructions.py --aarch64 "$@"
}

case $name in
peers) programs; tools/measure/make_aws_forest.sh; python bench benchmarks/peers.py "$@" ;;
instructions) programs; need test-all; exec benchmarks/instructions.py "$@" ;;
aarch64) aarch64 "$@" ;;
plain) programs; python test benchmarks/speed.py "$@" ;;
compare) programs; python test benchmarks/compare.py "$@" ;;
python) programs; python bench benchmarks/python.py "$@" ;;
text) programs; exec build/benchmarks/benchmarks/bench_text "$@" ;;
serve) program; exec benchmarks/serve.py build/release-gcc/oif "$@" ;;
flink) programs; tools/build/make_flink_job.sh; exec benchmarks/flink.py "$@" ;;
keys) programs; need test-all; exec benchmarks/keys.py "$@" ;;
key-state) programs; exec build/benchmarks/benchmarks/bench_key_state "$@" ;;
million) programs; program; exec benchmarks/million.py "$@" ;;
*) sed -n '2,16s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

#!/usr/bin/env bash
# Runs the tests, stage after stage. A stage that fails does not stop the others; the last lines say which
# failed, how long each took and how many tests passed and failed in all.
#
#   tools/test/run_tests.sh          make test: one compiler, the C, CLI and service tests, the Python package, the documents
#   tools/test/run_tests.sh --all    make test-all: all tests with that compiler, then everything else
set -uo pipefail

cd "$(dirname "$0")/../.." || exit
jobs=$(nproc)
logs=build/test_logs
mkdir -p "$logs"
# A second run in the same checkout waits for the first. Runs in two checkouts share nothing: ports are free ones, folders new ones.
if [ -z "${OIF_TESTS_LOCKED:-}" ]; then
    flock --nonblock "$logs/lock" true || echo "waiting for the tests that already run in this checkout"
    export OIF_TESTS_LOCKED=1
    exec flock --close "$logs/lock" tools/test/run_tests.sh "$@"
fi
passed=0 failed=0 summary=() skips=()
# The presets release-gcc and benchmarks, the wheels and the Java binding compile the same files with the same options.
export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_DIR=${CCACHE_DIR:-$PWD/build/ccache} CCACHE_NOHASHDIR=1
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD}

run_timed() { # run_timed NAME COMMAND...: its output goes to the log of the stage, its status and times to files
    local TIMEFORMAT='%0R %0U %0S' name=$1 status=0
    shift
    { time "$@" 2>&1; } 2>"$logs/$name.times" || status=$?
    echo "$status" >"$logs/$name.status"
}

report() { # report NAME: counts a stage that has ended
    local name=$1 status=ok seconds user system stage_passed stage_failed stage_skipped
    [ "$(cat "$logs/$name.status")" = 0 ] || status=FAILED
    read -r seconds user system <"$logs/$name.times"
    read -r stage_passed stage_failed stage_skipped <<<"$(count_tests "$logs/$name.log")"
    # A stage that breaks without a failed test (it did not compile) is itself the failure.
    [ $status = FAILED ] && [ "$stage_failed" -eq 0 ] && stage_failed=1
    passed=$((passed + stage_passed)) failed=$((failed + stage_failed))
    skips+=("$(list_skips "$logs/$name.log")")
    summary+=("$(printf '%-15s %-7s %3d passed, %d failed, %d skipped, %4d s, %4d s of processor time' \
        "$name" "$status" "$stage_passed" "$stage_failed" "$stage_skipped" "$seconds" $((user + system)))")
}

stage() { # stage NAME COMMAND...
    printf '\n== %s\n' "$1"
    run_timed "$@" | tee "$logs/$1.log"
    report "$1"
}

# Stages beside others, one after the other: those that wait for servers, or use a single core.
aside() { # aside NAME COMMAND...: `finish` prints its output
    run_timed "$@" >"$logs/$1.log" 2>&1
}

finish() { # finish NAME...
    local name
    for name in "$@"; do
        printf '\n== %s\n' "$name"
        cat "$logs/$name.log"
        report "$name"
    done
}

# Adds up the closing lines of ctest, pytest, tests/same_bits, tests/docs, bench-quick, analyze.sh and
# valgrind.sh, test_java.sh: PASSED FAILED SKIPPED.
count_tests() {
    awk '
        /tests passed, .* tests? failed out of/ { failed += $4; passed += $NF - $4; next }
        /^same bits: / || /^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ || /^[0-9]+ (passed|failed|error|skipped).* in [0-9.]+s/ {
            for (i = 2; i <= NF; i++) {
                if ($i ~ /^passed/) passed += $(i - 1)
                if ($i ~ /^(failed|errors?),?$/) failed += $(i - 1)
                if ($i ~ /^skipped/) skipped += $(i - 1)
            }
        }
        END { print passed + 0, failed + 0, skipped + 0 }' "$1"
}

list_skips() { # of the documents and of pytest: how many, and why
    sed -nE 's/^skipped: ([0-9]+), /\1 /p; s/^SKIPPED \[([0-9]+)\] [^ ]+ /\1 /p' "$1"
}

add_up_skips() {
    awk 'NF { count = $1; sub(/^[0-9]+ /, ""); skipped[$0] += count }
         END { for (reason in skipped) printf "skipped: %d, %s\n", skipped[reason], reason }' | sort
}

build() { # build PRESET [TARGET...]
    cmake --preset "$1" >"$logs/$1.configure.log" || { cat "$logs/$1.configure.log"; return 1; }
    cmake --build --preset "$1" -j "$jobs" ${2:+--target "${@:2}"} -- --quiet
}

# A sanitizer or clang is for some tests only, and compiling the others takes minutes.
selected_tests() { # selected_tests PRESET CTEST OPTION...: builds the programs of those tests alone
    local programs
    cmake --preset "$1" >"$logs/$1.configure.log" || { cat "$logs/$1.configure.log"; return 1; }
    mapfile -t programs < <(comm -12 \
        <(ctest --preset "$1" -N "${@:2}" | sed -nE 's/^ *Test *#[0-9]*: //p' |
            sed -E 's/^(cli|serve)\..*/&\noif_program\noif_server/; s/^replay\./replay_/; s/^[a-z]+\./test_&/' | sort -u) \
        <(ninja -C "build/$1" -t targets all | sed 's/: .*//' | sort -u))
    build "$1" "${programs[@]}" && ctest --preset "$1" -j "$jobs" "${@:2}"
}

docs_examples() { # as a reader would: with the installed program, library and Python package
    tools/build/make_venv.sh test &&
        cmake --install build/release-gcc --prefix build/docs/installed >"$logs/docs.install.log" &&
        find README.md docs -name "*.md" -print0 | sort -z |
        xargs -0 build/test-venv/bin/python tests/docs/run_examples.py build/docs/installed
}

reference() { # other implementations, and Python's json beside the NDJSON reader
    tools/build/make_venv.sh reference &&
        build/reference-venv/bin/python -m pytest -q -rs -p no:cacheprovider --color=no --ignore=tests/serve --ignore=tests/flink --ignore=tests/kafka tests
}

analysis() { # what takes seconds comes first
    local status=0
    make --no-print-directory check-format || status=1
    tools/check/analyze.sh && return $status
}

# Some 500 MB, while the processors compile. If it fails, the stages java and flink say so themselves.
fetch_flink() {
    tools/build/make_flink.sh
    java/mvn -q -Dflink.version=1.20.5 -pl oif-flink -am compile
    java/mvn -q -DskipTests package
}

# What make test leaves to make test-all: the live page in a browser, servers beside Prometheus and Alertmanager, requests made up
# from the API's description, limits, kills and failing allocations by the hundred, and what compiles the library again. Of the Python
# package, the type checkers: they read numpy, pandas and polars for a minute.
only_in_all='serve\.(page_.*|prometheus_pull|alertmanager|incidents|openapi|limits|deploy|kill)'
only_in_all+='|cli\.score_evicted|pipeline\.evicted_models.*|snapshot\.corrupt|faults\.allocation|soak|package|subproject'
case ${1:-} in
--all) left_out='^$' python_left_out=() ;;
*) left_out="^($only_in_all)\$" python_left_out=(--ignore=python/tests/test_typing.py) ;;
esac

# Long tests say the same with every compiler.
long='faults.allocation|detect.(against_plain|hst)|pipeline.(evicted_models.*|pipeline_snapshot)|snapshot.(corrupt|kill)|soak'

# With clang the tests of what a compiler decides, numbers, must pass. Same bits compares all scores with clang, and the stage analysis
# has its warnings about everything else.
with_clang=(-R '^(base|detect|rows|snapshot)\.' -E "^($long)\$")

threads='^(detect.threads|base.number_text|pipeline.pipeline_threads|serve.stream_threads)$'

# A sanitizer is for readers of foreign bytes, for failing allocations and for the server's requests. Statistics and waiting for
# other programs take most of the time and find no error of memory there; tools/test/long.sh asan runs all.
statistics='detect\.(hst|rrcf_law|score_learn|row_ranges)|soak'
statistics+='|pipeline\.(alerts|categories|evicted_models|evicted_models_kill|feedback|gate|period|pipeline_threads|real_streams|table|unchanged|usual_size|watch)'
statistics+='|snapshot\.kill|pipeline\.pipeline_updates_kill'
readers='cli\.(bad_input|inspect|score|score_(bad_rows|files|first_line|formats|metrics|odd_files|programs|resume|rules|times|values)|state|state_command)'
servers='serve\.(alertmanager|idle|config_file|days|deploy|feedback|incidents|kill|late_columns|metrics|openapi|operation|prometheus_pull|reload|stream|waiting)'
with_asan=(-R "^(base|detect|faults|front|incidents|pipeline|replay|rows|serve|snapshot)\.|^$readers\$" -E "^($statistics|$servers)\$")

measurements=(operations reality)
machines=(release-clang bench-quick bench-keys same-bits analysis wheels paper java flink)

measure() { # measure NAME: a short form of a campaign, against its limits
    aside "$1" experiments/run.sh "$1" --quick --check
}

# What `make test-all` runs beside the compilers and sanitizers.
second_lane() {
    local name
    aside release-clang selected_tests release-clang "${with_clang[@]}" # same-bits links its library
    for name in "${measurements[@]}"; do measure "$name"; done
    aside bench-quick benchmarks/run.sh instructions
    aside bench-keys benchmarks/run.sh keys --check
    aside same-bits tests/same_bits/run.sh --quick
    aside analysis analysis
    aside wheels tools/build/make_wheels.sh --check
    aside paper experiments/run.sh paper-quick
    aside java tools/test/test_java.sh
    aside flink tools/test/test_flink.sh
}

[ "${1:-}" = --all ] && { fetch_flink >"$logs/fetch_flink.log" 2>&1 & fetching=$!; }
export OIF_FAULTS_ROWS=100000 # fewer in faults.allocation than `ctest` takes; tools/test/long.sh faults: all
stage build build release-gcc
aside python-package tools/test/test_python.sh "${python_left_out[@]}" &
python=$!
aside docs docs_examples &
docs=$!
stage release-gcc ctest --preset release-gcc -j $((jobs + 1)) -E "$left_out" # one more: servers often wait for a clock or a disk
wait "$python" "$docs"
finish python-package docs
if [ "${1:-}" = --all ]; then
    wait "$fetching"
    second_lane &
    lane=$!
    stage asan selected_tests asan "${with_asan[@]}"
    stage tsan selected_tests tsan -R "$threads"
    stage reference reference
    stage valgrind tools/test/valgrind.sh base.error base.memory rows.csv serve.history serve.stream_kept
    wait "$lane"
    finish "${measurements[@]}" "${machines[@]}"
fi

printf '\n'
printf '%s\n' "${summary[@]}"
printf '%s\n' "${skips[@]}" | add_up_skips
[ "${1:-}" = --all ] || echo "left to make test-all: $(ctest --preset release-gcc -N -R "$left_out" | sed -n 's/^ *Test *#[0-9]*: //p' | paste -sd ' ') ${python_left_out[*]#*=}"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

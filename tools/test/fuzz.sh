#!/usr/bin/env bash
# Runs every harness of fuzz/ from its kept corpus, as many at a time as there are cores.
#
#   tools/test/fuzz.sh SECONDS     for each
set -uo pipefail

cd "$(dirname "$0")/../.." || exit
export seconds=${1:?seconds for each harness}
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
# Stacks of four calls, and freed memory held for a while: both cost more than the harnesses themselves. So does libFuzzer's
# schedule by entropy: without it fuzz_agents runs twice as many inputs per second.
export ASAN_OPTIONS=malloc_context_size=4:quarantine_size_mb=16

run_harness() { # run_harness NAME: a line if all went well, all that was said if not
    local name=$1 log=build/fuzz/$1.log
    mkdir -p "build/fuzz/corpus/$name" "fuzz/corpus/$name"
    if build/fuzz/"$name" -max_total_time="$seconds" -timeout=20 -entropic=0 -print_final_stats=1 -artifact_prefix=build/fuzz/ \
        "build/fuzz/corpus/$name" "fuzz/corpus/$name" >"$log" 2>&1; then
        echo "ok      $name: $(sed -n 's/stat::number_of_executed_units: *//p' "$log") inputs in $seconds s"
    else
        tail -n 60 "$log"
        echo "FAILED  $name"
    fi
}
export -f run_harness

results=$(printf '%s\n' fuzz/*.c | sed 's|fuzz/\(.*\)\.c|\1|' | xargs -P "$(nproc)" -I{} bash -c 'run_harness {}')
echo "$results"
passed=$(grep -c '^ok ' <<<"$results")
failed=$(grep -c '^FAILED ' <<<"$results")
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

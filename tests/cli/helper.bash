# What the tests of the tool share. OIF is the program under test.

bats_require_minimum_version 1.5.0

setup() {
    if [[ -z "${OIF:-}" ]]; then
        echo "set OIF to the program under test: OIF=build/release/oif bats tests/cli" >&2
        return 1
    fi
    OIF=$(realpath "$OIF")
    TOOL=$OIF
    one_pass
    cd "$BATS_TEST_TMPDIR" || return 1
    export LC_ALL=C
    set -o pipefail
}

# Most tests are about streams, with files so short that they would be judged as a whole; not with
# --freeze; off leaves everything else as it is.
one_pass() {
    OIF=$BATS_TEST_TMPDIR/.one-pass/oif
    mkdir -p "${OIF%/*}"
    cat > "$OIF" <<SCRIPT
#!/bin/sh
if [ "\$1" = score ]; then shift; exec "$TOOL" score --freeze=off "\$@"; fi
exec "$TOOL" "\$@"
SCRIPT
    chmod +x "$OIF"
}

# Runs the tool: $status, $output (stdout only) and $stderr.
oif() {
    run --separate-stderr "$OIF" "$@"
}

# The detectors that there are, a line each.
detector_names() {
    "$OIF" score --detector help 2>&1 | sed -n 's/.*choose one of: //p' | sed 's/, /\n/g'
}

# Says both sides when they differ.
equal() {
    [[ "$1" == "$2" ]] || {
        printf 'got:      %s\nexpected: %s\n' "$1" "$2" >&2
        return 1
    }
}

contains() {
    [[ "$1" == *"$2"* ]] || {
        printf 'in:      %s\nmissing: %s\n' "$1" "$2" >&2
        return 1
    }
}

# The two files must not be the same; `! cmp` would not fail a test.
differ() {
    if cmp -s "$1" "$2"; then
        echo "$1 and $2 are the same" >&2
        return 1
    fi
}

# Waits until a file has that many lines. Five minutes are enough on the busiest machine.
await_lines() { # await_lines COUNT FILE
    for _ in {1..6000}; do
        [ -e "$2" ] && [ "$(wc -l < "$2")" -ge "$1" ] && return
        sleep 0.05
    done
    echo "$2 does not have $1 lines after five minutes" >&2
    return 1
}

# exits CODE [MESSAGE]: how the last run ended, and the whole of stderr.
exits() { # bats sets status and stderr
    # shellcheck disable=SC2154
    equal "exit $status: $stderr" "exit $1: ${2:-}"
}

# A stream of x,y,fault: 300 rows, every 20th far out, values coarse enough to repeat.
make_stream() {
    awk 'BEGIN {
        OFS = ","
        state = 1
        print "x,y,fault"
        for (i = 1; i <= 300; i++) {
            state = state * 16807 % 2147483647
            x = state % 8
            state = state * 16807 % 2147483647
            y = state % 8
            fault = i % 20 == 0
            print x / 4 + fault * (x + 3), y / 4 - fault * 5, fault
        }
    }' > stream.csv
}

# Sanitizers reserve more address space than `ulimit -v` leaves.
skip_if_sanitized() {
    if grep -qa __asan_init "$TOOL"; then skip "the program has a sanitizer"; fi
}

# oif score --state with a pipeline: after any end the next run goes on as if nothing had been.

load helper

# 2400 rows of two hosts with faults and a few rows of others that push each other out, as NDJSON; expected.ndjson is what an uninterrupted run makes of them.
make_hosts() {
    awk 'BEGIN {
        state = 1
        for (i = 1; i <= 2400; i++) {
            state = state * 16807 % 2147483647
            host = i % 5 ? i % 2 : 2 + int(i / 100) % 7 # the latter come and go
            printf "{\"host\": \"h%d\", \"x\": %g, \"y\": %g}\n", host, state % 100 + (i % 151 == 0) * 500, state % 7
        }
    }' > hosts.ndjson
    "$OIF" score "${options[@]}" hosts.ndjson > expected.ndjson
    equal "$(grep -c '"begins"' expected.ndjson | sed 's/[1-9][0-9]*/some/')" some
}

options=(--key host --max-keys 3 --detector loda --window-size 50 --alert-rate 0.05
         --fields score,severity,anomaly,episode,why)

rows_seen() {
    "$OIF" state inspect --json "$1" | sed -n 's/.*"rows": \([0-9]*\).*/\1/p'
}

@test "kill -9 and --skip-seen: the output goes on as that of an uninterrupted run" {
    make_hosts
    python3 - "$OIF" "${options[@]}" <<'PYTHON'
import json, os, random, re, subprocess, sys
oif, flags = sys.argv[1], sys.argv[2:]
rows = open("hosts.ndjson", "rb").read().splitlines(keepends=True)
expected = open("expected.ndjson", "rb").read().splitlines(keepends=True)
chance = random.Random(2)
kills, seen = 0, 0
while seen < len(rows):
    tool = subprocess.Popen([oif, "score", "--state", "s", "--save-every", "9", "--skip-seen", *flags],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    upto = min(seen + chance.randrange(1, 200), len(rows))
    tool.stdin.write(b"".join(rows[:upto]))  # the input starts where it did at first
    if seen:
        told = tool.stderr.readline()
        assert told == b"oif: s: resumes after %d rows: skipping those that it has seen\n" % seen, told
        told = tool.stderr.readline()
        assert told == b"oif: <stdin>: %d rows were seen before: starting at row %d\n" % (seen, seen + 1), told
    for number in range(seen, upto):
        row = tool.stdout.readline()
        assert row == expected[number], (number, row, expected[number])
    if upto == len(rows):
        tool.stdin.close()
        assert tool.wait() == 0
    else:
        tool.kill()
        kills += 1
        tool.wait()
    before, seen = upto, json.loads(subprocess.check_output([oif, "state", "inspect", "--json", "s"]))["rows"] if os.path.exists("s") else 0
    assert before - 10 <= seen <= before, (before, seen)
evictions = json.loads(subprocess.check_output([oif, "state", "inspect", "--json", "s"]))["evictions"]
assert kills > 5 and evictions > 5, (kills, evictions)
PYTHON
}

@test "with --skip-seen no header is written again, and an input that is too short is told" {
    make_stream
    "$OIF" score stream.csv > whole.csv
    head -121 stream.csv > first.csv
    "$OIF" score --state s --skip-seen first.csv > both.csv
    oif score --state s --skip-seen stream.csv
    exits 0 "oif: s: resumes after 120 rows: skipping those that it has seen
oif: stream.csv: 120 rows were seen before: starting at row 121"
    echo "$output" >> both.csv
    cmp both.csv whole.csv
    oif score --state s --skip-seen first.csv
    exits 1 "oif: s: resumes after 300 rows: skipping those that it has seen
oif: first.csv: none of the 120 rows is the last one that s has seen, so oif cannot know which rows are new; nothing was scored; add --time COL, \
or leave --skip-seen out if all rows are new"
    equal "$output" ""
    oif score --skip-seen stream.csv
    exits 2 "oif: --skip-seen needs --state FILE, which counts the rows that were seen"
}

@test "rows that were skipped as bad are not counted as seen" {
    printf 'a\n1\nx\n2\n' > first.csv
    printf 'a\n1\nx\n2\n3\n' > second.csv
    "$OIF" score --state s --on-bad-row skip first.csv > /dev/null
    equal "$(rows_seen s)" 2
    oif score --state s --on-bad-row skip --skip-seen second.csv
    equal "$status" 0
    equal "${output:0:2}" "3,"
    equal "${#lines[@]}" 1
}

@test "options that contradict what was learned are a usage error" {
    make_stream
    "$OIF" score --state s --max-keys 2000 --evicted forget stream.csv > first.csv
    cp s before
    oif score --state s --max-keys 3000 stream.csv
    equal "$status" 2
    contains "$stderr" "oif: s: the state was learned with --max-keys 2000, not 3000; leave it out or name another file"
    oif score --state s --evicted keep stream.csv
    exits 2 "oif: s: the state was learned with --evicted forget, not keep; leave it out or name another file"
    cmp s before
    oif score --state s --evicted forget stream.csv
    exits 0 "oif: s: resumes after 300 rows"
}

@test "alerts come out while the input pauses, as under tail -f" {
    make_hosts
    touch growing.ndjson
    python3 - "$OIF" "${options[@]}" <<'PYTHON'
import select, subprocess, sys
oif, flags = sys.argv[1], sys.argv[2:]
rows = open("hosts.ndjson", "rb").read().splitlines(keepends=True)
alerts = [line for line in open("expected.ndjson", "rb") if b'"anomaly":true' in line]
tail = subprocess.Popen(["tail", "-n", "+1", "-f", "-s", "0.01", "growing.ndjson"], stdout=subprocess.PIPE)
tool = subprocess.Popen([oif, "score", "--rows", "alerts", *flags], stdin=tail.stdout, stdout=subprocess.PIPE, bufsize=0)
at = 0
with open("growing.ndjson", "ab", buffering=0) as growing:
    for alert in alerts[:10]:
        while True:  # up to the row of this alert, and half of the next
            row = rows[at]
            at += 1
            growing.write(row)
            if alert.startswith(row.rstrip(b"}\n")):
                break
        ready, _, _ = select.select([tool.stdout], [], [], 60)
        assert ready, "the alert is held back"
        line = tool.stdout.readline()
        assert line == alert, (line, alert)
tail.kill()
assert tool.wait(timeout=300) == 0
PYTHON
}

@test "SIGTERM ends the wait for more input, with every scored row saved" {
    make_hosts
    python3 - "$OIF" "${options[@]}" <<'PYTHON'
import json, signal, subprocess, sys
oif, flags = sys.argv[1], sys.argv[2:]
rows = open("hosts.ndjson", "rb").read()
tool = subprocess.Popen([oif, "score", "--state", "s", *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, bufsize=0)
tool.stdin.write(rows[:30000])
count = rows[:30000].count(b"\n")
for _ in range(count):
    tool.stdout.readline()
tool.send_signal(signal.SIGTERM)
assert tool.wait(timeout=300) == 0, tool.returncode
assert json.loads(subprocess.check_output([oif, "state", "inspect", "--json", "s"]))["rows"] == count
PYTHON
}

@test "a state of another kind is refused by what it is" {
    make_stream
    printf 'oif' > s
    oif score --state s stream.csv
    equal "$status" 1
    equal "$output" ""
}

# Rows of two hosts, a minute apart: timed FIRST LAST.
timed() {
    awk -v first="$1" -v last="$2" 'BEGIN { print "at,host,x"
        for (i = first; i <= last; i++) print 1794700000 + 60 * i ",h" i % 2 "," i * 7919 % 100 }'
}

@test "times from before the state's last one are pointed out once, with --skip-seen" {
    timed 1 100 > in.csv
    timed 101 110 > new.csv
    older="oif: in.csv: the time 2026-11-14T23:47:40Z is before 2026-11-15T01:26:40Z, the last one that s has seen: if the \
input restarts from its beginning, use --skip-seen, or rows are learned twice"
    "$OIF" score --time at --exclude host --state s in.csv > scored.csv
    cp s before
    oif score --time at --exclude host --state s in.csv
    exits 0 "oif: s: resumes after 100 rows
$older"
    cp before s
    oif score --time at --exclude host --state s --skip-seen in.csv
    contains "$stderr" "in.csv: all 100 rows were seen before"
    equal "$(grep -c 'is before' <<< "$stderr")" 0
    for options in "new.csv" "--freeze in.csv"; do
        cp before s
        # shellcheck disable=SC2086
        oif score --time at --exclude host --state s $options
        equal "$status" 0
        equal "$(grep -c 'is before' <<< "$stderr")" 0
    done
}

@test "with keys, times are compared with the last one of the row's key" {
    timed 1 100 > in.csv
    "$OIF" score --time at --key host --state s in.csv > scored.csv
    (echo at,host,x; echo 1794700000,h9,1; echo 1794700060,h1,2; echo 1794700120,h1,2) > old.csv
    oif score --time at --key host --state s old.csv
    exits 0 "oif: s: resumes after 100 rows
oif: old.csv: the time 2026-11-14T23:47:40Z is before 2026-11-15T01:25:40Z, the last one that s has seen: if the input \
restarts from its beginning, use --skip-seen, or rows are learned twice"
}

# ---- Files that are rotated ----

# numbered FROM TO: rows with numbers in a file with a header.
numbered() {
    echo at,x
    awk -v from="$1" -v to="$2" 'BEGIN { for (i = from; i <= to; i++) print 1794769500 + int(i / 4) "," i * i % 977 }'
}

# The state saw the rows 1 to 300. $1: the file to resume with; $2: the first new row; the rest: options.
resumes_at() {
    file=$1 first=$2
    shift 2
    numbered 1 600 > all.csv
    "$OIF" score "$@" all.csv 2> /dev/null > whole.csv
    rm -f s
    head -301 all.csv | "$OIF" score "$@" --state s > both.csv
    oif score "$@" --state s --skip-seen "$file"
    equal "$status" 0
    contains "$stderr" "starting at row $first"
    echo "$output" >> both.csv
    cmp both.csv whole.csv
}

@test "--skip-seen in a file with the end of an older one, and in one with new rows only" {
    numbered 201 600 > rotated.csv # copytruncate: the copy was cut after row 200
    resumes_at rotated.csv 101 --time at
    resumes_at rotated.csv 101 --exclude at
    numbered 295 600 > rotated.csv # fewer rows than are compared
    resumes_at rotated.csv 7 --time at
    numbered 301 600 > new.csv # create: row 301 has the second of row 300
    numbered 1 300 > old.csv
    rm s
    "$OIF" score --time at --state s old.csv > /dev/null
    oif score --time at --state s --skip-seen new.csv
    exits 0 "oif: s: resumes after 300 rows: skipping those that it has seen"
    equal "$(wc -l <<< "$output")" 300
}

@test "--skip-seen loses no late row after the last one that was seen" {
    { numbered 1 300; echo "1794769510,5"; numbered 301 600 | tail -n +2; } > late.csv
    head -301 late.csv | "$OIF" score --time at --state s > /dev/null
    oif score --time at --state s --skip-seen late.csv
    equal "$(head -1 <<< "$output" | cut -d, -f1,2)" "1794769510,5"
    equal "$(wc -l <<< "$output")" 301
}

@test "--skip-seen counts rows that repeat themselves, and refuses what may be new" {
    awk 'BEGIN { print "x"; for (i = 0; i < 600; i++) print i % 5 }' > periodic.csv
    head -301 periodic.csv | "$OIF" score --state s > /dev/null
    oif score --state s --skip-seen periodic.csv
    contains "$stderr" "300 rows were seen before: starting at row 301"
    rm s
    head -303 periodic.csv | "$OIF" score --state s > /dev/null
    { echo x; tail -n +5 periodic.csv; } > shifted.csv
    cp s before
    oif score --state s --skip-seen shifted.csv
    equal "$status" 1
    contains "$stderr" "is the last one that s has seen"
    cmp s before
}

# ---- logrotate ----

# grow FROM TO: the logger appends rows to log.csv.
grow() {
    numbered "$1" "$2" | tail -n +2 >> log.csv
}

# As logrotate does it. With create the logger opens the new file and writes its header; after copytruncate it goes on writing rows.
rotate() {
    if [ "$1" = create ]; then
        mv log.csv log.csv.1
        numbered 1 0 > log.csv
    else
        cp log.csv log.csv.1
        : > log.csv
    fi
}

@test "files that logrotate has cut, by create and copytruncate, are scored row by row as one" {
    numbered 1 900 > whole
    "$OIF" score --time at whole > expected.csv
    for way in create copytruncate; do
        rm -f s log.csv*
        numbered 1 500 > log.csv
        "$OIF" score --time at --state s --skip-seen log.csv > scored.csv
        grow 501 600
        "$OIF" score --time at --state s --skip-seen log.csv >> scored.csv 2> /dev/null
        grow 601 650
        rotate $way
        grow 651 700
        "$OIF" score --time at --state s --skip-seen log.csv.1 log.csv >> scored.csv 2> told
        contains "$(cat told)" "600 rows were seen before: starting at row 601"
        grow 701 900
        "$OIF" score --time at --state s --skip-seen log.csv.1 log.csv >> scored.csv 2> /dev/null
        cmp scored.csv expected.csv
    done
}

@test "tail -F follows logrotate's create and copytruncate, and no row is lost" {
    numbered 1 400 > whole
    "$OIF" score --time at whole > expected.csv
    for way in create copytruncate; do
        rm -f log.csv* scored.csv
        numbered 1 200 > log.csv
        mkfifo pipe.$way
        tail -n +1 -s 0.05 -F log.csv > pipe.$way 2> /dev/null 3>&- &
        follower=$!
        "$OIF" score --time at < pipe.$way > scored.csv 3>&- &
        scorer=$!
        await_lines 201 scored.csv
        rotate $way
        grow 201 300
        await_lines 301 scored.csv
        grow 301 400
        await_lines 401 scored.csv
        kill $follower
        wait $scorer
        cmp scored.csv expected.csv
    done
}

#!/usr/bin/env bats
# Short files: each row is compared with all others. And what a person at a terminal reads at the end.

load helper

two_passes() {
    OIF=$TOOL
}

# short ROWS: a,b with one row far outside in the middle.
short() {
    awk -v rows="$1" 'BEGIN {
        state = 7
        print "a,b"
        for (i = 1; i <= rows; i++) {
            state = state * 16807 % 2147483647
            a = state / 2147483647
            state = state * 16807 % 2147483647
            print (i == int(rows / 2) ? 50 : a) "," state / 2147483647
        }
    }' > short.csv
}

anomalies() { # of a file with the fields score,severity,anomaly
    awk -F, 'NR > 1 && $NF == 1 { print NR - 1 }' "$1" | tr '\n' ' '
}

@test "a short file gets an answer, in the order of its rows, and how sure it is" {
    two_passes
    for rows in 60 377 2000; do
        short "$rows"
        oif score short.csv
        equal "$(wc -l <<< "$output")" "$((rows + 1))"
        cut -d, -f1,2 <<< "$output" | cmp - short.csv
        equal "$(anomalies <(echo "$output") | cut -d' ' -f1)" "$((rows / 2))"
        shown=$(sed ':a;s/\B[0-9]\{3\}\>/,&/;ta' <<< "$rows")
        exits 0 "oif: short.csv: $shown rows, each compared with all others: 1 episode of anomalies; at most one row in 120 would look like this by chance"
        equal "$("$OIF" score -q --only-alerts --fields anomaly short.csv | cut -d, -f1,3 | tr '\n' ' ')" "a,anomaly 50,1 "
    done
}

@test "reasons, grades and episodes are those of one pass" {
    two_passes
    short 300
    oif score -q --rows alerts --fields severity,grade,episode,why,ready short.csv
    matches='^50,critical,begins,"?a (high|jumps up)[^"]*"?,1$' # which of the two says more is decided by the judges
    [[ $(sed -n 2p <<< "$output" | cut -d, -f1,4-) =~ $matches ]]
    oif score -q --min-grade warning --fail-on-alert short.csv
    exits 3
}

@test "rows with times are judged in two passes up to 500 rows" {
    two_passes
    for rows in 500 501; do
        short "$rows" | cat
        awk -v OFS=, 'NR == 1 { print "at", $0; next } { print 1794769500 + 60 * NR, $0 }' short.csv > timed.csv
        oif score --time at timed.csv
        contains "$stderr|" "$([[ $rows == 500 ]] && echo "each compared with all others" || echo "|")"
        equal "$(grep -c compared <<< "$stderr")" "$((501 - rows))"
    done
}

@test "what is too short or too long is judged in one pass, and no row is lost" {
    two_passes
    for rows in 39 2001; do
        short "$rows"
        "$OIF" score short.csv > file.csv
        "$OIF" score < <(cat short.csv) > pipe.csv
        cmp file.csv pipe.csv
        oif score --freeze=off short.csv
        cmp pipe.csv <(echo "$output")
        exits 0
    done
}

@test "a pipe is judged as a file is; one that does not end soon is a stream" {
    two_passes
    for rows in 39 300 2001; do
        short "$rows"
        "$OIF" score short.csv > file.csv 2> said
        cat short.csv | "$OIF" score 2> piped | cmp - file.csv
        sed 's/short.csv/<stdin>/' said | cmp - piped
    done
    short 300
    "$OIF" score -q --freeze=off short.csv > stream.csv
    differ stream.csv <("$OIF" score -q short.csv)
    (cat short.csv; sleep 2) | "$OIF" score | cmp - stream.csv
}

@test "eval judges as score does" {
    two_passes
    for rows in 300 2001; do
        short "$rows"
        awk -v rows="$rows" '{ print $0 "," (NR == 1 ? "is" : NR == int(rows / 2) + 1) }' short.csv > labelled.csv
        "$OIF" score -q --label is --fields anomaly,grade,episode labelled.csv > scored.csv
        "$OIF" eval --label is --json labelled.csv > measured.json 2> /dev/null
        python3 - <<'PYTHON'
import csv, json
rows, found = list(csv.DictReader(open("scored.csv"))), json.load(open("measured.json"))
assert found["found"] == 1 and found["alerts"] == sum(row["anomaly"] == "1" for row in rows) > 0, found
assert found["episodes"] == sum(row["episode"] == "begins" for row in rows), found
assert found["rows_not_ready"] == sum(row["anomaly"] == "" for row in rows), found
for grade in ("note", "warning", "critical"):
    assert found[f"{grade}_rows"] == sum(row["grade"] == grade for row in rows), (grade, found)
assert sum(found[f"{grade}_episodes"] for grade in ("note", "warning", "critical")) == found["episodes"], found
PYTHON
    done
}

@test "rows that come too early to be judged are counted with -v or if there are no others, and say nothing of severity and anomaly" {
    two_passes
    short 39
    oif score short.csv
    equal "$(grep -v compared <<< "$stderr")" "oif: short.csv: 39 rows came too early to be judged: the first 48 are only learned"
    equal "$(tail -n +2 <<< "$output" | cut -d, -f4- | sort -u)" ","
    short 2001
    oif score --output ndjson short.csv
    equal "$(grep -v compared <<< "$stderr")" ""
    equal "$(grep -c '"severity":null,"anomaly":null}' <<< "$output")" 48
    oif score -v short.csv
    contains "$stderr" "oif: short.csv: 48 rows came too early to be judged: the first 48 are only learned"
    awk '{ print $0 "," (NR == 1 ? "host" : NR % 3) }' short.csv > keyed.csv
    oif score -v --key host --state s keyed.csv
    contains "$stderr" "oif: keyed.csv: 144 rows came too early to be judged: the first 48 of each key are only learned"
    oif score --key host --state s keyed.csv
    exits 0 "oif: s: resumes after 2001 rows"
}

@test "what continues a stream, or has several, is judged in one pass" {
    two_passes
    short 300
    sed '1s/$/,host/; 2,$s/$/,web/' short.csv > keyed.csv
    "$OIF" score --freeze=off short.csv > one.csv
    "$OIF" score --state s.oif short.csv | cmp - one.csv
    for option in "--key host" "--category host"; do
        # shellcheck disable=SC2086 # two words
        "$OIF" score $option keyed.csv | cmp - <("$OIF" score --freeze=off $option keyed.csv)
    done
}

@test "times and silence are reported in two passes as in one" {
    two_passes
    awk 'BEGIN { print "at,x"; for (i = 0; i < 300; i++)
        printf "%d,%.3f\n", 1763208000 + 60 * i + (i > 200) * 86400, (i * 7919) % 1000 / 1000 }' > timed.csv
    "$OIF" score --only-alerts timed.csv 2>&1 | grep "oif: silence" > two
    "$OIF" score --freeze=off --only-alerts timed.csv 2>&1 | grep "oif: silence" > one
    cmp one two
    equal "$(grep -c . one)" 2
}

@test "bad rows, missing values and rows that are too long for memory keep their place" {
    two_passes
    short 200
    sed -i '50s/.*/x,y/; 60s/.*/,/' short.csv
    oif score --on-bad-row skip short.csv
    equal "$(wc -l <<< "$output")" 200
    contains "$stderr" "199 rows, each compared"
    { cat short.csv | head -45; awk 'BEGIN { printf "1,2,"; for (i = 0; i < 300000; i++) printf "longer"; print "" }'; } > long.csv
    sed -i '1s/$/,text/; 2,45s/$/,t/' long.csv
    "$OIF" score -q long.csv | cmp - <("$OIF" score -q --freeze=off long.csv)
}

@test "a file with only missing values says so" {
    two_passes
    printf 'a,b\n,\n,\n' > empty.csv
    oif score --freeze=off empty.csv
    exits 0 "oif: empty.csv: all values of all rows are missing, so there is nothing to learn; --columns and --csv decimal=, say where numbers are, --verbose what is learned"
}

# at_terminal OUTPUT ARGUMENT...: stderr is a terminal, and stdout too if OUTPUT is -.
at_terminal() {
    python3 - "$OIF" "$@" <<'PYTHON'
import os, pty, subprocess, sys
oif, output, *arguments = sys.argv[1:]
master, slave = pty.openpty()
stdout = slave if output == "-" else subprocess.PIPE if output == "pipe" else open(output, "w")
tool = subprocess.Popen([oif, "score", *arguments], stdout=stdout, stderr=slave, stdin=subprocess.DEVNULL)
os.close(slave)
if output == "pipe":
    tool.stdout.read()
shown = b""
while True:
    try:
        data = os.read(master, 1 << 16)
    except OSError:
        break
    if not data:
        break
    shown += data
sys.stdout.write(shown.decode().replace("\r\n", "\n"))
sys.exit(tool.wait())
PYTHON
}

@test "at a terminal the last lines say what was found and what to type next" {
    two_passes
    short 300
    sed -i '1s/$/,note/; 2,$s/$/,fine/; 100s/^[^,]*/70/' short.csv
    run at_terminal out.csv short.csv
    equal "$status" 0
    contains "$output" " in 2 episodes; "
    contains "$output" "oif: the worst:
oif:   line 100: a "
    [ "$(grep -cE '^oif:   line (100|151): a (high|jumps up by .*) \(critical, severity [0-9.]+\)' <<< "$output")" = 2 ]
    contains "$output" "oif: left out: note"
    contains "$output" "oif: to see one line per episode, and why: oif score --only-alerts short.csv"
    run at_terminal - --only-alerts short.csv
    contains "$output" "oif: to see all of it as a picture: oif score --watch short.csv"
}

@test "a pipe has no summary, and neither has -q" {
    two_passes
    short 300
    run at_terminal pipe short.csv
    [[ "$output" != *"the worst"* ]]
    run at_terminal out.csv -q short.csv
    equal "$output" ""
}

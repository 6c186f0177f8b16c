# oif eval: its measures against another computation, and both of its forms.

load helper

# The definitions, taken literally: all pairs for the ROC AUC, all thresholds for the average precision.
check_against_definitions() {
    "$OIF" score --label fault "$1" > scored.csv
    "$OIF" eval --label fault --json "$1" > measured.json
    python3 - <<'PYTHON'
import csv, json
rows = [(float(row["score"]), float(row["fault"]) != 0) for row in csv.DictReader(open("scored.csv"))]
anomalies = [score for score, anomaly in rows if anomaly]
normals = [score for score, anomaly in rows if not anomaly]
assert len(set(anomalies + normals)) < len(rows), "the file should have tied scores"
pairs = sum((a > n) + (a == n) / 2 for a in anomalies for n in normals)
auc = pairs / (len(anomalies) * len(normals))

def precision(threshold):
    found = sum(a >= threshold for a in anomalies)
    return found / (found + sum(n >= threshold for n in normals))

average_precision = sum(precision(a) for a in anomalies) / len(anomalies)
measured = json.load(open("measured.json"))
assert measured["rows"] == len(rows) and measured["anomalies"] == len(anomalies), measured
assert abs(measured["roc_auc"] - auc) < 1e-12, (measured["roc_auc"], auc)
assert abs(measured["average_precision"] - average_precision) < 1e-12, (measured, average_precision)
PYTHON
}

@test "ROC AUC and average precision follow their definitions, ties included" {
    make_stream
    check_against_definitions stream.csv
}

@test "-q prints no notes, as in oif score" {
    printf 'name,x,fault\na,1,0\nb,2,1\nc,3,0\n' > in.csv
    oif eval --label fault in.csv
    contains "$stderr" "text in name ('a'): left out"
    local with_notes=$output
    oif eval -q --label fault in.csv
    exits 0 ""
    equal "${output%rows per second*}" "${with_notes%rows per second*}"
    oif eval -q --label missing in.csv
    equal "$status" 2
    contains "$stderr" "missing"
}

@test "all scores tied give the ROC AUC of guessing" {
    printf 'x,fault\n1,0\n2,1\n3,0\n4,1\n5,0\n' > in.csv
    check_against_definitions in.csv
    python3 -c 'import json; m = json.load(open("measured.json")); assert m["roc_auc"] == 0.5, m
assert m["average_precision"] == 2 / 5, m'
}

@test "any label but 0 is an anomaly" {
    make_stream
    sed 's/,1$/,-2.5/' stream.csv > other.csv
    check_against_definitions other.csv
}

@test "the table names every measure" {
    make_stream
    oif eval --label fault stream.csv
    exits 0
    equal "$(echo "$output" | sed 's/ *[0-9-][0-9,.]*\(  .*\)*$//; s/ (.*//; s/ *$//')" "rows
columns
anomalies

alerts by --alert-rate
alerts
  critical
  warning
  note
precision
recall
episodes found
median delay
false alerts
before ready

ROC AUC
average precision
rows per second"
    equal "$(echo "${lines[0]}" | tr -s ' ')" "rows 300"
    equal "$(echo "${lines[1]}" | tr -s ' ')" "columns 2"
    equal "$(echo "${lines[2]}" | tr -s ' ')" "anomalies 15 labelled rows, in 15 episodes"
}

@test "the JSON is valid and holds the parameters" {
    make_stream
    "$OIF" eval --label fault --json --num-trees 7 --insertion path stream.csv > out.json
    python3 -m json.tool out.json > /dev/null
    python3 -c 'import json; p = json.load(open("out.json"))["params"]
assert p["num_trees"] == 7 and p["insertion"] == "path" and p["seed"] == 0, p'
}

@test "one class only leaves the measures undefined and says why" {
    printf 'x,fault\n1,0\n2,0\n' > normal.csv
    printf 'x,fault\n1,1\n2,1\n' > anomalous.csv
    oif eval --label fault normal.csv
    exits 0
    contains "$output" "undefined  no row is labelled an anomaly"
    oif eval --label fault anomalous.csv
    exits 0
    contains "$output" "undefined  every row is labelled an anomaly"
    "$OIF" eval --label fault --json normal.csv |
        python3 -c 'import json, sys; m = json.load(sys.stdin); assert m["roc_auc"] is None, m'
}

@test "a file longer than a block of rows is evaluated to its last row" {
    make_stream
    { cat stream.csv; tail -n +2 stream.csv; tail -n 213 stream.csv; } > long.csv
    check_against_definitions long.csv
}

@test "a pipe and a file are evaluated alike" {
    make_stream
    "$OIF" eval --label fault --json stream.csv | grep -v seconds > from_file
    cat stream.csv | "$OIF" eval --label fault --json - | grep -v seconds | cmp - from_file
}

@test "without --label there is nothing to compare with" {
    make_stream
    oif eval stream.csv
    exits 2 "oif: eval needs --label COL: the column that is 1 in anomalous rows and 0 in others"
}

# Prints the results of both without what differs from run to run, and without a difference for one detector or several.
measures_of() { # measures_of FILE DETECTOR [OPTION...]
    "$OIF" eval --label fault --json --detector "$2" "${@:3}" "$1" | python3 -c '
import json, sys
found = json.load(sys.stdin)
for result in found.get("results", [found]):
    print(result["detector"], result["params"], result["roc_auc"], result["average_precision"])'
}

@test "several detectors side by side are measured as each by itself" {
    make_stream
    measures_of stream.csv hst,online-iforest,loda > together
    for detector in hst online-iforest loda; do
        measures_of stream.csv $detector
    done | cmp - together
}

@test "parameters hold for every detector that has them" {
    make_stream
    measures_of stream.csv online-iforest,hst --seed 5 --num-trees 9 --growth fixed > together
    { measures_of stream.csv online-iforest --seed 5 --num-trees 9 --growth fixed
      measures_of stream.csv hst --seed 5 --num-trees 9; } | cmp - together
    equal "$(grep -c "'num_trees': 9,.*'seed': 5" together)" 2
}

@test "--all compares all detectors in one table" {
    make_stream
    oif eval --label fault --all stream.csv
    exits 0
    contains "$(tr -s ' ' <<< "$output")" "detector found false/1000 precision recall delay alerts episodes ROC AUC AP rows/s"
    equal "$(sed -n '/^detector/,/^$/p' <<< "$output" | sed '1d;$d' | cut -d ' ' -f 1 | sort)" \
        "$(detector_names | sort)"
}

@test "what cannot be compared is refused" {
    make_stream
    oif eval --label fault --all --detector hst stream.csv
    exits 2 "oif: --all already includes every detector; leave out --all or --detector"
    oif eval --label fault --detector hst,lodda stream.csv
    exits 2 "oif: --detector: there is no detector 'lodda'; did you mean loda?"
    oif eval --label fault --detector hst, stream.csv
    equal "$status" 2
    oif eval --label fault --detector "$(printf 'hst,%.0s' {1..16})hst" stream.csv
    exits 2 "oif: --detector: eval compares at most 16 detectors at a time; leave some out"
    oif score --detector hst,loda stream.csv
    equal "$status" 2
}

# eval's ROC AUC is that of the scores that `oif score` gives with the same options; rows without a score are last.
check_against_score() { # check_against_score FILE OPTION...
    "$OIF" score --label fault --fields score "${@:2}" "$1" > scored.csv
    "$OIF" eval --label fault --json "${@:2}" "$1" > measured.json
    python3 - <<'PYTHON'
import csv, json
rows = [(float(row["score"] or "-inf"), row["fault"] == "1") for row in csv.DictReader(open("scored.csv"))]
anomalies = [score for score, anomaly in rows if anomaly]
normals = [score for score, anomaly in rows if not anomaly]
auc = sum((a > n) + (a == n) / 2 for a in anomalies for n in normals) / (len(anomalies) * len(normals))
measured = json.load(open("measured.json"))
assert measured["rows"] == len(rows) and abs(measured["roc_auc"] - auc) < 1e-12, (measured, auc)
print(measured["roc_auc"], measured["keys"])
PYTHON
}

@test "--key is evaluated as oif score has it" {
    make_stream
    awk -F, 'NR == 1 { print "host," $0; next } { print "h" NR * NR % 7 "," $0 }' stream.csv > hosts.csv
    check_against_score hosts.csv --key host > keyed
    check_against_score hosts.csv --key host --max-keys 2 --detector hst > both
    equal "$(cut -d ' ' -f 2 keyed both)" $'4\n4'
    equal "$(cut -d ' ' -f 1 keyed both | sort -u | wc -l)" 2
    oif eval --label fault --key host --all hosts.csv
    exits 0
    equal "$(tr -s ' ' <<< "${lines[3]}")" "keys 4"
}

@test "options of a pipeline that change no score change no measure" {
    make_stream
    "$OIF" eval --label fault --json stream.csv | grep roc_auc > plain
    "$OIF" eval --label fault --evicted forget --json stream.csv | grep roc_auc > through_a_pipeline
    cmp plain through_a_pipeline
}

# ---- What an operator asks ----

# A stream of three hosts with times, 90 s apart or less, and labelled episodes of several rows, some of them subtle.
make_hosts() {
    awk 'function draw() { state = state * 16807 % 2147483647; return state / 2147483647 }
    BEGIN {
        OFS = ","
        state = 11
        print "at,host,load,temp,fault"
        for (i = 0; i < 9000; i++) {
            host = i % 3
            fault = i > 2400 && int(i / 3) % 170 < 2 + host
            strange = draw() < 0.002
            load = draw() + draw() + draw() + (fault && draw() < 0.7) * (3 + 2 * host) + strange * 6
            temp = 20 + 2 * draw() - fault * host
            printf "%d,h%d,%.3f,%.3f,%d\n", 1700000000 + i * 30, host, load, temp, fault
        }
    }' > hosts.csv
}

# The definitions of docs/manual/evaluate.md, taken literally, on what `oif score` prints.
check_operation() { # check_operation FILE OPTION...
    "$OIF" score --label fault --fields score,anomaly,episode,ready "${@:2}" "$1" > scored.csv 2> /dev/null
    "$OIF" eval --label fault --json "${@:2}" "$1" > measured.json 2> /dev/null
    python3 - "$*" <<'PYTHON'
import csv, json, statistics, sys
timed, keyed = "--time" in sys.argv[1], "--key" in sys.argv[1]
rows = list(csv.DictReader(open("scored.csv")))
streams = {}
for row in rows:
    streams.setdefault(row["host"] if keyed else "", []).append(row)
found, labelled, delays, seconds, episodes, false, unready = 0, 0, [], [], 0, 0, 0
for stream in streams.values():
    runs, raised = [], []
    for i, row in enumerate(stream):
        if row["fault"] == "1" and (i == 0 or stream[i - 1]["fault"] == "0"):
            runs.append([])
        if row["fault"] == "1":
            runs[-1].append(row)
        if row["episode"] == "begins":
            raised.append([])
        if row["anomaly"] == "1":
            raised[-1].append(row)
    for run in runs:
        labelled += 1
        unready += all(row["ready"] == "0" for row in run)
        alerts = [i for i, row in enumerate(run) if row["anomaly"] == "1"]
        if alerts:
            found += 1
            delays.append(alerts[0])
            seconds.append(float(run[alerts[0]]["at"]) - float(run[0]["at"]))
    episodes += len(raised)
    false += sum(all(row["fault"] == "0" for row in episode) for episode in raised)
alerts = [row for row in rows if row["anomaly"] == "1"]
true = sum(row["fault"] == "1" for row in alerts)
ready = [float(row["at"]) for row in rows if row["ready"] == "1"]
expected = {
    "labelled_episodes": labelled, "alerts": len(alerts), "episodes": episodes, "found": found,
    "precision": true / len(alerts), "recall": true / sum(row["fault"] == "1" for row in rows),
    "median_delay_rows": statistics.median(delays), "false_episodes": false,
    "median_delay_seconds": statistics.median(seconds) if timed else None,
    "false_per_day": false / ((max(ready) - min(ready)) / 86400) if timed else None,
    "false_per_1000_rows": 1000 * false / len(ready),
    "rows_not_ready": len(rows) - len(ready), "labelled_episodes_not_ready": unready,
}
measured = json.load(open("measured.json"))
for name, value in expected.items():
    got = measured[name]
    assert got == value or abs(got - value) < 1e-9, (name, got, value)
assert 0 < found < labelled and false > 0 and 0 < true < len(alerts), expected
print(found, labelled, false)
PYTHON
}

@test "alerts, episodes found, delays and false alerts follow their definitions" {
    make_hosts
    check_operation hosts.csv --exclude at,host --alert-rate 0.01
    check_operation hosts.csv --key host --time at --alert-rate 0.02
    check_operation hosts.csv --key host --exclude at --alert-rate 0.02
    check_operation hosts.csv --key host --time at --alerts 20/day --detector loda --rate temp
    check_operation hosts.csv --exclude host --time at --alert-rate 0.01 --season 1h
}

@test "--alert-rate changes what is printed" {
    make_hosts
    "$OIF" eval --label fault --exclude at,host --alert-rate 0.001 hosts.csv | sed '/per second/,$d' > few
    "$OIF" eval --label fault --exclude at,host --alert-rate 0.01 hosts.csv | sed '/per second/,$d' > many
    differ few many
    grep -q '^alerts by --alert-rate 0.01$' many
    [ "$(awk '/^alerts  / { print $2 }' many)" -gt "$(awk '/^alerts  / { print $2 }' few)" ]
}

@test "with --time delays are times and false alerts are counted per day" {
    make_hosts
    oif eval --label fault --key host --time at --alert-rate 0.02 hosts.csv
    exits 0
    contains "$output" "per day"
    contains "$output" "until the first alert, "
    oif eval --label fault --key host --time at --alert-rate 0.02 --detector loda,hst hosts.csv
    contains "$output" "false/day"
    oif eval --label fault --key host --exclude at --alert-rate 0.02 hosts.csv
    contains "$output" "per 1,000 rows"
}

@test "the best detector comes first: by episodes found, then by false alerts" {
    make_hosts
    for rate in 0.003 0.02; do
        "$OIF" eval --label fault --key host --time at --alert-rate $rate --all hosts.csv |
            sed -n '/^detector/,/^$/p' | sed '1d;$d' | awk '{ print $1 }' > shown
        "$OIF" eval --label fault --key host --time at --alert-rate $rate --all --json hosts.csv | python3 -c '
import json, sys
results = json.load(sys.stdin)["results"]
best = sorted(results, key=lambda r: (-r["found"], r["false_per_1000_rows"], -r["average_precision"]))
assert [r["rank"] for r in best] == list(range(1, len(best) + 1)), best
print("\n".join(r["detector"] for r in best))' | cmp - shown
    done
}

@test "--runs has the mean and the standard deviation of runs with seeds that count up" {
    make_hosts
    for seed in 5 6 7; do
        "$OIF" eval --label fault --exclude at,host --alert-rate 0.01 --detector loda --seed $seed --json hosts.csv
    done > single.json
    "$OIF" eval --label fault --exclude at,host --alert-rate 0.01 --detector loda,hst --seed 5 --runs 3 --json hosts.csv > runs.json
    python3 - <<'PYTHON'
import json, statistics
decoder, text, singles = json.JSONDecoder(), open("single.json").read(), []
while text.strip():
    single, end = decoder.raw_decode(text.lstrip())
    singles.append(single)
    text = text.lstrip()[end:]
loda, hst = json.load(open("runs.json"))["results"]
assert [run["seed"] for run in loda["runs"]] == [5, 6, 7] and len(hst["runs"]) == 3, loda
for name in ("alerts", "found", "false_episodes", "precision", "roc_auc", "median_delay_rows"):
    values = [single[name] for single in singles]
    assert [run[name] for run in loda["runs"]] == values, (name, loda["runs"], values)
    assert abs(loda[name] - statistics.mean(values)) < 1e-9, name
    assert abs(loda["sd"][name] - statistics.stdev(values)) < 1e-9, name
assert loda["sd"]["roc_auc"] > 0, loda
PYTHON
    oif eval --label fault --exclude at,host --alert-rate 0.01 --detector loda --runs 3 hosts.csv
    contains "$output" "mean +/- standard deviation of 3 runs"
    contains "$output" " +/- "
    oif eval --label fault --exclude at,host --runs 0 hosts.csv
    exits 2 "oif: --runs: expected a whole number from 1 to 100, not '0'"
}

@test "bad rows are skipped as oif score skips them" {
    make_hosts
    sed '100s/.*/1700002970,h0,x,20,0/' hosts.csv > broken.csv
    check_operation broken.csv --exclude at,host --alert-rate 0.01 --on-bad-row skip
    oif eval --label fault --exclude at,host --alert-rate 0.01 broken.csv
    equal "$status" 1
    contains "$stderr" "oif: broken.csv:100:"
}

@test "options that contradict each other or need a state are refused" {
    make_stream
    oif eval --label fault --alerts 5/day --alert-rate 0.1 stream.csv
    exits 2 "oif: --alerts cannot be combined with --alert-rate: it adjusts the rate to report that many episodes; leave out one or the other"
    oif eval --label fault --season 1d stream.csv
    equal "$status" 2
    oif eval --label fault --evicted keep stream.csv
    exits 2 "oif: eval keeps no state: leave out --evicted keep"
}

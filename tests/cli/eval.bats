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
    equal "$(echo "$output" | sed 's/[0-9].*//; s/ *$//')" "rows
features
anomalies
ROC AUC
average precision
points per second"
    equal "$(echo "${lines[0]}" | tr -s ' ')" "rows 300"
    equal "$(echo "${lines[1]}" | tr -s ' ')" "features 2"
    equal "$(echo "${lines[2]}" | tr -s ' ')" "anomalies 15"
}

@test "the JSON is valid and holds the parameters" {
    make_stream
    "$OIF" eval --label fault --json --num-trees 7 --variant paper stream.csv > out.json
    python3 -m json.tool out.json > /dev/null
    python3 -c 'import json; p = json.load(open("out.json"))["params"]
assert p["num_trees"] == 7 and p["variant"] == "paper" and p["seed"] == 0, p'
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
    exits 2 "oif: eval needs --label COL, the column that is 1 for anomalies"
}

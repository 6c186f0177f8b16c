# oif demo: streams with known anomalies, the same bytes everywhere.

load helper

kinds=(toy mulcross drift seasonal)

@test "each kind's bytes are the same on every machine" {
    equal "$(for kind in "${kinds[@]}"; do
        echo "$kind $("$OIF" demo "$kind" --rows 5000 --seed 7 | cksum)"
    done)" "toy 4050945422 84998
mulcross 3238742366 160383
drift 4167442677 82889
seasonal 1757490778 52546"
}

@test "every row has the columns of the header, and a label of 0 or 1" {
    for kind in "${kinds[@]}"; do
        "$OIF" demo "$kind" --rows 1000 --columns 3 > "$kind.csv"
        equal "$(head -n 1 "$kind.csv")" "x0,x1,x2,label"
        equal "$kind $(tail -n +2 "$kind.csv" | grep -cxE '(-?[0-9]+\.[0-9]{4},){3}[01]')" "$kind 1000"
    done
}

@test "the pump has a row per minute, named columns and faults of ten rows, the same bytes everywhere" {
    "$OIF" demo pump > pump.csv
    equal "$(head -n 1 pump.csv)" "time,flow,pressure,temperature,label"
    equal "$(sed -n '2p;20161p' pump.csv | cut -d, -f1 | xargs)" "2026-01-01T00:00:00Z 2026-01-14T23:59:00Z"
    equal "$(tail -n +2 pump.csv | grep -cxE '[-0-9T:]+Z,(-?[0-9]+\.[0-9]{2},){3}[01]')" 20160
    equal "$(grep -c ',1$' pump.csv)" 80
    equal "$("$OIF" demo pump --rows 5000 --seed 7 | cksum)" "2055828212 197628"
    "$OIF" demo pump --rows 200 --seed 1 > other.csv
    differ <(head -n 201 pump.csv) other.csv
}

@test "oif score finds every fault of the pump in its first row" {
    for seed in 0 1 2; do
        "$OIF" demo pump --seed $seed | "$OIF" eval --label label --time time > result
        grep -qE '^episodes found +8  of 8 labelled' result
        grep -qE '^median delay +0 s ' result
    done
}

@test "the pump's columns are fixed" {
    oif demo pump --columns 4
    exits 2 "oif: --columns: pump always has 3 columns; leave --columns out"
    "$OIF" demo pump --columns 3 --rows 10 > /dev/null
}

@test "another seed is another stream" {
    for kind in "${kinds[@]}"; do
        "$OIF" demo "$kind" --rows 100 > first
        "$OIF" demo "$kind" --rows 100 --seed 1 > second
        differ first second
        "$OIF" demo "$kind" --rows 100 --seed 0 | cmp - first
    done
}

@test "the share of anomalies is exact, for faults of twelve rows up to one of them" {
    for kind in toy mulcross drift; do
        for share in 0 0.001 0.1 0.5; do
            equal "$kind $share $("$OIF" demo "$kind" --rows 10000 --anomalies $share | grep -c ',1$')" \
                "$kind $share $(awk "BEGIN { print 10000 * $share }")"
        done
    done
    equal "$("$OIF" demo seasonal --rows 12000 --anomalies 0.01 | grep -c ',1$')" 120
    equal "$("$OIF" demo seasonal --rows 12005 --anomalies 0.5 | grep -c ',1$')" 6000
}

@test "mulcross has mean 0 and the identity as its covariance" {
    "$OIF" demo mulcross --rows 40000 --columns 5 > mulcross.csv
    python3 - <<'PYTHON'
rows = [[float(x) for x in line.split(",")[:-1]] for line in open("mulcross.csv").readlines()[1:]]
means = [sum(column) / len(rows) for column in zip(*rows)]
assert all(abs(mean) < 0.03 for mean in means), means
for i in range(5):
    for j in range(i + 1):
        covariance = sum(row[i] * row[j] for row in rows) / len(rows)
        assert abs(covariance - (i == j)) < 0.04, (i, j, covariance)
PYTHON
}

@test "drift changes where it says: suddenly, gradually and back again" {
    "$OIF" demo drift --rows 16000 --anomalies 0 > drift.csv
    python3 - <<'PYTHON'
rows = [[float(x) for x in line.split(",")[:-1]] for line in open("drift.csv").readlines()[1:]]
def mean(start, end, column):
    return sum(row[column] for row in rows[start:end]) / (end - start)
def check(start, end, *expected):
    found = [mean(start, end, column) for column in (0, 1)]
    assert all(abs(a - b) < 0.2 for a, b in zip(found, expected)), (start, end, found, expected)
check(3500, 4000, 0, 0)
check(4000, 4500, 4, 4)
check(7500, 8000, 4, 4)
check(8800, 9200, 0, 4)  # half of the rows are of the new kind
check(10000, 12000, -4, 4)
check(12000, 14000, 0, 0)
check(14000, 16000, 4, 4)
PYTHON
}

@test "seasonal repeats day by day, and its faults last twelve rows" {
    "$OIF" demo seasonal --rows 9600 --anomalies 0.05 > seasonal.csv
    python3 - <<'PYTHON'
rows = [line.split(",") for line in open("seasonal.csv").read().split("\n")[1:-1]]
days = [rows[i:i + 48] for i in range(0, len(rows), 48)]
for hour in range(48):
    usual = [float(day[hour][0]) for day in days if day[hour][1] == "0"]
    assert max(usual) - min(usual) < 25, (hour, min(usual), max(usual))
labels = [int(row[1]) for row in rows]
assert sum(labels) == 480
assert all(len(set(labels[i:i + 12])) == 1 for i in range(0, len(labels), 12))
values = [float(row[0]) for row in rows]
assert any(len(set(values[i:i + 12])) == 1 for i in range(0, len(values), 12)), "no reading is stuck"
PYTHON
}

@test "detectors find what is planted" {
    for kind in toy mulcross drift; do
        "$OIF" demo "$kind" --rows 20000 | "$OIF" eval --label label --json |
            python3 -c 'import json, sys; auc = json.load(sys.stdin)["roc_auc"]; assert auc > 0.93, auc'
    done
}

@test "a stream that nobody reads to its end stops, however long" {
    run bash -c "timeout 300 '$OIF' demo toy --rows 1e15 2> messages | head -n 2; echo \${PIPESTATUS[0]}"
    equal "${lines[0]}" "x0,x1,label"
    equal "${lines[2]}" 0
    equal "$(cat messages)" ""
}

@test "a kind must exist" {
    oif demo toys
    exits 2 "oif: there is no stream 'toys'; KIND is pump, toy, mulcross, drift or seasonal"
    oif demo toy drift
    exits 2 "oif: unexpected argument 'drift' (usage: oif demo [KIND] [OPTION...])"
}

@test "numbers out of range are refused with their range" {
    oif demo toy --rows 0
    exits 2 "oif: --rows: expected a whole number from 1 to 2^53, not '0'"
    oif demo toy --rows 1.5
    exits 2 "oif: --rows: expected a whole number from 1 to 2^53, not '1.5'"
    oif demo toy --seed -1
    exits 2 "oif: --seed: expected a whole number from 0 to 2^53, not '-1'"
    oif demo toy --columns 10001
    exits 2 "oif: --columns: expected a whole number from 1 to 10000, not '10001'"
    oif demo toy --anomalies 0.6
    exits 2 "oif: --anomalies: expected a share from 0 to 0.5, not '0.6'"
    oif demo toy --anomalies nan
    exits 2 "oif: --anomalies: expected a share from 0 to 0.5, not 'nan'"
}

@test "its help starts with examples" {
    oif demo --help
    exits 0
    equal "${lines[1]}" "Examples:"
    contains "$output" "--anomalies SHARE"
}

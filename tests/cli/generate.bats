# oif demo: streams with known anomalies, the same bytes everywhere.

load helper

@test "the bytes of seasonal are the same on every machine" {
    equal "$("$OIF" demo seasonal --rows 5000 --seed 7 | cksum)" "1757490778 52546"
}

@test "every row has the columns of the header, and a label of 0 or 1" {
    "$OIF" demo seasonal --rows 1000 --columns 3 > seasonal.csv
    equal "$(head -n 1 seasonal.csv)" "x0,x1,x2,label"
    equal "$(tail -n +2 seasonal.csv | grep -cxE '(-?[0-9]+\.[0-9]{4},){3}[01]')" 1000
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
    for kind in pump seasonal; do
        "$OIF" demo "$kind" --rows 100 > first
        "$OIF" demo "$kind" --rows 100 --seed 1 > second
        differ first second
        "$OIF" demo "$kind" --rows 100 --seed 0 | cmp - first
    done
}

@test "the share of anomalies is exact, for faults of twelve rows up to one of them" {
    for share in 0 0.001 0.1 0.5; do
        equal "$share $("$OIF" demo pump --rows 10000 --anomalies $share | grep -c ',1$')" "$share $(awk "BEGIN { print 10000 * $share }")"
    done
    equal "$("$OIF" demo seasonal --rows 12000 --anomalies 0.01 | grep -c ',1$')" 120
    equal "$("$OIF" demo seasonal --rows 12005 --anomalies 0.5 | grep -c ',1$')" 6000
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

@test "a stream that nobody reads to its end stops, however long" {
    run bash -c "timeout 300 '$OIF' demo seasonal --rows 1e15 2> messages | head -n 2; echo \${PIPESTATUS[0]}"
    equal "${lines[0]}" "x0,label"
    equal "${lines[2]}" 0
    equal "$(cat messages)" ""
}

@test "a kind must exist" {
    oif demo pumps
    exits 2 "oif: there is no stream 'pumps'; KIND is pump or seasonal"
    oif demo pump seasonal
    exits 2 "oif: unexpected argument 'seasonal' (usage: oif demo [KIND] [OPTION...])"
}

@test "numbers out of range are refused with their range" {
    oif demo seasonal --rows 0
    exits 2 "oif: --rows: expected a whole number from 1 to 2^53, not '0'"
    oif demo seasonal --rows 1.5
    exits 2 "oif: --rows: expected a whole number from 1 to 2^53, not '1.5'"
    oif demo seasonal --seed -1
    exits 2 "oif: --seed: expected a whole number from 0 to 2^53, not '-1'"
    oif demo seasonal --columns 10001
    exits 2 "oif: --columns: expected a whole number from 1 to 10000, not '10001'"
    oif demo seasonal --anomalies 0.6
    exits 2 "oif: --anomalies: expected a share from 0 to 0.5, not '0.6'"
    oif demo seasonal --anomalies nan
    exits 2 "oif: --anomalies: expected a share from 0 to 0.5, not 'nan'"
}

@test "its help starts with examples" {
    oif demo --help
    exits 0
    equal "${lines[1]}" "Examples:"
    contains "$output" "--anomalies SHARE"
}

# oif score: which rows are anomalous, why, and how few lines say so.

load helper

# 6000 rows of flow and pressure; from row 3000 on every 250th has a flow that is far too high, and the row after it a
# pressure that is far too low. The last column says which.
make_alarms() {
    awk 'BEGIN {
        OFS = ","
        state = 1
        print "flow,pressure,kind"
        for (i = 1; i <= 6000; i++) {
            state = state * 16807 % 2147483647
            flow = 60 + state % 1000 / 100
            state = state * 16807 % 2147483647
            pressure = 4 + state % 1000 / 1000
            leak = i >= 3000 && i % 250 == 1
            surge = i >= 3000 && i % 250 == 0
            print flow + surge * 300, pressure - leak * 60, surge ? "surge" : leak ? "leak" : "good"
        }
    }' > alarms.csv
}

alarms() {
    "$OIF" score --detector loda --label kind --alert-rate 0.01 "$@" alarms.csv
}

@test "nothing is an anomaly before enough is known" {
    make_alarms
    alarms --fields ready,anomaly > all.csv
    equal "$(head -50 all.csv | grep -c ',1$')" 0
    equal "$(grep -c ',0,1$' all.csv)" 0
    [ "$(grep -c ',1,1$' all.csv)" -gt 20 ]
}

@test "--rows alerts prints the anomalous rows and no others" {
    make_alarms
    alarms > all.csv
    alarms --rows alerts > alerts.csv
    equal "$(head -1 alerts.csv)" "$(head -1 all.csv),why"
    grep ',1$' all.csv | cmp - <(tail -n +2 alerts.csv | sed -E 's/^(([^,]*,){5}1),.*/\1/')
    [ "$(wc -l < alerts.csv)" -gt 20 ]
}

# The worst row of each episode, out of all rows with their fields severity, episode_id and anomaly.
peaks() {
    awk -F, -v OFS=, 'NR == 1 { next } $NF == 1 {
        if (!($(NF - 1) in worst) || $(NF - 2) > worst[$(NF - 1)]) { worst[$(NF - 1)] = $(NF - 2); row[$(NF - 1)] = $0 }
        last = $(NF - 1)
    } END { for (i = 1; i <= last; i++) print row[i] }' "$1"
}

@test "--only-alerts and --rows episodes print the worst row of each episode" {
    make_alarms
    alarms --fields severity,episode_id,anomaly > all.csv
    peaks all.csv > expected.csv
    [ "$(wc -l < expected.csv)" -gt 8 ]
    alarms --fields severity,episode_id,anomaly --only-alerts | tail -n +2 | cmp - expected.csv
    alarms --fields severity,episode_id,anomaly --rows episodes | tail -n +2 | cmp - expected.csv
    equal "$(alarms --only-alerts | head -1)" "$(alarms | head -1),why"
    awk -F, '$(NF - 2) >= 4' expected.csv | cmp - <(alarms --min-grade critical --fields severity,episode_id,anomaly --only-alerts | tail -n +2)
}

@test "an episode is printed when it ends, and at the end of the input at once" {
    make_alarms
    head -3001 alarms.csv > open.csv # its last row begins one
    "$OIF" score --detector loda --label kind --only-alerts open.csv | tail -1 | grep -q ',surge,'
    mkfifo in
    "$OIF" score --detector loda --label kind --only-alerts in > out.csv 2> /dev/null 3>&- &
    pid=$!
    exec 4> in
    head -3015 alarms.csv >&4 # 13 calm rows are not enough
    sleep 1
    before=$(wc -l < out.csv)
    sed -n 3016,3240p alarms.csv >&4
    await_lines $((before + 1)) out.csv
    exec 4>&-
    wait $pid
}

@test "the reason names the column that was planted, and its direction" {
    make_alarms
    alarms --rows alerts | grep -E ',(surge|leak),' > planted.csv
    [ "$(wc -l < planted.csv)" -gt 15 ]
    awk -F, '$3 == "surge" && $7 !~ /^"?flow (high|jumps up)/ || $3 == "leak" && $7 !~ /^"?pressure (low|jumps down)/ {
        print "another reason: " $0; bad = 1} END {exit bad}' planted.csv
    alarms --fields anomaly,why | awk -F, '!$4 && $5 != "" {print "a reason without anomaly: " $0; exit 1}'
}

@test "reasons in NDJSON are objects" {
    make_alarms
    alarms --output ndjson --rows alerts > alerts.ndjson
    python3 - <<'PYTHON'
import json
rows = [json.loads(line) for line in open("alerts.ndjson")]
surges = [row["oif"]["why"][0] for row in rows if row["kind"] == "surge"]
assert surges and all(why["column"] == "flow" and why["direction"] == "high" for why in surges), surges
for row in rows:
    shares = [why["share"] for why in row["oif"]["why"]]
    assert row["oif"]["anomaly"] is True and shares == sorted(shares, reverse=True) and sum(shares) <= 1.01, row
PYTHON
}

@test "a reason is in quotes where the column's name asks for it" {
    make_alarms
    sed '1s/flow/"flow, ""in"""/' alarms.csv > quoted.csv
    "$OIF" score --detector loda --label kind --alert-rate 0.01 --rows alerts quoted.csv > alerts.csv
    python3 - <<'PYTHON'
import csv
rows = list(csv.DictReader(open("alerts.csv")))
whys = [row["why"] for row in rows if row["kind"] == "surge"]
assert whys and all(why.startswith(('flow, "in" high', 'flow, "in" jumps up')) for why in whys), whys
PYTHON
}

@test "an option of the pipeline out of its range is a usage error" {
    make_stream
    oif score --alert-rate 2 stream.csv
    equal "$status" 2
    contains "$stderr" "oif: --alert-rate 2: alert_rate must be"
    oif score --freeze=never stream.csv
    exits 2 "oif: --freeze: expected on or off, not 'never'"
    oif score --alert-rat 0.1 stream.csv
    exits 2 "oif: unknown option '--alert-rat'; did you mean --alert-rate? ('oif score --help-all' lists all)"
    oif demo --alert-rate 0.1
    equal "$status" 2
    oif score --help-all
    for flag in --alert-rate --alerts --silence --max-keys --memory-limit; do
        contains "$output" "  $flag "
    done
}

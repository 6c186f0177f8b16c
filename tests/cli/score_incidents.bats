# oif score without options: one metric that goes bad is found, named and graded; what is always the same is not.

load helper

# make_metrics NAME=VALUE...: 6000 rows of ten noisy metrics (mean 50, standard deviation 5) and a counter of errors that
# is 0. From row 5001 on, `rows` rows (1 if not given) have m3 `spike` standard deviations from its mean, m3 missing with
# missing=1, or the counter at `errors`. The column planted says which.
make_metrics() {
    awk 'BEGIN {
        for (i = 1; i < ARGC; i++) {
            split(ARGV[i], pair, "=")
            asked[pair[1]] = pair[2]
        }
        state = 7
        for (j = 0; j < 10; j++)
            printf "m%d,", j
        print "errors,planted"
        for (i = 1; i <= 6000; i++) {
            planted = i > 5000 && i <= 5000 + (asked["rows"] ? asked["rows"] : 1)
            for (j = 0; j < 10; j++) {
                sum = 0 # of 12: nearly a normal number, standard deviation 1
                for (k = 0; k < 12; k++) {
                    state = state * 16807 % 2147483647
                    sum += state / 2147483647
                }
                number = 50 + 5 * (planted && j == 3 && asked["spike"] ? asked["spike"] : sum - 6)
                printf "%s,", planted && j == 3 && asked["missing"] ? "" : sprintf("%.3f", number)
            }
            printf "%d,%d\n", planted ? asked["errors"] : 0, planted
        }
    }' "$@" > metrics.csv
}

# The planted row with the fields asked for, and nothing else of it.
planted() { # planted FIELDS
    "$OIF" score --label planted --fields "anomaly,$1" metrics.csv |
        awk -F, '$12 == 1 && !found++' | cut -d, -f13-
}

# is_found_as "NAME WORD": the planted row is an alert, and that is its first reason.
is_found_as() {
    local row
    row=$(planted why)
    [[ $row =~ ^1,\"?$1 ]] || {
        printf 'got:      %s\nexpected: 1,%s ...\n' "$row" "$1" >&2
        return 1
    }
}

@test "one of ten metrics 10 standard deviations too high is found and named" {
    make_metrics spike=10
    is_found_as "m3 (high|jumps up|stays above)"
    make_metrics spike=-10
    is_found_as "m3 (low|jumps down|stays below)"
}

@test "a counter that was always 0 is found when it becomes 1" {
    make_metrics errors=1
    is_found_as "errors (high|jumps up|stays above)"
}

@test "a metric that was always there is found when it is missing, in CSV and NDJSON" {
    make_metrics missing=1 rows=20
    is_found_as "m3 missing"
    equal "$("$OIF" score --label planted --rows alerts metrics.csv | grep -c ',1,0\.')" 20
    "$OIF" score --label planted --output ndjson --rows alerts metrics.csv > alerts.ndjson
    python3 - <<'PYTHON'
import json
rows = [row["oif"]["why"][0] for row in map(json.loads, open("alerts.ndjson")) if row["planted"]]
assert sum((why["column"], why["direction"]) == ("m3", "missing") for why in rows) > 15, rows
PYTHON
}

@test "a metric that is often missing is not the reason of another's spike" {
    make_metrics spike=10
    awk -F, -v OFS=, 'NR > 1 && (NR % 5 == 0 || $12 == 1) { $8 = "" } { print }' metrics.csv > gaps.csv
    mv gaps.csv metrics.csv
    is_found_as "m3 (high|jumps up|stays above)"
}

@test "a second incident is found as the first was" {
    make_metrics errors=1 rows=20
    (cat metrics.csv; tail -n +5001 metrics.csv) > twice.csv
    equal "$("$OIF" score --label planted --rows alerts twice.csv | grep -c ',1,1,0\.')" 40
}

@test "rows that are all the same raise no alert" {
    awk 'BEGIN {for (i = 0; i < 3000; i++) print "5,7"}' > constant.csv
    for detector in "" --detector=online-iforest; do
        "$OIF" score $detector --csv header=no --alert-rate 0.01 --rows alerts constant.csv > alerts.csv
        equal "$(wc -l < alerts.csv)" 0
    done
}

@test "severity grows with the size of a spike, and the grade follows from it" {
    for size in 8 10 20 50 1000; do
        make_metrics spike=$size
        planted severity,grade
    done > spikes.csv
    awk -F, '
        $1 != 1 {print "not an anomaly: " $0; bad = 1}
        $2 <= severity {print "severity does not grow: " $0; bad = 1}
        $3 != ($2 < 3.3 ? "note" : $2 < 4 ? "warning" : "critical") {print "another grade: " $0; bad = 1}
        {severity = $2}
        END {if (NR != 5 || severity < 6) bad = 1; exit bad}' spikes.csv
}

@test "the first value of a column that was always missing is a note, said once" {
    awk 'BEGIN { print "a,b,late"; for (i = 1; i <= 3000; i++) { state = (state * 16807 + 1) % 2147483647;
        print state % 1000 "," state % 77 "," (i > 2000 ? state % 50 : "") } }' > late.csv
    "$OIF" score --rows alerts --fields severity,grade,why late.csv > alerts.csv
    equal "$(grep 'first value' alerts.csv)" "$(sed -n 2002p late.csv),3,note,late has its first value"
    "$OIF" score --rows alerts --fields why --output ndjson late.csv > alerts.ndjson
    equal "$(grep -c '"reason":"first_value"' alerts.ndjson)" 1
    contains "$(cat alerts.ndjson)" '"why":[{"column":"late","direction":"new","share":1.00,"reason":"first_value"}]'
}

@test "a row that is not an anomaly has a severity and no grade" {
    make_metrics
    "$OIF" score --label planted --fields severity,anomaly,grade,ready metrics.csv > scored.csv
    awk -F, '
        NR > 1 && $14 == 0 && $15 != "" {print "a grade: " $0; bad = 1}
        NR > 1 && $16 == 0 && ($13 != "" || $14 != "") {print "not ready: " $0; bad = 1}
        NR > 1 && $16 == 1 && ($13 == "" || $14 == "") {print "not judged: " $0; bad = 1}
        $16 == 1 {ready++}
        END {if (ready < 3000) bad = 1; exit bad}' scored.csv
    "$OIF" score --label planted --fields severity,grade --output ndjson metrics.csv | tail -1 > last.ndjson
    grep -E '"oif":\{"severity":[0-9.]+,"grade":null\}\}$' last.ndjson
}

@test "--min-grade prints the alerts of that grade and above" {
    make_metrics rows=20 spike=6
    "$OIF" score --label planted --fields grade --alert-rate 0.01 metrics.csv > all.csv
    for grade in note warning critical; do
        "$OIF" score --label planted --fields grade --alert-rate 0.01 --min-grade "$grade" metrics.csv > "$grade.csv"
    done
    cmp note.csv <("$OIF" score --label planted --fields grade --alert-rate 0.01 --rows alerts metrics.csv)
    cmp warning.csv <(grep -E ',(grade|warning|critical)$' all.csv)
    cmp critical.csv <(grep -E ',(grade|critical)$' all.csv)
    contains "$(cat critical.csv)" ",1,critical"
    [ "$(wc -l < note.csv)" -gt "$(wc -l < critical.csv)" ]
}

@test "--min-grade wants a grade" {
    make_stream
    oif score --min-grade bad stream.csv
    exits 2 "oif: --min-grade: expected note, warning or critical, not 'bad'"
}

# oif score: jumps of values that are usual themselves.

load helper

# 6,000 rows: flow is a slow wave, load is noise. Row 5,000 jumps, and 60 rows from row 5,600 on have teeth; all within the range of
# the wave. shuffled.csv has the same rows in another order.
make_wave() {
    awk 'BEGIN {
        OFS = ","
        state = 1
        print "flow,load"
        for (i = 1; i <= 6000; i++) {
            state = state * 16807 % 2147483647
            flow = 50 + 40 * sin(i / 50) + state % 100 / 100
            state = state * 16807 % 2147483647
            if (i == 5000)
                flow += 30
            if (i >= 5600 && i < 5660)
                flow += (i % 8 - 3.5) * 2
            printf "%.2f,%.2f\n", flow, state % 1000 / 100
        }
    }' > wave.csv
    awk 'NR == 1; NR > 1 { rows[NR - 2] = $0 } END { for (i = 0; i < 6000; i++) print rows[i * 2411 % 6000] }' wave.csv > shuffled.csv
}

# The texts of the alerts from row $1 to row $2 of the file $3, each once.
texts() {
    local first=$1 last=$2 file=$3
    shift 3
    "$OIF" score --season off --fields why "$@" "$file" > scored.csv
    sed -n "$((first + 1)),$((last + 1))p" scored.csv | cut -d, -f3- | sed '/^$/d' | sort -u
}

@test "a jump within the usual range is an alert that says so" {
    make_wave
    contains "$(texts 5000 5000 wave.csv)" "flow jumps up by "
    "$OIF" score --season off --output ndjson --fields score,severity,anomaly,why wave.csv | sed -n 5000p > row.json
    contains "$(cat row.json)" '"why":[{"column":"flow","direction":"high","share":1.00,"reason":"jump","value":'
}

@test "shuffled rows have no memory, so nothing jumps" {
    make_wave
    equal "$(texts 1 6000 shuffled.csv | grep -cE 'jumps')" 0
}

@test "a state keeps what it knows of jumps" {
    make_wave
    "$OIF" score --season off --fields score,severity,anomaly,why wave.csv | tail -n +2 > expected.csv
    for rows in 20 100 4999; do
        rm -f wave.oif
        head -$((rows + 1)) wave.csv | "$OIF" score --season off --fields score,severity,anomaly,why --state wave.oif | tail -n +2 > scored.csv
        (head -1 wave.csv; tail -n +$((rows + 2)) wave.csv) > rest.csv
        "$OIF" score --season off --fields score,severity,anomaly,why --state wave.oif rest.csv 2> /dev/null | tail -n +2 >> scored.csv
        cmp scored.csv expected.csv
    done
}

# oif score --rate: columns that are learned by their increase.

load helper

# Two hosts with a counter of bytes that restarts, and a burst of the second at row 2800.
make_counters() {
    awk 'BEGIN {
        print "at,host,rx,load"
        state = 7
        for (i = 0; i < 3000; i++) {
            state = state * 16807 % 2147483647
            rx[i % 2] = rx[i % 2] > 200000 ? state % 300 : rx[i % 2] + 200 + state % 100 + (i == 2800 ? 50000 : 0)
            printf "%d,h%d,%d,%d\n", 1794769500 + 5 * i, i % 2, rx[i % 2], state % 8
        }
    }' > counters.csv
}

@test "a counter is learned by its rate, and the rate is the reason" {
    make_counters
    oif score --key host --time at --rate rx --rows alerts counters.csv
    exits 0
    [[ "$output" =~ rate\(rx\)\ (high|jumps\ up|stays\ above) ]]
    contains "$output" "
1794783500,h0,"
    oif score --key host --time at --rate rx --output ndjson --rows alerts counters.csv
    contains "$output" '"column":"rate(rx)","direction":"high"'
}

@test "the scores are those of the rates, made by hand" {
    make_counters
    awk -F, -v OFS=, 'NR == 1 { print; next } {
        rate = ""
        if ($2 in rx) rate = ($3 < rx[$2] ? $3 : $3 - rx[$2]) / ($1 - at[$2])
        rx[$2] = $3; at[$2] = $1; $3 = sprintf(rate == "" ? "" : "%.17g", rate); print
    }' counters.csv > rates.csv
    "$OIF" score --key host --time at --rate rx counters.csv | cut -d, -f5- > found.csv
    "$OIF" score --key host --time at rates.csv | cut -d, -f5- > expected.csv
    cmp found.csv expected.csv
}

@test "columns that cannot be derived" {
    printf 'a,b\n1,1\n' > in.csv
    oif score --rate c in.csv
    exits 2 "oif: in.csv: --rate: there is no column 'c' (there are a, b)"
    oif score --rate b --exclude b in.csv
    exits 2 "oif: in.csv: --rate: the column 'b' is not learned; add it to --columns, or do not exclude it"
    oif score --rate a,a in.csv
    exits 0
}

@test "a state knows its derived columns" {
    make_counters
    "$OIF" score --key host --time at --rate rx counters.csv > whole.csv
    head -1501 counters.csv > first.csv
    (head -1 counters.csv && tail -n +1502 counters.csv) > second.csv
    "$OIF" score --key host --time at --rate rx --state s.oif first.csv > found.csv
    "$OIF" score --key host --time at --state s.oif second.csv 2> /dev/null | tail -n +2 >> found.csv
    cmp whole.csv found.csv
    oif score --key host --time at --rate rx,load --state s.oif second.csv
    exits 2 "oif: s.oif: the state was learned with other derived columns; leave --rate and --category out or name another file"
    oif score --key host --time at --rate load --state s.oif second.csv
    equal "$status" 2
    oif state inspect s.oif
    contains "$output" $'derived columns\n  "rate(rx)"\n'
    oif state inspect --json s.oif
    contains "$output" '"derived": ["rate(rx)"]'
}

@test "a column that comes later in NDJSON can be derived" {
    printf '{"a":1}\n{"a":2,"b":5}\n{"a":3,"b":7}\n' > in.ndjson
    oif score --rate b in.ndjson
    exits 0 ""
    equal "${#lines[@]}" 3
}

@test "rates without any time that can be read are told" {
    printf 'at,a\nx,1\ny,2\n' > in.csv
    oif score --time at --rate a in.csv
    exits 0 "oif: in.csv: times in 'at': 2 cannot be read, the first on line 2: 'x' is not a time: write it as 2026-11-15T19:05:01Z, 15.11.2026 19:05, 1794769501, Nov 15 19:05:01 or 15/Nov/2026:19:05:01 +0000"
}

# ---- Patterns, and lists in parts ----

write_counters() {
    awk 'BEGIN { print "a_total,b_total,c"; for (i = 0; i < 600; i++) print 2 * i "," 3 * i "," i % 7 }' \
        > totals.csv
}

@test "patterns name columns to derive, each once" {
    write_counters
    oif score -v --rate '*_total' totals.csv
    contains "$stderr" "learns from 3 columns: rate(a_total), rate(b_total), c"
    oif score -v --rate 'b_total,?_total' totals.csv
    contains "$stderr" "learns from 3 columns: rate(a_total), rate(b_total), c"
    oif score -v --rate '[ab]_total' totals.csv
    contains "$stderr" "learns from 3 columns: rate(a_total), rate(b_total), c"
    oif score --rate 'x*' totals.csv
    equal "$status" 2
    contains "$stderr" "no column matches 'x*'"
    oif score --exclude a_total --rate 'a*' totals.csv
    equal "$status" 2
    contains "$stderr" "no column like 'a*' is learned"
}

@test "lists given in parts add up" {
    write_counters
    oif score -v --exclude a_total --exclude c totals.csv
    contains "$stderr" "left out by --exclude: a_total, c"
    oif score -v --rate a_total --rate b_total totals.csv
    contains "$stderr" "learns from 3 columns: rate(a_total), rate(b_total), c"
    oif score -v --columns c --columns a_total --rate a_total totals.csv
    contains "$stderr" "learns from 2 columns: rate(a_total), c"
    oif score --fields score --fields severity totals.csv
    contains "$output" "a_total,b_total,c,score,severity"
}

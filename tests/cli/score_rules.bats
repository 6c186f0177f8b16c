# oif score: alerts that are held back, and what was expected.

load helper

# 6000 rows of latency and errors, one second apart. From row 3000 on every 250th row has a high latency, and the row
# after each second of them a low one; the last row has many errors.
make_rows() {
    awk 'BEGIN {
        OFS = ","
        state = 1
        print "at,latency,errors"
        for (i = 1; i <= 6000; i++) {
            state = state * 16807 % 2147483647
            latency = 100 + state % 1000 / 100
            state = state * 16807 % 2147483647
            errors = state % 1000 / 1000
            high = i >= 3000 && i % 250 == 0
            low = i >= 3000 && i % 500 == 1
            print 1794744000 + i, latency + high * 60 - low * 90, i == 6000 ? 40 : errors
        }
    }' > rows.csv
}

motion=(--mute reason=jump,level,spread)

# With the first reason of each.
alerts() {
    "$OIF" score --time at --alert-rate 0.01 --season off "${motion[@]}" --rows alerts --fields why,expected "$@" rows.csv |
        sed 's/; [^,]*,/,/'
}

@test "one direction only" {
    make_rows
    contains "$(alerts)" latency 
    contains "$(alerts)" latency 
    alerts --mute 'column=latency direction=low' > high.csv
    equal "$(grep -cE 'latency (low|jumps down|stays below)' high.csv)" 0
    [ "$(grep -cE 'latency (high|jumps up|stays above)' high.csv)" -ge 5 ]
    alerts --mute 'column=lat* direction=high' > low.csv
    equal "$(grep -cE 'latency (high|jumps up|stays above)' low.csv)" 0
    [ "$(grep -cE 'latency (low|jumps down|stays below)' low.csv)" -ge 3 ]
    alerts --mute 'column=* direction=high' --mute 'column=* direction=low' > none.csv
    equal "$(wc -l < none.csv)" 1
}

@test "no alert for a small change, in percent or in the unit of the column" {
    make_rows
    equal "$(alerts --mute 'column=latency change<95%' --mute 'column=errors change<1' | grep -cE latency)" 1 # the header
    [ "$(alerts --mute 'column=latency change<30%' | grep -cE 'latency (high|jumps up|stays above)')" -ge 5 ]
    equal "$(alerts --mute 'column=latency change<70' | grep -cE 'latency (high|jumps up|stays above)')" 0
    [ "$(alerts --mute 'column=latency change<70' | grep -cE 'latency (low|jumps down|stays below)')" -ge 3 ]
    contains "$(alerts --mute 'column=latency change<1000' | tail -1)" "errors high"
    equal "$(alerts --mute 'column=latency change<1000' --mute 'column=errors change<100' | wc -l)" 1
}

@test "the value and what was expected" {
    make_rows
    alerts | grep -E 'latency (high|jumps up|stays above)' | head -1 > first
    contains "$(cat first)" ", expected 100."
    "$OIF" score --time at --alert-rate 0.01 --rows alerts --output ndjson --fields why rows.csv > rows.ndjson
    jq -se 'map(.oif.why[0] | select(.expected)) | length > 5 and all(.expected[0] < .expected[1]) and
        (map(select(.value < .expected[0] or .value > .expected[1])) | length > 5)' rows.ndjson
}

@test "ends of a narrow range have the digits that tell them apart" {
    awk 'BEGIN { state = 1; print "pa,b"; for (i = 0; i < 4000; i++) { state = state * 16807 % 2147483647
        printf "%.2f,%d\n", 101340 + state % 900 / 100 + (i == 3999 ? 40 : 0), i % 10 } }' > narrow.csv
    "$OIF" score "${motion[@]}" --fields expected narrow.csv | tail -1 > last
    awk -F'[, "]+' '!($(NF-3) > 101339 && $(NF-3) < 101342 && $(NF-1) > 101347 && $(NF-1) < 101350) {print; exit 1}' last
}

@test "rules from a file, kept with counts in a state until others are given" {
    motion=()
    make_rows
    printf '# why\n\nmute column=latency direction=high  # known\nmute column=errors\n' > some.rules
    alerts --rules some.rules --state s.oif > a.csv
    equal "$(grep -cE 'latency (high|jumps up|stays above)' a.csv)" 0
    [ "$(grep -cE 'latency (low|jumps down|stays below)' a.csv)" -ge 3 ]
    equal "$("$OIF" state inspect --json s.oif | jq -c '[.rules[] | .rule, .held > 0, .first <= .last]')" \
        '["mute column=latency direction=high  # known",true,true,"mute column=errors",true,true]'
    contains "$("$OIF" state inspect s.oif)" '"mute column=errors"'
    alerts --state s.oif > b.csv
    equal "$(grep -cE 'latency (high|jumps up|stays above)' b.csv)" 0
    alerts --rules /dev/null --state s.oif > c.csv
    equal "$("$OIF" state inspect --json s.oif | jq -c .rules)" '[]'
}

@test "keys and times are conditions, with days and zones" {
    make_rows
    # 1794744000 is 2026-11-15T12:00:00Z, a Sunday
    equal "$(alerts --mute 'time=12:00-14:00' | wc -l)" 1
    equal "$(alerts --mute 'mute time=13:00-15:00 zone=CET-1CEST,M3.5.0,M10.5.0/3 days=sun' | wc -l)" 1
    [ "$(alerts --mute 'time=14:00-12:00' | wc -l)" -gt 5 ]
    [ "$(alerts --mute 'days=mon-sat' | wc -l)" -gt 5 ]
    equal "$(alerts --mute 'until=2027-01-01' | wc -l)" 1
    [ "$(alerts --mute 'key=db-*' | wc -l)" -gt 5 ]
}

@test "planned work is scored, but neither alerts nor teaches" {
    make_rows
    "$OIF" score --time at --mute 'ignore from=2026-11-15T13:00 until=2026-11-15T13:30' --fields score,anomaly rows.csv > all.csv
    # rows 3600 to 5399
    awk -F, 'NR > 3600 && NR <= 5400 && ($5 != 0 || $4 == "") {exit 1}' all.csv
    # the scores after it are those of a stream without these rows' values
    awk -F, -v OFS=, 'NR > 3601 && NR <= 5400 {$2 = 100 + NR % 3} 1' rows.csv > other.csv
    "$OIF" score --time at --mute 'ignore from=2026-11-15T13:00 until=2026-11-15T13:30' --fields score,anomaly other.csv | tail -n +5600 | cut -d, -f4- > other
    tail -n +5600 all.csv | cut -d, -f4- | cmp - other
}

@test "mistakes are refused with a remedy" {
    make_rows
    while IFS='|' read -r option value expected; do
        oif score "$option" "$value" --time at rows.csv
        equal "$status" 2
        contains "$stderr" "$expected"
        equal "$output" ""
    done << 'END'
--mute|colum=a|--mute: expected a rule (not a condition of a rule, such as column=latency), not 'colum=a'
--mute||a rule such as
--mute|# why|a rule such as 'column=latency direction=low', not '# why'
--mute| |a rule such as
--mute|change<5ms|in the unit of the column
--mute|column=latenzy|no column is called latenzy
--rules|/nonexistent|a file that can be read (No such file or directory)
--rules|.|a file that can be read
END
    printf 'mute column=latency\nmute days=foo\n' > bad.rules
    oif score --rules bad.rules rows.csv
    equal "$status" 2
    contains "$stderr" "line 2: not a value of days="
    head -c 2000000 /dev/zero > large.rules
    oif score --rules large.rules rows.csv
    equal "$status" 2
    contains "$stderr" "File too large"
}

# Two hosts, a row per minute; `b` has none from 01:00 to 02:59.
make_pause() {
    awk 'BEGIN {
        OFS = ","; state = 1; print "at,host,load"
        for (i = 0; i < 300; i++)
            for (h = 0; h < 2; h++) {
                state = state * 16807 % 2147483647
                if (h == 0 || i < 60 || i >= 180)
                    print 1794700800 + 60 * i, h ? "b" : "a", state % 1000
            }
    }' > pause.csv # from 2026-11-15T00:00:00Z on
}

silences() {
    "$OIF" score --time at --key host --silence 10m --rows alerts "$@" pause.csv 2>&1 > /dev/null | sed 's/^oif: //'
}

@test "a key that is still silent after planned work is reported then" {
    make_pause
    equal "$(silences)" "b: silence begins: no row since 2026-11-15T00:59:00Z, more than 10 min
b: silence ends: no row since 2026-11-15T00:59:00Z, 2.02 h"
    for rule in 'ignore key=b until=2026-11-15T02:00' 'mute time=01:00-02:00' 'mute reason=silence time=03:00-04:00 zone=+02:00' \
        'ignore time=00:30-01:30 days=sun zone=UTC'; do
        silences --mute "$rule" --output ndjson > ends
        "$OIF" score --time at --key host --silence 10m --rows alerts --mute "$rule" --output ndjson pause.csv 2> /dev/null |
            jq -c 'select(.oif.silence) | [.host, .oif.silence]' > said
        equal "$(cat said)" '["b","begins"]
["b","ends"]'
    done
    # at the first row after the rule, not before
    "$OIF" score --time at --key host --silence 10m --rows alerts --mute 'mute time=00:00-02:00' --output csv pause.csv 2> /dev/null > /dev/null
    head -n 221 pause.csv > until.csv # 02:39 of a
    "$OIF" score --time at --key host --silence 10m --rows alerts --mute 'mute time=00:00-02:41' until.csv > said 2>&1
    run ! grep silence said
    "$OIF" score --time at --key host --silence 10m --rows alerts --mute 'mute time=00:00-02:38' until.csv > said 2>&1
    grep -q 'b: silence begins' said
}

@test "a silence that rules hold back from its begin to its end is not reported at all" {
    make_pause
    for rule in 'mute key=b' 'mute reason=silence' 'ignore key=b' 'mute time=01:00-03:00' 'ignore time=01:00-03:01'; do
        equal "$(silences --mute "$rule")" ""
    done
    equal "$(silences --mute 'time=01:00-02:00' --mute 'time=02:00-03:00')" ""
    # a restart in the middle of it changes nothing, and counts it once
    head -n 150 pause.csv > first.csv
    (head -n 1 pause.csv && tail -n +151 pause.csv) > second.csv
    for part in first second; do
        "$OIF" score --time at --key host --silence 10m --rows alerts --mute 'time=01:00-03:00' --state s.oif $part.csv > said 2>&1
        run ! grep silence said
    done
    "$OIF" score --time at --key host --silence 10m --rows alerts --mute 'time=01:00-03:00' --state whole.oif pause.csv > /dev/null
    cmp s.oif whole.oif
}

@test "rules without names of columns call them by their numbers" {
    seq 100 | awk '{ print $1 * 37 % 101 "," $1 * 17 % 23 }' > plain.csv
    oif score --csv header=no --mute 'column=load' plain.csv
    equal "$status" 2
    equal "$stderr" "oif: no column is called load: columns have no names here, but numbers from 1 to 2"
    oif score --csv header=no --mute 'column=2,3' plain.csv
    equal "$status" 2
    for rule in column=2 'column=?' 'column="1,2"' reason=stuck; do
        oif score --csv header=no --mute "$rule" plain.csv
        equal "$status" 0
    done
}

# oif score --season: in rows, in times, and found in the data.

load helper

# A value that repeats itself after 48 rows, with a little noise, and rises slowly; a row per half-hour. From row 2001 on
# for 12 rows it is what it is half a day later.
make_days() {
    awk -v rows="${1:-2500}" 'BEGIN {
        state = 1
        print "at,load"
        for (i = 1; i <= rows; i++) {
            state = state * 16807 % 2147483647
            noise = state % 1000 / 1000
            late = i > 2000 && i <= 2012 ? 24 : 0
            printf "%d,%.3f\n", 1794700800 + 1800 * i, 20 + 10 * sin((i + late) * 6.283185307 / 48) + noise + i / 1000
        }
    }' > days.csv
}

reasons() {
    "$OIF" score --time at --exclude at --fields anomaly,why --only-alerts --explain "$@" days.csv 2> /dev/null
}

@test "a season in rows or in times tells what is unusual for its time" {
    make_days
    reasons --season 48 > rows.csv
    contains "$(cat rows.csv)" "for this time"
    reasons --season 1d > day.csv
    contains "$(cat day.csv)" "for this time"
    equal "$(reasons | grep -c 'for this time')" 0
    equal "$(reasons --season-rows 48)" "$(cat rows.csv)"
    equal "$(reasons --season-seconds 86400)" "$(cat day.csv)"
    equal "$(reasons --season 24h)" "$(cat day.csv)"
}

@test "a second time is the other season, and rows may be given beside times" {
    make_days
    reasons --season 1d --season 1w > two.csv
    equal "$(reasons --season-seconds 86400 --other-season-seconds 604800)" "$(cat two.csv)"
    equal "$(reasons --season-seconds 86400 --season 1w)" "$(cat two.csv)"
    reasons --season 48 --season 1w > mixed.csv
    equal "$(reasons --season-rows 48 --season-seconds 604800)" "$(cat mixed.csv)"
}

@test "a season that makes no sense is refused, and the message says what would" {
    make_days 10
    local any="rows such as 96, a time such as 24h, 1d or 1w, or auto"
    oif score --season daily days.csv
    exits 2 "oif: --season: expected $any, not 'daily'"
    oif score --season "" days.csv
    exits 2 "oif: --season: expected $any, not ''"
    oif score --season 1 days.csv
    exits 2 "oif: --season: expected 2 rows or more, not '1'"
    oif score --season -3 days.csv
    exits 2 "oif: --season: expected 2 rows or more, not '-3'"
    oif score --season 2.5 days.csv
    exits 2 "oif: --season: expected a whole number of rows from 2 to 1073741824, not '2.5'"
    oif score --season 1e300 days.csv
    exits 2 "oif: --season: expected a whole number of rows from 2 to 1073741824, not '1e300'"
    oif score --season 48 --season 336 days.csv
    exits 2 "oif: --season: expected one number of rows, or auto, not '336'"
    oif score --season 48 --season auto days.csv
    exits 2 "oif: --season: expected one number of rows, or auto, not 'auto'"
    oif score --season auto --season 48 days.csv
    exits 2 "oif: --season: expected one number of rows, or auto, not '48'"
    oif score --time at --season 1h --season 1d --season 1w days.csv
    exits 2 "oif: --season: expected at most two times, not '1w'"
    oif score --time at --season 1s days.csv
    exits 2 "oif: --season: expected a time from 2s to 10000000000s, not '1s'"
    oif score --season 1d --exclude at days.csv
    exits 2 "oif: --season in seconds, hours or days needs the time of each row: name its column with --time COL, or \
give the season as a number of rows"
    oif score --season
    exits 2 "oif: --season needs a value ('oif score --help' says which)"
}

@test "auto finds the season of a file and uses it from the first row on" {
    make_days
    oif score --exclude at --season auto days.csv
    equal "$status" 0
    [[ "$stderr" =~ ^"oif: days.csv: season of 48 rows found (autocorrelation 0."[0-9]+"); the same as --season 48"$ ]]
    echo "$output" > auto.csv
    "$OIF" score --exclude at --season 48 days.csv | cmp - auto.csv
}

@test "auto proposes the season of rows that arrive, which are scored without it" {
    make_days
    oif score --exclude at --season auto < days.csv
    equal "$status" 0
    [[ "$stderr" =~ ^"oif: <stdin>: season of 48 rows found (autocorrelation 0."[0-9]+"); use --season 48"$ ]]
    echo "$output" > auto.csv
    "$OIF" score --exclude at days.csv | cmp - auto.csv
    make_days 9000
    "$OIF" score --exclude at --season auto < days.csv 2> stderr.txt > /dev/null
    equal "$(grep -c 'season of 48 rows' stderr.txt)" 1
}

@test "auto says when there is no season" {
    make_stream
    sed -i '2,$s/,1$/,0/; 21~20d' stream.csv
    oif score --label fault --season auto stream.csv
    equal "$stderr" "oif: stream.csv: no season found in the first 285 rows"
    oif score --label fault --season auto < stream.csv
    equal "$stderr" "oif: <stdin>: no season found in the first 285 rows"
    head -1 stream.csv > empty.csv
    oif score --season auto < empty.csv
    equal "$stderr" ""
}

@test "auto looks at the rows of one key, and past rows that cannot be read" {
    make_days
    awk -F, 'NR == 1 { print "at,host,load"; next } { print $1 ",a," $2; print $1 ",b," NR % 7; print $1 ",c,0" }' \
        days.csv > hosts.csv
    oif score --key host --exclude at --season auto hosts.csv
    contains "$stderr" "season of 48 rows found"
    sed -i '100s/.*/broken/' hosts.csv
    oif score --key host --exclude at --season auto --on-bad-row skip hosts.csv
    contains "$stderr" "season of 48 rows found"
}

@test "a state keeps its season: auto does not search again, another one is refused" {
    make_days
    oif score --exclude at --season auto --state days.oif days.csv
    equal "$status" 0
    oif score --exclude at --season auto --state days.oif days.csv
    exits 0 "oif: days.oif: resumes after 2500 rows"
    oif score --exclude at --season 50 --state days.oif days.csv
    exits 2 "oif: days.oif: the state was learned with --season-rows 48, not 50; leave it out or name another file"
}

@test "-v names the seasons" {
    make_days
    oif score -v --time at --season 48 --season 1d --season 1w days.csv
    contains "$stderr" "oif: season: 48 rows, 24 h, 7 d"
    oif score -v --exclude at --season auto days.csv
    contains "$stderr" "oif: season: 48 rows"
    oif score -v --time at --season 1d --state s days.csv
    oif score -v --state s days.csv
    contains "$stderr" "oif: season: 24 h"
    oif score -v --exclude at days.csv
    equal "$(grep -c 'oif: season' <<< "$stderr")" 0
}

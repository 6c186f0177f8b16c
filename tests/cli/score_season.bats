# oif score --season: in rows, in times, and found while rows arrive.

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
    "$OIF" score --time at --exclude at --fields anomaly,why --rows alerts "$@" days.csv 2> /dev/null
}

@test "a season in rows or in times tells what is unusual for its time" {
    make_days
    reasons --season 48 > rows.csv
    contains "$(cat rows.csv)" "for this time"
    reasons --season 1d > day.csv
    contains "$(cat day.csv)" "for this time"
    equal "$(reasons --season off | grep -c 'for this time')" 0
    equal "$(reasons --season 24h)" "$(cat day.csv)"
}

@test "a second time is the other season, and rows may be given beside times" {
    make_days
    reasons --season 1d --season 1w > two.csv
    contains "$(cat two.csv)" "for this time"
    reasons --season 48 --season 1w > mixed.csv
    contains "$(cat mixed.csv)" "for this time"
}

@test "a season that makes no sense is refused, and the message says what would" {
    make_days 10
    local any="rows such as 96, a time such as 24h, 1d or 1w, auto or off"
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
    exits 2 "oif: --season: expected one number of rows, not '336'"
    for word in auto off; do
        oif score --season 48 --season $word days.csv
        exits 2 "oif: --season: expected auto or off alone, not '$word'"
        oif score --time at --season 1d --season $word days.csv
        exits 2 "oif: --season: expected auto or off alone, not '$word'"
        oif score --season $word --season 48 days.csv
        exits 2 "oif: --season: expected auto or off alone, not '48'"
        oif score --season $word --time at --season 1d days.csv
        exits 2 "oif: --season: expected auto or off alone, not '1d'"
    done
    oif score --season off --season auto days.csv
    exits 2 "oif: --season: expected auto or off alone, not 'auto'"
    oif score --time at --season 1h --season 1d --season 1w days.csv
    exits 2 "oif: --season: expected at most two times, not '1w'"
    oif score --time at --season 1s days.csv
    exits 2 "oif: --season: expected a time from 2s to 10000000000s, not '1s'"
    oif score --season 1d --exclude at days.csv
    exits 2 "oif: --season in seconds, hours or days needs the time of each row: name its column with --time COL, or \
give the season as a number of rows"
    oif score --season
    exits 2 "oif: --season needs a value ('oif score --help-all' says which)"
}

@test "without --season one is found, as with auto, and what is unusual for its time is an alert" {
    make_days
    reasons > found.csv
    equal "$(grep -c 'load high for this time' found.csv)" 12
    reasons --season auto | cmp - found.csv
    "$OIF" score --exclude at --fields anomaly,why --rows alerts days.csv > rows.csv
    equal "$(grep -c 'load high for this time' rows.csv)" 12 # also without the times
}

@test "a season is found in rows that arrive as in those of a file" {
    make_days
    oif score --exclude at --season auto --fields score,severity,anomaly,why days.csv
    exits 0
    echo "$output" > file.csv
    oif score --exclude at --season auto --fields score,severity,anomaly,why < days.csv
    exits 0
    equal "$output" "$(cat file.csv)"
    (head -900 days.csv; sleep 0.1; tail -n +901 days.csv) | "$OIF" score --exclude at --fields score,severity,anomaly,why | cmp - file.csv
}

@test "off searches for none" {
    make_days
    reasons --season off > off.csv
    equal "$(grep -c 'for this time' off.csv)" 0
    oif score -v --exclude at --season off days.csv
    equal "$(grep -c season <<< "$stderr")" 0
}

@test "-v says at the end which season was found and how strong it is" {
    make_days
    oif score -v --exclude at days.csv
    [[ "${stderr##*$'\n'}" =~ ^"oif: season of 48 rows, found: strength "9[0-9]"% in load"$ ]]
    oif score -v --time at --season auto days.csv
    [[ "${stderr##*$'\n'}" =~ ^"oif: season of 24 h, found: strength "9[0-9]"% in load"$ ]]
    oif score -v --exclude at < days.csv
    [[ "${stderr##*$'\n'}" =~ ^"oif: season of 48 rows, found: strength "9[0-9]"% in load"$ ]]
    make_days 300 # too few to find it
    oif score -v --exclude at days.csv
    equal "$(grep -c season <<< "$stderr")" 0
    head -1 days.csv > empty.csv
    oif score -v < empty.csv
    equal "$(grep -c season <<< "$stderr")" 0
}

@test "rows without a season have none" {
    awk -v OFS=, 'BEGIN { print "x,y"; for (i = 0; i < 5000; i++) { state = (state * 16807 + 1) % 2147483647; walk += state % 100 - 49.5;
        print state % 1000, walk } }' > noise.csv
    oif score -v noise.csv
    equal "$status" 0
    equal "$(grep -c season <<< "$stderr")" 0
    "$OIF" score noise.csv > auto.csv
    "$OIF" score --season off noise.csv | cmp - auto.csv
}

# Key a repeats itself after 48 rows, b after 30, c never. From row 2001 on, a and b are half a period late for 12 rows.
make_keys() {
    awk 'function draw() { state = state * 16807 % 2147483647; return state % 1000 / 1000 }
    function wave(period) { return 10 * sin((i + late * period / 2) * 6.283185307 / period) }
    BEGIN {
        state = 1
        print "host,load"
        for (i = 1; i <= 2500; i++) {
            late = i > 2000 && i <= 2012
            printf "a,%.3f\nb,%.3f\nc,%.3f\n", 20 + wave(48) + draw(), 50 + wave(30) + draw(), draw()
        }
    }' > keys.csv
}

@test "each key finds its own season" {
    make_keys
    "$OIF" score --key host --rows alerts keys.csv | awk -F, '/for this time/ { print $1 }' | sort | uniq -c > found
    equal "$(awk '{ print $2, ($1 > 5) }' found)" $'a 1\nb 1'
    for expected in 'a 48' 'b 30'; do
        read -r key rows <<< "$expected"
        oif score -v --key host <(cat keys.csv; echo "$key,30")
        [[ "${stderr##*$'\n'}" =~ ^"oif: key \"$key\": season of $rows rows, found: strength "9[0-9]"% in load"$ ]]
    done
    oif score -v --key host keys.csv # whose last row is of c
    equal "$(grep -c season <<< "$stderr")" 0
    sed '3000s/.*/broken/' keys.csv | "$OIF" score --key host --on-bad-row skip --rows alerts> /dev/null > skipped.csv
    contains "$(grep '^b,' skipped.csv)" "for this time"
    "$OIF" score --key host --fields score,severity,anomaly,why keys.csv > threads.csv
    "$OIF" score --key host --fields score,severity,anomaly,why keys.csv | cmp - threads.csv
}

@test "a state keeps the season that was found, and what was learned of a search" {
    make_days
    "$OIF" score --exclude at --fields score,severity,anomaly,why days.csv | tail -n +2 > expected.csv
    for rows in 300 1500; do # before it is found, and after
        rm -f days.oif
        head -$((rows + 1)) days.csv | "$OIF" score --exclude at --fields score,severity,anomaly,why --state days.oif | tail -n +2 > scored.csv
        (head -1 days.csv; tail -n +$((rows + 2)) days.csv) > rest.csv
        "$OIF" score -v --exclude at --fields score,severity,anomaly,why --season auto --state days.oif rest.csv 2> said | tail -n +2 >> scored.csv
        cmp scored.csv expected.csv
        [[ "$(tail -1 said)" =~ ^"oif: season of 48 rows, found: strength "9[0-9]"% in load"$ ]]
    done
}

@test "a state keeps its season: another one is refused, and so is none" {
    make_days
    oif score --exclude at --season auto --state days.oif days.csv
    exits 0
    oif score --exclude at --season auto --state days.oif days.csv
    exits 0 "oif: days.oif: resumes after 2500 rows"
    oif score --exclude at --season 50 --state days.oif days.csv
    exits 2 "oif: days.oif: the state was learned with --season off, not 50; leave it out or name another file"
    oif score --exclude at --season off --state days.oif days.csv
    exits 2 "oif: days.oif: the state was learned with --season auto, not off; leave it out or name another file"
    oif score --exclude at --season 48 --state given.oif days.csv
    exits 0
    oif score --exclude at --season 50 --state given.oif days.csv
    exits 2 "oif: given.oif: the state was learned with --season 48, not 50; leave it out or name another file"
}

@test "-v names the seasons that are given, and says how strong they are" {
    make_days
    oif score -v --time at --season 48 --season 1d --season 1w days.csv
    contains "$stderr" "oif: season: 48 rows, 24 h, 7 d"
    contains "$stderr" "oif: season of 48 rows: strength 9"
    contains "$stderr" "oif: season of 24 h: strength 9"
    contains "$stderr" "oif: season of 7 d: strength "
    oif score -v --time at --season 1d --state s days.csv
    oif score -v --state s days.csv
    contains "$stderr" "oif: season: 24 h"
    oif score -v --exclude at --season auto days.csv
    equal "$(grep -c 'oif: season:' <<< "$stderr")" 0
    make_days 40
    oif score -v --exclude at --season 48 days.csv
    contains "$stderr" "oif: season of 48 rows: no column follows it yet, so it does not count"
}

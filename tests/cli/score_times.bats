# oif score --time: what times are taken for, and what is said about them.

load helper

# rows LAST: 40 rows, one every ten seconds, then the lines of LAST.
rows() {
    echo at,x
    awk 'BEGIN { for (i = 0; i < 40; i++) printf "2026-11-15T19:%02d:%02dZ,%d\n", i / 6, i % 6 * 10, i % 3 }'
    printf '%b' "$1"
}

@test "times in order need no words" {
    rows '' > in.csv
    oif score --time at in.csv
    exits 0
    equal "${#lines[@]}" 41
    equal "${lines[1]:0:23}" "2026-11-15T19:00:00Z,0,"
}

@test "times that start over again and again are those of several streams" {
    awk 'BEGIN { print "t,place,x"; for (p = 0; p < 3; p++) for (i = 0; i < 1200; i++) print 1794769500 + 60 * i ",p" p "," i * i % 97 }' > sorted.csv
    oif score sorted.csv
    contains "$stderr" "oif: sorted.csv: times in 't': 2 go back; if another stream begins there: --key COLUMN gives each a model of its own"
    oif score --key place sorted.csv
    [[ "$stderr" != *"go back"* ]]
    awk -F, -v OFS=, 'NR > 1 { $1 = 1794769500 + 60 * NR } NR == 500 || NR == 900 { $1 -= 70 } 1' sorted.csv > late.csv
    oif score late.csv
    contains "$stderr" "times in 't': 2 go back"
    [[ "$stderr" != *"--key COLUMN"* ]]
}

@test "rows that go back, repeated times, missing and bad ones are told in one line at the end" {
    rows '2026-11-15T19:06:20Z,1\n2026-11-15T19:06:40Z,1\n2026-11-15T19:06:40Z,1\n,1\nfoo,1\n2026-02-30,2\n' > in.csv
    oif score --time at in.csv
    exits 0 "oif: in.csv: times in 'at': 1 goes back, 1 repeats the one before, 1 is missing, 2 cannot be read, the first on line 46: 'foo' is not a time: write it as 2026-11-15T19:05:01Z, 15.11.2026 19:05, 1794769501, Nov 15 19:05:01 or 15/Nov/2026:19:05:01 +0000"
    equal "${#lines[@]}" 47
    equal "${lines[45]:0:8}" "foo,1,0."
}

@test "a pause much longer than any before is a gap, and a late row none" {
    rows '2026-11-15T18:00:00Z,1\n2026-11-15T19:06:40Z,1\n2026-11-15T22:06:40Z,1\n2026-11-15T23:06:40Z,1\n2026-11-18T23:06:40Z,1\n' > in.csv
    oif score --time at in.csv
    exits 0 "oif: in.csv: times in 'at': 1 goes back, 2 gaps, the longest 3.0 days before line 46"
    rows '2026-11-15T19:08:10Z,1\n' > in.csv
    oif score --time at in.csv
    exits 0
}

@test "where rows of several keys mix, their order is not told" {
    rows '2026-11-15T19:06:20Z,1\n2026-11-15T19:06:20Z,1\n' > in.csv
    oif score --time at --key x in.csv
    exits 2 "oif: in.csv: no column is left to learn from; name others with --columns, or exclude fewer"
    sed 's/$/,1/; 1s/1$/y/' in.csv > keyed.csv
    oif score --time at --key x keyed.csv
    exits 0
}

@test "where most rows repeat a time, the clock is coarse and nothing is told" {
    (echo at,x && for i in $(seq 100); do echo "2026-11-15T19:00:0$((i / 20)),1"; done) > in.csv
    oif score --time at in.csv
    exits 0
}

@test "a guess is told once: small numbers, and syslog without a year" {
    printf 'at,x\n1,1\n2,2\n3,3\n' > in.csv
    oif score --time at in.csv
    exits 0 "oif: in.csv: the times in 'at' are read as seconds since 1970"
    printf 'at,x\n1794769501250,1\n1794769502250,2\n' > in.csv
    oif score --time at in.csv
    exits 0
    printf 'at,x\nDec 31 23:59:59,1\nJan  1 00:00:00,2\n' > in.csv
    oif score --time at in.csv
    exits 0 "oif: in.csv: the times in 'at' are read as syslog without a year, here 1972"
}

@test "times that cannot be read are shown, and the forms that can" {
    local time
    for time in 09:00 '2026-11-16 14:05 CEST' 2026-W47-1 '16 Nov'; do
        printf 'at;x\n%s;1\n%s;2\n' "$time" "$time" > in.csv
        oif score --time at in.csv
        exits 0 "oif: in.csv: times in 'at': 2 cannot be read, the first on line 2: '$time' is not a time: write it as 2026-11-15T19:05:01Z, 15.11.2026 19:05, 1794769501, Nov 15 19:05:01 or 15/Nov/2026:19:05:01 +0000"
        equal "${lines[2]}" "$time;2;0.5;;"
    done
    printf 'at,x\n2026-10,1\n2026-11,2\n' | "$OIF" score --time at --rate x > rated.csv 2> told
    equal "$(cat told)" ""
    printf 'at,x\n31.10.2026 23:59,1\n01.11.2026 00:00,2\n' | "$OIF" score > rated.csv 2> told
    contains "$(cat told)" "'at' is used as the time of the rows"
}

@test "times of NDJSON are strings, numbers or null" {
    printf '{"at":1794769501,"x":1}\n{"at":null,"x":1}\n{"x":1}\n{"at":"2026-11-15T19:05:03Z","x":2}\n{"at":1794769504,"x":1}\n' > in.ndjson
    oif score --time at in.ndjson
    exits 0 "oif: in.ndjson: times in 'at': 2 are missing, 1 cannot be read, the first on line 5: '1794769504' is not a time: it is a number, and earlier times were dates"
}

@test "a column without any time is doubted after 100 rows, before the end" {
    awk 'BEGIN { print "host,x"; for (i = 0; i < 150; i++) printf "web%d,%d\n", i % 3, i % 7 }' > hosts.csv
    oif score --time host --season 1h hosts.csv
    equal "$status" 0
    contains "$stderr" "oif: hosts.csv: no time in 'host' could be read so far, in 100 rows: 'web0' is not a time"
    contains "$stderr" "name the column of the times with --time"
    head -100 hosts.csv > few.csv
    oif score --time host --season 1h few.csv
    [[ "$stderr" != *"so far"* ]]
    sed '2s/web0/2026-11-15T18:00:00Z/' hosts.csv > one.csv
    oif score --time host --season 1h one.csv
    [[ "$stderr" != *"so far"* ]]
}

# A date and a time of day in two columns, as many programs write them. $1: rows per day.
dates() {
    echo Date,Time,Qty
    awk -v n="$1" 'BEGIN { for (i = 0; i < 150; i++) printf "2026-11-%02d,19:%02d:%02d,%d\n", 15 + int(i / n), i / 60, i % 60, i % 7 }'
}

@test "rates by times that seldom advance are missing, which is told after 100 rows, before the end" {
    dates 75 > in.csv
    oif score --time Date --exclude Time --rate Qty in.csv
    exits 0 "oif: in.csv: times in 'Date': 98 of 100 repeat the one before, and a rate needs a step forward in time, so those rates are missing; if the time of day is in another column, name both: --time Date+Time"
    head -51 in.csv > few.csv
    oif score --time Date --exclude Time --rate Qty few.csv
    contains "$stderr" "times in 'Date': 49 of 50 repeat the one before"
    dates 150 | sed 's/,/T/' > joined.csv
    oif score --time DateTTime --rate Qty joined.csv
    exits 0
    (echo at,x && for i in $(seq 100); do echo "2026-11-15T19:00:0$((i / 20)),1"; done) > fast.csv
    oif score --time at --rate x fast.csv
    exits 0 "oif: fast.csv: times in 'at': 94 of 100 repeat the one before, and a rate needs a step forward in time, so those rates are missing; --rate without --time learns the increase from row to row"
}

@test "with keys, the times of the first key show whether rates are missing" {
    awk 'BEGIN { print "at,k,x"; for (i = 0; i < 150; i++) printf "2026-11-15,h%d,%d\n", i % 3, i }' > dates.csv
    local missing="repeat the one before, and a rate needs a step forward in time, so those rates are missing; if the time of day is in another column, name both: --time Date+Time"
    oif score --key k --time at --rate x dates.csv
    exits 0 "oif: dates.csv: times in 'at', rows of the first key: 33 of 34 $missing"
    oif eval --label l --key k --time at --rate x <(sed 's/$/,0/; 1s/0$/l/; $s/0$/1/' dates.csv)
    contains "$stderr" "times in 'at', rows of the first key: 33 of 34 $missing"
    awk 'BEGIN { print "at,k,x"; for (i = 0; i < 150; i++) printf "2026-11-15T19:%02d:00Z,h%d,%d\n", i / 3, i % 3, i }' > minutes.csv
    oif score --key k --time at --rate x minutes.csv
    exits 0
    awk 'BEGIN { print "at,k,x"; for (i = 0; i < 600; i++) printf "2026-11-15T19:00:%02dZ,h%d,%d\n", i / 60, i % 3, i }' > fast.csv
    oif score --key k --time at --rate x fast.csv
    exits 0 "oif: fast.csv: times in 'at', rows of the first key: 32 of 34 repeat the one before, and a rate needs a step forward in time, so those rates are missing; --rate without --time learns the increase from row to row"
}

@test "a season of a day or less needs a time of day" {
    dates 75 > in.csv
    oif score --time Date --exclude Time --season 1d in.csv
    exits 0 "oif: in.csv: times in 'Date' are dates without a time of day, which the season needs; if the time of day is in another column, name both: --time Date+Time"
    oif score --time Date --exclude Time --season 1w in.csv
    exits 0
    oif score --time Date --exclude Time in.csv
    exits 0
}

# shellcheck shell=bash
# Dates, numbers and columns as files have them.

load helper

# rows N FORMAT...: N rows of awk's printf; i is the row, v a number that looks random.
rows() {
    awk -v n="$1" "BEGIN { s = 7; for (i = 0; i < n; i++) { s = s * 16807 % 2147483647; v = s % 97; $2 } }"
}

# The first and the last time of alerts, in seconds: episodes of Prometheus have none, so NDJSON.
row_every() {
    "$OIF" score -v "$@" 2>&1 > /dev/null | sed -n 's/^oif: time, a row every \(.*\):.*/\1/p'
}

taken="as if you had given --time at; --exclude at leaves it out"

@test "dates of all kinds are taken for the time" {
    local form
    for form in '%02d/01/2026 %02d:00' '2026/1/%d %d:00' '%d-Jan-2026 %02d:00' 'Jan %d, 2026 %d:00' \
        '%d January 2026 %02d:00' '%02d.01.2026 %02d:00' '202601%02d%02d0000' '202601%02d %02d:00' \
        'Thu, %d Jan 2026 %02d:00:00 +0100' 'Thu Jan %2d %02d:00:00 2026' '%02d/Jan/2026:%02d:00:00 +0200' \
        'Jan %2d %02d:00:00'; do
        (echo 'at;x'; rows 400 "printf \"$form;%d\\n\", 1 + int(i / 24), i % 24, v") > in.csv
        oif score in.csv
        contains "$stderr" "'at' is used as the time of the rows, $taken"
        equal "$form: $(row_every in.csv)" "$form: 60 min"
    done
    (echo 'at,x'; rows 400 'printf "1/%d/2026 %d:05 %s,%d\n", 1 + int(i / 24), (i + 11) % 12 + 1, i % 24 < 12 ? "AM" : "PM", v') > in.csv
    equal "$(row_every in.csv)" "60 min"
}

@test "the file decides whether 01\/02 has the day first, and the option decides otherwise" {
    (echo at,x; rows 400 'printf "%02d/02/2026,%d\n", 1 + int(i / 20), v') > in.csv
    oif score in.csv
    exits 0 "oif: in.csv: 'at' is used as the time of the rows, $taken
oif: in.csv: 01/02/2026 in 'at' is read with the day first, as other rows show; --time-format month-first reads it the other way"
    # no row shows it: the times that are closer together
    (echo at,x; rows 200 'printf "%02d/02/2026,%d\n", 1 + int(i / 20), v') > in.csv
    oif score in.csv
    contains "$stderr" "01/02/2026 in 'at' is read with the day first; --time-format month-first"
    oif score --time-format month-first --time at in.csv
    exits 0 ""
    (echo at,x; rows 200 'printf "02/%02d/2026,%d\n", 1 + int(i / 20), v') > in.csv
    oif score in.csv
    contains "$stderr" "02/01/2026 in 'at' is read with the month first; --time-format day-first"
}

@test "a date that contradicts the order of all others is an error with its line" {
    (echo at,x; rows 1500 'printf "%02d/02/2026,%d\n", 1 + int(i / 200), v'; echo '02/13/2026,1') > in.csv
    oif score in.csv
    equal "$status" 1
    contains "$stderr" "oif: in.csv:1502: '02/13/2026': its month comes first, and earlier times were read with the day first"
    oif score --on-bad-row skip in.csv
    equal "$status" 0
    contains "$stderr" "1 cannot be read, the first on line 1502"
}

@test "--time-format reads times by a pattern" {
    (echo at,x; rows 400 'printf "%02dh%02d on %02d-%02d-26,%d\n", i % 24, 30, 1 + int(i / 24), 1, v') > in.csv
    equal "$(row_every --time at --time-format '%Hh%M on %d-%m-%y' in.csv)" "60 min"
    equal "$(row_every --time-format '%Hh%M on %d-%m-%y' in.csv)" "60 min"
    oif score --time-format '%H:%M' in.csv
    exits 2 "oif: --time-format: expected a pattern with a year, month and day, such as '%d.%m.%Y %H:%M', or day-first or month-first, not '%H:%M'"
}

@test "the date and the time of day may be in two columns" {
    (echo 'Date;Time;x'; rows 400 'printf "%02d/03/2004;%02d.00.00;%d\n", 10 + int(i / 24), i % 24, v') > in.csv
    oif score in.csv
    contains "$stderr" "oif: in.csv: the times of the rows are in 'Date' and 'Time', as if you had given --time Date+Time"
    oif score --time Date+Time --time-format day-first --rate x in.csv
    exits 0 ""
    oif score --time Date+Clock in.csv
    contains "$stderr" "there is no column 'Date+Clock'"
    # a state remembers both
    oif score --time Date+Time --time-format day-first --state s.oif in.csv
    exits 0 ""
    contains "$("$OIF" state --keys s.oif)" 2004-03-26T15:00:00Z
    oif score --time-format day-first --state s.oif in.csv
    equal "$status" 0
    if [[ "$stderr" == *"there is no column"* ]]; then false; fi
}

@test "of two columns of times the one that advances is taken" {
    (echo load_timestamp,timestamp,x; rows 300 'printf "2026-01-05 00:00:00,2026-01-01 %02d:%02d:00,%d\n", i / 60, i % 60, v') > in.csv
    oif score in.csv
    contains "$stderr" "'timestamp' is used as the time of the rows"
}

@test "numbers with units, currencies and groups are learned, in one unit per column" {
    (echo cpu,lat,mem,price,big,x; rows 300 'printf "%d%%,%s,%s,\"$1,%03d.50\",1 %03d,%d\n", v, i % 2 ? v "ms" : v / 1000 "s", i % 2 ? v "KiB" : v * 1024 " B", v, v, v') > in.csv
    oif score -v in.csv
    contains "$stderr" "numbers with units are read in these: cpu ('%'), lat ('s'), mem ('B'), price ('\$')"
    contains "$stderr" "learns from 6 columns: cpu, lat, mem, price, big, x"
    # the same scores as plain numbers
    (echo cpu,lat,mem,price,big,x; rows 300 'printf "%d,%.3f,%d,1%03d.50,1%03d,%d\n", v, v / 1000, v * 1024, v, v, v') > plain.csv
    "$OIF" score --fields score in.csv 2> /dev/null | sed 's/.*,//' > scores
    "$OIF" score --fields score plain.csv 2> /dev/null | sed 's/.*,//' > plain
    cmp scores plain
    printf 'lat\n5 ms\n7 MB\n' > in.csv
    oif score in.csv
    equal "$status" 1
    contains "$stderr" "oif: in.csv:3:1: '7 MB' is in another unit than column \"lat\", which is in s"
}

@test "strings of NDJSON are read as fields of CSV are" {
    (echo lat,n,y; rows 300 'printf "%dms,%d,%s\n", v, v, v % 10 ? v : "NA"') > in.csv
    sed 1d in.csv | awk -F, '{ printf "{\"lat\":\"%s\",\"n\":\"%s\",\"y\":\"%s\"}\n", $1, $2, $3 }' > in.ndjson
    "$OIF" score --fields score in.csv 2> /dev/null | sed '1d; s/.*,//' > scores
    "$OIF" score --fields score --output ndjson in.ndjson 2> told | jq -c .oif.score > others
    cmp scores others
    equal "$(cat told)" "oif: in.ndjson: numbers with units are read in these: lat ('s')"
}

@test "a question mark, #N\/A, a dash and their like are missing" {
    local word
    for word in '?' '#N/A' '\N' null NA - -- n/a '' '#DIV/0!' '(null)' '<NA>'; do
        printf 'a,b\n1,2\n3,%s\n' "$word" > in.csv
        oif score --fields score in.csv
        exits 0 ""
    done
}

@test "--missing names values, for all columns or one" {
    (echo a,b; rows 300 'printf "%s,%s\n", i % 9 ? v : -200, i % 9 ? v : -200') > in.csv
    oif score in.csv
    exits 0 "oif: in.csv: -200, far from all other values, is repeated in a, b; if it means missing, add --missing -200"
    sed 's/-200//g' in.csv > empty.csv
    "$OIF" score --fields score empty.csv | sed 's/.*,//' > expected
    "$OIF" score --fields score --missing -200 in.csv 2> told | sed 's/.*,//' > scores
    cmp expected scores
    equal "$(cat told)" ""
    sed 's/-200$//' in.csv > half.csv
    "$OIF" score --fields score half.csv 2> told | sed 's/.*,//' > expected
    "$OIF" score --fields score --missing b=-200.0 in.csv 2> told | sed 's/.*,//' > scores
    cmp expected scores
    contains "$(cat told)" "-200, far from all other values, is repeated in a;"
    printf 'a,b\n1,2\nunknown,3\nlost,4\n' > in.csv
    oif score --fields score --missing unknown,a=lost in.csv
    exits 0 ""
}

@test "row numbers and parts of the date are left out unless --columns names them" {
    (echo ',year,month,day,hour,pm'; rows 300 'printf "%d,2026,1,%d,%d,%d\n", i, 1 + int(i / 24), i % 24, v') > in.csv
    oif score in.csv
    exits 0 "oif: in.csv: left out, as it is a row number: x0; to learn it, list all columns with --columns A,B,...
oif: in.csv: left out, as it is a part of the date: year, month, day, hour; to learn it, list all columns with --columns A,B,..."
    oif score -v --columns x0,hour,pm in.csv
    contains "$stderr" "learns from 3 columns: x0, hour, pm"
    (echo LineId,Level; rows 300 'printf "%d,%s\n", i + 1, v % 2 ? "INFO" : "WARN"') > in.csv
    oif score in.csv
    equal "$status" 1
    contains "$stderr" "left out, as it is a row number: LineId"
    contains "$stderr" "no column is left to learn from: text in Level ('INFO'); to learn which texts are rare, add --category Level"
    seq 300 > in.csv
    oif score in.csv
    contains "$stderr" "only ever rising, so every value is new: x0"
}

# Files that oif reads: blanks between columns, comments, decimal commas, formats of other programs, sizes with units.

load helper

# ---- Blanks ----

make_vmstat() {
    cat > vmstat.txt << 'END'
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 812340  10240 204800    0    0     5    12  101  220  3  1 96  0  0
 0  0      0 812100  10240 204800    0    0     0     0   99  210  2  1 97  0  0
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
12  1      0 811000  10240 204900    0    0     0   800  150  900 80 15  5  0  0
END
}

@test "vmstat is read with --csv sep=space, its repeated lines left out" {
    make_vmstat
    oif score --csv sep=space --csv 'comment=procs' --fields score,why vmstat.txt
    exits 0
    equal "${#lines[@]}" 4
    equal "${lines[0]}" "$(sed -n 2p vmstat.txt) score why"
    equal "${lines[1]}" "$(sed -n 3p vmstat.txt) 0.5 \"\""
    equal "${lines[3]}" "$(sed -n 7p vmstat.txt) 0.5 \"\""
    tail -n +2 vmstat.txt | head -3 > short.txt
    oif score --csv sep=space --columns r,free,id --output ndjson --fields score short.txt
    exits 0
    equal "$(jq -c '[.r, .free, .st]' <<< "${lines[0]}")" "[1,812340,0]"
    head -4 vmstat.txt > once.txt
    oif score --csv sep=space --csv skip=1 --fields score once.txt
    exits 0
    equal "${#lines[@]}" 3
}

@test "an added field without a value can be seen between blanks" {
    printf 'a b\n1 2\n' > in.txt
    oif score --csv sep=space --fields score,episode_id,episode,expected,why in.txt
    exits 0
    equal "$output" 'a b score episode_id episode expected why
1 2 0.5 "" "" "" ""'
}

@test "a row between blanks that is bad is refused at its field" {
    printf ' a  b\n 1  2\n 3   x\n' > in.txt
    oif score --csv sep=space --fields score in.txt
    exits 1 "oif: in.txt:3:6: 'x' is not a number in column \"b\"; leave the column out or make it empty (--exclude b)"
    equal "$output" $' a  b score\n 1  2 0.5'
}

@test "columns between blanks are proposed where they are taken for one" {
    printf ' a  b\n 1  2\n' > in.txt
    oif score in.txt
    equal "$status" 1
    contains "$stderr" "--csv sep=space"
}

# ---- Comments ----

@test "lines with # before the header are left out, and with --csv comment=# everywhere" {
    printf '# station 7, north\n# 2026\na,b\n1,2\n' > in.csv
    oif score --fields score in.csv
    exits 0
    equal "$output" $'a,b,score\n1,2,0.5'
    printf '# again\n3,4\n' >> in.csv
    oif score --fields score in.csv
    exits 1 "oif: in.csv:5:8: this row has 1 field, the first line has 2; if it is a comment, name its beginning with --csv comment=#"
    oif score --fields score --csv comment=# in.csv
    exits 0
    equal "$output" $'a,b,score\n1,2,0.5\n3,4,0.5'
    oif score --fields score --csv comment=# in.csv in.csv
    exits 0
    equal "${#lines[@]}" 5
    oif score --csv 'comment=' in.csv
    exits 2 "oif: --csv: expected words such as 'sep=; skip=3 decimal=, comment=# header=no', with sep=tab or sep=space for blanks, not 'comment='"
}

@test "InfluxDB's lines with # between tables get the advice --csv comment=#" {
    cat > annotated.csv <<'EOF'
#group,false,false,true
#datatype,string,long,double
#default,_result,,
,result,table,_value
EOF
    (cat annotated.csv; printf ',,0,1.5\n,,0,2.5\n\n'; cat annotated.csv; printf ',,1,1.5\n') > influx.csv
    oif score --fields score influx.csv
    equal "$status" 1
    contains "$stderr" "oif: influx.csv: 3 of the first 6 rows begin with #; leave comments out with --csv comment=#"
    contains "$stderr" "influx.csv:9:18: 'long' is not a number in column \"table\"; if it is a comment, name its beginning with --csv comment=#"
    oif score --fields score --csv comment=# influx.csv
    exits 0
    equal "$output" $',result,table,_value,score\n,,0,1.5,0.5\n,,0,2.5,0.5\n,,1,1.5,0.5'
    printf 'note,n\na,1\n#b,2\n' > one.csv
    oif score --exclude note one.csv
    exits 0 "oif: one.csv: 1 of the first 2 rows begins with #; leave comments out with --csv comment=#"
    printf 'color,n\n#ff0000,1\n#00ff00,2\n' > colors.csv
    oif score --exclude color colors.csv
    exits 0
}

@test "a header that begins with # stays the header" {
    printf '# hostname;interval;load\nvm;60;5\nvm;60;6\n' > sadf.csv
    oif score --exclude '# hostname' --fields score sadf.csv
    exits 0
    equal "${lines[0]}" "# hostname;interval;load;score"
}

@test "a later header with a byte order mark is left out, also in a pipe" {
    printf 'a,b\n1,2\n\xef\xbb\xbfa,b\n3,4\n' > in.csv
    oif score --fields score in.csv
    exits 0
    equal "$output" $'a,b,score\n1,2,0.5\n3,4,0.5'
}

# ---- The delimiter in the first line ----

@test "a first line sep=; names the delimiter, as for Excel, in each file" {
    printf 'sep=;\r\na,x;b\r\n1;2\r\n' > in.csv
    oif score --fields score in.csv in.csv
    exits 0
    equal "$output" $'a,x;b;score\r\n1;2;0.5\r\n1;2;0.5\r'
    printf '"sep=\t"\na\tb\n1\t2\n' | "$OIF" score --fields score --on-bad-row skip | cmp - <(printf 'a\tb\tscore\n1\t2\t0.5\n')
    printf 'sep=;\na,b\n1,2\n' | "$OIF" score --fields score --csv 'sep=,' | cmp - <(printf 'a,b,score\n1,2,0.5\n')
}

# ---- Decimal commas ----

@test "decimal commas between semicolons are numbers, rows stay as they are" {
    printf 'a;b\n1,5;2,7\n1.234,5;3\n' > in.csv
    oif score --fields score in.csv
    exits 0
    equal "$output" $'a;b;score\n1,5;2,7;0,5\n1.234,5;3;0,5'
    oif score --fields score --output ndjson in.csv
    equal "$(jq -c '[.a, .b]' <<< "$output")" $'[1.5,2.7]\n[1234.5,3]'
    make_stream
    "$OIF" score --fields score stream.csv | sed 's/.*,//' > expected
    tr ',.' ';,' < stream.csv | "$OIF" score --fields score | sed 's/.*;//; s/,/./' | cmp - expected
}

@test "added numbers have the decimal sign of the row" {
    local fields=score,severity,threshold,anomaly,grade,ready,episode,episode_id
    make_stream
    tr ',.' ';,' < stream.csv > german.csv
    "$OIF" score --alert-rate 0.05 --fields $fields stream.csv > points.csv
    "$OIF" score --alert-rate 0.05 --fields $fields german.csv > commas.csv
    # reasons have semicolons, so there they are in quotes
    tr ',;' '.,' < commas.csv | tr -d '"' | cmp - <(tr ';' ',' < points.csv)
    equal "$(grep -c '[0-9]\.[0-9]' commas.csv)" 0
    # threads read ahead of the rows that are written
    awk 'BEGIN { print "k;a"; for (i = 0; i < 300; i++) print "h" i % 3 ";" i % 7 (i < 200 ? "" : ",5") }' > keys.csv
    "$OIF" score --key k --fields score keys.csv > expected
    "$OIF" score --key k --fields score keys.csv | cmp - expected
    equal "$(sed -n '201p;202p' expected | sed 's/.*;[0-9]*\([.,]\)[0-9]*$/\1/')" $'.\n,'
    # before the first comma it is not known; an option says so
    printf 'a;b\n1;2\n1,5;2\n1;2\n' > late.csv
    oif score --fields score late.csv
    equal "$output" $'a;b;score\n1;2;0.5\n1,5;2;0,5\n1;2;0,5'
    oif score --fields score --csv decimal=, late.csv
    equal "$output" $'a;b;score\n1;2;0,5\n1,5;2;0,5\n1;2;0,5'
    equal "$(printf 'a;b\n1.5;2\n' | "$OIF" score --fields score)" $'a;b;score\n1.5;2;0.5'
}

@test "a file with added decimal commas is read again, with and without a header" {
    make_stream
    tr ',.' ';,' < stream.csv > german.csv
    "$OIF" score stream.csv > points.csv
    "$OIF" score german.csv > commas.csv
    oif score --fields score commas.csv
    exits 0 "oif: commas.csv: columns score to anomaly were added by an earlier 'oif score' and are not learned; to learn them, list all columns with --columns A,B,...
oif: commas.csv: rows already have a field 'score'; the last one is of this run"
    equal "$(sed 's/.*;//; s/,/./' <<< "$output")" "$("$OIF" score --fields score points.csv 2> notes | sed 's/.*,//')"
    "$OIF" eval --label fault points.csv 2> notes | sed -n '/^rows per second/q;2,$p' > expected
    "$OIF" eval --label fault commas.csv 2> notes | sed -n '/^rows per second/q;2,$p' | cmp - expected
    "$OIF" score --columns x,score,severity --fields score commas.csv | sed 's/.*;//; s/,/./' > found
    "$OIF" score --columns x,score,severity --fields score points.csv | sed 's/.*,//' | cmp - found
    tail -n +2 commas.csv | "$OIF" score --fields score | sed 's/.*;//; s/,/./' > found
    tail -n +2 points.csv | "$OIF" score --fields score | sed 's/.*,//' | cmp - found
}

@test "a decimal comma after decimal points is refused, and --csv decimal=, reads all on one scale" {
    { echo 'a;b'; for i in $(seq 199); do echo "4.$((i % 10))19;39"; done; echo '5.969,5;71,2'; } > in.csv
    oif score --fields score in.csv
    exits 1 "oif: in.csv:201:1: '5.969,5' in column \"a\" has a decimal comma, but the decimal sign has been the point since line 2; choose the decimal comma with --csv decimal=,"
    oif score --fields score --csv decimal=, --output ndjson in.csv
    exits 0
    equal "$(jq -c '[.a, .b]' <<< "$output" | sed -n '1p;$p')" $'[4119,39]\n[5969.5,71.2]'
    # seen within the first rows
    printf 'a;b\n4.419;39\n5.969,5;71,2\n' > in.csv
    oif score --fields score in.csv
    equal "$status" 1
    contains "$stderr" "--csv decimal=,"
}

@test "--csv decimal=, is for other delimiters, and points are then refused" {
    printf 'a\tb\n1,234\t2\n1,5\t2\n' > in.tsv
    oif score --fields score in.tsv
    exits 1 "oif: in.tsv:3:1: '1,5' in column \"a\" has a decimal comma, but the decimal sign is the point; choose the decimal comma with --csv decimal=,"
    printf 'a\tb\n1,5\t2\n1.5\t2\n' > in.tsv
    oif score --fields score --csv decimal=, in.tsv
    exits 1 "oif: in.tsv:3:1: '1.5' in column \"a\" has a decimal point, but the decimal sign is the comma"
    equal "$output" $'a\tb\tscore\n1,5\t2\t0,5'
    oif score --csv decimal=, --csv 'sep=,' in.tsv
    exits 2 "oif: the comma cannot be both the delimiter and the decimal sign"
}

# ---- Files of other programs ----

@test "a JSON array and JSON over several lines are answered with jq if they must be NDJSON" {
    printf '[{"a":1},\n {"a":2}]\n' > in.json
    oif score --format ndjson in.json
    exits 1 "oif: in.json: this is a JSON array, and oif reads one object per line; convert it: jq -c '.[]' in.json | oif score"
    jq -c '.[]' in.json | "$OIF" score > /dev/null
    printf '[1, 2]' | { run --separate-stderr "$OIF" score; equal "$status" 1; contains "$stderr" "jq -c '{x: .[]}' FILE"; }
    printf '{\n  "a": 1,\n  "b": 2\n}\n' > pretty.json
    oif score --format ndjson pretty.json
    exits 1 "oif: pretty.json: this is JSON over several lines, and oif reads one object per line; convert it: jq -c . pretty.json | oif score"
    cp pretty.json 'a $(b).json'
    oif score --format ndjson 'a $(b).json'
    contains "$stderr" "jq -c . FILE | oif score"
    gzip in.json
    oif score --format ndjson in.json.gz
    contains "$stderr" "this is a JSON array"
    printf '[15/Nov/2026:19:05:01 +0000],a\n[15/Nov/2026:19:05:02 +0000],1\n' > log.csv
    oif score --exclude '[15/Nov/2026:19:05:01 +0000]' log.csv
    exits 0
}

@test "arrays of numbers are answered with what a line must be, and the advice works" {
    printf '[1,2]\n[3,4]\n' > rows.ndjson
    oif score rows.ndjson
    exits 1 "oif: rows.ndjson: this is JSON with an array per line, and a line must be an object, such as {\"x\": 1, \"y\": 2}, or a row of CSV; convert it: jq -r @csv rows.ndjson | oif score"
    equal "$(jq -r @csv rows.ndjson | "$OIF" score --fields score)" $'1,2,0.5\n3,4,0.5'
    printf '[[1,2],\n [3,4]]\n' > rows.json
    oif score rows.json
    exits 1 "oif: rows.json: this is a JSON array of arrays, and oif reads one object or row of CSV per line; convert it: jq -r '.[] | @csv' rows.json | oif score"
    equal "$(jq -r '.[] | @csv' rows.json | "$OIF" score --fields score)" $'1,2,0.5\n3,4,0.5'
    printf '[\n1,\n2\n]\n' > values.json
    oif score values.json
    exits 1 "oif: values.json: this is a JSON array of values, and a line must be an object, such as {\"x\": 1}; convert it: jq -c '{x: .[]}' values.json | oif score"
    equal "$(jq -c '{x: .[]}' values.json | "$OIF" score --fields score | jq -c .x)" $'1\n2'
}

@test "line ends of CR alone are named" {
    printf 'a,b\r1,2\r3,4\r' > in.csv
    oif score in.csv
    exits 1 "oif: in.csv: this is text whose lines end with CR alone; convert it: tr '\r' '\n' < in.csv | oif score"
    equal "$(tr '\r' '\n' < in.csv | "$OIF" score --fields score)" $'a,b,score\n1,2,0.5\n3,4,0.5'
    printf 'a,b\r\n1,2\r\n' > in.csv
    oif score in.csv
    exits 0
}

@test "UTF-16 and UTF-32 are answered with iconv, and the advice works" {
    for encoding in UTF-16 UTF-32 UTF-16LE UTF-16BE UTF-32LE UTF-32BE; do
        printf 'a,b\n1,2\n' | iconv -f UTF-8 -t $encoding > in.csv
        for bad in fail skip; do
            oif score --on-bad-row $bad in.csv
            exits 1 "oif: in.csv: this is $encoding; convert it: iconv -f $encoding -t UTF-8 in.csv | oif score"
        done
        equal "$(iconv -f $encoding -t UTF-8 in.csv | "$OIF" score --fields score)" $'a,b,score\n1,2,0.5'
    done
    printf '\xfe\xff\0a\0,\0b\0\n' > in.csv
    oif eval --label b - < in.csv
    exits 1 "oif: <stdin>: this is UTF-16; convert it: iconv -f UTF-16 -t UTF-8 FILE | oif score"
}

@test "NUL bytes, as after a power cut, are answered with tr" {
    { printf 'a,b\n1,2\n'; head -c 5000 /dev/zero; printf '5,6\n7,8\n'; } > in.csv
    oif score --fields score in.csv
    exits 1 "oif: in.csv:3:1: this line has NUL bytes, as after a crash or power cut; convert it: tr -d '\000' < in.csv | oif score"
    equal "$(tr -d '\000' < in.csv | "$OIF" score --fields score)" $'a,b,score\n1,2,0.5\n5,6,0.5\n7,8,0.5'
    oif score --fields score --on-bad-row skip in.csv
    equal "$output" $'a,b,score\n1,2,0.5\n7,8,0.5'
    printf '{"a":1}\n\0\0{"a":2}\n' > in.ndjson
    oif score in.ndjson
    contains "$stderr" "oif: in.ndjson:2:1: this line has NUL bytes"
    { head -c 50 /dev/zero; printf '\na,b\n1,2\n'; } > start.csv
    oif score start.csv
    equal "$status" 1
    contains "$stderr" "tr -d '\000' < start.csv | oif score"
    equal "$(tr -d '\000' < start.csv | "$OIF" score --fields score)" $'a,b,score\n1,2,0.5'
}

@test "rows with one delimiter too many at the end are answered with sed" {
    local delimiter sed
    for delimiter in ',' ';' $'\t'; do
        printf 'a,b\r\n1,2,\r\n3,4,\r\n' | tr , "$delimiter" > in.csv
        oif score in.csv
        sed="sed 's/${delimiter/$'\t'/\\t}\\r*\$//' in.csv"
        exits 1 "oif: in.csv:2:5: this row has 3 fields, the first line has 2, and a delimiter ends the row; convert it: $sed | oif score"
        equal "$(eval "$sed" | "$OIF" score --fields score | tr "$delimiter" , | tr -d '\r')" $'a,b,score\n1,2,0.5\n3,4,0.5'
    done
}

@test "Parquet, Arrow, Excel and SQLite files are answered with a way to convert them" {
    printf 'PAR1\x15\x04\x15' > in.parquet
    oif score in.parquet
    exits 1 "oif: in.parquet: this is Parquet; convert it: duckdb -c \"copy (from 'in.parquet') to '/dev/stdout' (format csv)\" | oif score"
    printf 'ARROW1\0\0' > in.arrow
    oif score < in.arrow
    equal "$status" 1
    contains "$stderr" "oif: <stdin>: this is an Arrow file; convert it: python3 -c \"import pandas"
    printf 'PK\x03\x04\x14\0' > in.xlsx
    oif score in.xlsx
    contains "$stderr" "read_excel('in.xlsx')"
    python3 -c 'import sqlite3; d = sqlite3.connect("in.db"); d.execute("create table t (a)"); d.commit()'
    oif score in.db
    contains "$stderr" "sqlite3 -header -csv in.db 'select * from TABLE' | oif score"
    printf 'PAR1,b\n1,2\n' | "$OIF" score --fields score | cmp - <(printf 'PAR1,b,score\n1,2,0.5\n')
}

@test "advice does not name a compressed file, which the command could not read" {
    printf '[{"a": 1}, {"a": 2}]' | gzip > in.json.gz
    oif score --format ndjson in.json.gz
    exits 1 "oif: in.json.gz: this is a JSON array, and oif reads one object per line; convert it: jq -c '.[]' FILE | oif score"
}

# ---- Sizes ----

@test "--memory-limit takes K, M, G and T" {
    make_stream
    for size in 1000000000 1G 1GiB 500M 1.5G 2T 900MB; do
        oif score --key fault --memory-limit $size stream.csv
        exits 0
    done
    oif score --memory-limit 1Q stream.csv
    exits 2 "oif: --memory-limit: expected a number of bytes such as 500M or 2G, not '1Q'"
    "$OIF" score --key x --memory-limit 1MiB --state a.oif stream.csv > /dev/null 2>&1
    contains "$("$OIF" state inspect --json a.oif)" '"memory_limit": 1048576'
}

# Columns find their role: text, times, numbers that only rise, keys of NDJSON that come later; --strict; lists of names.

load helper

# A CSV as people have it: a time, text, a number in 600 rows.
make_log() {
    awk 'BEGIN {
        OFS = ","
        state = 1
        print "ts,host,load,msg"
        for (i = 0; i < 600; i++) {
            state = state * 16807 % 2147483647
            printf "2026-11-15T%02d:%02d:%02dZ,h%d,%d,started\n", i / 3600, i / 60 % 60, i % 60, i % 3, state % 100
        }
    }' > log.csv
}

text_note="use it with --category, --key, --time or --label, or add --exclude"

# ---- Text ----

@test "text columns are left out with one note that names all of them, and a time is found" {
    make_log
    oif score log.csv
    exits 0 "oif: log.csv: 'ts' is used as the time of the rows, as if you had given --time ts; --exclude ts leaves it out
oif: log.csv: text in host ('h0'), msg ('started'): left out; $text_note host,msg to leave it out without this note"
    equal "${#lines[@]}" 601
    printf '%s\n' "$output" > found
    "$OIF" score --time ts --exclude host,msg log.csv > expected 2> told
    equal "$(cat told)" ""
    cmp found expected
}

@test "the same for NDJSON and for a stream" {
    printf '{"host":"a","x":1,"o":{"t":"text","y":2}}\n{"host":"b","x":2,"o":{"t":"","y":2}}\n' > in.ndjson
    oif score in.ndjson
    exits 0 "oif: in.ndjson: text in host ('a'), o.t ('text'): left out; $text_note host,o.t to leave it out without this note"
    run --separate-stderr "$OIF" score --fields score < in.ndjson
    exits 0 "oif: <stdin>: text in host ('a'), o.t ('text'): left out; $text_note host,o.t to leave it out without this note"
    contains "$output" '"y":2},"oif":{"score":0.5}}'
}

@test "a name with a comma can be pasted" {
    printf '"a,b",my host,x\nu,v,1\n' > in.csv
    oif score in.csv
    exits 0 "oif: in.csv: text in a,b ('u'), my host ('v'): left out; $text_note '\"a,b\",my host' to leave it out without this note"
    oif score --exclude '"a,b",my host' in.csv
    exits 0 ""
}

@test "--strict names all text columns at once, with the option to paste" {
    make_log
    oif score --strict log.csv
    exits 1 "oif: log.csv: text in ts ('2026-11-15T00:00:00Z'), host ('h0'), msg ('started'), and --strict does not guess what it is for: add --exclude ts,host,msg, \
or use it with --key, --label or --category; times are used with --time ts"
    equal "$output" ""
    oif score --strict --exclude ts,host,msg log.csv
    exits 0 ""
}

@test "text among numbers, and text that comes late, is still an error with its place, and says how to leave it out" {
    (printf 'a,b\n'; seq 2000 | sed 's/.*/1,&7/'; echo 1,off) > in.csv
    oif score --exclude a in.csv
    equal "$status" 1
    contains "$stderr" "in.csv:2002:3: 'off' is not a number in column \"b\"; leave the column out or make it empty (--exclude b)"
    printf 'a,b\n1,off\n1,2\n1,3\n' > in.csv
    oif score in.csv
    exits 1 "oif: in.csv:2:3: 'off' is not a number in column \"b\"; leave the column out or make it empty (--exclude b)"
}

@test "text in a column that was empty in the first rows is missing, not an error" {
    (echo a,note,b; seq 1500 | sed 's/.*\(.\)$/\1,,5/'; printf '1,late,5\n2,later,6\n3,7,8\n') > in.csv
    (echo a,note,b; seq 1500 | sed 's/.*\(.\)$/\1,,5/'; printf '1,,5\n2,,6\n3,7,8\n') > empty.csv
    oif score --fields score in.csv
    exits 0 "oif: in.csv:1502: text in 'note', which was empty in the first rows; it counts as missing; --exclude note leaves it out"
    printf '%s\n' "$output" | sed 's/.*,//' | cmp - <("$OIF" score --fields score empty.csv | sed 's/.*,//')
    oif score --strict in.csv
    equal "$status" 1
    contains "$stderr" "in.csv:1502:3: 'late' is not a number"
    oif score --columns a,note in.csv
    contains "$stderr" "in.csv:1502:3: 'late' is not a number"
    sed '1503s/^2/x/' in.csv > bad.csv
    oif score bad.csv
    equal "$status" 1
    contains "$stderr" "bad.csv:1503:1: 'x' is not a number"
    (seq 1500 | sed 's/.*\(.\)$/{"a":\1,"note":null}/'; echo '{"a":1,"note":"late"}') > in.ndjson
    oif score in.ndjson
    exits 0 "oif: in.ndjson:1501: text in 'note', which was empty in the first rows; it counts as missing; --exclude note leaves it out"
}

@test "text in such a column does not hide a bad number in another one" {
    local bad="'x' is not a number in column \"b\""
    (echo a,note,b; seq 1500 | sed 's/.*\(.\)$/\1,,5/'; printf '1,late,5\n2,"two\nlines",x\n3,7,8\n4,late,\n') > in.csv
    oif score --fields score in.csv
    exits 1 "oif: in.csv:1502: text in 'note', which was empty in the first rows; it counts as missing; --exclude note leaves it out
oif: in.csv:1504:8: $bad; leave the column out or make it empty (--exclude b)"
    oif score --fields score --on-bad-row skip in.csv
    equal "$status" 0
    equal "${#lines[@]}" 1504
    contains "$stderr" "oif: in.csv: 1 bad row skipped
oif:   in.csv:1504:8: $bad"
    oif score --fields score --on-bad-row null in.csv
    equal "$status" 0
    contains "$stderr" "oif: in.csv: 1 bad row scored without its bad numbers
oif:   in.csv:1504:8: $bad"
    tail -n +2 in.csv > rows.csv
    oif score --fields score rows.csv
    equal "$status" 1
    contains "$stderr" "rows.csv:1503:8: 'x' is not a number in column \"x2\"; leave the column out or make it empty (--exclude x2)"
    (seq 1500 | sed 's/.*\(.\)$/{"a":\1,"note":null,"b":3}/'; echo '{"b":1,"note":"late","a":{"c":"x"}}') > in.ndjson
    oif score in.ndjson
    equal "$status" 1
    contains "$stderr" "in.ndjson:1501:26: an object is not a number in column \"a\""
    contains "$stderr" "(--exclude a)"
    (seq 1500 | sed 's/.*\(.\)$/\1;;5,5/'; printf '1;late;5,5\n2;late;5.5\n') > in.csv
    oif score in.csv
    equal "$status" 1
    contains "$stderr" "in.csv:1502:8: '5.5' in column \"x2\" has a decimal point, but the decimal sign is the comma"
}

@test "options to paste name no column whose name another one has" {
    (echo a,a,b; seq 20 | sed 's/.*\(.\)$/\1,x,2/') > in.csv
    local twice="several columns are called a, so options cannot name them; give each its own name"
    oif score in.csv
    exits 0 "oif: in.csv: $twice
oif: in.csv: text in a ('x'): left out; $text_note NEW_NAME to leave it out without this note"
    (echo a,a,b; seq 1500 | sed 's/.*\(.\)$/\1,3,2/'; echo 1,foo,2) > in.csv
    oif score in.csv
    exits 1 "oif: in.csv: $twice
oif: in.csv:1502:3: 'foo' is not a number in column \"a\"; leave the column out or make it empty (give each column its own \
name, then --exclude NEW_NAME)"
    (echo a,a,b; seq 1500 | sed 's/.*\(.\)$/\1,,2/'; echo 1,foo,2) > in.csv
    oif score in.csv
    exits 0 "oif: in.csv: $twice
oif: in.csv:1502: text in 'a', which was empty in the first rows; it counts as missing; --exclude NEW_NAME leaves it out"
}

@test "a note about text shows the first of it, cut and escaped" {
    printf 'lat,at,y\n50.1ms,,1\n7ms,noon,2\n' > in.csv
    oif score in.csv
    exits 0 "oif: in.csv: text in at ('noon'): left out; $text_note at to leave it out without this note
oif: in.csv: numbers with units are read in these: lat ('s')"
    printf 't,y\n\x1b[31m%s\xc3\xa4rest,1\nu,2\n' abcdefghijklmnopqrstuvwxyz12345 > in.csv
    oif score in.csv
    contains "$stderr" "text in t ('\\u001b[31mabcdefghijklmnopqrstuvwxyz12345...'): left out"
    echo '{"a":1,"o":{"t":"it\u0027s"}}' > in.ndjson
    oif score in.ndjson
    contains "$stderr" "text in o.t ('it's'): left out"
}

@test "a name with a quote can be pasted, and one with control characters is shown" {
    printf "it's,my 'x',y\nu,v,1\n" > in.csv
    oif score in.csv
    exits 0 "oif: in.csv: text in it's ('u'), my 'x' ('v'): left out; $text_note 'it'\\''s,my '\\''x'\\''' to leave it out without this note"
    oif score --exclude 'it'\''s,my '\''x'\''' in.csv
    exits 0 ""
    printf 'a\001b,y\nu,1\n' > in.csv
    oif score in.csv
    equal "$status" 0
    [[ "$stderr" != *$'\001'* ]]
    contains "$stderr" "text in a\\u0001b ('u'): left out; "
    contains "$stderr" '--exclude A,B,... to leave'
}

@test "when all columns are text nothing is left" {
    printf 'a,b\nx,y\n' > in.csv
    oif score in.csv
    exits 1 "oif: in.csv: no column is left to learn from: text in a ('x'), b ('y'); to learn which texts are rare, add --category a,b"
}

@test "eval leaves text out in the same way" {
    make_stream
    sed 's/^/h,/; 1s/^h/host/' stream.csv > in.csv
    oif eval --label fault in.csv
    exits 0 "oif: in.csv: text in host ('h'): left out; $text_note host to leave it out without this note"
    "$OIF" eval --label fault stream.csv | cut -d' ' -f1-3 | awk 'NR == 1' > expected
    equal "$(printf '%s\n' "$output" | cut -d' ' -f1-3 | awk 'NR == 1')" "$(cat expected)"
}

@test "true and false are 1 and 0 in CSV as in NDJSON" {
    printf 'ok,x\ntrue,1\nFalse,2\nTRUE,3\n' > in.csv
    oif score --state s in.csv
    exits 0 ""
    contains "$("$OIF" state inspect --json s)" '"names": ["ok", "x"]'
}

# ---- Live ----

@test "a live stream is judged by its first row, the header does not wait for it, and no row waits for the next" {
    cat > live.py <<'PYTHON'
import select, subprocess, sys
tool = subprocess.Popen([sys.argv[1], "score", "--fields", "score"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        stderr=open("told", "w"), bufsize=0)
def line():
    assert select.select([tool.stdout], [], [], 20)[0], "no output"
    return tool.stdout.readline()
tool.stdin.write(b"host,x\n")
assert line() == b"host,x,score\n"
for i in range(3):
    tool.stdin.write(b"h,%d\n" % i)
    assert line() == b"h,%d,0.5\n" % i
tool.stdin.close()
assert tool.wait() == 0
PYTHON
    python3 live.py "$OIF"
    contains "$(cat told)" "oif: <stdin>: text in host ('h'): left out"
}

@test "half a row is not judged" {
    cat > half.py <<'PYTHON'
import subprocess, sys, time
tool = subprocess.Popen([sys.argv[1], "score"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
tool.stdin.write(b"a,b\n1,2\n3,te")
tool.stdin.flush()
time.sleep(0.3)
output, told = tool.communicate(b"\n", timeout=300)
assert tool.returncode == 1 and b"<stdin>:3:3: 'te' is not a number" in told, told
assert output.count(b"\n") == 2, output
PYTHON
    python3 half.py "$OIF"
}

# ---- Times ----

@test "a number is a time only if its name says so and it looks like one" {
    awk 'BEGIN { print "ts,x"; for (i = 0; i < 50; i++) print 1794769500 + 15 * i "," i % 7 }' > named.csv
    oif score named.csv
    exits 0 "oif: named.csv: 'ts' is used as the time of the rows, as if you had given --time ts; --exclude ts leaves it out"
    sed '1s/ts/y/' named.csv > unnamed.csv
    oif score unnamed.csv
    exits 0 ""
    awk 'BEGIN { print "ts,x"; for (i = 0; i < 50; i++) print i "," i % 7 }' > small.csv
    oif score small.csv
    exits 0 ""
    (head -2 named.csv; tail -n +3 named.csv | sort -r) > falling.csv
    oif score falling.csv
    exits 0 "oif: falling.csv: the times in 'ts' go backwards, so the column is left out; sort the rows, oldest first: (head -n 1 falling.csv; tail -n +2 falling.csv | sort -s -t ',' -k 1,1n) | oif score; or use the times anyway with --time ts"
    awk 'BEGIN { print "ts,x"; for (i = 0; i < 50; i++) print 1794769500 + 15 * (i * 23 % 50) "," i % 7 }' > mixed.csv
    oif score mixed.csv
    exits 0 ""
}

@test "times that go backwards in many rows are text, with the command that sorts" {
    awk 'BEGIN { print "x;t"; for (i = 1; i <= 50; i++) printf "%d;2026-11-16T00:%02d:00Z\n", i % 7, i % 4 ? i : i - 3 }' > in.csv
    local sorted="(head -n 1 in.csv; tail -n +2 in.csv | sort -s -t ';' -k 2,2) | oif score"
    oif score in.csv
    exits 0 "oif: in.csv: text in t ('2026-11-16T00:01:00Z'): left out; $text_note t to leave it out without this note; the times in t go backwards in 12 of 50 rows: if it is the time of the rows, sort the rows, oldest first: $sorted"
    PATH="$(dirname "$OIF"):$PATH" bash -c "$sorted" > scored.csv 2> told
    equal "$(cat told)" "oif: <stdin>: 't' is used as the time of the rows, as if you had given --time t; --exclude t leaves it out"
    equal "$(head -2 scored.csv)" $'x;t;score;severity;anomaly\n1;2026-11-16T00:01:00Z;0.5;;'
    tail -n +2 in.csv > rows.csv
    oif score rows.csv
    contains "$stderr" "oldest first: sort -s -t ';' -k 2,2 rows.csv | oif score"
    sed 's/2026-11-16T/16.11.2026 /; s/Z$//' in.csv > dotted.csv
    oif score dotted.csv
    contains "$stderr" "rows: if it is the time of the rows, sort the rows, oldest first"
    [[ "$stderr" != *"sort -s"* ]]
}

@test "text in a column that was empty ends nothing, also below names with a hash" {
    { echo '#a,b,note'; seq 1 1500 | awk '{ print $1 % 7 "," $1 % 5 "," }'; echo ',,text'; echo '"#,x",2,text'; seq 1 100 | awk '{ print $1 % 7 ",1," }'; } > in.csv
    oif score --on-bad-row skip in.csv
    equal "$status" 0
    equal "$(printf "%s\n" "$output" | wc -l)" 1602 # all but the row with text in a
}

@test "a late row among the first does not hide the time" {
    awk 'BEGIN { print "ts,x"; for (i = 0; i < 50; i++) print 1794769500 + (i == 3 ? 0 : 15 * i) "," i % 7 }' > late.csv
    oif score late.csv
    exits 0 "oif: late.csv: 'ts' is used as the time of the rows, as if you had given --time ts; --exclude ts leaves it out
oif: late.csv: times in 'ts': 1 goes back"
    oif score <<< $'ts,x\n1794769502,5\n1794769501,6'
    contains "$stderr" "oif: <stdin>: 'ts' is used as the time of the rows"
}

@test "each key has times of its own" {
    awk 'BEGIN { print "host,disk,ts,id,x"; for (i = 0; i < 900; i++) print "h" i % 2 ",d" i % 3 "," 1794769500 + 15 * i - i % 6 * 1000 "," i - i % 6 * 2000 "," i * i % 7 }' > in.csv
    oif score --key host,disk in.csv
    contains "$stderr" "oif: in.csv: 'ts' is used as the time of the rows"
    oif score --key host,disk <(head -1 in.csv; for i in 1 2; do tail -n +2 in.csv; done | awk -F, -v OFS=, '{ $4 = NR - NR % 6 * 2000 } 1')
    contains "$stderr" "only ever rising, so every value is new: id; leave it out with --exclude id"
}

@test "dates that go back in half of the rows are not the time, whatever their name" {
    awk 'BEGIN { print "birthdate,x"; for (i = 0; i < 50; i++) print 1990 + i * 7 % 20 "-01-01," i % 7 }' > in.csv
    oif score in.csv
    equal "$status" 0
    contains "$stderr" "oif: in.csv: text in birthdate ('1990-01-01'): left out; $text_note birthdate to leave it out without this note; the times in birthdate go backwards in 17 of 50 rows"
}

@test "of several times the one that advances from row to row is taken" {
    awk 'BEGIN { print "date,ts,x"; for (i = 0; i < 100; i++) printf "2026-11-%02d,2026-11-%02d %02d:00:00,%d\n", 1 + i / 24, 1 + i / 24, i % 24, i % 7 }' > in.csv
    oif score --exclude date in.csv
    exits 0 "oif: in.csv: 'ts' is used as the time of the rows, as if you had given --time ts; --exclude ts leaves it out"
    oif score in.csv
    contains "$stderr" "'ts' is used as the time of the rows"
    awk 'BEGIN { print "time,seen,x"; for (i = 0; i < 99; i++) printf "2026-11-15 %02d:%02d,2026-11-15 %02d:00:%02d,%d\n", i / 9, i / 3 % 3, i / 9, i % 9, i % 7 }' > named.csv
    oif score named.csv
    contains "$stderr" "'time' is used as the time of the rows"
}

# ---- Rows of several streams ----

key_note="gives each a model of its own"

# make_hosts TIME: rows of four hosts in turn; TIME is an expression of the row i and the host h.
make_hosts() {
    awk "BEGIN { print \"t,host,x\"; for (i = 0; i < 50; i++) for (h = 0; h < 4; h++) print $1 \",h\" h \",\" i * i % 97 }"
}

@test "a key is advised if the times advance only within each of its values" {
    make_hosts '1794769500 + 15 * i' > same.csv
    oif score same.csv
    contains "$stderr" "oif: same.csv: the times in 't' advance only within each host; --key host $key_note"
    make_hosts '"2026-11-15T10:" 10 + i ":" 40 - 9 * h "Z"' > apart.csv # later hosts have earlier times
    oif score apart.csv
    contains "$stderr" "oif: apart.csv: the times in 't' advance only within each host; --key host $key_note"
    [[ "$stderr" != *"sort the rows"* ]]
    oif score --key host apart.csv
    exits 0 "oif: apart.csv: 't' is used as the time of the rows, as if you had given --time t; --exclude t leaves it out"
    { head -1 same.csv; tail -n +2 same.csv | sort -s -t , -k 2,2; } > sorted.csv
    oif score sorted.csv
    contains "$stderr" "oif: sorted.csv: the times in 't' advance only within each host; --key host $key_note"
    oif score -q same.csv
    exits 0 ""
    awk -F, -v OFS=, 'NR > 1 { $1 = sprintf("%02d/11/2026", 1 + substr($1, 6) % 1000 / 50) } 1' <(make_hosts '"2026-" 10000 + 50 * i') |
        head -80 > dated.csv # the day comes first
    oif score dated.csv
    contains "$stderr" "oif: dated.csv: the times in 't' advance only within each host; --key host $key_note"
}

@test "a key of numbers, or of two columns, is advised as well" {
    make_hosts '1794769500 + 15 * i' | sed 's/,h\([0-9]\)/,10\1/' > numbers.csv
    oif score numbers.csv
    contains "$stderr" "the times in 't' advance only within each host; --key host $key_note"
    awk 'BEGIN { print "t,host,disk,x"; for (i = 0; i < 50; i++) for (h = 0; h < 4; h++) print 1794769500 + 15 * i ",h" int(h / 2) ",sd" h % 2 "," i * i % 97 }' > pair.csv
    oif score pair.csv
    contains "$stderr" "the times in 't' advance only within each host, disk; --key host,disk $key_note"
}

@test "no key is advised for late rows, parts of the date, or columns that do not keep times apart" {
    make_log
    awk -F, -v OFS=, 'NR % 40 == 9 { later = $0; next } 1; later != "" { print later; later = "" }' log.csv > late.csv
    oif score late.csv
    contains "$stderr" "times in 'ts': 15 go back"
    [[ "$stderr" != *"$key_note"* ]]
    awk 'BEGIN { print "day,hour,x"; for (i = 0; i < 300; i++) printf "2026-11-%02d,%d,%d\n", 1 + i / 24, i % 24, i * i % 97 }' > hours.csv
    oif score hours.csv
    contains "$stderr" "left out, as it is a part of the date: hour"
    [[ "$stderr" != *"$key_note"* ]]
    sed 's/^day,hour/day,shift/; s/^\([^,]*\),\([0-9]*\),/\1,\2:30,/' hours.csv > shifts.csv
    oif score shifts.csv
    contains "$stderr" "text in shift ('0:30')"
    [[ "$stderr" != *"$key_note"* ]]
    make_hosts '1794769500 + 15 * i' | sed 's/,h[0-3]/,h1/' > one.csv
    oif score one.csv
    [[ "$stderr" != *"$key_note"* ]]
    make_hosts '1794769500 + 15 * i' | sed '100s/,h[0-3]/,/' > missing.csv
    oif score missing.csv
    [[ "$stderr" != *"$key_note"* ]]
}

@test "a column of labels is left out" {
    printf 'x,label\n1,0\n2,1\n' > in.csv
    oif score -v in.csv
    contains "$stderr" "oif: in.csv: 'label' is treated as known labels and left out, as if you had given --label label; to learn it, list all columns with --columns A,B,..."
    contains "$stderr" "learns from 1 column: x"
    contains "$stderr" "left out as the label: label"
    oif score --label label in.csv
    exits 0 ""
    oif score --columns x,label in.csv
    exits 0 ""
    oif score <<< $'x,Is_Anomaly\n1,false\n2,true'
    contains "$stderr" "'Is_Anomaly' is treated as known labels"
    printf 'x,label\n1,0\n2,2\n' > in.csv
    oif score in.csv
    exits 0 ""
}

@test "milliseconds and times of NDJSON are found" {
    printf '{"@timestamp":"2026-11-15T19:05:01Z","x":1}\n{"@timestamp":"2026-11-15T19:05:02Z","x":2}\n' > in.ndjson
    oif score --fields episode_id in.ndjson
    exits 0 "oif: in.ndjson: '@timestamp' is used as the time of the rows, as if you had given --time @timestamp; --exclude @timestamp leaves it out"
    printf '{"m":{"time":1794769501000},"x":1}\n' | "$OIF" score 2> told
    contains "$(cat told)" "'m.time' is used as the time of the rows"
}

@test "--exclude, --columns and --time keep a time from being found" {
    printf 'ts,at,x\n1794769501,2026-11-15,1\n' > in.csv
    oif score --exclude ts,at in.csv
    exits 0 ""
    oif score --columns x in.csv
    exits 0 ""
    oif score --time at in.csv
    exits 0 ""
}

@test "dates that go to and fro are text, and numbers in quotes are numbers" {
    awk 'BEGIN { print "born,x"; for (i = 0; i < 50; i++) print 1990 + i * 7 % 20 "-01-01," i % 7 }' > in.csv
    oif score in.csv
    contains "$stderr" "text in born ('1990-01-01'): left out"
    printf '{"id":"123","x":1}\n' | "$OIF" score 2> told
    equal "$(cat told)" ""
}

@test "options that need times are content with one that was found" {
    make_log
    oif score --alerts 5/day --exclude host,msg log.csv
    exits 0 "oif: log.csv: 'ts' is used as the time of the rows, as if you had given --time ts; --exclude ts leaves it out"
}

# ---- Columns that only rise ----

make_rising() {
    awk 'BEGIN {
        state = 1
        print "id,when,bytes_total,x"
        for (i = 0; i < 1000; i++) {
            state = state * 16807 % 2147483647
            total += state % 1000
            print 5000 + i "," 1794769500 + 15 * i "," total "," state % 100
        }
    }' > rising.csv
}

rising_note="only ever rising, so every value is new: "

@test "columns that only rise are said once, with the option for each kind" {
    make_rising
    oif score rising.csv
    contains "$stderr" "oif: rising.csv: 'when' is used as the time of the rows, as if you had given --time when; --exclude when leaves it out
oif: rising.csv: left out, as it is a row number: id; to learn it, list all columns with --columns A,B,...
oif: rising.csv: ${rising_note}bytes_total; for a counter add --rate bytes_total"
    oif score --time when --columns '*' rising.csv
    contains "$stderr" "${rising_note}id, bytes_total; leave it out with --exclude id; for a counter"
    sed '1s/when/w/' rising.csv > other.csv
    oif score other.csv
    exits 0 "oif: other.csv: left out, as it is a row number: id; to learn it, list all columns with --columns A,B,...
oif: other.csv: ${rising_note}w, bytes_total; if it is the time: --time w; \
for a counter add --rate bytes_total"
    oif score --time w --exclude id --rate bytes_total other.csv
    exits 0 ""
}

@test "with --strict a column that only rises is an error before any row comes out" {
    make_rising
    oif score --strict --time when rising.csv
    exits 1 "oif: rising.csv: --strict refuses columns that only ever rise: id, bytes_total; leave it out with --exclude id; \
for a counter add --rate bytes_total"
    equal "$output" ""
}

send_rising() { # the rest follows once the first row has come out
    head -2 rising.csv
    await_lines 2 out
    tail -n +3 rising.csv
}

@test "live rows are watched as well" {
    make_rising
    : > out
    send_rising | "$OIF" score --exclude when,bytes_total > out 2> told
    equal "$(cat told)" "oif: <stdin>: ${rising_note}id; leave it out with --exclude id"
    : > out
    send_rising | "$OIF" score --strict --exclude when,bytes_total > out 2> told || [ $? -eq 1 ]
    equal "$(cat told)" "oif: <stdin>: --strict refuses columns that only ever rise: id; leave it out with --exclude id"
    equal "$(wc -l < out)" 200
}

@test "of many keys the first is watched" {
    awk 'BEGIN { print "host,total,x"; for (i = 0; i < 990; i++) print "h" i % 3 "," i % 3 * 100000 + i * i "," i * i % 97 }' > in.csv
    oif score --key host in.csv
    exits 0 "oif: in.csv: ${rising_note}total; for a counter add --rate total"
}

@test "what falls once, or rises seldom, is not said to rise" {
    awk 'BEGIN { print "a,b"; for (i = 0; i < 900; i++) print (i == 500 ? 0 : i) "," int(i / 30) }' > in.csv
    oif score in.csv
    exits 0 ""
}

# ---- NDJSON keys that come later ----

@test "keys that the first line lacks are learned" {
    printf '{"a":1}\n{"a":2,"new":5,"o":{"p":1}}\n' > in.ndjson
    oif score --state s in.ndjson
    exits 0 ""
    contains "$("$OIF" state inspect --json s)" '"names": ["a", "new", "o.p"]'
}

@test "keys that come later than that are reported once" {
    (seq 1500 | sed 's/.*\(.\)$/{"a":\1}/'; echo '{"a":1,"new":5,"host":"h"}'; echo '{"a":1,"new":6}') > in.ndjson
    oif score in.ndjson
    exits 0 "oif: in.ndjson:1501: new appears too late to be learned; put a row that has it first"
    oif score --exclude new in.ndjson
    equal "$status" 0
    contains "$stderr" "none of the first"
    oif score --strict in.ndjson
    exits 1 "oif: in.ndjson:1501: new is new, and --strict does not leave it out silently: list all columns with --columns A,B,..."
}

@test "keys without end are not reported without end" {
    (seq 1500 | sed 's/.*\(.\)$/{"a":\1}/'; seq 200 | sed 's/.*/{"a":1,"k&":5}/') > in.ndjson
    oif score in.ndjson
    equal "$status" 0
    equal "$(wc -l <<< "$stderr")" 4
    contains "$stderr" "more keys appear that the first lines lack"
}

@test "a key that comes too late is not in rows that are written in another format" {
    (seq 1500 | sed 's/.*\(.\)$/{"a":\1}/'; echo '{"a":1,"new":5}'; echo '{"a":1,"new":6}') > in.ndjson
    for format in csv logfmt; do
        oif score --output $format --fields ready in.ndjson
        equal "$status" 0
        contains "$stderr" "new appears too late"
    done
    oif score --output csv --fields ready in.ndjson
    equal "$(tail -1 <<< "$output")" "1,1"
}

@test "categories beside numbers stay what they are in JSON" {
    printf 'state,x,y\nup,+1,2\n' > in.csv
    oif score --category state --output ndjson --fields ready in.csv
    equal "$output" '{"state":"up","x":1,"y":2,"oif":{"ready":false}}'
}

# ---- Lists of names ----

@test "lists of names are quoted as in CSV" {
    printf '"na me","b,c",d\n1,2,3\n' > in.csv
    oif score --columns '"b,c",d' --state s in.csv
    exits 0 ""
    contains "$("$OIF" state inspect --json s)" '"names": ["b,c", "d"]'
}

@test "an object is left out, or chosen, with all that is in it" {
    printf '{"labels":{"a":"x","b":{"c":1}},"cpu":{"user":1,"sys":2},"labelsx":4}\n' > in.ndjson
    oif score --exclude labels --state s in.ndjson
    exits 0 ""
    contains "$("$OIF" state inspect --json s)" '"names": ["cpu.user", "cpu.sys", "labelsx"]'
    oif score --columns cpu --state s2 in.ndjson
    exits 0 ""
    contains "$("$OIF" state inspect --json s2)" '"names": ["cpu.user", "cpu.sys"]'
}

@test "patterns choose columns, unless a column has that very name" {
    printf 'cpu.user,cpu.sys,rx_total,tx_total,*_total,x\n1,2,3,4,5,6\n' > in.csv
    oif score --columns 'cpu.*,x' --state s in.csv
    exits 0 ""
    contains "$("$OIF" state inspect --json s)" '"names": ["cpu.user", "cpu.sys", "x"]'
    oif score --exclude '*_total' --state s2 in.csv
    contains "$("$OIF" state inspect --json s2)" '"names": ["cpu.user", "cpu.sys", "rx_total", "tx_total", "x"]'
    oif score --exclude '?x_total' --state s3 in.csv
    contains "$("$OIF" state inspect --json s3)" '"names": ["cpu.user", "cpu.sys", "*_total", "x"]'
    oif score --columns 'mem.*' in.csv
    exits 2 "oif: in.csv: --columns: no column matches 'mem.*' (there are cpu.user, cpu.sys, rx_total, tx_total, *_total, x)"
    oif score --columns 'mem.*' <<< '{"cpu":{"user":1}}'
    exits 2 "oif: <stdin>: --columns: no column matches 'mem.*' (there are cpu.user)"
}

@test "text is left out of what a pattern chooses, not out of what is named" {
    printf 'a1,a2,b\n1,x,3\n' > in.csv
    oif score --columns 'a*' in.csv
    exits 0 "oif: in.csv: text in a2 ('x'): left out; $text_note a2 to leave it out without this note"
    oif score --columns a1,a2 in.csv
    equal "$status" 1
    contains "$stderr" "in.csv:2:3: 'x' is not a number"
}

# ---- States ----

@test "a resumed state needs no options for what was found" {
    make_log
    "$OIF" score log.csv 2> /dev/null > whole
    head -301 log.csv > first.csv
    (head -1 log.csv; tail -300 log.csv) > second.csv
    "$OIF" score --state s first.csv 2> /dev/null > found
    oif score --state s second.csv
    exits 0 "oif: s: resumes after 300 rows"
    printf '%s\n' "$output" | tail -n +2 >> found
    cmp whole found
    tail -300 log.csv > third.csv
    "$OIF" score --state s third.csv > /dev/null 2> told
    contains "$(cat told)" "oif: s: resumes after 600 rows"
    oif score --state s <<< $'ts,load,more\n2026-11-16,5,7'
    contains "$stderr" "oif: <stdin>: the state s has not learned from more: left out"
}

# ---- Small ----

@test "a header with a number among its names is suspected" {
    printf 'time,95\n09:00,5\n10:00,6\n' > in.csv
    oif score --exclude x0 in.csv
    exits 0 ""
    printf 'load,95\n1,5\n2,6\n' > in.csv
    oif score in.csv
    exits 1 "oif: in.csv:1: the first line has text in column 1, and the lines after it have numbers: if it is a header, add --csv header=yes"
    oif score --csv header=yes in.csv
    exits 0 ""
    printf 'time,95\n2026-11-15,5\n2026-11-16,6\n' > in.csv
    oif score in.csv
    equal "$status" 1
    contains "$stderr" "add --csv header=yes"
}

@test "names that occur twice are noted at once" {
    printf 'a,a,b\n1,2,3\n' > in.csv
    oif score in.csv
    exits 0 "oif: in.csv: several columns are called a, so options cannot name them; give each its own name"
    oif score --strict in.csv
    exits 1 "oif: in.csv: several columns are called a; give each its own name"
}

@test "rows without a key are noted and counted" {
    printf 'host,x\na,1\n,2\n,3\nb,4\n' > in.csv
    oif score --key host in.csv
    exits 0 "oif: in.csv:3: the key 'host' is empty; rows without a key share one model
oif: in.csv: 2 rows have no key"
}

@test "control characters in names do not reach the terminal" {
    printf '\e[31m,x\nred,1\n' > in.csv
    oif score in.csv
    equal "$status" 0
    [[ "$stderr" != *$'\e'* ]]
}

# ---- What is learned ----

@test "-v says what is learned, what is left out and why, and when the first alert may come" {
    make_log
    oif score -v --key host --exclude msg log.csv
    contains "$stderr" "oif: rolling-iforest learns from 1 column: load
oif: each key has a model of its own: host
oif: time: ts
oif: left out by --exclude: msg
oif: the first alert may come after "
    contains "$stderr" " rows of a key"
    oif score --verbose --exclude msg,host --rate load --state s log.csv
    contains "$stderr" "oif: rolling-iforest learns from 1 column: rate(load)
oif: time, a row every 1 s: ts
oif: left out by --exclude: host, msg
oif: the first alert may come after "
    after=$(sed -n 's/.*alert may come after \([0-9]*\) rows.*/\1/p' <<< "$stderr")
    ready=$("$OIF" score --fields ready --exclude msg,host log.csv 2> /dev/null | tail -n +2 | grep -n ',1$' | awk 'NR == 1' | cut -d: -f1)
    equal "$after" "$((ready - 1))"
    oif score -v --state s log.csv
    contains "$stderr" "oif: 600 rows were learned before"
}

# ---- Options that contradict each other ----

@test "options that contradict each other are refused or noted" {
    make_stream
    oif score --detector online-iforest --shadow-trees 5 stream.csv
    exits 0 "oif: --shadow-trees and --maturity have no effect without --forgetting turnover"
    oif score --detector online-iforest --forgetting turnover --shadow-trees 5 stream.csv
    exits 0 ""
    oif score --max-keys 5 stream.csv
    exits 0 "oif: --max-keys has no effect without --key COL"
    oif eval --label fault --alerts 5/day --alert-rate 0.01 stream.csv
    equal "$status" 2
}

@test "the start of a name is enough to suggest it" {
    oif score --detector rolling stream.csv
    exits 2 "oif: --detector: there is no detector 'rolling'; did you mean rolling-iforest?"
}

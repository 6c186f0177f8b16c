# oif score: formats that other programs read, and names that do not clash.

load helper

# ---- NDJSON is always JSON ----

@test "no byte order mark comes before an object" {
    printf '\xef\xbb\xbfa\n1\n' > marked.csv
    "$OIF" score --output ndjson marked.csv > out
    equal "$(head -c 5 out)" '{"a":'
    printf '\xef\xbb\xbf{"a":1}\n' | "$OIF" score > out
    equal "$(head -c 5 out)" '{"a":'
    "$OIF" score marked.csv | head -c 4 | cmp - <(printf '\xef\xbb\xbfa')
}

@test "bytes that are not UTF-8 become U+FFFD in JSON, one for each part, as in jq and Python" {
    python3 - "$OIF" <<'PYTHON'
import json, random, subprocess, sys
generator = random.Random(18)
texts = [b"\xff", b"a\xc3", b"\xc3(", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"\xf4\x90\x80\x80", b"\xc0\x80",
         b"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", b"\xf8\x88\x80\x80\x80"]
texts += [bytes(generator.choice([0x41, 0x80, 0xa0, 0xbf, 0xc2, 0xc3, 0xe0, 0xe2, 0xed, 0xf0, 0xf4, 0xff])
                for _ in range(generator.randint(1, 6))) for _ in range(500)]
rows = b"a,t\xff\n" + b"".join(b"1,\"" + text + b"\"\n" for text in texts)
done = subprocess.run([sys.argv[1], "score", "--columns", "a", "--output", "ndjson"], input=rows, capture_output=True, check=True)
lines = done.stdout.decode().splitlines()  # strict
assert len(lines) == len(texts)
for text, line in zip(texts, lines):
    assert json.loads(line)["t\ufffd"] == text.decode(errors="replace"), (text, line)
PYTHON
}

@test "what was learned as a number is a number in JSON, and what is missing is null" {
    printf 'a,t\n+3,+3\n.5,.5\n5.,5.\n007,007\n-.0e1,x\nNaN,NaN\nNA,NA\n,\n1.50,2\n' > odd.csv
    "$OIF" score --exclude t --output ndjson --fields ready odd.csv > out
    equal "$(sed -E 's/,"t".*//' out | tr '\n' ' ')" \
        '{"a":3 {"a":0.5 {"a":5 {"a":7 {"a":-0 {"a":null {"a":null {"a":null {"a":1.50 '
    equal "$(sed -E 's/.*"t":(.*),"oif".*/\1/' out | tr '\n' ' ')" '"+3" ".5" "5." "007" "x" "NaN" "NA" null 2 '
    printf 'a\n1\n1e999\n' > far.csv
    "$OIF" score --on-bad-row null --output ndjson --fields ready far.csv > out 2> /dev/null
    equal "$(tail -1 out)" '{"a":null,"oif":{"ready":false}}'
}

@test "a second oif reads what a first one wrote as NDJSON" {
    printf 'a,b\n+1,NaN\n.5,3\n' | "$OIF" score --output ndjson > first
    oif score --fields ready first
    exits 0 "oif: first: 'oif' was added by an earlier 'oif score' and is not learned; to learn it, list all columns with --columns A,B,...
oif: first: rows already have a field 'oif'; --prefix NAME names the fields that are added here"
}

# ---- Two in a pipe ----

@test "fields of another oif are not learned: CSV" {
    make_stream
    "$OIF" score --label fault stream.csv > once.csv
    "$OIF" score --label fault --prefix second stream.csv | cut -d, -f4- > expected
    "$OIF" score --label fault --prefix second once.csv 2> notes | cut -d, -f7- | cmp - expected
    equal "$(cat notes)" "oif: once.csv: columns score to anomaly were added by an earlier 'oif score' and are not learned; to learn them, list all columns with --columns A,B,..."
    "$OIF" score --label fault --prefix first --fields p,severity,score stream.csv > prefixed.csv
    "$OIF" score --label fault --prefix second prefixed.csv 2> notes | cut -d, -f7- | cmp - expected
    contains "$(cat notes)" "columns first_p to first_score were added by an earlier 'oif score'"
    "$OIF" score --label fault --prefix third --fields score prefixed.csv > /dev/null
    "$OIF" score --label fault --prefix third prefixed.csv 2> /dev/null > thrice.csv
    "$OIF" score --label fault --prefix second thrice.csv 2> notes | cut -d, -f10- | cmp - expected
    contains "$(cat notes)" "columns first_p to third_anomaly were added"
    "$OIF" score --columns x,score once.csv 2> /dev/null | cut -d, -f7- > learned
    "$OIF" score --columns x once.csv 2> /dev/null | cut -d, -f7- > not_learned
    differ learned not_learned
}

@test "fields of another oif are not learned: NDJSON" {
    make_stream
    "$OIF" score --label fault --output ndjson stream.csv > rows.ndjson
    sed 's/,"oif".*/}/' rows.ndjson > plain.ndjson
    "$OIF" score --label fault --prefix second plain.ndjson | sed 's/.*,"second"//' > expected
    "$OIF" score --label fault --prefix second rows.ndjson 2> notes | sed 's/.*,"second"//' | cmp - expected
    equal "$(cat notes)" "oif: rows.ndjson: 'oif' was added by an earlier 'oif score' and is not learned; to learn it, list all columns with --columns A,B,..."
    "$OIF" score --label fault --prefix first --explain --threshold 0 plain.ndjson > first.ndjson
    "$OIF" score --label fault --prefix second first.ndjson 2> notes | sed 's/.*,"second"//' | cmp - expected
    contains "$(cat notes)" "'first' was added by an earlier 'oif score'"
}

@test "columns that only look a little like those of oif are learned" {
    printf 'x,score\n1,2\n' > one.csv
    oif score --fields ready one.csv
    exits 0
    printf '{"x":1,"model":{"score":1,"p":2,"other":3}}\n' > other.ndjson
    oif score --state s.oif --fields ready other.ndjson
    exits 0
    contains "$("$OIF" inspect s.oif)" "model.score"
    printf 'score,p,x\n1,2,3\n' > first.csv
    oif score --fields ready first.csv
    exits 0
}

@test "a state that has learned from such columns goes on with them" {
    printf 'x,score,p\n1,2,3\n4,5,6\n' > rows.csv
    "$OIF" score --columns x,score,p --state s.oif rows.csv > /dev/null 2>&1
    oif score --fields ready --state s.oif rows.csv
    exits 0 "oif: s.oif: resumes after 2 rows"
}

@test "added names that the input has already are reported with the option against it" {
    printf 'x,score\n1,2\n' > one.csv
    oif score one.csv
    exits 0 "oif: one.csv: rows already have a field 'score'; --prefix NAME names the fields that are added here"
    oif score --prefix a one.csv
    exits 0
    equal "${lines[0]}" 'x,score,a_score,a_p,a_anomaly'
    oif score --prefix a --output ndjson one.csv
    equal "$output" '{"x":1,"score":2,"a":{"score":0.5,"p":1,"anomaly":false}}'
    oif score --prefix 'a b' one.csv
    exits 2 "oif: --prefix: expected up to 64 letters, digits and _, no digit first, not 'a b'"
    oif score --prefix '' one.csv
    exits 2 "oif: --prefix: expected up to 64 letters, digits and _, no digit first, not ''"
}

# ---- Numbers and headers ----

@test "--digits shortens the numbers that are added, and no others" {
    make_stream
    "$OIF" score --label fault --explain --fields score,p,severity,threshold,why --output ndjson stream.csv > long.ndjson
    "$OIF" score --label fault --explain --fields score,p,severity,threshold,why --output ndjson --digits 2 stream.csv > short.ndjson
    python3 - <<'PYTHON'
import json
shortened = 0
for long, short in zip(map(json.loads, open("long.ndjson")), map(json.loads, open("short.ndjson"))):
    assert long["x"] == short["x"]
    for name in ("score", "p", "severity", "threshold"):
        number, shown = long["oif"][name], short["oif"][name]
        assert number is shown is None or float(f"{number:.2g}") == shown, (name, number, shown)
        shortened += number != shown
assert shortened > 300, shortened
PYTHON
    equal "$(printf 'a\n1.23456\n' | "$OIF" score --digits 1 --no-output-header)" "1.23456,0.5,1,0"
    oif score --digits 0 stream.csv
    exits 2 "oif: --digits: expected a whole number from 1 to 17, not '0'"
}

@test "--no-output-header prints rows only" {
    make_stream
    "$OIF" score stream.csv | tail -n +2 > expected
    "$OIF" score --no-output-header stream.csv | cmp - expected
    (printf '\xef\xbb\xbf'; cat stream.csv) | "$OIF" score --no-output-header | cmp - expected
    "$OIF" score --output ndjson stream.csv | "$OIF" score --output csv --no-output-header 2> /dev/null | head -1 > one
    equal "$(cut -d, -f1 one)" "$(head -1 expected | cut -d, -f1)"
}

# ---- logfmt ----

@test "logfmt: pairs, quoted where they need it; what is missing is left out" {
    printf 'a,the text,e=q\n1.50,plain,x\n,"two ""words""",\n+3,"a=b\tc",é\n' > in.csv
    oif score --columns a --output logfmt --fields score,anomaly,grade,episode_id in.csv
    exits 0
    equal "$output" 'a=1.50 the_text=plain e_q=x score=0.5 anomaly=false
the_text="two \"words\"" score=0.5 anomaly=false
a=+3 the_text="a=b\u0009c" e_q=é score=0.5 anomaly=false'
    printf '{"a":1,"s":"x y","n":null,"b":{"c":true}}\n' > in.ndjson
    oif score --columns a --prefix p --output logfmt in.ndjson
    equal "$output" 'a=1 s="x y" b.c=true p_score=0.5 p_p=1 p_anomaly=false'
    python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<2d", 1.5, float("nan")))' > raw.f64
    equal "$("$OIF" score --raw-columns 2 --output logfmt --fields ready raw.f64)" 'x0=1.5 ready=false'
}

@test "logfmt: no text of the input can make another pair or line" {
    python3 - "$OIF" <<'PYTHON'
import random, re, subprocess, sys
generator = random.Random(18)
texts = ["".join(generator.choice("ab =\"\\\n\r\té\x01\x7f,") for _ in range(generator.randint(1, 8))) for _ in range(300)]
quoted = lambda text: '"' + text.replace('"', '""') + '"'
rows = "a,t\n" + "".join(f"1,{quoted(text)}\n" for text in texts)
done = subprocess.run([sys.argv[1], "score", "--columns", "a", "--output", "logfmt", "--fields", "ready"],
                      input=rows.encode(), capture_output=True, check=True)
lines = done.stdout.decode().split("\n")[:-1]
assert len(lines) == len(texts), (len(lines), len(texts))
for line in lines:
    assert re.fullmatch(r'a=1( t=([^ ="]+|"([^"\\]|\\.)*"))? ready=(true|false)', line), line
PYTHON
}

# ---- InfluxDB ----

@test "influx: measurement, the key as a tag, numbers and strings as fields, time in nanoseconds" {
    cat > in.csv <<'CSV'
at,host,load,note,n t
2026-11-15T19:05:01.25Z,web-1,+.5,ok,1
1794769502,"a b,c=d\",,"say ""hi"" \",2
,,7,,3
CSV
    oif score --key host --time at --exclude note --output influx --fields score,anomaly,grade,episode_id in.csv
    equal "$status" 0
    equal "$output" 'oif,host=web-1 load=0.5,note="ok",n\ t=1,score=0.5,anomaly=false 1794769501250000000
oif,host=a\ b\,c\=d note="say \"hi\" \\",n\ t=2,score=0.5,anomaly=false
oif load=7,n\ t=3,score=0.5,anomaly=false'
    oif score --key host --time at --exclude note --output influx --measurement 'my m,x' --prefix p --fields ready in.csv
    contains "$output" 'my\ m\,x,host=web-1 load=0.5,note="ok",n\ t=1,p_ready=false 1794769501250000000'
}

@test "influx: a backslash at the end of a name or of a value escapes nothing" {
    printf 'a\\\\,h\\\\\\\\,\\\\,c\\\\d\n1,web\\\\,2,3\n' | sed 's/\\\\/\\/g' > in.csv
    equal "$(head -1 in.csv)" 'a\,h\\,\,c\d'
    oif score --key 'h\\' --output influx --measurement 'm\' --fields ready in.csv
    exits 0
    equal "$output" 'm,h=web a=1,_=2,c\d=3,ready=false'
}

@test "influx: whole numbers of episodes are integers, and no text can make another line" {
    make_stream
    oif score --label fault --threshold 0.45 --window-size 64 --alert-once --explain --output influx stream.csv
    exits 0
    [[ "${lines[0]}" =~ ^'oif x='[0-9.-]+',y='[0-9.-]+',fault="'[01]'",score='[0-9.]+,p=[0-9.e-]+',anomaly=true,episode="begins",episode_id=1i,episode_start='[0-9]+'i,episode_rows=1i,episode_peak='[0-9.]+',episode_why="'[xy].*'",why="'[xy].*'"'$ ]] ||
        { echo "${lines[0]}"; false; }
    printf 'a,t\n1,"x\ny"\n2,"\\"\n' > evil.csv
    oif score --columns a --output influx --fields ready evil.csv
    equal "$output" 'oif a=1,t="x\\ny",ready=false
oif a=2,t="\\",ready=false'
    printf 'a,t\n1,"x\ny"\n' | "$OIF" score --columns a --key t --output influx --fields ready > out
    equal "$(cat out)" 'oif,t=x\ y a=1,ready=false'
    printf 'a\n\nNaN\n' | "$OIF" score --output influx --fields grade > out
    equal "$(cat out)" ''
}

# ---- Prometheus ----

make_hosts() { # 3 hosts, one of which has a burst at the end
    awk 'BEGIN { print "host,load"; for (i = 1; i <= 900; i++) { state = (state * 16807 + 1) % 2147483647;
        print "web-" i % 3 "," state % 100 / 100 + (i > 880 && i % 3 == 1) * 50 } }' > hosts.csv
}

# Checks it with promtool where there is one.
is_exposition() {
    if command -v promtool > /dev/null; then
        promtool check metrics < "$1"
    fi
}

@test "prometheus: the last values of each key and the totals, as promtool wants them" {
    command -v promtool > /dev/null || skip "promtool is not installed"
    make_hosts
    "$OIF" score --key host --alert-rate 0.02 --output prometheus hosts.csv > out.prom
    is_exposition out.prom
    contains "$(cat out.prom)" $'# TYPE oif_rows_total counter\noif_rows_total 900\n'
    contains "$(cat out.prom)" $'# TYPE oif_score gauge\noif_score{host="web-0"} 0.'
    "$OIF" score --key host --alert-rate 0.02 --fields score,severity,threshold hosts.csv | tail -3 | sort > rows
    while IFS=, read -r host load score severity threshold; do
        contains "$(cat out.prom)" "oif_score{host=\"$host\"} $score
"
        contains "$(cat out.prom)" "oif_threshold{host=\"$host\"} $threshold
"
    done < rows
    contains "$(cat out.prom)" 'oif_in_episode{host="web-1"} 1'
    contains "$(cat out.prom)" 'oif_in_episode{host="web-0"} 0'
    alerts=$("$OIF" score --key host --alert-rate 0.02 --only-alerts hosts.csv | tail -n +2 | wc -l)
    contains "$(cat out.prom)" "
oif_alerts_total $alerts
"
    "$OIF" score --exclude host --prefix pump --output prometheus hosts.csv > out.prom
    is_exposition out.prom
    contains "$(cat out.prom)" $'\npump_score 0.'
}

@test "prometheus: labels are escaped, and there are only as many as --output-keys" {
    command -v promtool > /dev/null || skip "promtool is not installed"
    printf 'the host!,x\n"a\\b""c\nd\xff",1\nb,2\nc,3\nd,4\nb,5\n' > odd.csv
    "$OIF" score --key 'the host!' --output prometheus --output-keys 2 odd.csv > out.prom 2> notes
    is_exposition out.prom
    contains "$(cat out.prom)" 'oif_score{the_host_="a\\b\"c\nd�"} 0.5'
    contains "$(cat out.prom)" $'\noif_rows_left_out_total 2\n'
    equal "$(grep -c '^oif_score{' out.prom)" 2
    equal "$(cat notes)" "oif: --output prometheus: more than 2 keys: later ones have no series of their own; allow more with --output-keys N"
}

@test "prometheus: --output-file is replaced as a whole, at the start, by the clock and at the end" {
    make_hosts
    oif score --key host --output prometheus --output-file oif.prom hosts.csv
    exits 0
    equal "$output" ""
    grep -q '^oif_rows_total 900$' oif.prom
    equal "$(echo oif.prom*)" "oif.prom"
    python3 - "$OIF" <<'PYTHON'
import os, subprocess, sys, time
oif = subprocess.Popen([sys.argv[1], "score", "--output", "prometheus", "--output-file", "live.prom", "--output-every", "0.05s"],
                       stdin=subprocess.PIPE)
oif.stdin.write(b"a\n1\n2\n")
oif.stdin.flush()
for _ in range(600):
    if os.path.exists("live.prom") and "oif_rows_total 2\n" in open("live.prom").read():
        break
    time.sleep(0.05)
else:
    sys.exit("the file is not written while rows are waited for")
before = os.stat("live.prom").st_ino
oif.stdin.write(b"3\n")
oif.stdin.close()
assert oif.wait() == 0
assert "oif_rows_total 3\n" in open("live.prom").read()
assert os.stat("live.prom").st_ino != before
PYTHON
    oif score --output prometheus --output-file none/oif.prom --exclude host hosts.csv
    exits 1 "oif: none/oif.prom: cannot be written: No such file or directory"
    oif score --output prometheus --output-file /dev/null --exclude host hosts.csv
    exits 1 "oif: /dev/null: not a regular file, so it cannot be replaced; leave out --output-file to print to stdout"
    oif score --output-file x.csv --exclude host hosts.csv
    exits 2 "oif: --output-file needs --output prometheus; rows go to stdout: > x.csv"
}

@test "options that do nothing beside others are noted" {
    make_stream
    for option in '--digits 3' --explain '--fields score' --only-alerts --alert-once --no-output-header; do
        # shellcheck disable=SC2086
        oif score --output prometheus $option stream.csv
        exits 0 "oif: ${option%% *} has no effect with --output prometheus, which prints no rows"
        # shellcheck disable=SC2086
        oif score $option stream.csv
        exits 0
    done
    "$OIF" score --output ndjson stream.csv > rows.ndjson
    oif score --no-output-header --prefix b rows.ndjson
    contains "$stderr" "oif: --no-output-header has no effect here: only CSV output has a header"
    oif score --no-output-header --output logfmt stream.csv
    exits 0 "oif: --no-output-header has no effect here: only CSV output has a header"
    oif score --on-alert-wait 5s stream.csv
    exits 0 "oif: --on-alert-wait has no effect without --on-alert COMMAND"
    oif score --memory-limit 1G stream.csv
    exits 0 "oif: --memory-limit has no effect without --key COL"
}

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
oif: first: rows already have a field 'oif'; the last one is of this run"
}

# ---- Two in a pipe ----

@test "fields of another oif are not learned: CSV" {
    make_stream
    "$OIF" score --label fault stream.csv > once.csv
    cut -d, -f4- once.csv > expected
    "$OIF" score --label fault once.csv 2> notes | cut -d, -f7- | cmp - expected
    contains "$(cat notes)" "oif: once.csv: columns score to anomaly were added by an earlier 'oif score' and are not learned; to learn them, list all columns with --columns A,B,..."
    "$OIF" score --label fault once.csv > twice.csv 2> notes
    "$OIF" score --label fault twice.csv 2> notes | cut -d, -f10- | cmp - expected
    contains "$(cat notes)" "columns score to anomaly were added"
}

@test "fields of another oif are not learned: NDJSON" {
    make_stream
    "$OIF" score --label fault --output ndjson stream.csv > rows.ndjson
    "$OIF" score --label fault rows.ndjson 2> notes | sed 's/"oif":{[^}]*},//' | cmp - rows.ndjson
    contains "$(cat notes)" "oif: rows.ndjson: 'oif' was added by an earlier 'oif score' and is not learned; to learn it, list all columns with --columns A,B,..."
}

@test "columns that only look a little like those of oif are learned" {
    printf 'x,score\n1,2\n' > one.csv
    oif score --fields ready one.csv
    exits 0
    printf '{"x":1,"model":{"score":1,"p":2,"other":3}}\n' > other.ndjson
    oif score --state s.oif --fields ready other.ndjson
    exits 0
    contains "$("$OIF" state inspect s.oif)" "model.score"
    printf 'score,severity,x\n1,2,3\n' > first.csv
    oif score --fields ready first.csv
    exits 0
}

@test "a state that has learned from such columns goes on with them" {
    printf 'x,score,severity\n1,2,3\n4,5,6\n' > rows.csv
    "$OIF" score --columns x,score,severity --state s.oif rows.csv > /dev/null 2>&1
    oif score --fields ready --state s.oif rows.csv
    exits 0 "oif: s.oif: resumes after 2 rows"
}

@test "added names that the input has already are reported" {
    printf 'x,score\n1,2\n' > one.csv
    oif score one.csv
    exits 0 "oif: one.csv: rows already have a field 'score'; the last one is of this run"
}

# ---- Numbers and headers ----

@test "--digits shortens the numbers that are added, and no others" {
    make_stream
    "$OIF" score --label fault --fields score,severity,why --output ndjson stream.csv > long.ndjson
    "$OIF" score --label fault --fields score,severity,why --output ndjson --digits 2 stream.csv > short.ndjson
    python3 - <<'PYTHON'
import json
shortened = 0
for long, short in zip(map(json.loads, open("long.ndjson")), map(json.loads, open("short.ndjson"))):
    assert long["x"] == short["x"]
    for name in ("score", "severity"):
        number, shown = long["oif"][name], short["oif"][name]
        assert number is shown is None or float(f"{number:.2g}") == shown, (name, number, shown)
        shortened += number != shown
assert shortened > 300, shortened
PYTHON
    equal "$(printf 'a\n1.23456\n' | "$OIF" score --digits 1 | tail -1)" "1.23456,0.5,,"
    oif score --digits 0 stream.csv
    exits 2 "oif: --digits: expected a whole number from 1 to 17, not '0'"
}

# ---- logfmt ----

@test "logfmt: pairs, quoted where they need it; what is missing is left out" {
    printf 'a,the text,e=q\n1.50,plain,x\n,"two ""words""",\n+3,"a=b\tc",é\n' > in.csv
    oif score --columns a --output logfmt --fields score,anomaly,grade,episode_id in.csv
    exits 0
    equal "$output" 'a=1.50 the_text=plain e_q=x score=0.5
the_text="two \"words\"" score=0.5
a=+3 the_text="a=b\u0009c" e_q=é score=0.5'
    printf '{"a":1,"s":"x y","n":null,"b":{"c":true}}\n' > in.ndjson
    oif score --columns a --output logfmt in.ndjson
    equal "$output" 'a=1 s="x y" b.c=true score=0.5'
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

@test "options that do nothing beside others are noted" {
    make_stream
    oif score --memory-limit 1G stream.csv
    exits 0 "oif: --memory-limit has no effect without --key COL"
}

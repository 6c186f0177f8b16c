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
    exits 0 "oif: first: 'oif' holds fields that another oif added: they are not learned (--columns names what is)
oif: first: rows have 'oif' already; --prefix NAME names the fields that are added here"
}

# ---- Two in a pipe ----

@test "fields of another oif are not learned: CSV" {
    make_stream
    "$OIF" score --label fault stream.csv > once.csv
    "$OIF" score --label fault --prefix second stream.csv | cut -d, -f4- > expected
    "$OIF" score --label fault --prefix second once.csv 2> notes | cut -d, -f7- | cmp - expected
    equal "$(cat notes)" "oif: once.csv: columns score to anomaly are fields that another oif added: they are not learned (--columns names what is)"
    "$OIF" score --label fault --prefix first --fields p,severity,score stream.csv > prefixed.csv
    "$OIF" score --label fault --prefix second prefixed.csv 2> notes | cut -d, -f7- | cmp - expected
    contains "$(cat notes)" "columns first_p to first_score are fields that another oif added"
    "$OIF" score --label fault --prefix third --fields score prefixed.csv > /dev/null
    "$OIF" score --label fault --prefix third prefixed.csv 2> /dev/null > thrice.csv
    "$OIF" score --label fault --prefix second thrice.csv 2> notes | cut -d, -f10- | cmp - expected
    contains "$(cat notes)" "columns first_p to third_anomaly are fields"
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
    equal "$(cat notes)" "oif: rows.ndjson: 'oif' holds fields that another oif added: they are not learned (--columns names what is)"
    "$OIF" score --label fault --prefix first --explain --threshold 0 plain.ndjson > first.ndjson
    "$OIF" score --label fault --prefix second first.ndjson 2> notes | sed 's/.*,"second"//' | cmp - expected
    contains "$(cat notes)" "'first' holds fields that another oif added"
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
    exits 0 "oif: s.oif: goes on after 2 rows"
}

@test "added names that the input has already are reported with the option against it" {
    printf 'x,score\n1,2\n' > one.csv
    oif score one.csv
    exits 0 "oif: one.csv: rows have 'score' already; --prefix NAME names the fields that are added here"
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

# oif score --on-bad-row: what becomes of rows that cannot be read.

load helper

make_bad() {
    printf 'a,b\n1,2\n3,x\n4\n5,6\n7,8,9\ninf,10\n11,12\n' > bad.csv
    printf 'a,b\n1,2\n5,6\n11,12\n' > good.csv
    printf 'a,b\n1,2\n3,\n5,6\n,10\n11,12\n' > mended.csv
}

@test "--on-bad-row skip leaves them out and says how many and where" {
    make_bad
    "$OIF" score good.csv > expected.csv
    oif score --on-bad-row skip bad.csv
    exits 0 'oif: bad.csv: 4 bad rows skipped
oif:   bad.csv:3:3: '"'x'"' is not a number in column "b"; leave the column out or make it empty
oif:   bad.csv:4:2: this row has 1 field, the first line has 2
oif:   bad.csv:6:5: this row has 3 fields, the first line has 2
oif:   and 1 more'
    cmp expected.csv <(echo "$output")
}

@test "--on-bad-row null scores them without the bad numbers and passes them through as they came" {
    make_bad
    oif score --on-bad-row null bad.csv
    equal "$status" 0
    contains "$stderr" "oif: bad.csv: 2 bad rows skipped"
    contains "$stderr" "oif: bad.csv: 2 bad rows scored without their bad numbers"
    cmp <(cut -d, -f3- <<< "$output") <("$OIF" score mended.csv | cut -d, -f3-)
    equal "${lines[2]:0:4}" "3,x,"
}

@test "--on-bad-row fail is the default" {
    make_bad
    oif score --on-bad-row fail bad.csv
    equal "$status" 1
    equal "${#lines[@]}" 2
    first=$stderr
    oif score bad.csv
    exits 1 "$first"
    oif score --on-bad-row ignore bad.csv
    exits 2 "oif: --on-bad-row: expected fail, skip or null, not 'ignore'"
}

@test "bad lines of NDJSON are treated alike" {
    printf '{"a":1}\n{"a":"x"}\n{"a":2}\n{"a":\n[1]\n{"a":3}\n' > in.ndjson
    oif score --on-bad-row null in.ndjson
    equal "$status" 0
    equal "${#lines[@]}" 4
    contains "${lines[1]}" '{"a":"x","oif":{'
    contains "$stderr" "oif: in.ndjson: 2 bad rows skipped"
    contains "$stderr" "oif: in.ndjson: 1 bad row scored without its bad numbers"
}

@test "the counts come when a signal ends the run as well" {
    python3 - "$OIF" <<'PYTHON'
import signal, subprocess, sys
tool = subprocess.Popen([sys.argv[1], "score", "--on-bad-row", "skip"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, bufsize=0)
tool.stdin.write(b"a\n1\nx\n2\n")
for _ in range(3):
    tool.stdout.readline()
tool.send_signal(signal.SIGTERM)
_, messages = tool.communicate(timeout=300)
assert tool.returncode == 0 and messages.startswith(b"oif: <stdin>: 1 bad row skipped\n"), (tool.returncode, messages)
PYTHON
}

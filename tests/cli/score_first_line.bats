# oif score --on-bad-row skip|null: a first line that is neither header nor row is skipped like any other bad row.

load helper

no_first='this line is neither a header nor a row: the lines after it have other fields'

# begins_with TEXT SKIPPED: the rows a,b with header come out, and so many lines were bad, whether bytes come at once or
# one by one.
begins_with() {
    printf 'a,b\n1,2\n3,x\n5,6\n' > rest.csv
    "$OIF" score --on-bad-row null rest.csv > expected.csv 2> /dev/null
    { printf "$1"; cat rest.csv; } > in.csv
    for policy in skip null; do
        "$OIF" score --on-bad-row $policy in.csv > scored.csv 2> told
        cmp <(grep -v x, scored.csv) <(grep -v x, expected.csv)
        python3 -c '
import os, time
for byte in open("in.csv", "rb").read(): os.write(1, bytes([byte]))' | "$OIF" score --on-bad-row $policy > slowly.csv 2> told_slowly
        cmp slowly.csv scored.csv
        cmp told_slowly <(sed 's/in\.csv/<stdin>/' told)
    done
    equal "$(grep -c "in.csv:[0-9]*:[0-9]*: " told)" $(($2 + 1))
    contains "$(tail -1 told)" "in.csv:$((1 + $(tr -dc '\n' < in.csv | wc -c) - 2)):3: 'x' is not a number"
    run --separate-stderr "$OIF" score in.csv
    equal "$status" 1
}

@test "a foreign line before the header" {
    begins_with 'started\n' 1
    contains "$(cat told)" "in.csv:1:1: $no_first"
}

@test "several, among blank ones" {
    begins_with '\none\n\ntwo\n' 2
    contains "$(cat told)" "in.csv:2:1: $no_first
oif:   in.csv:4:1: $no_first"
}

@test "half a row before the header" {
    begins_with '7\n' 1
    begins_with '7,8,9\n' 1
}

@test "a quote that is never closed, bytes that are no text, a line that is too long" {
    begins_with '"open\n' 1
    contains "$(cat told)" "in.csv:1:1: the quote that opens here is never closed"
    begins_with '\001\000\n' 1
    contains "$(cat told)" "in.csv:1:2: this looks like UTF-16/binary, not text"
    { head -c 17000000 /dev/zero | tr '\0' 7; printf '\na,b\n1,2\n'; } > long.csv
    oif score --fields score --on-bad-row skip long.csv
    exits 0 "oif: long.csv: 1 bad row skipped
oif:   long.csv:1:1: this line is longer than 16777216 bytes"
    equal "$output" $'a,b,score\n1,2,0.5'
}

@test "half a row before rows without a header" {
    run --separate-stderr "$OIF" score --fields score --on-bad-row skip <<< $'4,5\n1,2,3\n4,5,6'
    exits 0 "oif: <stdin>: 1 bad row skipped
oif:   <stdin>:1:1: $no_first"
    equal "$output" $'1,2,3,0.5\n4,5,6,0.5'
}

@test "a header stays the header when the line after it is bad" {
    run --separate-stderr "$OIF" score --fields score --on-bad-row skip <<< $'a,b\n---\n1,2'
    exits 0 "oif: <stdin>: 1 bad row skipped
oif:   <stdin>:2:4: this row has 1 field, the first line has 2"
    equal "$output" $'a,b,score\n1,2,0.5'
    run --separate-stderr "$OIF" score --fields score --exclude host --on-bad-row skip <<< $'host,a\nh,\nh,2'
    exits 0
    equal "$output" $'host,a,score\nh,,0.5\nh,2,0.5'
}

@test "a line by itself is what it looks like" {
    run --separate-stderr "$OIF" score --fields score --on-bad-row skip <<< '1,2'
    exits 0
    equal "$output" 1,2,0.5
    run --separate-stderr "$OIF" score --fields score --on-bad-row skip <<< 'a,b'
    exits 0
    equal "$output" a,b,score
}

@test "NDJSON begins with the first object that has a number" {
    run --separate-stderr "$OIF" score --fields score --on-bad-row skip <<< $'": 3}\n[1]\n{"message": "start"}\n{"x": 3}\n{"x": null}'
    exits 0 "oif: <stdin>: 3 bad rows skipped
oif:   <stdin>:1:1: $no_first
oif:   <stdin>:2:1: $no_first
oif:   <stdin>:3:13: the string 'start' is not a number in column \"message\"; leave the column out or make it null"
    equal "$output" '{"x": 3,"oif":{"score":0.5}}
{"x": null,"oif":{"score":0.5}}'
    run --separate-stderr "$OIF" score --fields score --on-bad-row skip --columns x <<< $'{"message": "start"}\n{"x": 3}'
    exits 0 ""
    equal "${#lines[@]}" 2
}

@test "what is no rows at all is given up, and told" {
    seq 1 2000 | sed 's/[02468]$/&,/; s/^.*4$/&,7,/; s/^/x/' > junk.csv
    oif score --on-bad-row skip junk.csv
    equal "$status" 1
    equal "$output" ""
    contains "$stderr" "oif: junk.csv: none of the first 1000 lines is a header or a row; skip text before the header with --csv skip=N
oif: junk.csv: 1,000 bad rows skipped"
    printf '\000\n\000\n' > binary.csv
    oif score --on-bad-row skip binary.csv
    equal "$status" 1
    contains "$stderr" "oif: binary.csv: every line is bad; without --on-bad-row the first one is shown"
    oif score --on-bad-row skip /dev/null
    exits 1 "oif: /dev/null: the input is empty"
}

@test "the first row waits for the line after it only where there is no header" {
    python3 - "$OIF" <<'PYTHON'
import select, subprocess, sys
def start():
    return subprocess.Popen([sys.argv[1], "score", "--on-bad-row", "skip", "--fields", "score"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, bufsize=0)
tool = start()
tool.stdin.write(b"a,b\n1,2\n")
assert (tool.stdout.readline(), tool.stdout.readline()) == (b"a,b,score\n", b"1,2,0.5\n")
tool.stdin.close()
assert tool.wait() == 0
tool = start()
tool.stdin.write(b"1,2\n")
assert select.select([tool.stdout], [], [], 0.3)[0] == []
tool.stdin.write(b"3,4\n")
assert (tool.stdout.readline(), tool.stdout.readline()) == (b"1,2,0.5\n", b"3,4,0.5\n")
tool.stdin.write(b"5,6\n")
assert tool.stdout.readline() == b"5,6,0.5\n"
tool.stdin.close()
assert tool.wait() == 0
PYTHON
}

@test "a signal while the second line is waited for lets the first row come out" {
    python3 - "$OIF" <<'PYTHON'
import array, fcntl, signal, subprocess, sys, termios, time
tool = subprocess.Popen([sys.argv[1], "score", "--on-bad-row", "skip", "--fields", "score"], stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE, bufsize=0)
tool.stdin.write(b"1,2\n")
unread = array.array("i", [1])
while unread[0]:  # it has taken the row
    fcntl.ioctl(tool.stdin, termios.FIONREAD, unread)
    time.sleep(0.01)
tool.send_signal(signal.SIGTERM)
output, _ = tool.communicate(timeout=300)
assert (tool.returncode, output) == (0, b"1,2,0.5\n"), (tool.returncode, output)
PYTHON
}

@test "with --skip-seen the lines that were bad are bad again and not counted" {
    printf '###\na,b\n1,2\n3,4\n5,6\n' > in.csv
    "$OIF" score --on-bad-row skip in.csv 2> /dev/null > expected.csv
    head -4 in.csv > first.csv
    "$OIF" score --state s --on-bad-row skip first.csv 2> /dev/null > both.csv
    oif score --state s --skip-seen --on-bad-row skip in.csv
    contains "$stderr" "2 rows were seen before: starting at row 3"
    echo "$output" >> both.csv
    cmp both.csv expected.csv
    printf '###\na,c\n1,2\n' > other.csv
    oif score --state s --on-bad-row skip other.csv
    contains "$stderr" "oif: other.csv:2:3: 'c' is not a column of the state s, which has 'b'"
}

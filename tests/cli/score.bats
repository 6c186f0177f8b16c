# oif score: what goes through, what is added, and when it comes out.

load helper

# Without the fields score, p and anomaly; and the scores only.
without_fields() {
    sed -E 's/([,;\t][^,;\t\r]*){3}(\r?)$/\2/' "$1"
}

scores_of() {
    sed -E 's/.*[,;\t]([^,;\t]*)([,;\t][^,;\t]*){2}$/\1/' "$1"
}

@test "every row passes through in its order with a score added" {
    make_stream
    "$OIF" score stream.csv > scored.csv
    without_fields scored.csv | cmp - stream.csv
    equal "$(head -1 scored.csv)" "x,y,fault,score,severity,anomaly"
    [ "$(scores_of scored.csv | tail -n +2 | sort -u | wc -l)" -gt 20 ]
}

@test "a score lies between 0 and 1" {
    make_stream
    "$OIF" score stream.csv > scored.csv
    scores_of scored.csv | tail -n +2 |
        awk '!/^[0-9.e-]+$/ || $1 < 0 || $1 > 1 {print "bad score: " $0; bad = 1} END {exit bad || NR != 300}'
}

@test "the label stays out of the features" {
    make_stream
    cut -d, -f1,2 stream.csv > without.csv
    "$OIF" score --label fault stream.csv > with_label.csv
    "$OIF" score without.csv > without_label.csv
    "$OIF" score stream.csv > as_a_feature.csv
    cmp <(scores_of with_label.csv) <(scores_of without_label.csv)
    differ <(scores_of with_label.csv) <(scores_of as_a_feature.csv)
}

@test "the label may be any text" {
    printf 'x,kind\n1,good\n2,"bad, really"\n' > in.csv
    oif score --label kind in.csv
    exits 0
    contains "$output" '2,"bad, really",'
}

@test "--exclude leaves columns out and --columns leaves all others out" {
    make_stream
    "$OIF" score --label fault stream.csv > label.csv
    "$OIF" score --exclude fault stream.csv | cmp - label.csv
    "$OIF" score --columns x,y stream.csv | cmp - label.csv
    "$OIF" score --columns=x,y,fault --exclude=fault stream.csv | cmp - label.csv
}

@test "stdin and a file give the same bytes" {
    make_stream
    "$OIF" score stream.csv > from_file.csv
    "$OIF" score - < stream.csv | cmp - from_file.csv
    "$OIF" score < stream.csv | cmp - from_file.csv
    cat stream.csv | "$OIF" score | cmp - from_file.csv
}

@test "input that comes a byte at a time gives the same bytes" {
    make_stream
    "$OIF" score stream.csv > at_once.csv
    dd if=stream.csv bs=1 status=none | "$OIF" score | cmp - at_once.csv
}

@test "a seed gives the same scores each time and another seed gives others" {
    make_stream
    "$OIF" score --seed 1 stream.csv > first.csv
    "$OIF" score --seed=1 stream.csv | cmp - first.csv
    "$OIF" score --seed 2 stream.csv > other.csv
    differ other.csv first.csv
}

@test "a parameter of the detector is a flag" {
    make_stream
    "$OIF" score stream.csv > default.csv
    "$OIF" score --num-trees 32 --window-size=2048 --insertion row stream.csv | cmp - default.csv
    "$OIF" score --num-trees 5 stream.csv > fewer_trees.csv
    "$OIF" score --insertion=none stream.csv > passed_on.csv
    differ fewer_trees.csv default.csv
    differ passed_on.csv default.csv
}

@test "a header is recognised, and --csv header=yes and --csv header=no overrule that" {
    printf '1,2\n3,4\n' > numbers.csv
    equal "$("$OIF" score numbers.csv | wc -l)" 2
    equal "$("$OIF" score --csv header=no numbers.csv | wc -l)" 2
    equal "$("$OIF" score --csv header=yes numbers.csv | head -1)" "1,2,score,severity,anomaly"
    oif score --label x1 numbers.csv
    exits 0
}

@test "the delimiter of the input is the delimiter of the output" {
    printf 'a;b\n1;2\n' > semicolon.csv
    printf 'a\tb\n1\t2\n' > tab.csv
    equal "$("$OIF" score semicolon.csv | head -1)" "a;b;score;severity;anomaly"
    equal "$("$OIF" score tab.csv | head -1)" $'a\tb\tscore\tseverity\tanomaly'
    equal "$("$OIF" score --csv sep=tab tab.csv | head -1)" $'a\tb\tscore\tseverity\tanomaly'
    equal "$("$OIF" score --csv 'sep=;' semicolon.csv | head -1)" "a;b;score;severity;anomaly"
}

@test "a column called score is no hindrance: another one is added" {
    printf 'score\n1\n' > in.csv
    equal "$("$OIF" score in.csv | head -1)" "score,score,severity,anomaly"
}

@test "CRLF line ends and a byte order mark come out as they went in" {
    printf '\xef\xbb\xbfa,b\r\n1,2\r\n3,4\r\n' > in.csv
    "$OIF" score in.csv > out.csv
    without_fields out.csv | cmp - in.csv
    equal "$(head -1 out.csv)" $'\xef\xbb\xbfa,b,score,severity,anomaly\r'
    dd if=in.csv bs=1 status=none | "$OIF" score | cmp - out.csv
}

@test "CRLF and LF give the same scores" {
    make_stream
    sed 's/$/\r/' stream.csv > crlf.csv
    "$OIF" score stream.csv > lf_scored.csv
    "$OIF" score crlf.csv | tr -d '\r' | cmp - lf_scored.csv
}

@test "quoted fields stay quoted and count as numbers" {
    printf '"a","b"\n"1","2"\n' > quoted.csv
    printf 'a,b\n1,2\n' > plain.csv
    oif score quoted.csv
    exits 0
    equal "${lines[0]}" '"a","b",score,severity,anomaly'
    contains "${lines[1]}" '"1","2",'
    cmp <("$OIF" score quoted.csv | sed -E 's/^("?[12]"?,){2}//' | tail -1) <("$OIF" score plain.csv | sed 's/^1,2,//' | tail -1)
}

@test "a last line without a newline is a row" {
    printf 'a,b\n1,2\n3,4' > in.csv
    printf 'a,b\n1,2\n3,4\n' > whole.csv
    "$OIF" score whole.csv > expected.csv
    "$OIF" score in.csv | cmp - expected.csv
}

@test "a missing value is fine" {
    printf 'a,b\n1,2\n,4\n5,NaN\n' > in.csv
    oif score in.csv
    exits 0
    equal "${#lines[@]}" 4
    contains "${lines[2]}" ",4,"
}

@test "a file whose name starts with a dash comes after --" {
    printf 'a\n1\n' > -odd.csv
    oif score -- -odd.csv
    exits 0
    equal "${lines[0]}" "a,score,severity,anomaly"
}

@test "a row comes out before the next one has arrived whole" {
    python3 - "$OIF" <<'PYTHON'
import select, subprocess, sys
tool = subprocess.Popen([sys.argv[1], "score"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

def line():
    ready, _, _ = select.select([tool.stdout], [], [], 60)
    assert ready, "no output although a whole row was given"
    return tool.stdout.readline()

tool.stdin.write(b"a,b\n1,2\n3,")
header, row = line(), line()
assert header == b"a,b,score,severity,anomaly\n", header
assert row.startswith(b"1,2,"), row
tool.stdin.write(b"4\n")
row = line()
assert row.startswith(b"3,4,"), row
tool.stdin.close()
assert tool.wait() == 0
PYTHON
}

@test "a reader that has seen enough ends the tool quietly" {
    seq 200000 | sed 's/.*\(..\)$/\1/' > long.csv
    run bash -c "'$OIF' score long.csv 2> messages | head -1; echo \${PIPESTATUS[0]}"
    equal "${lines[1]}" 0
    equal "$(cat messages)" ""
}

@test "a reader that has gone ends the tool before more input comes" {
    python3 - "$OIF" <<'PYTHON'
import subprocess, sys
tool = subprocess.Popen([sys.argv[1], "score"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, bufsize=0)
tool.stdout.close()
tool.stdin.write(b"a\n1\n")
code = tool.wait(timeout=300)
messages = tool.stderr.read()
assert (code, messages) == (0, b""), (code, messages)
PYTHON
}

@test "a full disk is a failure that is told" {
    make_stream
    run --separate-stderr bash -c "'$OIF' score -q stream.csv > /dev/full"
    exits 1 "oif: cannot write the output: No space left on device"
}

@test "a closed stdout is a failure that is told" {
    make_stream
    run --separate-stderr bash -c "'$OIF' score -q stream.csv >&-"
    exits 1 "oif: cannot write the output: Bad file descriptor"
}

@test "stdin that is left in non-blocking mode is waited for" {
    python3 - "$OIF" <<'PYTHON'
import os, subprocess, sys, time
reading, writing = os.pipe()
os.set_blocking(reading, False)
tool = subprocess.Popen([sys.argv[1], "score"], stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
time.sleep(0.1)
os.write(writing, b"a\n1\n")
os.close(writing)
output, messages = tool.communicate(timeout=300)
assert output.startswith(b"a,score,severity,anomaly\n1,") and (tool.returncode, messages) == (0, b""), (output, messages)
PYTHON
}

@test "reading from a terminal is announced" {
    python3 - "$OIF" <<'PYTHON'
import os, pty, subprocess, sys
master, slave = pty.openpty()
tool = subprocess.Popen([sys.argv[1], "score"], stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
os.write(master, b"a\n1\n\x04")
output, messages = tool.communicate(timeout=300)
assert messages == b"oif: reading from the terminal; press Ctrl-D to end\n", messages
assert output.startswith(b"a,score,severity,anomaly\n1,") and tool.returncode == 0, output
PYTHON
}

@test "files that are put one behind the other are one stream: headers that come again are no rows" {
    make_stream
    "$OIF" score --label fault stream.csv > expected.csv
    { head -100 stream.csv; head -1 stream.csv; tail -n +101 stream.csv; } | "$OIF" score --label fault | cmp - expected.csv
    "$OIF" eval --label fault --json stream.csv | grep roc_auc > measured
    { cat stream.csv; head -1 stream.csv; } | "$OIF" eval --label fault --json | grep roc_auc | cmp - measured
}

# Files that oif reads: compressed ones, several, patterns.

load helper


make_expected() {
    make_stream
    "$OIF" score stream.csv > expected.csv
}

# Reads bytes one by one, or as they come, and the result must be the same.
slowly() {
    python3 -c '
import os, sys
for byte in open(sys.argv[1], "rb").read(): os.write(1, bytes([byte]))' "$1"
}

# ---- Compressed ----

@test "gzip and zstd are read as what they hold, from files and stdin, whatever their names" {
    make_expected
    gzip -k stream.csv
    zstd -q stream.csv
    cp stream.csv.gz no_ending
    for file in stream.csv.gz stream.csv.zst no_ending; do
        "$OIF" score "$file" | cmp - expected.csv
        "$OIF" score < "$file" | cmp - expected.csv
        "$OIF" score - < "$file" | cmp - expected.csv
        slowly "$file" | "$OIF" score | cmp - expected.csv
    done
    equal "$("$OIF" eval --json --label fault stream.csv.gz | jq .roc_auc)" "$("$OIF" eval --json --label fault stream.csv | jq .roc_auc)"
}

@test "the format is known by the name before .gz and .zst" {
    make_stream
    "$OIF" score --output ndjson --fields score stream.csv | sed 's/,"oif".*/}/' > stream.ndjson
    "$OIF" score stream.ndjson > expected.ndjson
    gzip -k stream.ndjson
    zstd -q stream.ndjson
    "$OIF" score stream.ndjson.gz | cmp - expected.ndjson
    "$OIF" score stream.ndjson.zst | cmp - expected.ndjson
}

@test "several gzip members and zstd frames are one text" {
    make_expected
    head -100 stream.csv > first
    tail -n +101 stream.csv > second
    cat <(gzip -c first) <(gzip -c < /dev/null) <(gzip -c second) > stream.gz
    cat <(zstd -qc first) <(printf '\x52\x2a\x4d\x18\x03\0\0\0abc') <(zstd -qc second) > stream.zst
    cat <(printf '\x50\x2a\x4d\x18\x00\0\0\0') stream.zst > skippable_first
    cat stream.gz <(head -c 1000 /dev/zero) > padded.gz
    for file in stream.gz stream.zst skippable_first padded.gz; do
        "$OIF" score $file | cmp - expected.csv
        slowly $file | "$OIF" score | cmp - expected.csv
    done
}

@test "rows of a live gzip or zstd pipe come out as they go in" {
    python3 - "$OIF" << 'END'
import subprocess, sys, zlib, os, select
def lines_now(program, wanted):
    text = b""
    while text.count(b"\n") < wanted:
        ready, _, _ = select.select([program.stdout], [], [], 60)
        assert ready, "no row came out: %r" % text
        text += os.read(program.stdout.fileno(), 1 << 16)
    return text
program = subprocess.Popen([sys.argv[1], "score"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
packer = zlib.compressobj(wbits=31)
for text, wanted in ((b"a,b\n1,2\n", 2), (b"3,4\n", 1), (b"5,6\n", 1)):
    program.stdin.write(packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH))
    program.stdin.flush()
    lines_now(program, wanted)
program.stdin.write(packer.flush())
program.stdin.close()
assert program.wait() == 0
END
}

@test "data that is cut off or damaged is refused at its byte, after the rows before it" {
    awk 'BEGIN { print "a,b"; srand(1); for (i = 0; i < 20000; i++) print rand() "," rand() }' > big.csv
    "$OIF" score big.csv > expected.csv
    for kind in gzip zstd; do
        $kind -c big.csv > whole
        head -c 100000 whole > cut
        oif score cut
        exits 1 "oif: cut: the $kind data is cut off: it ends at byte 100000, too early; the rows before it were read"
        printf '%s\n' "$output" > scored
        [ "$(wc -l < scored)" -gt 5000 ]
        cmp scored <(head -n "$(wc -l < scored)" expected.csv)
        cp whole damaged
        printf '\x55\xaa\x55\xaa\x55\xaa\x55\xaa\x55' | dd of=damaged bs=1 seek=90000 conv=notrunc status=none
        oif score --on-bad-row skip damaged
        equal "$status" 1
        contains "$stderr" "the $kind data cannot be decompressed at byte "
        cat whole <(echo garbage) > longer
        oif score longer
        equal "$status" 1
        contains "$stderr" "bytes that are not $kind data follow"
    done
}

@test "random bytes behind the first bytes of a compressed file are refused" {
    for magic in '\x1f\x8b\x08' '\x28\xb5\x2f\xfd' '\x51\x2a\x4d\x18'; do
        for seed in 1 2 3 4 5 6; do
            { printf "$magic"; python3 -c "
import random, sys
sys.stdout.buffer.write(random.Random($seed).randbytes(3000))"; } > in
            run --separate-stderr timeout 300 "$OIF" score in
            equal "$status" 1
            contains "$stderr" "oif: in: the "
        done
        printf "$magic" > in
        oif score in
        equal "$status" 1
    done
    printf '\x1f' > in
    oif score in
    exits 0
}

@test "a bomb of 10 GB on one line ends at the longest line, with little memory" {
    skip_if_sanitized
    python3 -c '
import sys, zlib
packer, zeros = zlib.compressobj(9, wbits=31), b"0" * (1 << 24)
for i in range(32): sys.stdout.buffer.write(packer.compress(zeros))
sys.stdout.buffer.write(packer.flush())' > one.gz
    for i in $(seq 20); do cat one.gz; done > bomb.gz # 10.7 GB
    head -c 300000000 /dev/zero | tr '\0' 7 | zstd -qc > bomb.zst
    for file in bomb.gz bomb.zst; do
        run --separate-stderr bash -c "ulimit -v 600000; exec '$OIF' score $file"
        exits 1 "oif: $file:1:1: this line is longer than 16777216 bytes"
    done
}

@test "a zstd window beyond 128 MiB is refused with the command that reads it" {
    head -c 1000 /dev/zero | tr '\0' 7 | zstd -q --ultra --long=30 --no-content-size -c > wide.zst 2> /dev/null ||
        head -c 1000 /dev/zero | tr '\0' 7 | zstd -q --ultra --long=30 -c > wide.zst
    oif score wide.zst
    equal "$status" 1
    contains "$stderr" "it needs a window of more than 128 MiB, use zstd -dc --long=31"
}

@test "bzip2 and xz are recognised and answered with the command to paste" {
    make_stream
    bzip2 -k stream.csv
    xz -k stream.csv
    oif score stream.csv.bz2
    exits 1 "oif: stream.csv.bz2: oif does not read bzip2: bzip2 -dc stream.csv.bz2 | oif score"
    cp stream.csv.bz2 "my stream.bz2"
    oif score "my stream.bz2"
    exits 1 "oif: my stream.bz2: oif does not read bzip2: bzip2 -dc 'my stream.bz2' | oif score"
    oif score < stream.csv.xz
    exits 1 "oif: <stdin>: oif does not read xz: xz -dc FILE | oif score"
    printf 'BZh,b\n1,2\n' | "$OIF" score --fields score | cmp - <(printf 'BZh,b,score\n1,2,0.5\n')
}

@test "--skip-seen resumes in a compressed file" {
    make_expected
    head -151 stream.csv | gzip > first.gz
    gzip -k stream.csv
    "$OIF" score --state s.oif first.gz > scored.csv
    "$OIF" score --state s.oif --skip-seen stream.csv.gz >> scored.csv
    cmp scored.csv expected.csv
}

# ---- Several files ----

@test "several files are one stream, without the later headers" {
    make_expected
    head -100 stream.csv > a.csv
    (head -1 stream.csv; sed -n 101,200p stream.csv) | gzip > b.csv.gz
    (printf '\xef\xbb\xbf'; head -1 stream.csv; sed -n '201,$p' stream.csv) | head -c -1 > c.csv
    "$OIF" score a.csv b.csv.gz c.csv | cmp - expected.csv
    "$OIF" score a.csv - c.csv < b.csv.gz | cmp - expected.csv
    sed -n 101,200p stream.csv > rows.csv # as split makes them
    "$OIF" score a.csv rows.csv c.csv | cmp - expected.csv
    printf '\n\n' > blank.csv
    : > empty.csv
    "$OIF" score empty.csv a.csv blank.csv empty.csv b.csv.gz c.csv empty.csv | cmp - expected.csv
}

@test "a pattern that the shell left is expanded and sorted" {
    make_expected
    mkdir logs
    head -100 stream.csv > logs/1.csv
    sed -n 101,200p stream.csv > logs/2.csv
    sed -n '201,$p' stream.csv > logs/3.csv
    "$OIF" score 'logs/*.csv' | cmp - expected.csv
    "$OIF" score 'logs/[12].csv' logs/3.csv | cmp - expected.csv
    oif score 'logs/*.txt'
    exits 1 "oif: logs/*.txt: no file matches this pattern; check the folder and the quotes"
    cp stream.csv 'a*b.csv'
    cp logs/1.csv axb.csv
    "$OIF" score 'a*b.csv' | cmp - expected.csv # a name comes first
}

@test "a message names the file in which the row is, and its line there" {
    printf 'a,b\n1,2\n' > a.csv
    printf '\na,b\n3,4\nx,5\n' > b.csv
    oif score a.csv b.csv
    equal "$status" 1
    contains "$stderr" "oif: b.csv:4:1: 'x' is not a number"
}

@test "bad rows are reported with their file" {
    printf 'a,b\n1,2\n1,y\n' > a.csv
    printf 'a,b\n3,4\nx,5' > b.csv
    oif score --on-bad-row skip --fields score a.csv b.csv
    equal "$status" 0
    contains "$stderr" "oif: a.csv and 1 more: 2 bad rows skipped"
    contains "$stderr" "a.csv:3:3: 'y' is not a number"
    contains "$stderr" "b.csv:3:1: 'x' is not a number"
}

@test "other columns in a later file are refused with the place, after the rows before" {
    printf 'a,b\n1,2\n' > a.csv
    printf '\nb,a\n1,2\n' > b.csv
    oif score --fields score a.csv b.csv
    exits 1 "oif: b.csv:2: the columns are 'b,a', but in a.csv 'a,b'; files that are read together need the same columns in the same order"
    equal "$output" $'a,b,score\n1,2,0.5'
}

@test "several NDJSON files" {
    make_stream
    "$OIF" score --output ndjson --fields score stream.csv | sed 's/,"oif".*/}/' > stream.ndjson
    "$OIF" score stream.ndjson > expected
    head -100 stream.ndjson | head -c -1 > a.ndjson
    tail -n +101 stream.ndjson | zstd -q > b.ndjson.zst
    "$OIF" score a.ndjson b.ndjson.zst | cmp - expected
}

@test "names of other columns are cut between characters" {
    printf 'x%.0s' $(seq 59) > a.csv
    printf '\xc3\xa4,b\n1,2\n' >> a.csv
    printf 'c,d\n1,2\n' > b.csv
    for files in "a.csv b.csv" "b.csv a.csv"; do
        # shellcheck disable=SC2086
        "$OIF" score $files 2> told > scored.csv || true
        contains "$(cat told)" "xxx...'"
        iconv -f utf-8 -t utf-8 told > /dev/null
    done
}

@test "a missing file, a directory or an unreadable file among several is told before the first row" {
    printf 'a,b\n1,2\n' > a.csv
    mkdir folder
    oif score a.csv nowhere.csv
    exits 1 "oif: nowhere.csv: No such file or directory"
    equal "$output" ""
    oif score a.csv folder
    exits 1 "oif: folder: Is a directory; to read the files in it, give 'folder/*'"
    mkdir "it's here"
    for other in a.csv ""; do
        oif score "it's here" ${other:+"$other"}
        exits 1 "oif: it's here: Is a directory; to read the files in it, give 'it'\\''s here/*'"
    done
    local odd='run [1] a*b? \c'
    mkdir "$odd" "run 1 aab? c"
    cp a.csv "$odd"
    for other in a.csv ""; do
        oif score "$odd" ${other:+"$other"}
        contains "$stderr" "give 'run \\[1] a\\*b\\? \\\\c/*'"
        eval "oif score --fields score ${stderr##* give }"
        exits 0 ""
        equal "${lines[1]}" 1,2,0.5
    done
    if [ "$(id -u)" -ne 0 ]; then
        cp a.csv secret.csv
        chmod 000 secret.csv
        oif score a.csv secret.csv
        exits 1 "oif: secret.csv: Permission denied"
    fi
}

@test "a FIFO is read once it is its turn" {
    make_expected
    head -100 stream.csv > a.csv
    mkfifo pipe
    (sed -n '101,$p' stream.csv | gzip > pipe) &
    "$OIF" score a.csv pipe | cmp - expected.csv
    wait
}

@test "commands that read no rows take one argument" {
    oif state inspect a b
    equal "$status" 2
    contains "$stderr" "unexpected argument 'b'"
}

@test "--csv skip= leaves out the first lines of each file and keeps the numbers of the others" {
    printf 'report\nof today, 7\na,b\n1,2\n' > a.csv
    printf '\xef\xbb\xbfreport\nof tomorrow, 8\na,b\n3,4\nx,1\n' > b.csv
    oif score --csv skip=2 --fields score a.csv b.csv
    equal "$status" 1
    equal "$output" $'a,b,score\n1,2,0.5\n3,4,0.5'
    contains "$stderr" "b.csv:5:1: 'x' is not a number"
    oif score --csv skip=99 a.csv
    exits 1 "oif: a.csv: the input is empty"
}

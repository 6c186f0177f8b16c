# oif score --key: a model for each key, within bounds.

load helper

# 300 rows of three hosts in turn, each with its own level; and each host's rows alone.
make_hosts() {
    make_stream
    awk -F, -v OFS=, 'NR == 1 {print "host," $0} NR > 1 {print "web-" NR % 3, $1 + NR % 3 * 100, $2, $3}' stream.csv > hosts.csv
    for host in web-0 web-1 web-2; do
        (head -1 hosts.csv; grep "^$host," hosts.csv) > "$host.csv"
    done
}

@test "each key gets the scores that its rows alone would get" {
    make_hosts
    "$OIF" score --key host hosts.csv > together.csv
    for host in web-0 web-1 web-2; do
        "$OIF" score --exclude host "$host.csv" | cmp - <(head -1 together.csv; grep "^$host," together.csv)
    done
}

@test "a key may be any text, in CSV and in NDJSON" {
    printf 'host,x\n"a,""b""",1\n,2\n"a,""b""",3\n' > in.csv
    "$OIF" score --key host --state s in.csv > scored.csv
    equal "$("$OIF" inspect --json s | tr -d '\n' | grep -o '"models": 2.*"key": "a,\\"b\\""')" \
        "$("$OIF" inspect --json s | tr -d '\n' | grep -o '"models": .*"key": "[^ ]*"')"
    printf '{"h":{"n":"a"},"x":1}\n{"h":{"n":"\\u0061"},"x":2}\n{"x":3}\n' |
        "$OIF" score --key h.n --state t > scored.ndjson
    equal "$("$OIF" inspect t | sed -n 's/^models  *//p')" 2
}

@test "with --max-keys the key not seen for longest loses its model and starts anew" {
    make_hosts
    "$OIF" score --key host --max-keys 2 --state s hosts.csv > scored.csv
    equal "$("$OIF" inspect s | sed -n 's/^models  *//p')" 2
    equal "$("$OIF" inspect s | sed -n 's/^evictions  *//p')" 298
    # Three keys in turn with room for two: each row is the first that its model sees.
    equal "$(tail -n +2 scored.csv | cut -d, -f5 | sort -u)" 0.5
}

@test "--memory-limit bounds the models as well" {
    make_hosts
    one=$("$OIF" score --exclude host --state s hosts.csv > scored.csv; "$OIF" inspect --json s | sed -n 's/.*"memory_bytes": \([0-9]*\).*/\1/p')
    "$OIF" score --key host --memory-limit "$((one + 4096))" --state t hosts.csv > scored.csv
    equal "$("$OIF" inspect t | sed -n 's/^models  *//p')" 1
    [ "$("$OIF" inspect --json t | sed -n 's/.*"memory_bytes": \([0-9]*\).*/\1/p')" -le "$((one + 4096))" ]
    oif score --key host --memory-limit 1000 hosts.csv
    equal "$status" 2
    contains "$stderr" "oif: memory_limit is too small for a single model of"
}

@test "a key that is too long is a bad row" {
    (echo host,x; head -c 70000 /dev/zero | tr '\0' k; echo ,1; echo a,2) > in.csv
    oif score --key host in.csv
    exits 1 "oif: in.csv:2: a key of 70000 bytes is too long; up to 65536 are fine"
    oif score --key host --on-bad-row skip in.csv
    equal "$status" 0
    equal "${#lines[@]}" 2
    contains "$stderr" "oif: in.csv: 1 bad row skipped"
}

@test "inspect shows the model of the key that was seen last" {
    make_hosts
    "$OIF" score --key host --state s hosts.csv > scored.csv
    oif inspect s
    exits 0
    contains "$output" 'model of the key seen last, "web-1"'
    equal "$(sed -n 's/^  rows_learned  *//p' <<< "$output")" 100
}

@test "100,000 keys come and go within the bounds" {
    awk 'BEGIN {print "key,x"; for (i = 0; i < 100000; i++) print "k" i "," i % 7}' > many.csv
    "$OIF" score --key key --detector loda --num-projections 2 --num-bins 4 --window-size 8 --max-keys 1000 --state s many.csv |
        tail -1 | grep '^k99999,'
    equal "$("$OIF" inspect s | sed -n 's/^models  *//p')" 1,000
    equal "$("$OIF" inspect s | sed -n 's/^evictions  *//p')" 99,000
}

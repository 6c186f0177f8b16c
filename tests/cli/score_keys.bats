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
    equal "$("$OIF" state inspect --json s | tr -d '\n' | grep -o '"models": 2.*"key": "a,\\"b\\""')" \
        "$("$OIF" state inspect --json s | tr -d '\n' | grep -o '"models": .*"key": "[^ ]*"')"
    printf '{"h":{"n":"a"},"x":1}\n{"h":{"n":"\\u0061"},"x":2}\n{"x":3}\n' |
        "$OIF" score --key h.n --state t > scored.ndjson
    equal "$("$OIF" state inspect t | sed -n 's/^models  *//p')" 2
}

@test "with --max-keys rows of a key too many get no score, and that is said" {
    make_hosts
    oif score --key host --max-keys 2 --state s hosts.csv
    equal "$status" 0
    equal "$("$OIF" state inspect s | sed -n 's/^models  *//p')" 2
    equal "$("$OIF" state inspect s | sed -n 's/^evictions  *//p')" 0
    contains "$stderr" 'oif: no room is left for a model of the key "web-1": its rows get no score until another key is evicted;'
    contains "$stderr" "2 keys have a model, the most allowed; allow more with --max-keys 4"
    contains "$stderr" "oif: 2 keys have a model; 0 were evicted, 0 of them came back and started over; 100 rows had no model and got no score"
    equal "$(grep -c 'no room' <<< "$stderr")" 1
    # The others have the scores that they have alone.
    "$OIF" score --key host hosts.csv > all.csv
    grep -v '^[^,]*web-1' all.csv > expected.csv || true
    grep -v '^[^,]*web-1' <<< "$output" | cmp - expected.csv
}

@test "50 hosts in turn and room for 49: 49 have the scores that they would have with room for all" {
    awk 'BEGIN {srand(9); print "host,a,b"; for (i = 0; i < 300; i++) for (h = 0; h < 50; h++) print "h" h "," rand() "," rand()}' > k.csv
    "$OIF" score --key host --max-keys 49 --alert-rate 0.01 --fields score,ready,anomaly k.csv > limited.csv
    "$OIF" score --key host --alert-rate 0.01 --fields score,ready,anomaly k.csv > all.csv
    equal "$(cmp -s limited.csv all.csv || diff limited.csv all.csv | grep -c '^<')" 300
}

@test "an evicted key that comes back is said at once" {
    (echo host,x; for h in a b a; do for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo "$h,$i"; done; done) > in.csv
    oif score --key host --max-keys 1 in.csv
    equal "$status" 0
    contains "$stderr" 'oif: the key "a" is back after its model was evicted, and starts over; 1 keys have a model, the most allowed; allow more with --max-keys 2'
    contains "$stderr" "1 keys have a model; 2 were evicted, 1 of them came back and started over"
}

# 2,000 hosts with 3 rows took 320 MB.
@test "a host with three rows takes little memory" {
    skip_if_sanitized
    awk 'BEGIN {print "host,cpu,mem,net"; for (r = 0; r < 3; r++) for (h = 0; h < 2000; h++) print "h" h "," rand() "," rand() "," rand()}' > in.csv
    (ulimit -v 160000; "$OIF" score --key host --memory-limit 1e9 in.csv > scored.csv)
    equal "$(wc -l < scored.csv)" 6001
    equal "$(grep -c 'h[0-9]*,.*,,,$' scored.csv || true)" 0
}

@test "half of the memory is the limit if nobody says, and that is said" {
    skip_if_sanitized
    awk 'BEGIN {print "host,cpu,mem,net"; for (r = 0; r < 2; r++) for (h = 0; h < 20000; h++) print "h" h "," rand() "," rand() "," rand()}' > in.csv
    (ulimit -v 60000; "$OIF" score --key host in.csv > scored.csv 2> messages)
    grep -Eq "keys use 0\.030[0-7] GB, half of this machine's memory; allow more with --memory-limit 46M" messages
    (ulimit -v 60000; "$OIF" score -v --key host < <(head -3 in.csv) > scored.csv 2> messages)
    contains "$(cat messages)" "oif: the models of all keys may use 0.0307 GB, half of this machine's memory (--memory-limit)"
    "$OIF" score -v --key host --memory-limit 1e9 < <(head -3 in.csv) > scored.csv 2> messages
    contains "$(cat messages)" "oif: the models of all keys may use 1 GB, as asked for (--memory-limit)"
}

@test "--memory-limit bounds the models as well" {
    make_hosts
    one=$("$OIF" score --exclude host --state s hosts.csv > scored.csv; "$OIF" state inspect --json s | sed -n 's/.*"memory_bytes": \([0-9]*\).*/\1/p')
    "$OIF" score --key host --memory-limit "$((one + 4096))" --state t hosts.csv > scored.csv 2> told
    contains "$(cat told)" "; allow more with --memory-limit 1M, or"
    equal "$("$OIF" state inspect t | sed -n 's/^models  *//p')" 1
    [ "$("$OIF" state inspect --json t | sed -n 's/.*"memory_bytes": \([0-9]*\).*/\1/p')" -le "$((one + 4096))" ]
    oif score --key host --memory-limit 1000 hosts.csv
    equal "$status" 2
    [[ "$stderr" =~ ^"oif: --memory-limit is too small for a single model of "[0-9]+" bytes; raise it to "([0-9]+)$ ]]
    "$OIF" score --key host --memory-limit "${BASH_REMATCH[1]}" hosts.csv > scored.csv
    oif score --key host --memory-limit "$((BASH_REMATCH[1] - 1))" hosts.csv
    equal "$status" 2
    oif score --detector online-iforest --window-size 16777216 --max-leaf-samples 1 hosts.csv
    equal "$status" 2
    contains "$stderr" "lower --window-size or raise --max-leaf-samples"
}

@test "a key that is too long is a bad row" {
    (echo host,x; head -c 70000 /dev/zero | tr '\0' k; echo ,1; echo a,2) > in.csv
    oif score --key host in.csv
    exits 1 "oif: in.csv:2: a key of 70000 bytes is too long; the limit is 65536"
    oif score --key host --on-bad-row skip in.csv
    equal "$status" 0
    equal "${#lines[@]}" 2
    contains "$stderr" "oif: in.csv: 1 bad row skipped"
}

@test "inspect shows the model of the key that was seen last" {
    make_hosts
    "$OIF" score --key host --state s hosts.csv > scored.csv
    oif state inspect s
    exits 0
    contains "$output" 'model of the key seen last, "web-1"'
    equal "$(sed -n 's/^  rows_learned  *//p' <<< "$output")" 100
}

@test "100,000 keys come and go within the bounds" {
    awk 'BEGIN {print "key,x"; for (i = 0; i < 100000; i++) print "k" i "," i % 7}' > many.csv
    "$OIF" score --key key --detector loda --num-projections 2 --num-bins 4 --window-size 8 --max-keys 1000 --state s many.csv 2> messages |
        tail -1 | grep '^k99999,'
    equal "$("$OIF" state inspect s | sed -n 's/^models  *//p')" 1,000
    contains "$(cat messages)" "oif: 1,000 keys have a model;"
}

# ---- Keys of several columns ----

@test "--key host,disk: each disk of each host has a model of its own" {
    awk 'BEGIN {print "host,disk,x"; for (i = 0; i < 200; i++) for (h = 0; h < 2; h++) for (d = 0; d < 2; d++) print "h" h ",sd" d "," (i * 7 + h + d) % 11}' > disks.csv
    awk 'BEGIN {print "key,x"; for (i = 0; i < 200; i++) for (h = 0; h < 2; h++) for (d = 0; d < 2; d++) print "h" h "-" d "," (i * 7 + h + d) % 11}' > keys.csv
    "$OIF" score --key host,disk --state s disks.csv | cut -d, -f4- > scored.csv
    "$OIF" score --key key keys.csv | cut -d, -f3- | cmp - scored.csv
    equal "$("$OIF" state inspect s | sed -n 's/^models  *//p')" 4
    contains "$("$OIF" state inspect s)" 'model of the key seen last, "h1/sd1"'
    "$OIF" score --key host,disk --state t <<< '{"host":"a","disk":"b","x":1}' > scored.ndjson
    contains "$("$OIF" state inspect t)" '"a/b"'
}

@test "values that contain the separator make no two keys one" {
    printf 'a,b,x\nu/v,w,1\nu,v/w,2\nu\\,v,3\nu,\\v,4\n' > in.csv
    "$OIF" score --key a,b --state s in.csv > scored.csv
    equal "$("$OIF" state inspect s | sed -n 's/^models  *//p')" 4
}

@test "a column with a comma in its name, one that is not there, and too long a key of several" {
    printf '"a,b",c,x\nu,w,1\nv,w,2\n' > in.csv
    "$OIF" score --key '"a,b"' --exclude c --state s in.csv > scored.csv
    equal "$("$OIF" state inspect s | sed -n 's/^models  *//p')" 2
    oif score --key 'c,nothing' in.csv
    equal "$status" 2
    contains "$stderr" "nothing"
    oif score --key 'c,,x' in.csv
    exits 2 "oif: --key: 'c,,x' contains an empty name; separate names by single commas"
    (echo h,d,x; head -c 40000 /dev/zero | tr '\0' k; echo -n ,; head -c 40000 /dev/zero | tr '\0' k; echo ,1) > long.csv
    oif score --key h,d long.csv
    equal "$status" 1
    contains "$stderr" "is too long; the limit is 65536"
}

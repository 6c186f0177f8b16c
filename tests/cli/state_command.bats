# oif state: shows a state file and its keys, and drops keys.

load helper

# Rows of three hosts: host,x,y,t.
make_hosts() {
    awk 'BEGIN { OFS = ","; state = 1; print "host,x,y,t"
        for (i = 0; i < 1500; i++) {
            state = state * 16807 % 2147483647; x = state % 1000
            state = state * 16807 % 2147483647; y = state % 1000
            print "web-" i % 3, x, y, 1700000000 + 10 * i } }' > hosts.csv
}

learn() { # learn STATE [OPTION...]
    "$OIF" score --key host --time t --state "$@" hosts.csv > scored.csv
}

# rows_of STATE: "KEY ROWS", a line each.
rows_of() {
    "$OIF" state --keys --json "$1" |
        python3 -c 'import json, sys; [print(k["key"], k.get("rows", "on disk")) for k in map(json.loads, sys.stdin)]'
}

@test "state shows what was learned, with options to paste" {
    make_hosts
    learn s --alert-rate 0.01 --num-trees 8
    oif state s
    exits 0
    equal "${lines[0]}" "detector       rolling-iforest"
    equal "${lines[1]}" 'columns        2: "x", "y"'
    equal "${lines[2]}" "rows           1,500"
    equal "${lines[3]}" "keys           3"
    contains "$output" "options        --alert-rate 0.01"
    contains "$output" "parameters     --num-trees 8"
    contains "$output" "saved          $(date -u -r s +%Y-%m-%dT%H:%M:%SZ)"
    "$OIF" state --json s | python3 -c '
import json, sys
s = json.load(sys.stdin)
assert s["rows"] == 1500 and s["keys"] == 3 and s["names"] == ["x", "y"], s
assert s["params"]["num_trees"] == 8 and s["options"]["alert_rate"] == 0.01, s'
}

@test "what is not a state is refused with what to do" {
    make_hosts
    oif state hosts.csv
    exits 1 "oif: 'hosts.csv': byte 8: this is not a snapshot of oif; name a file that 'oif score --state FILE' has written"
    learn s
    cp "$BATS_TEST_DIRNAME/../../fuzz/corpus/fuzz_key/a-key" web-1.key
    oif state web-1.key
    exits 1 "oif: 'web-1.key': byte 32: this is the snapshot of a single key of a pipeline, not of a pipeline; a program can \
load it into a pipeline"
    oif score --state web-1.key hosts.csv
    equal "$status" 1
    contains "$stderr" "this is the snapshot of a single key of a pipeline"
    equal "$(ls -A | grep -E 'lock|new')" ""
    head -c 1000 s > cut
    oif state cut
    equal "$status" 1
    contains "$stderr" "; restore a backup, or remove the file to start over"
    cp s "my state"
    oif state --drop web-9 "my state"
    exits 1 "oif: my state: there is no key 'web-9'; list all with: oif state --keys 'my state'"
}

@test "state lists the keys, the least recently seen first, and escapes them" {
    make_hosts
    learn s
    "$OIF" score --key host --time t --state s > scored.csv <<< $'host,x,y,t\n\x1b[31m"evil",1,2,1700020000'
    oif state --keys s
    exits 0
    equal "${#lines[@]}" 5
    equal "${lines[0]}" "        rows  state            bytes  last seen             key"
    contains "${lines[1]}" '         500  '
    contains "${lines[1]}" '2023-11-15T02:22:50Z  "web-0"'
    contains "${lines[4]}" '2023-11-15T03:46:40Z  "\u001b[31m'
    equal "$(rows_of s | head -3)" "$(printf 'web-0 500\nweb-1 500\nweb-2 500')"
    "$OIF" score --state without stream.csv < /dev/null 2> messages || true
    make_stream
    "$OIF" score --state without stream.csv > scored.csv
    oif state --keys without
    contains "${lines[1]}" "(none)"
    equal "$(rows_of without)" "None 300"
}

@test "a dropped key starts anew, and the others go on as they were" {
    make_hosts
    learn s
    cp s t
    oif state --drop web-1 s
    exits 0 "oif: s: key 'web-1' was dropped; keys left: 2"
    equal "$(rows_of s)" "$(printf 'web-0 500\nweb-2 500')"
    learn s
    grep -v web-1 scored.csv > after-drop.csv
    learn t
    grep -v web-1 scored.csv > undisturbed.csv
    cmp after-drop.csv undisturbed.csv
    equal "$(rows_of s | sort)" "$(printf 'web-0 1000\nweb-1 500\nweb-2 1000')"
    cp s before
    oif state --drop $'no\nne' s
    exits 1 "oif: s: there is no key 'no\u000ane'; list all with: oif state --keys s"
    cmp s before
}

@test "a state that another program holds can be shown, but not changed" {
    make_hosts
    learn s
    mkfifo rows
    "$OIF" score --key host --time t --state s < rows > scored.csv 2> messages &
    exec 8> rows
    head -2 hosts.csv >&8
    await_lines 1 scored.csv
    oif state --drop web-1 s
    exits 1 "oif: another process is using the state file 's'; stop it, or name another file"
    oif state --keys s
    exits 0
    exec 8>&-
    wait
}

@test "a state survives kill -9 and a full disk at any moment of a change" {
    make_hosts
    learn s
    cp s whole
    for i in $(seq 20); do
        cp whole s
        "$OIF" state --drop web-2 s 2> messages &
        sleep "0.00$((i % 10))"
        kill -9 $! 2> messages || true
        wait $! 2> messages || true
        oif state --keys s
        exits 0
        [ "${#lines[@]}" -ge 3 ]
    done
    cp whole s
    oif state --drop web-0 s
    equal "$status" 0
    [ ! -e s.lock ] && [ ! -e s.new ]
    cp s before
    run bash -c 'ulimit -f 4; exec "$0" state --drop web-1 s' "$OIF"
    equal "$status" 1
    contains "$output" "File too large"
    cmp s before
    [ ! -e s.new ]
}

@test "keys on disk are listed and dropped" {
    make_hosts
    learn s --max-keys 1 --evicted keep
    equal "$(rows_of s | sort)" "$(printf 'web-0 on disk\nweb-1 on disk\nweb-2 500')"
    oif state s
    contains "$output" "keys on disk   2"
    oif state --drop web-1 s
    exits 0 "oif: s: key 'web-1' was dropped; keys left: 2"
    equal "$(rows_of s | sort)" "$(printf 'web-0 on disk\nweb-2 500')"
}

@test "what does not belong together, or is not there, is an error" {
    oif state
    exits 2 "oif: state needs a FILE, as 'oif score --state FILE' writes it"
    oif state --drop a --keys s
    exits 2 "oif: give only one of --drop, and --keys or --json"
    oif state none
    exits 1 "oif: cannot open 'none': No such file or directory"
    oif state --drop a none
    exits 1 "oif: none: there is no such file"
    equal "$(ls -A | grep -E '^none')" ""
    cp "$BATS_TEST_DIRNAME/../golden/snapshots/format-1/rolling-iforest.oif" detector.oif
    oif state detector.oif
    exits 1 "oif: 'detector.oif': byte 32: this is the snapshot of a detector, not of a pipeline; 'oif state inspect' shows what it contains"
}

# oif state: shows a state file and its keys, drops keys, and moves them to other states bit for bit.

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
    "$OIF" state --export web-1 --to web-1.key s
    oif state web-1.key
    exits 1 "oif: 'web-1.key': byte 32: this is the snapshot of a single key of a pipeline, not of a pipeline; add it to a \
state with 'oif state --import'"
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

@test "a key moves to another state and goes on bit for bit" {
    make_hosts
    learn whole
    learn left
    learn right --max-keys 50
    "$OIF" state --drop web-1 right 2> messages
    oif state --export web-1 --to web-1.key left
    exits 0 "oif: left: key 'web-1' was exported to web-1.key"
    oif state --import web-1.key right
    exits 0 "oif: right: key 'web-1' was imported; it has seen 500 rows"
    learn whole --fields score
    grep web-1 scored.csv > expected.csv
    learn right --fields score
    grep web-1 scored.csv > moved.csv
    cmp moved.csv expected.csv
    "$OIF" state --export web-1 --to - left 2> messages | "$OIF" state --import - --as web-9 left 2> messages
    equal "$(rows_of left | sort)" "$(printf 'web-0 500\nweb-1 500\nweb-2 500\nweb-9 500')"
}

@test "a key that does not fit is refused with the difference, and nothing changes" {
    make_hosts
    learn s
    "$OIF" state --export web-1 --to web-1.key s 2> messages
    learn trees --num-trees 8
    cp trees before
    oif state --import web-1.key trees
    exits 1 "oif: 'web-1.key': the key was learned with num_trees=32, and the pipeline has num_trees=8"
    oif state --import s trees
    exits 1 "oif: 's': byte 44: this is the snapshot of a pipeline, not of a single key of a pipeline"
    head -c 5000 web-1.key > cut.key
    oif state --import cut.key s
    equal "$status" 1
    contains "$stderr" "the snapshot is cut off"
    oif state --import none.key trees
    exits 1 "oif: cannot open 'none.key': No such file or directory"
    cmp trees before
    oif score --state web-1.key hosts.csv
    exits 1 "oif: 'web-1.key': byte 32: this is the snapshot of a single key of a pipeline, not of a pipeline; add it to a state with 'oif state --import'"
    equal "$(ls -A | grep -E 'lock|new')" ""
}

@test "a state that another program holds can be shown and exported from, but not changed" {
    make_hosts
    learn s
    mkfifo rows
    "$OIF" score --key host --time t --state s < rows > scored.csv 2> messages &
    exec 8> rows
    head -2 hosts.csv >&8
    await_lines 1 scored.csv
    oif state --drop web-1 s
    exits 1 "oif: another process is using the state file 's'; stop it, or name another file"
    oif state --import s s
    equal "$status" 1
    oif state --keys s
    exits 0
    oif state --export web-1 --to web-1.key s
    exits 0 "oif: s: key 'web-1' was exported to web-1.key"
    exec 8>&-
    wait
}

@test "a state survives kill -9 and a full disk at any moment of a change" {
    make_hosts
    learn s
    "$OIF" state --export web-1 --to web-1.key s 2> messages
    for i in $(seq 20); do
        "$OIF" state --import web-1.key --as "copy-$i" s 2> messages &
        sleep "0.00$((i % 10))"
        kill -9 $! 2> messages || true
        wait $! 2> messages || true
        oif state --keys s
        exits 0
        [ "${#lines[@]}" -ge 4 ]
    done
    oif state --drop web-0 s
    equal "$status" 0
    [ ! -e s.lock ] && [ ! -e s.new ]
    cp s before
    run bash -c 'ulimit -f 4; exec "$0" state --drop web-1 s' "$OIF"
    equal "$status" 1
    contains "$output" "File too large"
    run bash -c 'ulimit -f 4; exec "$0" state --export web-1 --to full.key s' "$OIF"
    equal "$status" 1
    cmp s before
    [ ! -e full.key ] && [ ! -e full.key.new ] && [ ! -e s.new ]
}

@test "keys on disk are listed, exported and dropped" {
    make_hosts
    learn all
    learn s --max-keys 1 --evicted keep
    equal "$(rows_of s | sort)" "$(printf 'web-0 on disk\nweb-1 on disk\nweb-2 500')"
    oif state s
    contains "$output" "keys on disk   2"
    oif state --export web-0 --to web-0.key s
    exits 0 "oif: s: key 'web-0' was exported to web-0.key"
    "$OIF" state --drop web-0 all 2> messages
    oif state --import web-0.key all
    exits 0 "oif: all: key 'web-0' was imported; it has seen 500 rows"
    oif state --drop web-1 s
    exits 0 "oif: s: key 'web-1' was dropped; keys left: 2"
    oif state --import web-0.key s # which evicts web-2
    exits 0 "oif: s: key 'web-0' was imported; it has seen 500 rows"
    equal "$(rows_of s | sort)" "$(printf 'web-0 500\nweb-2 on disk')"
}

@test "--export replaces nothing but a saved key" {
    make_hosts
    learn s
    cp s before
    ln -s s link
    ln s hard
    for to in s ./s link hard; do
        oif state --export web-1 --to "$to" s
        exits 2 "oif: --to $to is the state itself, and its other keys would be lost; name another file"
    done
    oif state --export web-1 --to s link
    equal "$status" 2
    cmp s before
    echo precious > notes
    cp s other
    mkfifo pipe
    for to in notes other pipe .; do
        oif state --export web-1 --to "$to" s
        exits 2 "oif: --to $to: this file exists and was not written by --export, so it is not replaced; name another file, or - for standard output"
    done
    equal "$(cat notes)" precious
    cmp other before
    : > k
    for key in web-1 web-2; do # an empty file, as of mktemp, and a key
        oif state --export "$key" --to k s
        exits 0 "oif: s: key '$key' was exported to k"
    done
}

@test "--export to standard output says that it is saved when it is" {
    make_hosts
    learn s
    run --separate-stderr bash -c '"$0" state --export web-1 --to - s > /dev/full' "$OIF"
    exits 1 "oif: s: key 'web-1' was not exported: standard output was closed too early
oif: cannot write the output: No space left on device"
    mkfifo pipe
    sleep 60 < pipe &
    reader=$!
    exec 8> pipe
    kill "$reader"
    wait "$reader" || true
    run --separate-stderr bash -c '"$0" state --export web-1 --to - s >&8' "$OIF"
    exec 8>&-
    exits 1 "oif: s: key 'web-1' was not exported: standard output was closed too early"
}

@test "what does not belong together, or is not there, is an error" {
    oif state
    exits 2 "oif: state needs a FILE, as 'oif score --state FILE' writes it"
    oif state --drop a --import b s
    exits 2 "oif: give only one of --drop, --export, --import, and --keys or --json"
    oif state --export a s
    exits 2 "oif: --export KEY and --to FILE must be given together"
    oif state --as a s
    exits 2 "oif: --as needs --import FILE, whose key it renames; leave --as out"
    oif state none
    exits 1 "oif: cannot open 'none': No such file or directory"
    oif state --drop a none
    exits 1 "oif: none: there is no such file"
    equal "$(ls -A | grep -E '^none')" ""
    cp "$BATS_TEST_DIRNAME/../golden/snapshots/format-1/rolling-iforest.oif" detector.oif
    oif state detector.oif
    exits 1 "oif: 'detector.oif': byte 32: this is the snapshot of a detector, not of a pipeline; 'oif state inspect' shows what it contains"
}

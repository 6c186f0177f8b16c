# oif state inspect: what a state file holds.

load helper

figure() { # figure TITLE: its value in the table
    sed -n "s/^ *$1  *//p" <<< "$output"
}

@test "a state's detector, parameters, rows and bytes are told" {
    make_stream
    "$OIF" score --state s --detector online-iforest --num-trees 8 --variant paper stream.csv > scored.csv
    oif state inspect s
    exits 0
    equal "${lines[0]}" "detector                   online-iforest"
    equal "$(figure rows)" 300
    equal "$(figure columns)" 3
    contains "$output" $'\nnames of the columns\n  "x"\n  "y"\n  "fault"\noptions\n'
    equal "$(figure models)" 1
    equal "$(figure evictions)" 0
    equal "$(figure alert_rate)" 0.001
    equal "$(figure rows_learned)" 300
    equal "$(figure num_trees)" 8
    equal "$(figure variant)" paper
    equal "$(figure rows_held)" 300
    equal "$(figure 'bytes in the file' | tr -d ,)" "$(stat -c %s s)"
    [ "$(figure 'bytes in memory' | tr -d ,)" -gt 10000 ]
    "$OIF" state inspect - < s | cmp - <(echo "$output")
}

@test "a forest that forgets by turnover goes on from its state and tells of its trees" {
    make_stream
    "$OIF" score --detector online-iforest --forgetting turnover --maturity 40 stream.csv > whole
    head -150 stream.csv | "$OIF" score --state s --detector online-iforest --forgetting turnover --maturity 40 > scored
    tail -n +151 stream.csv | "$OIF" score --state s >> scored
    cmp whole scored
    oif state inspect s
    equal "$(figure forgetting)" turnover
    equal "$(figure maturity)" 40
    equal "$(figure ready)" yes
    [ "$(figure rows_held)" -gt 40 ]
    [ "$(figure rows_in_youngest)" -gt 40 ]
}

@test "ready says whether enough was learned" {
    printf '1,2\n' | "$OIF" score --state s > scored.csv
    oif state inspect s
    equal "$(figure ready)" no
    make_stream
    "$OIF" score --state t --window-size 100 stream.csv > scored.csv
    oif state inspect t
    equal "$(figure ready)" yes
}

@test "--json is JSON and says the same, for every detector" {
    make_stream
    for detector in online-iforest hst iforest-asd rrcf loda sdo rolling-iforest; do
        "$OIF" score --state "$detector" --detector "$detector" --seed 7 stream.csv > scored.csv
        "$OIF" state inspect --json "$detector" > state.json
        python3 - "$detector" <<'PYTHON'
import json, os, sys
state = json.load(open("state.json"))
assert list(state) == ["detector", "params", "options", "columns", "rows", "models", "evictions", "names", "rules", "kept",
                       "lost", "memory_bytes", "file_bytes", "updates", "kept_bytes", "recent"], list(state)
assert state["detector"] == sys.argv[1], state
assert (state["rows"], state["columns"], state["models"], state["params"]["seed"]) == (300, 3, 1, 7), state
assert state["file_bytes"] == os.path.getsize(sys.argv[1]), state
assert state["names"] == ["x", "y", "fault"], state
assert state["memory_bytes"] > 1000 and state["options"]["learn"] == "decay", state
assert state["recent"]["key"] is None and state["recent"]["rows_learned"] == 300 and state["recent"]["figures"], state
PYTHON
    done
}

# Detectors are saved by programs; the fuzzers' corpus has some.
snapshots=$BATS_TEST_DIRNAME/../../fuzz/corpus/fuzz_snapshot

@test "a detector that a program has saved is told as well" {
    oif state inspect "$snapshots/loda"
    exits 0
    equal "${lines[0]}" "detector                             loda"
    [ "$(figure 'rows learned' | tr -d ,)" -gt 0 ]
    "$OIF" state inspect --json "$snapshots/loda" > state.json
    python3 -c '
import json
state = json.load(open("state.json"))
assert list(state) == ["detector", "params", "columns", "rows_learned", "ready", "names", "memory_bytes",
                       "file_bytes", "figures"] and state["names"] is None, state'
    make_stream
    cp "$snapshots/loda" s
    oif score --state s stream.csv
    equal "$status" 1
    contains "$stderr" "the state has learned 2 columns, but the input has 3"
    cmp s "$snapshots/loda"
}

@test "a pipe is read as the file, whichever of the two it holds, byte by byte as well" {
    make_stream
    "$OIF" score --state pipeline stream.csv > scored.csv
    cp "$snapshots/loda" detector
    for kind in pipeline detector; do
        "$OIF" state inspect $kind > expected
        cat $kind | "$OIF" state inspect - | cmp - expected
        "$OIF" state inspect - < $kind | cmp - expected
        head -c 3000 $kind > start
        tail -c +3001 $kind > rest
        { dd if=start bs=1 status=none; cat rest; } | "$OIF" state inspect --json - | cmp - <("$OIF" state inspect --json $kind)
        run --separate-stderr bash -c "cat $kind stream.csv | '$OIF' state inspect -"
        exits 1 "oif: <stdin>: the snapshot ends at byte $(stat -c %s $kind), but bytes follow"
        equal "$output" ""
        run --separate-stderr bash -c "head -c 200 $kind | '$OIF' state inspect -"
        equal "$status" 1
        contains "$stderr" "oif: <stdin>: byte 200: the snapshot is cut off here"
    done
    run --separate-stderr bash -c "cat stream.csv | '$OIF' state inspect -"
    exits 1 "oif: <stdin>: byte 8: this is not a snapshot of oif; name a file that 'oif score --state FILE' has written"
    run --separate-stderr bash -c "'$OIF' state inspect - < /dev/null"
    exits 1 "oif: <stdin>: byte 0: the snapshot is cut off here"
    run --separate-stderr bash -c "'$OIF' state inspect - < /"
    equal "$status" 1
    contains "$stderr" "oif: <stdin>: byte 0: reading failed"
}

@test "a pipeline that has seen nothing has no model to tell" {
    oif state inspect "$snapshots/../fuzz_pipeline/rrcf_empty"
    exits 0
    equal "$(figure models)" 0
    equal "$(grep -c '^model$' <<< "$output")" 0
    "$OIF" state inspect --json "$snapshots/../fuzz_pipeline/rrcf_empty" | grep '"recent": null}'
}

@test "a damaged file is an error that says the byte" {
    make_stream
    "$OIF" score --state s stream.csv > scored.csv
    cp s damaged
    printf 'X' | dd of=damaged bs=1 seek=1000 conv=notrunc status=none
    oif state inspect damaged
    equal "$status" 1
    [[ "$stderr" =~ ^"oif: 'damaged': byte "[0-9]+": the checksum of a section is wrong"$ ]]
    equal "$output" ""
    head -c 1000 s > cut
    oif state inspect --json cut
    equal "$status" 1
    [[ "$stderr" =~ ^"oif: 'cut': byte "[0-9]+": the snapshot is cut off: a section of "[0-9]+" bytes begins here"$ ]]
    oif state inspect stream.csv
    exits 1 "oif: 'stream.csv': byte 8: this is not a snapshot of oif; name a file that 'oif score --state FILE' has written"
    oif state inspect missing
    exits 1 "oif: cannot open 'missing': No such file or directory"
}

@test "a file is needed, and no parameters of a detector" {
    oif state inspect
    exits 2 "oif: inspect needs a FILE, as 'oif score --state FILE' writes it"
    oif state inspect --num-trees 3 s
    exits 2 "oif: unknown option '--num-trees' ('oif state inspect --help-all' lists all)"
    oif state inspect --help
    exits 0
    equal "${lines[1]}" "Examples:"
    oif state inspect s t
    exits 2 "oif: unexpected argument 't' (usage: oif state inspect [OPTION...] FILE|-)"
}

@test "a table that cannot be written is a failure" {
    make_stream
    "$OIF" score --state s stream.csv > scored.csv
    run --separate-stderr bash -c "'$OIF' state inspect s > /dev/full"
    exits 1 "oif: cannot write the output: No space left on device"
}

@test "a state may be inspected while it is in use" {
    make_stream
    mkfifo rows
    "$OIF" score --state s --save-every 1 rows > scored.csv &
    exec 7> rows
    printf 'a\n1\n' >&7
    for _ in {1..6000}; do [ -e s ] && break; sleep 0.05; done
    oif state inspect s
    exits 0
    equal "$(figure rows)" 1
    exec 7>&-
    wait
}

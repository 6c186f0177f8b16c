# --small: small models, for very many keys or little memory.

load helper

make_rows() {
    awk 'BEGIN {print "host,a,b"; for (i = 0; i < 300; i++) print "h" i % 3 "," i % 17 + i * i % 101 / 100 "," i * 7 % 23}' > rows.csv
}

@test "small models have the scores of the parameters that they stand for" {
    make_rows
    oif score --small --key host rows.csv
    exits 0
    small=$output
    oif score --num-trees 16 --window-size 256 --sample-size 48 --max-depth 4 --max-leaf-samples 12 --key host rows.csv
    equal "$small" "$output"
    oif score --key host rows.csv
    [ "$small" != "$output" ]
}

@test "a parameter that is given beside --small counts, before it and after it" {
    make_rows
    oif score --small --num-trees 8 --key host rows.csv
    exits 0
    after=$output
    oif score --num-trees 8 --small --key host rows.csv
    equal "$after" "$output"
    oif score --num-trees 32 --small --key host rows.csv
    exits 0
    before=$output
    oif score --small --num-trees 32 --key host rows.csv
    equal "$before" "$output"
    [ "$before" != "$after" ]
}

@test "a state of small models resumes with --small and without it, and another size is refused" {
    make_rows
    for options in "--small" "--small" ""; do
        # shellcheck disable=SC2086
        oif score $options --key host --state small.oif rows.csv
        equal "$status" 0
    done
    equal "$("$OIF" state inspect small.oif | grep -c 'num_trees *16')" 1
    oif score --key host --state usual.oif rows.csv
    equal "$status" 0
    oif score --small --key host --state usual.oif rows.csv
    exits 2 "oif: usual.oif: the state was learned with --num-trees 32, not 16; leave it out or name another file"
}

@test "a detector without small models is refused, and a value" {
    make_rows
    for detector in sdo online-iforest rolling-iforest+sdo; do
        oif score --small --detector "$detector" rows.csv
        exits 2 "oif: --small is not an option of the detector $detector; leave it out, or use --detector rolling-iforest"
    done
    oif score --small=yes rows.csv
    exits 2 "oif: --small takes no value"
}

@test "oif state size and oif eval know small models" {
    make_rows
    bytes() { "$OIF" state size --keys 5000 --columns 3 --rows-per-key 300 --memory-limit 1TB --json "$@" | sed 's/.*"memory_bytes": \([0-9]*\).*/\1/'; }
    [ "$(bytes --small)" -lt "$(bytes)" ]
    awk -F, 'NR == 1 {print $0 ",label"} NR > 1 {print $0 "," (NR % 100 == 0)}' rows.csv > labelled.csv
    oif eval --small --label label --exclude host labelled.csv
    exits 0
}

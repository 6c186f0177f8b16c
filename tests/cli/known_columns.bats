# oif score --state: rows go on only with the columns that the state has learned from.

load helper

# 300 rows whose columns are far apart, so that one taken for another shows; the same with columns in another order.
make_streams() {
    awk 'BEGIN {
        OFS = ","
        state = 1
        print "load,memory,net" > "first.csv"
        print "net,load,memory" > "moved.csv"
        for (i = 1; i <= 300; i++) {
            state = state * 16807 % 2147483647
            load = state % 50
            memory = 1000 + state % 7
            net = -state % 9 + (i == 290) * 100
            print load, memory, net > "first.csv"
            print net, load, memory > "moved.csv"
            printf "{\"net\": %d, \"load\": %d, \"host\": \"h\", \"memory\": %d}\n", net, load, memory > "moved.ndjson"
        }
    }'
}

options=(--detector loda --window-size 50 --alert-rate 0.05 --fields score,severity,anomaly,why)

@test "columns in another order are found by their names" {
    make_streams
    "$OIF" score "${options[@]}" first.csv | tail -100 | cut -d, -f4- > expected
    contains "$(cat expected)" net 
    head -201 first.csv > begin.csv
    for rest in moved.csv moved.ndjson; do
        rm -f s
        "$OIF" score "${options[@]}" --state s begin.csv > /dev/null
        { [[ $rest == *.ndjson ]] || head -1 $rest; tail -100 $rest; } > "rest-$rest"
        "$OIF" score --state s --fields score,severity,anomaly,why --output csv "rest-$rest" 2> told | tail -100 > scored
        equal "$(cat told)" "oif: s: resumes after 200 rows"
        sed -E 's/^([^,]*,){3,4}([0-9.]+,[0-9.]+,[01],)/\2/' scored | cmp - expected
    done
}

@test "rows without their header go on, and reasons have the names that the state knows" {
    make_streams
    head -201 first.csv > begin.csv
    "$OIF" score "${options[@]}" --state s begin.csv > /dev/null
    tail -100 first.csv | "$OIF" score --state s --rows alerts > alerts 2> told
    equal "$(cat told)" "oif: s: resumes after 200 rows"
    contains "$(cat alerts)" net 
}

@test "a state without names gets them from the first header that comes" {
    printf '1,2\n3,4\n' | "$OIF" score --state s > /dev/null
    contains "$("$OIF" state inspect --json s)" '"names": null'
    printf 'a,b\n1,2\n' | "$OIF" score --state s > /dev/null
    contains "$("$OIF" state inspect --json s)" '"names": ["a", "b"]'
    run --separate-stderr "$OIF" score --state s <<< $'a,c\n1,2'
    exits 1 "oif: <stdin>:1:3: 'c' is not a column of the state s, which has 'b'; if it was renamed, give it that name again"
    contains "$("$OIF" state inspect --json s)" '"rows": 3'
}

@test "other columns are refused, and the state stays as it is" {
    printf 'load,memory,net\n1,2,3\n' | "$OIF" score --state s > /dev/null
    cp s before
    run --separate-stderr "$OIF" score --state s <<< $'\n\nload,temperature,net\n1,2,3'
    exits 1 "oif: <stdin>:3:6: 'temperature' is not a column of the state s, which has 'memory'; if it was renamed, give it that name again"
    equal "$output" ""
    run --separate-stderr "$OIF" score --strict --state s <<< $'load,memory,disk,net\n1,2,3,4'
    exits 1 "oif: <stdin>:1:13: 'disk' is not a column of the state s; leave it out with --exclude"
    run --separate-stderr "$OIF" score --state s <<< $'load,net\n1,2'
    exits 1 "oif: <stdin>:1: there is no column 'memory', which the state s has learned from; add it with empty values if it is gone, or name the right input or another state"
    run --separate-stderr "$OIF" score --state s <<< $'net,load,net,memory\n1,2,3,4'
    exits 1 "oif: <stdin>: several columns are called net, so options cannot name them; give each its own name
oif: <stdin>:1:10: 'net' is not a column of the state s; leave it out with --exclude"
    cmp s before
    run --separate-stderr "$OIF" score --state s --exclude disk --fields score <<< $'load,memory,disk,net\n1,2,3,4'
    exits 0 "oif: s: resumes after 1 rows"
}

@test "names that stand there twice have to stand where they did" {
    printf 'a,b,b\n1,2,3\n' | "$OIF" score --state s > /dev/null
    printf 'a,b,b\n1,2,3\n' | "$OIF" score --state s > /dev/null
    run --separate-stderr "$OIF" score --state s <<< $'b,a,b\n1,2,3'
    exits 1 "oif: <stdin>: several columns are called b, so options cannot name them; give each its own name
oif: <stdin>: several columns are called 'b', and others are in a different order than in the state s; give each column its own name"
}

@test "NDJSON goes on with the keys of the state, whatever the first line has" {
    printf '{"load": 1, "net": {"in": 2}}\n' | "$OIF" score --state s > /dev/null
    run --separate-stderr "$OIF" score --state s --fields score <<< '{"more": "text", "net": {"in": 2}}'
    exits 0 "oif: <stdin>: the first lines have no 'load', which the state s has learned from; it counts as missing until a line has it
oif: s: resumes after 1 rows"
    equal "$output" '{"more": "text", "net": {"in": 2},"oif":{"score":0.5}}'
    run --separate-stderr "$OIF" score --state s <<< '{"loda": 1, "net": 2}'
    exits 1 "oif: <stdin>:1: there is no 'load', nor any other column that the state s has learned from; name the right input, or another state"
    run --separate-stderr "$OIF" score --state s --columns load <<< '{"load": 1, "net": {"in": 2}}'
    exits 1 "oif: <stdin>: the state s has learned from the column 'net.in', which --columns leaves out; change that option, or name another state"
    run --separate-stderr "$OIF" score --state s --exclude load <<< '{"load": 1, "net": {"in": 2}}'
    exits 1 "oif: <stdin>: the state s has learned from the column 'load', which --exclude leaves out; change that option, or name another state"
}

@test "an option that takes a column of the state away is named" {
    printf 'a,b,c\n1,2,3\n' | "$OIF" score --state s > /dev/null
    for option in "--key b" "--time b" "--label b" "--exclude b" "--columns a,c" "--exclude a,b --columns a,b,c"; do
        name=${option%% *}
        # A column that the state does not have is not what is wrong then.
        for header in a,b,c c,a,b,bb; do
            run --separate-stderr "$OIF" score --state s $option <<< "$header"$'\n1,2,3,4'
            [[ $option == *a,b,c ]] && column=a || column=b
            exits 1 "oif: <stdin>: the state s has learned from the column '$column', which $name leaves out; change that option, or name another state"
        done
    done
    run --separate-stderr "$OIF" score --state s --exclude bb <<< $'a,bb,c\n1,2,3'
    exits 1 "oif: <stdin>:1: there is no column 'b', which the state s has learned from; add it with empty values if it is gone, or name the right input or another state"
}

@test "names that a terminal would obey are shown, not sent to it" {
    printf '{"\\u001b]0;x\\u0007": 1, "b\\u007f\\u009bm": 2}\n' | "$OIF" score --state s > /dev/null
    contains "$("$OIF" state inspect s)" '"\u001b]0;x\u0007"'
    run --separate-stderr "$OIF" score --state s <<< '{"c": 1}'
    exits 1 "oif: <stdin>:1: there is no '\u001b]0;x\u0007', nor any other column that the state s has learned from; name the right input, or another state"
    run --separate-stderr "$OIF" score --state s <<< $'\e]0;x\a,c\n1,2'
    exits 1 "oif: <stdin>:1:8: 'c' is not a column of the state s, which has 'b\u007f\u009bm'; if it was renamed, give it that name again"
}

# ---- The key and the time of a state ----

make_disks() {
    awk 'BEGIN {
        print "at,host,disk,load"
        for (i = 0; i < 600; i++)
            print 1794769500 + 10 * i ",h" i % 2 ",d" i % 3 "," i * i % 17
    }' > disks.csv
    (head -1 disks.csv; tail -n +302 disks.csv) > later.csv
    head -301 disks.csv > sooner.csv
}

@test "a state goes on with its key and its time, and another key is refused" {
    make_disks
    "$OIF" score --key host --time at --exclude disk disks.csv | tail -n +302 > expected
    "$OIF" score --key host --time at --exclude disk --state s sooner.csv > scored.csv
    cp s kept
    oif score --state s --exclude disk later.csv
    exits 0 "oif: s: resumes after 300 rows"
    printf '%s\n' "$output" | tail -n +2 | cmp - expected
    cp kept s
    oif score --state s --key host,disk later.csv
    exits 1 "oif: s: the state has a model for each host, and --key host,disk would start over; leave --key out, or name another state"
    oif score --state s --key disk later.csv
    exits 1 "oif: s: the state has a model for each host, and --key disk would start over; leave --key out, or name another state"
    cmp s kept
    cut -d, -f1,3- later.csv > hostless.csv
    oif score --state s hostless.csv
    exits 1 "oif: hostless.csv: there is no column 'host', the key of the state s; name another state"
    oif score -v --state s --key '"host"' --exclude disk later.csv
    contains "$stderr" "each key has a model of its own: host"
    contains "$stderr" "oif: time: at"
}

@test "a state of one model for all rows does not become one of keys" {
    make_disks
    "$OIF" score --time at --exclude disk,host --state s sooner.csv > scored.csv
    oif score --state s --key host later.csv
    exits 1 "oif: s: the state has one model for all rows, and --key host would start over; leave --key out, or name another state"
}

@test "rows without names are told which column is the key" {
    make_disks
    "$OIF" score --key host --time at --exclude disk --state s sooner.csv > scored.csv
    tail -n +2 later.csv > rows.csv
    oif score --state s rows.csv
    exits 1 "oif: rows.csv: the state s has the key 'host', and these rows have no header; name the key's column, for example --key x0"
    oif score --state s --key x1 --time x0 --exclude x2 rows.csv
    exits 0 "oif: s: resumes after 300 rows"
}

@test "the time of a state is its time, whatever the next rows look like" {
    make_disks
    "$OIF" score --key host --rate load --exclude disk --state s sooner.csv > scored.csv 2> told
    contains "$(cat told)" "'at' is used as the time"
    sed '3s/[0-9]*/1700000000/;5s/[0-9]*/1700000000/;7s/[0-9]*/1700000000/' later.csv > late.csv
    oif score --state s --silence 1h late.csv
    equal "$status" 0
    [[ "$stderr" != *"has not learned from at"* ]]
    [[ "$stderr" != *"do nothing without the times"* ]]
    sed '1s/at/when/' later.csv > other.csv
    oif score --state s --time when --exclude disk other.csv
    contains "$stderr" "oif: s: until now the time was in 'at'; from now on it is in 'when' (--time)"
}

@test "a column that was learned and is text now is named as such" {
    "$OIF" score --state s <<< $'day,x\n1,2\n3,4' > scored.csv
    oif score --state s <<< $'day,x\nMon,2\nTue,4'
    exits 1 "oif: <stdin>: the column 'day', which the state s has learned from, now contains text; add --exclude day and start another state"
}

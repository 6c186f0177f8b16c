# oif eval --label: what the values of a label mean.

load helper

# The stream with its labels 0 and 1 spelled as ZERO and ONE: its measures are the same. Prints what is said on stderr.
check_labels() { # check_labels ZERO ONE [OPTION...]
    make_stream
    sed "1!{s/,0\$/,$1/;t;s/,1\$/,$2/}" stream.csv > spelled.csv
    "$OIF" eval --label fault --alert-rate 0.1 --json stream.csv | grep -v seconds > expected
    "$OIF" eval --label fault --alert-rate 0.1 --json "${@:3}" spelled.csv 2> said | grep -v seconds | cmp - expected
    cat said
}

@test "labels may be words, in any case" {
    for pair in false:true False:True FALSE:TRUE no:yes No:Yes n:y normal:anomaly Normal:ANOMALY ok:fault benign:malicious \
        inlier:outlier 0:1 0.0:1e0 0:true no:1; do
        equal "$pair: $(check_labels "${pair%:*}" "${pair#*:}")" "$pair: "
    done
}

@test "-1 is the anomaly beside 1, as in scikit-learn, and a note says so" {
    equal "$(check_labels 1 -1)" "oif: spelled.csv: 'fault' is -1 for anomalies and 1 for normal rows, as in scikit-learn; if 1 marks anomalies, add --anomaly 1"
    equal "$(check_labels -1 1 --anomaly 1)" ""
}

@test "beside words for normal rows any other value is an anomaly, and a note says so" {
    equal "$(check_labels normal neptune)" "oif: spelled.csv: 'fault' has normal (285 rows), neptune (15 rows): all but 'normal' count as anomalies; if that is wrong, add --anomaly VALUE"
    equal "$(check_labels monday fault)" "oif: spelled.csv: 'fault' has monday (285 rows), fault (15 rows): all but 'fault' count as normal rows; if that is wrong, add --anomaly VALUE"
}

@test "values that may mean anything are refused with the place of the first, and an option to paste" {
    printf 'x,y\n1,red\n2,red\n3,blue sky\n' > in.csv
    oif eval --label y in.csv
    exits 1 "oif: in.csv:4:3: which label is the anomaly? 'y' has red (2 rows), blue sky (1 row); answer with --anomaly 'blue sky', which may be repeated"
    oif eval --label y --anomaly 'blue sky' --json in.csv
    exits 0
    contains "$output" '"anomalies": 1'
    printf 'x,y\n1,1\n2,1\n3,2\n' > in.csv
    oif eval --label y in.csv
    equal "$status" 1
    contains "$stderr" "oif: in.csv:4:3: which label is the anomaly? 'y' has 1 (2 rows), 2 (1 row); answer with --anomaly 2"
    printf 'x,y\n1,-1\n2,0\n3,1\n' > in.csv
    oif eval --label y in.csv
    equal "$status" 1
    printf 'x,y\n1,normal\n2,anomaly\n3,unsure\n' > in.csv
    oif eval --label y in.csv
    equal "$status" 1
    contains "$stderr" "oif: in.csv:4:3: "
}

@test "--anomaly says which values are anomalies, several times too, and empty labels are normal then" {
    printf 'x,y\n1,red\n2,\n3,Blue\n4,7.0\n' > in.csv
    "$OIF" eval --label y --anomaly blue --anomaly 7 --json in.csv | grep -q '"anomalies": 2'
    oif eval --label y --anomaly green in.csv
    exits 1 "oif: in.csv: no row has the label 'green' of --anomaly; 'y' has red (1 row),  (1 row), Blue (1 row), 7.0 (1 row)"
}

@test "a label with very many values is read in bounded memory" {
    seq 5000 | awk 'BEGIN { print "x,y" } { print $1 % 7 "," ($1 % 50 == 0 ? $1 : 0) }' > in.csv
    "$OIF" eval --label y --json in.csv | grep -q '"anomalies": 100,'
    "$OIF" eval --label y --anomaly 4950 --json in.csv | grep -q '"anomalies": 1,'
    seq 5000 | awk 'BEGIN { print "x,y" } { print $1 % 7 ",name" $1 }' > in.csv
    oif eval --label y in.csv
    exits 1 "oif: in.csv:66:3: the label has too many values; say with --anomaly VALUE which rows are anomalies"
    "$OIF" eval --label y --anomaly name4999 --json in.csv | grep -q '"anomalies": 1,'
}

@test "labels of NDJSON are read too" {
    make_stream
    "$OIF" eval --label fault --alert-rate 0.1 --json stream.csv | grep -v seconds > expected
    awk -F, 'NR > 1 { printf "{\"x\":%s,\"y\":%s,\"fault\":%s}\n", $1, $2, $3 ? "true" : "false" }' stream.csv > stream.ndjson
    "$OIF" eval --label fault --alert-rate 0.1 --json stream.ndjson | grep -v seconds | cmp - expected
}

@test "control characters of a label do not reach the terminal" {
    printf 'x,y\n1,a\n2,\033[31mb\n' > in.csv
    oif eval --label y in.csv
    equal "$status" 1
    contains "$stderr" '\u001b[31mb'
}

@test "values that are counted with another one are not passed off as that one" {
    awk 'BEGIN { print "x,y"; for (i = 0; i < 300; i++) printf "%d,%d\n", i % 7, 500 + i }' > many.csv
    oif eval --label y many.csv
    equal "$status" 1
    contains "$stderr" "'y' has 500 and others ("
    contains "$stderr" "), 501 (1 row), "
}

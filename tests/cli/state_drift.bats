# oif score --state: columns that were renamed, are gone, or are new.

load helper

# numbers COLUMNS ROWS SEED: CSV of the columns, each far from the others.
numbers() {
    awk -v names="$1" -v rows="$2" -v state="$3" 'BEGIN {
        count = split(names, name, ",")
        print names
        for (i = 0; i < rows; i++) {
            line = ""
            for (j = 1; j <= count; j++) {
                sum = 0
                for (k = 0; k < 4; k++) { state = state * 16807 % 2147483647; sum += state / 2147483647 }
                line = line (j > 1 ? "," : "") sprintf("%.3f", 100 * length(name[j]) + 10 * (sum - 2))
            }
            print line
        }
    }'
}

# The same as NDJSON.
objects() {
    numbers "$@" | awk -F, 'NR == 1 { split($0, name, ","); next }
        { printf "{"; for (j = 1; j <= NF; j++) printf "%s\"%s\": %s", (j > 1 ? ", " : ""), name[j], $j; print "}" }'
}

# ---- Renamed ----

@test "a renamed column is refused with the option that helps, and then resumes bit for bit" {
    numbers cpu,memory 800 1 > old.csv
    numbers cpu,memory 200 2 > same.csv
    sed '1s/cpu/cpu_usage/' same.csv > renamed.csv
    "$OIF" score --state s old.csv > /dev/null
    cp s copy
    "$OIF" score --state copy same.csv 2> /dev/null | tail -n +2 > expected
    oif score --state s renamed.csv
    exits 1 "oif: renamed.csv:1:1: 'cpu_usage' is not a column of the state s, which has 'cpu'; if it was renamed, add --rename cpu=cpu_usage; if 'cpu' is gone, --allow-lost"
    oif score --state s --rename cpu=cpu_usage renamed.csv
    exits 0 "oif: s: resumes after 800 rows"
    tail -n +2 <<< "$output" | cmp - expected
    contains "$("$OIF" inspect --json s)" '"names": ["cpu_usage", "memory"]'
    oif score --state s --rename cpu=cpu_usage renamed.csv # the option may stay
    exits 0 "oif: s: resumes after 1000 rows"
    oif score --state s renamed.csv
    exits 0 "oif: s: resumes after 1200 rows"
}

@test "names with commas and equals signs, key and time are renamed, too" {
    awk 'BEGIN { print "at,host,\"a,b\",c=d"; for (i = 0; i < 50; i++) print 1794970649 + i ",h" i % 2 "," i % 7 "," i % 5 }' > old.csv
    sed '1s/.*/when,node,x,"y,z"/' old.csv > new.csv
    "$OIF" score --key host --time at --state s old.csv > /dev/null
    oif score --state s --rename '"a,b=x","c=d=y,z"' --rename at=when --rename host=node --only-alerts new.csv
    equal "$status" 0
    contains "$stderr" "resumes after 50 rows"
    contains "$("$OIF" inspect --json s)" '"names": ["x", "y,z"]'
}

@test "a rule that names the old column is reported" {
    numbers cpu,memory 50 1 > old.csv
    "$OIF" score --state s --mute 'column=cpu direction=low' old.csv > /dev/null
    sed '1s/cpu/load/' old.csv > new.csv
    oif score --state s --rename cpu=load new.csv
    contains "$stderr" "oif: a rule of the state still names 'cpu': mute column=cpu direction=low"
}

@test "what cannot be renamed is refused, and the state stays as it is" {
    numbers cpu,memory 50 1 > old.csv
    "$OIF" score --state s old.csv > /dev/null
    cp s before
    oif score --state s --rename cpu old.csv
    exits 2 "oif: --rename cpu: expected OLD=NEW, the names of a column"
    oif score --state s --rename disk=x old.csv
    exits 2 "oif: --rename: the state s has no column 'disk'"
    oif score --state s --rename cpu=memory old.csv
    exits 2 "oif: --rename: the state s has a column 'memory' already"
    oif score --rename cpu=load old.csv
    exits 2 "oif: --rename and --allow-lost need --state FILE, which knows the columns"
    cmp s before
    seq 20 | "$OIF" score --no-header --state unnamed > /dev/null
    oif score --state unnamed --rename a=b - <<< 1
    exits 2 "oif: --rename: the columns of the state unnamed have no names"
}

# ---- Lost ----

@test "a lost column is an error, or missing in every row if that is allowed" {
    numbers cpu,memory,disk 800 1 > old.csv
    numbers cpu,memory,disk 100 2 > same.csv
    cut -d, -f1,3 same.csv > lost.csv
    sed 's/,[^,]*,/,,/; 1s/.*/cpu,memory,disk/' same.csv > empty.csv
    "$OIF" score --state s old.csv > /dev/null
    cp s copy
    oif score --state s lost.csv
    exits 1 "oif: lost.csv:1: there is no column 'memory', which the state s has learned from; add --allow-lost if it is gone, or name the right input or another state"
    oif score --state s --allow-lost --explain lost.csv
    exits 0 $'oif: lost.csv: the state s has learned from memory, which is not there: missing in every row\noif: s: resumes after 800 rows'
    contains "$output" "memory missing "
    "$OIF" score --state copy --fields score,p,anomaly empty.csv 2> /dev/null | cut -d, -f4-6 > expected
    tail -n +2 <<< "$output" | cut -d, -f3-5 | cmp - <(tail -n +2 expected)
    contains "$("$OIF" inspect --json s)" '"names": ["cpu", "memory", "disk"]'
}

@test "a file without any of the columns is refused all the same" {
    numbers cpu,memory 50 1 > old.csv
    numbers a,b 50 1 > other.csv
    "$OIF" score --state s old.csv > /dev/null
    oif score --state s --allow-lost other.csv
    exits 1 "oif: other.csv:1: the input has none of the columns that the state s has learned from; name the right input, or another state"
}

@test "a lost category is missing, and rows are converted with it" {
    awk 'BEGIN { print "x,state"; for (i = 0; i < 60; i++) print i % 7 ",up" }' > old.csv
    "$OIF" score --category state --state s old.csv > /dev/null
    printf 'x\n3\n4\n' > lost.csv
    oif score --state s --allow-lost --fields score --output ndjson lost.csv
    equal "$status" 0
    contains "$output" '"x":3,'
    equal "${#lines[@]}" 2
}

# ---- New ----

@test "a new column is left out with the option that learns it" {
    numbers cpu,memory 600 1 > old.csv
    numbers cpu,memory,disk 100 2 > new.csv
    "$OIF" score --state s old.csv > /dev/null
    oif score --state s --fields score new.csv
    exits 0 $'oif: new.csv: the state s has not learned from disk: left out; --new-columns N learns new ones, up to N columns in all\noif: s: resumes after 600 rows'
}

@test "a new column of CSV is learned, said once, and its extreme value is found" {
    numbers cpu,memory 2500 1 > old.csv
    numbers cpu,memory,disk 600 2 > new.csv
    tail -1 new.csv | sed 's/[^,]*$/900/' > bad
    "$OIF" score --state s old.csv > /dev/null
    oif score --state s --new-columns 8 --only-alerts --explain <(cat new.csv bad)
    contains "$stderr" ": new columns, learned from now on: disk"
    contains "${lines[1]}" "disk has its first value 100%"
    contains "${lines[-1]}" "disk high"
    [ "${#lines[@]}" -le 6 ]
    contains "$("$OIF" inspect --json s)" '"names": ["cpu", "memory", "disk"]'
    oif score --state s new.csv
    exits 0 "oif: s: resumes after 3101 rows"
}

@test "a key that appears late is learned from the next row on, as in two runs" {
    { objects cpu 2500 1; objects cpu,disk 800 2; echo '{"cpu": 300, "disk": 900}'; } > all.ndjson
    oif score --new-columns 4 --explain --fields score,anomaly,why all.ndjson
    exits 0 "oif: all.ndjson:2501: new columns, learned from the next row on: disk"
    contains "${lines[-1]}" '"column":"disk","direction":"high"'
    printf '%s\n' "${lines[@]}" > whole
    for at in 2500 2501 2600; do
        rm -f s
        head -n $at all.ndjson | "$OIF" score --new-columns 4 --explain --fields score,anomaly,why --state s > parts 2> /dev/null
        tail -n +$((at + 1)) all.ndjson | "$OIF" score --new-columns 4 --explain --fields score,anomaly,why --state s >> parts 2> /dev/null
        [ $at = 2500 ] || cmp parts whole # a row earlier, the column is there in the first row of the second run
    done
}

@test "threads and blocks learn late keys in the same row" {
    { objects cpu 1500 1; objects cpu,disk 1500 2; } | awk '{ sub(/^{/, "{\"host\": \"h" NR % 5 "\", "); print }' > fleet.ndjson
    "$OIF" score --key host --new-columns 4 fleet.ndjson > one 2> told
    contains "$(cat told)" "fleet.ndjson:1501: new columns, learned from the next row on: disk"
    "$OIF" score --key host --threads 3 --new-columns 4 fleet.ndjson > three 2> /dev/null
    cmp one three
    cat fleet.ndjson | "$OIF" score --key host --new-columns 4 2> /dev/null | cmp - one
}

@test "there are at most as many columns as are asked for" {
    { objects a 1200 1; objects a,bb,ccc,dddd 50 2; } > all.ndjson
    oif score --new-columns 2 --state s all.ndjson
    contains "$stderr" "all.ndjson:1201: new columns, learned from the next row on: bb"
    contains "$stderr" "all.ndjson:1201: ccc, dddd appears too late to be learned; --new-columns N learns such columns, up to N in all"
    contains "$("$OIF" inspect --json s)" '"names": ["a", "bb"]'
    oif score --new-columns 5000 all.ndjson
    exits 2 "oif: --new-columns: expected a whole number from 0 to 4096, not '5000'"
}

@test "texts, row numbers, labels and excluded columns are not taken up" {
    numbers cpu,memory 600 1 > old.csv
    "$OIF" score --state s old.csv > /dev/null
    numbers cpu,memory,disk,left 100 2 | awk -F, 'NR == 1 { print $0 ",id,label,name"; next } { print $0 "," NR "," NR % 2 ",x" }' > new.csv
    oif score --state s --new-columns 9 --exclude left new.csv
    equal "$status" 0
    contains "$stderr" "new.csv: new columns, learned from now on: disk"
    contains "$("$OIF" inspect --json s)" '"names": ["cpu", "memory", "disk"]'
}

@test "counters among new columns are rates if the option says so" {
    numbers cpu 600 1 > old.csv
    "$OIF" score --state s old.csv > /dev/null
    numbers cpu 300 2 | awk -F, 'NR == 1 { print $0 ",rx_total"; next } { print $0 "," 5 * NR }' > new.csv
    oif score --state s --new-columns 4 --rate '*_total' --explain --only-alerts new.csv
    equal "$status" 0
    contains "$output" "rate(rx_total) has its first value"
}

@test "a state that keeps evicted models takes no columns" {
    awk 'BEGIN { print "host,x"; for (i = 0; i < 90; i++) print "h" i % 3 "," i % 7 }' > old.csv
    awk 'BEGIN { print "host,x,y"; for (i = 0; i < 90; i++) print "h" i % 3 "," i % 7 "," i % 5 }' > new.csv
    "$OIF" score --key host --evicted keep --max-keys 2 --state s old.csv > /dev/null
    oif score --key host --state s --new-columns 4 new.csv
    equal "$status" 1
    contains "$stderr" "a pipeline with evicted=keep cannot get more columns"
}

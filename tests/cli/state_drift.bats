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

@test "a renamed column is refused, and under its old name the state resumes bit for bit" {
    numbers cpu,memory 800 1 > old.csv
    numbers cpu,memory 200 2 > same.csv
    sed '1s/cpu/cpu_usage/' same.csv > renamed.csv
    "$OIF" score --state s old.csv > /dev/null
    cp s copy
    "$OIF" score --state copy same.csv 2> /dev/null | tail -n +2 > expected
    oif score --state s renamed.csv
    exits 1 "oif: renamed.csv:1:1: 'cpu_usage' is not a column of the state s, which has 'cpu'; if it was renamed, give it that name again"
    sed '1s/cpu_usage/cpu/' renamed.csv | "$OIF" score --state s 2> /dev/null | tail -n +2 | cmp - expected
}

# ---- Lost ----

@test "a lost column is an error, and missing if the input has it without values" {
    numbers cpu,memory,disk 800 1 > old.csv
    numbers cpu,memory,disk 100 2 > same.csv
    cut -d, -f1,3 same.csv > lost.csv
    sed 's/,[^,]*,/,,/; 1s/.*/cpu,memory,disk/' same.csv > empty.csv
    "$OIF" score --state s old.csv > /dev/null
    oif score --state s lost.csv
    exits 1 "oif: lost.csv:1: there is no column 'memory', which the state s has learned from; add it with empty values if it is gone, or name the right input or another state"
    oif score --state s --fields score,severity,anomaly,why empty.csv
    exits 0 "oif: s: resumes after 800 rows"
    contains "$output" memory no value for 
}

# ---- New ----

@test "a new column is left out" {
    numbers cpu,memory 600 1 > old.csv
    numbers cpu,memory,disk 100 2 > new.csv
    "$OIF" score --state s old.csv > /dev/null
    oif score --state s --fields score new.csv
    exits 0 $'oif: new.csv: the state s has not learned from disk: left out; a new state learns them\noif: s: resumes after 600 rows'
}

@test "a key that appears late is left out" {
    { objects cpu 2500 1; objects cpu,disk 800 2; } > all.ndjson
    oif score all.ndjson
    exits 0 "oif: all.ndjson:2501: disk appears too late to be learned; put a row that has it first"
}

# oif score --category: text columns count by how rare their values are.

load helper

# A state that is one of four, and at row 5000 one that never was.
make_states() {
    awk 'BEGIN {
        print "at,load,state"
        seed = 7
        split("ok ok ok ok ok idle idle busy busy maint", states, " ")
        for (i = 0; i < 6000; i++) {
            seed = seed * 16807 % 2147483647
            state = i == 5000 ? "crashed" : states[1 + seed % 10]
            seed = seed * 16807 % 2147483647
            printf "%d,%d,%s\n", 1794769500 + 5 * i, seed % 97, state
        }
    }' > states.csv
}

@test "a value never seen is an anomaly, and the text is its reason" {
    make_states
    oif score --time at --category state --rows alerts states.csv
    exits 0
    line=$(grep crashed <<< "$output")
    contains "$line" "1794794500,"
    contains "$line" ",state new value 'crashed'"
    oif score --time at --category state --rows alerts --output ndjson states.csv
    contains "$output" '[{"column":"state","direction":"new","share":1.00,"reason":"new_value","value":"crashed"}]'
    contains "$output" '"load":20,"state":"crashed","oif"'
    oif score --time at --category state --rows alerts --output logfmt states.csv
    contains "$(grep crashed <<< "$output")" "load=20 state=crashed"
    oif score --time at --category state --rows episodes states.csv
    contains "$(grep crashed <<< "$output")" ",state new value 'crashed'"
}

@test "NDJSON has the same scores as CSV, also where --columns names the numbers only" {
    make_states
    awk -F, 'NR > 1 { printf "{\"load\":%s,\"at\":%s,\"state\":\"%s\"}\n", $2, $1, $3 }' states.csv > states.ndjson
    "$OIF" score --time at --category state --output ndjson states.csv | sed 's/.*"oif"/"oif"/' > csv.txt
    "$OIF" score --time at --category state --columns load states.ndjson | sed 's/.*"oif"/"oif"/' > ndjson.txt
    cmp csv.txt ndjson.txt
    contains "$(sed -n 5001p ndjson.txt)" '"anomaly":true'
}

@test "a column of texts alone is enough, and so are numbers that are names" {
    make_states
    cut -d, -f3 states.csv > only.csv
    oif score --category state --rows alerts only.csv
    exits 0
    contains "$output" "crashed,"
    sed 's/crashed/503/; s/ok/200/; s/idle/301/; s/busy/404/; s/maint/304/' only.csv > codes.csv
    oif score --category state --rows alerts codes.csv
    contains "$output" "state new value '503'"
}

@test "a state resumes bit for bit, and knows its categories" {
    make_states
    "$OIF" score --time at --category state states.csv > whole.csv
    head -3001 states.csv | "$OIF" score --time at --category state --state s.oif > parts.csv
    { head -1 states.csv; tail -n +3002 states.csv; } | "$OIF" score --time at --state s.oif 2> /dev/null |
        tail -n +2 >> parts.csv
    cmp whole.csv parts.csv
    oif score --time at --state s.oif --category load states.csv
    exits 2 "oif: s.oif: the state was learned with other derived columns; leave --rate and --category out or name another file"
    oif state inspect s.oif
    contains "$output" "category(state)"
    # without a header, as from tail -f
    tail -5 states.csv > rows.csv
    oif score --time x0 --csv header=no --state s.oif rows.csv
    equal "$status" 0
    contains "$stderr" "oif: s.oif: resumes after 6000 rows"
}

@test "missing values are no category" {
    { echo state; for _ in $(seq 700); do printf 'a\n""\n'; done; } > in.csv
    oif score --category state --rows alerts in.csv
    exits 0
    equal "$(wc -l <<< "$output")" 1
    { for _ in $(seq 700); do printf '{"s":"a"}\n{"s":null}\n{}\n'; done; } > in.ndjson
    oif score --category s --rows alerts in.ndjson
    exits 0 ""
    equal "$output" ""
}

@test "the string null of NDJSON is a value as in CSV, and null is none" {
    { for _ in $(seq 700); do printf '{"s":"a"}\n{"s":"b"}\n'; done; } > in.ndjson
    for value in '"null"' '"n\\u0075ll"'; do
        { cat in.ndjson; printf '{"s":%b}\n' "$value"; } > last.ndjson
        oif score --category s --rows alerts last.ndjson
        exits 0
        contains "$output" '"value":"null"'
        equal "$("$OIF" score --category s --output logfmt last.ndjson | tail -1 | cut -d' ' -f1)" "s=null"
    done
    for _ in $(seq 30); do printf '{"s":null}\n'; done >> in.ndjson
    oif score --category s --rows alerts in.ndjson
    exits 0
    contains "$output" '"direction":"missing"'
    equal "$("$OIF" score --category s --output logfmt in.ndjson | tail -1 | cut -d= -f1)" "score"
}

@test "no byte of a text reaches a terminal as a control character in reasons" {
    make_states
    head -5001 states.csv | cut -d, -f2,3 > rows.csv
    for bytes in '\xe0\x1b[31m' '\xf0\x1b\x07' '\xc3\x7f' '\xc2\x9b31m' '\xff\x1b' '\xe2\x82\x1b' '\xf0\x9f\x1b\x9b'; do
        { cat rows.csv; printf "1,$bytes\n"; } > evil.csv
        "$OIF" score --category state --fields why evil.csv | tail -1 | cut -d, -f3- > last.txt
        contains "$(cat last.txt)" "state new value '"
        python3 -c '
import sys, unicodedata
text = open("last.txt", encoding="utf-8").read().rstrip("\n")
assert not [c for c in text if unicodedata.category(c) == "Cc"], repr(text)'
    done
}

@test "texts are quoted and cut in reasons" {
    make_states
    head -5001 states.csv | cut -d, -f2,3 > rows.csv
    printf '1,"say ""hi"", \033[31m%s"\n' "$(printf 'x%.0s' {1..200})" >> rows.csv
    "$OIF" score --category state --fields why rows.csv | tail -1 > last.txt
    contains "$(cat last.txt)" "\"state new value 'say \"\"hi\"\", \\u001b[31mxxx"
    contains "$(cat last.txt)" "xxx...'\""
    "$OIF" score --category state --fields why --output ndjson rows.csv | tail -1 > last.txt
    contains "$(cat last.txt)" '"value":"say \"hi\", \u001b[31mxxx'
    python3 -c 'import json; assert len(json.load(open("last.txt"))["oif"]["why"][0]["value"]) == 215'
}

@test "what cannot be a category" {
    printf 'a,b\n1,x\n' > in.csv
    oif score --category c in.csv
    exits 2 "oif: in.csv: --category: there is no column 'c' (there are a, b)"
    oif score --category b --exclude b in.csv
    exits 2 "oif: in.csv: --category: the column 'b' is not learned; add it to --columns, or do not exclude it"
    oif score --category a --rate a --exclude b in.csv
    exits 2 "oif: --category a: column 0 is a category, not a number: it cannot be kept as it is or derived in another way as well"
    oif score --category a,a --exclude b in.csv
    exits 0
    oif score --category b --rate a in.csv
    exits 0
}

@test "a million categories take no more memory than a thousand" {
    few=$(seq 1000 | sed '1i id' | "$OIF" score --category id --state few.oif 2>/dev/null | tail -1 | wc -l)
    equal "$few" 1
    seq 1000000 | sed '1i id' | "$OIF" score --category id --detector loda --state many.oif --rows alerts 2> /dev/null > alerts.csv
    seq 1000 | sed '1i id' | "$OIF" score --category id --detector loda --state few.oif2 > /dev/null 2>&1
    equal "$(wc -l < alerts.csv)" 1
    equal "$(stat -c %s many.oif)" "$(stat -c %s few.oif2)"
}

@test "each key has its own values" {
    make_states
    awk -F, -v OFS=, 'NR == 1 { print $0, "host"; next }
        { print $0, "h1"; $3 = "up"; print $0, "h2" }
        END { $3 = "ok"; print $0, "h2" }' states.csv > hosts.csv
    oif score --time at --key host --category state --rows alerts hosts.csv
    exits 0
    contains "$output" ",ok,h2,"
    contains "$(tail -1 <<< "$output")" "state new value 'ok'"
    contains "$(grep h1 <<< "$output" | grep crashed)" "state new value 'crashed'"
}

@test "eval learns categories as score does: what the note about text names, it has" {
    make_states
    awk -F, -v OFS=, 'NR == 1 { print $0, "fault"; next } { print $0, $3 == "crashed" }' states.csv > labelled.csv
    oif eval --label fault --time at labelled.csv
    contains "$stderr" "text in state ('maint'): left out; use it with --category,"
    oif eval --label fault --time at --category state --json labelled.csv
    exits 0
    contains "$output" '"found": 1'
    alerts=$("$OIF" score --label fault --time at --category state --rows alerts labelled.csv | tail -n +2 | wc -l)
    contains "$output" "\"alerts\": $alerts,"
    "$OIF" eval --label fault --time at --category state --report page.html labelled.csv > /dev/null
    contains "$(cat page.html)" '{"column":"state","text":"new value",'
}

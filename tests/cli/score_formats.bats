# oif score: what comes in, and how it goes out.

load helper

# The scores must not depend on the format of the rows.
make_ndjson() {
    make_stream
    "$OIF" score --output ndjson --fields score stream.csv | sed 's/,"oif".*/}/' > stream.ndjson
}

@test "NDJSON keeps its lines byte for byte and gets an object before the closing brace" {
    printf '{"a": 1.50, "b":\t[1e0, 2] , "s":"\\u00e9}{"  }\n  {"s":"x","b":[3,4],"a":5}\t\r\n{"a":null}' > in.ndjson
    oif score --exclude s in.ndjson
    exits 0
    sed -E 's/,"oif":\{[^}]*\}//' <<< "$output" | cmp - <(cat in.ndjson; echo)
    equal "${lines[0]}" '{"a": 1.50, "b":	[1e0, 2] , "s":"\u00e9}{"  ,"oif":{"score":0.5,"severity":null,"anomaly":null}}'
    python3 -c 'import json, sys; [json.loads(line)["oif"]["severity"] for line in sys.stdin]' <<< "$output"
}

@test "an object without keys gets no comma" {
    printf '{"a":1}\n{ }\n' > in.ndjson
    equal "$("$OIF" score --fields ready in.ndjson | tail -1)" '{ "oif":{"ready":false}}'
}

@test "CSV and NDJSON of the same rows get the same scores" {
    make_ndjson
    "$OIF" score --fields score,severity,anomaly,why stream.csv > from_csv
    "$OIF" score --fields score,severity,anomaly,why --output csv stream.ndjson | cmp - from_csv
    "$OIF" score --fields score,severity,anomaly,why --output ndjson stream.csv > to_ndjson
    "$OIF" score --fields score,severity,anomaly,why stream.ndjson | cmp - to_ndjson
}

@test "the format is known by the name, else by the first byte, and --format overrules both" {
    make_ndjson
    "$OIF" score stream.ndjson > expected
    "$OIF" score < stream.ndjson | cmp - expected
    (printf '\xef\xbb\xbf'; cat stream.ndjson) | "$OIF" score | cmp - expected
    (echo; cat stream.ndjson) | dd bs=1 status=none | "$OIF" score | cmp - expected
    cp stream.ndjson odd.csv
    "$OIF" score --format ndjson odd.csv | cmp - expected
    oif score odd.csv
    equal "$status" 1
    oif score --format xml odd.csv
    exits 2 "oif: --format: expected csv, ndjson, json, vmstat, sysstat, sadf, prometheus, influx or access-log, not 'xml'"
}

@test "CSV that becomes NDJSON has numbers, strings and nulls, whatever the names" {
    printf 'a,"say ""hi""",c\n1.5,x y,007\n-0.5e3,,+1\n' > in.csv
    oif score --columns a --fields ready --output ndjson in.csv
    exits 0
    equal "${lines[0]}" '{"a":1.5,"say \"hi\"":"x y","c":"007","oif":{"ready":false}}'
    equal "${lines[1]}" '{"a":-0.5e3,"say \"hi\"":null,"c":"+1","oif":{"ready":false}}'
}

@test "NDJSON that becomes CSV has quotes where they are needed" {
    printf '{"a":1,"b,c":"x,\\"y\\"","d":{"e":null}}\n{"d":{"e":2},"a":3}\n' > in.ndjson
    oif score --columns a --fields ready --output csv in.ndjson
    exits 0
    equal "${lines[0]}" 'a,"b,c",d.e,ready'
    equal "${lines[1]}" '1,"x,""y""",null,0'
    equal "${lines[2]}" '3,,2,0'
}

@test "a column of NDJSON that the first lines lack is told and comes with later lines" {
    printf '{"a":1}\n{"a":2,"net":{"out":5}}\n' > in.ndjson
    oif score --columns a,net.out in.ndjson
    exits 0 ""
    equal "${#lines[@]}" 2
    oif score --columns a,net.in in.ndjson
    exits 0 "oif: in.ndjson: none of the first 2 lines has 'net.in'; did you mean net.out?; it is missing until a line has it"
    equal "${#lines[@]}" 2
    oif score --key hots <<< '{"host":"a","x":1}'
    contains "$stderr" "did you mean host?"
}

@test "--fields chooses what is added, in the order given" {
    make_stream
    equal "$("$OIF" score --fields severity,score,ready,episode,why stream.csv | sed -n '1p;2p')" \
        "x,y,fault,severity,score,ready,episode,why
$(sed -n 2p stream.csv),,0.5,0,,"
    oif score --fields score,anomalie stream.csv
    exits 2 "oif: --fields: there is no field 'anomalie'; did you mean anomaly? (score, severity, threshold, anomaly, grade, ready, episode, episode_id, why, expected)"
    oif score --fields score,score stream.csv
    exits 2 "oif: --fields: 'score' is given twice; leave one out"
    oif score --output xml stream.csv
    exits 2 "oif: --output: expected csv, ndjson or logfmt, not 'xml'"
}

@test "the key and the time stay out of the numbers" {
    printf 'host,at,x\na,2026-11-16T09:00,1\nb,2026-11-16T09:01,2\n' > in.csv
    oif score --key host --time at in.csv
    exits 0
    contains "${lines[2]}" "b,2026-11-16T09:01,2,0.5,"
}

# Metrics as programs send them: Influx's lines, Prometheus's text, access logs, and rows with one value each.

load helper

# ---- Influx ----

make_influx() {
    cat > in.influx << 'END'
cpu,host=a usage=12.5,procs=3i,ok=true,note="x \"y\", z" 1794970649000000000
# a comment
cpu,host=b usage=13.5,procs=4i,ok=f 1794970649000000000
mem,host=a\ b,r=x\,y used=99u,f=.5 1794970650000000000
END
}

@test "lines of Influx are rows: a model for each series, tags and fields are columns" {
    make_influx
    oif score --exclude measurement,host,note,r --fields score in.influx
    exits 0 "oif: in.influx: read as Influx's line protocol, with a model for each series (--key series)"
    equal "$(jq -c '[.time, .series, .measurement, .host, .usage, .procs, .ok, .note, .oif.score]' <<< "${lines[0]}")" \
        '[1794970649000000000,"cpu,host=a","cpu","a",12.5,3,true,"x \"y\", z",0.5]'
    equal "$(jq -c '[.series, .host, .r, .used, .f]' <<< "${lines[2]}")" '["mem,host=a\\ b,r=x\\,y","a b","x,y",99,0.5]'
    oif score --key host --fields score,ready --output csv <<< 'cpu,host=a usage=1 1794970649000000000'
    exits 0
    equal "$output" $'time,series,measurement,host,usage,score,ready\n1794970649000000000,"cpu,host=a",cpu,a,1,0.5,0'
}

@test "a line of Influx without a time, and odd names, numbers and strings" {
    printf '%s\n' 'm,a=1 v=1,s="é\\n"' 'm,a=1 v=-2e3,q\,r=1' 'm,a=1 v=.5,q\,r=2u' > in.txt
    oif score --format influx --fields score --key series --exclude s,measurement,a in.txt
    exits 0
    equal "${lines[0]}" '{"series":"m,a=1","measurement":"m","a":"1","v":1,"s":"é\\n","oif":{"score":0.5}}'
    equal "${lines[1]}" '{"series":"m,a=1","measurement":"m","a":"1","v":-2e3,"q,r":1,"oif":{"score":0.5}}'
    equal "${lines[2]}" '{"series":"m,a=1","measurement":"m","a":"1","v":0.5,"q,r":2,"oif":{"score":0.5}}'
}

@test "lines of Influx from a pipe are answered as they come" {
    mkfifo pipe
    "$OIF" score --format influx --fields score < pipe > out 2> err 3>&- &
    exec 7> pipe
    echo 'm v=1 1' >&7
    await_lines 1 out
    equal "$(cat out)" '{"time":1,"series":"m","measurement":"m","v":1,"oif":{"score":0.5}}'
    exec 7>&-
    wait %1
}

@test "bad lines of Influx are refused with their line, or left out" {
    make_influx
    printf '%s\n' 'cpu usage=1.2.3' 'cpu' 'cpu usage=' 'cpu usage="a' ',a=b c=1' 'cpu usage=1 soon' $'\001\377' >> in.influx
    oif score --exclude note,r --fields score --key series in.influx
    equal "$status" 1
    contains "$stderr" "oif: in.influx:5:1: this is not a line of Influx, such as cpu,host=a usage=12.5,n=3i 1794970649000000000; --on-bad-row skip leaves such lines out"
    oif score --exclude note,r,measurement,host --fields score --key series --on-bad-row skip in.influx
    equal "$status ${#lines[@]}" "0 3"
    contains "$stderr" "in.influx: 7 bad rows skipped"
    printf 'a b=c\n1 2\n' | "$OIF" score --fields score --exclude 'a b=c' > /dev/null 2>&1 || true
    oif score --csv sep=space --fields score <<< $'a b=1\n1 2'
    equal "${lines[0]}" "a b=1 score"
}

# ---- Prometheus ----

@test "a scrape of Prometheus is a row, and its samples with their labels are columns" {
    cat > scrapes.prom << 'END'
# HELP go_goroutines Number of goroutines.
# TYPE go_goroutines gauge
go_goroutines 7
x_bucket{le="+Inf"} NaN
y{a="q\"}, b"} 1.5e3 # {trace="1"} 0.5
# EOF
go_goroutines 8
y{a="q\"}, b"} 2
go_goroutines 9
END
    oif score --fields score scrapes.prom
    exits 0
    equal "$(jq -c '[.go_goroutines, ."y{a=\"q\\\"}, b\"}", .oif.score]' <<< "$output")" $'[7,1500,0.5]\n[8,2,0.5]\n[9,null,0.5]'
}

@test "with --key a label is the key, and a timestamp the time" {
    cat > scrape.prom << 'END'
# TYPE up gauge
up{instance="a:1",job="x"} 1 1395066363000
up{instance="b:1",job="x"} 0 1395066363000
up{instance="a:1",job="x"} 1 1395066378000
END
    oif score --key instance --fields score scrape.prom
    exits 0
    equal "$output" '{"time":"1395066363000","instance":"a:1","up{job=\"x\"}":1,"oif":{"score":0.5}}
{"time":"1395066363000","instance":"b:1","up{job=\"x\"}":0,"oif":{"score":0.5}}
{"time":"1395066378000","instance":"a:1","up{job=\"x\"}":1,"oif":{"score":0.5}}'
    oif score --key job,instance --fields score scrape.prom
    exits 0
    equal "$(jq -c '[.job, .instance, .up]' <<< "${lines[0]}")" '["x","a:1",1]'
    printf 'what is this\n' >> scrape.prom
    oif score --key instance --fields score scrape.prom
    exits 1 'oif: scrape.prom:5:1: this is not a sample of Prometheus, such as name{label="a"} 1.5; --on-bad-row skip leaves such lines out'
}

@test "a live scrape is scored at its # EOF" {
    mkfifo pipe
    "$OIF" score --format prometheus --fields score < pipe > out 3>&- &
    exec 7> pipe
    printf 'a 1\nb 2\n# EOF\n' >&7
    await_lines 1 out
    equal "$(cat out)" '{"a":1,"b":2,"oif":{"score":0.5}}'
    exec 7>&-
    wait %1
}

@test "more than 4,096 names are left out with a note" {
    (echo "# TYPE m gauge"; seq 5000 | sed 's/.*/m{n="&"} &/') > many.prom
    oif score --fields score many.prom
    equal "$status ${#lines[@]}" "0 1"
    equal "$(jq 'length' <<< "$output")" 4097
    contains "$stderr" "many.prom:4098: there are 4096 names already; this one and further ones are left out"
}

# ---- Access logs ----

# log_line SECONDS STATUS BYTES [REST]
log_line() {
    printf '10.0.0.1 - bob [%s] "GET /a\\"b[1] HTTP/1.1" %s %s%s\n' "$(date -u -d "@$((1794970800 + $1))" '+%d/%b/%Y:%H:%M:%S +0000')" "$2" "$3" "${4:-}"
}

@test "an access log has a row per minute, also without requests" {
    (log_line 0 200 100; log_line 30 404 -; log_line 61 500 50; log_line 59 200 1; log_line 185 200 7; log_line 250 200 7) > access.log
    oif score --fields score access.log
    exits 0 "oif: access.log: read as an access log, a row per 60 s (--every); --format csv reads it as it is"
    equal "$output" "time,requests,share_4xx,share_5xx,bytes,score
2026-11-18T03:00:00Z,2,0.5,0,100,0.5
2026-11-18T03:01:00Z,2,0,0.5,51,0.5
2026-11-18T03:02:00Z,0,,,0,0.5
2026-11-18T03:03:00Z,1,0,0,7,0.5"
    oif score --format access-log --every 2m --fields score access.log
    exits 0
    equal "${lines[1]}" "2026-11-18T03:00:00Z,4,0.25,0.25,151,0.5"
    oif score --every 2m --fields score <<< $'a,b\n1,2'
    exits 2 "oif: --every is for --format access-log, and this is not one"
}

@test "the combined format, with a time at its end" {
    (log_line 0 200 100 ' "-" "curl/8 (x; y)" 0.25'; log_line 1 200 100 ' "-" "curl/8" 0.75'; log_line 60 200 1 ' "-" "c" 1') > access.log
    oif score --format access-log --fields score access.log
    exits 0
    equal "$output" $'time,requests,share_4xx,share_5xx,bytes,mean_duration,score\n2026-11-18T03:00:00Z,2,0,0,200,0.5,0.5'
}

@test "bad lines of an access log, and long gaps" {
    (echo junk; log_line 0 200 1; echo junk; log_line 99999999 200 1; log_line 100000099 200 1) > access.log
    oif score --format access-log --fields score access.log
    equal "$status" 1
    contains "$stderr" "access.log:3:1: this is not a line of an access log in the common or combined format; --on-bad-row skip leaves such lines out"
    oif score --format access-log --fields score --on-bad-row skip access.log
    equal "$status ${#lines[@]}" "0 4"
    contains "$stderr" "access.log:1: this is not a line of an access log, and is left out"
    log_line 0 200 1 > one.log
    oif score --format access-log --fields score one.log
    exits 0
    equal "${#lines[@]}" 2
}

# ---- --pivot ----

make_long() {
    cat > long.csv << 'END'
time,host,metric,value
2026-11-18T10:00:00,a,cpu,5
2026-11-18T10:00:00,a,mem,70
2026-11-18T10:00:00,b,cpu,6
2026-11-18T10:01:00,a,cpu,
2026-11-18T10:01:00,a,"disk ""0""",1
2026-11-18T10:01:00,b,cpu,7
END
}

@test "--pivot makes one row of the values of a time and a key" {
    make_long
    expected='{"time":"2026-11-18T10:00:00","host":"a","cpu":5,"mem":70,"oif":{"score":0.5}}
{"time":"2026-11-18T10:00:00","host":"b","cpu":6,"oif":{"score":0.5}}
{"time":"2026-11-18T10:01:00","host":"a","disk \"0\"":1,"oif":{"score":0.5}}
{"time":"2026-11-18T10:01:00","host":"b","cpu":7,"oif":{"score":0.5}}'
    oif score --pivot metric:value --key host --fields score long.csv
    exits 0
    equal "$output" "$expected"
    python3 -c 'import csv, json
for row in csv.DictReader(open("long.csv")):
    print(json.dumps({**row, "value": float(row["value"] or "nan")}).replace("NaN", "null"))' > long.ndjson
    oif score --pivot metric:value --key host --fields score long.ndjson
    exits 0
    equal "$output" "$expected"
    gzip -c long.csv > long.csv.gz
    oif score --pivot metric:value --key host --time time --fields score long.csv.gz
    exits 0
    equal "$output" "$expected"
}

@test "--pivot keeps the names of time and key, with a state too, and paths of JSON" {
    printf 'at,metric,value\n2026-11-18T10:00:00,cpu,5\n2026-11-18T10:01:00,cpu,6\n' > one.csv
    printf 'at,metric,value\n2026-11-18T10:02:00,cpu,5\n2026-11-18T10:03:00,cpu,6\n' > two.csv
    oif score --pivot metric:value --time at --state s.oif --fields score one.csv
    exits 0
    equal "${lines[1]}" '{"at":"2026-11-18T10:01:00","cpu":6,"oif":{"score":0.5}}'
    oif score --pivot metric:value --time at --state s.oif --fields score two.csv
    exits 0 "oif: s.oif: resumes after 2 rows"
    printf '{"m":{"at":"2026-11-18T10:00:00"},"l":{"host":"a","dc":"x"},"k":"cpu","v":1}\n' > in.ndjson
    oif score --pivot k:v --time m.at --key l.host,l.dc --fields score in.ndjson
    exits 0
    equal "$output" '{"m":{"at":"2026-11-18T10:00:00"},"l":{"host":"a","dc":"x"},"cpu":1,"oif":{"score":0.5}}'
    oif score --pivot k:v --time m.at --key l.host,k,l.dc --fields score in.ndjson
    equal "$status" 1
    contains "$stderr" "--pivot: l.host and l.dc are in one object"
    printf 'at,a.m,a.v,a.h\n2026-11-18T10:00:00,cpu,1,x\n' > dots.csv
    oif score --pivot a.m:a.v --time at --key a.h --fields score dots.csv
    exits 0
    equal "$output" '{"at":"2026-11-18T10:00:00","a":{"h":"x"},"cpu":1,"oif":{"score":0.5}}'
}

@test "--pivot without a key says which values replace others, and late ones are left out" {
    make_long
    echo '2026-11-18T10:00:00,b,mem,1' >> long.csv
    oif score --pivot metric:value --fields score long.csv
    exits 0 "oif: long.csv: values left out because a later time came before them: 1
oif: long.csv: values replaced by a later one with the same time and name (if they come from several sources, name these with --key COL): 1"
    equal "${lines[0]}" '{"time":"2026-11-18T10:00:00","cpu":6,"mem":70,"oif":{"score":0.5}}'
}

@test "--pivot without times begins a row where a name comes again" {
    printf 'm,v\na,1\nb,2\na,3\n' > in.csv
    oif score --pivot m:v --fields score in.csv
    exits 0
    equal "$output" $'{"a":1,"b":2,"oif":{"score":0.5}}\n{"a":3,"oif":{"score":0.5}}'
}

@test "--pivot refuses columns that do not exist and rows without a number, with their line" {
    make_long
    oif score --pivot metric:values long.csv
    exits 1 "oif: long.csv:1: --pivot: there is no column 'values'; the first columns are time, host, metric, value"
    oif score --pivot metric long.csv
    exits 2 "oif: --pivot: expected METRIC:VALUE, the columns of the names and of the numbers, not 'metric'"
    oif score --pivot metric:value --key metric long.csv
    equal "$status" 1
    echo '2026-11-18T10:02:00,b,cpu,high' >> long.csv
    echo 'someday,b,cpu,1' >> long.csv
    oif score --pivot metric:value --key host --fields score long.csv
    equal "$status" 1
    contains "$stderr" "oif: long.csv:8:1: --pivot finds no name, no number or no time in this row; --on-bad-row skip leaves such lines out"
    oif score --pivot metric:value --key host --on-bad-row skip --fields score long.csv
    equal "$status ${#lines[@]}" "0 4"
    contains "$stderr" "2 bad rows skipped"
    printf '# TYPE a gauge\na 1\n' > a.prom
    oif score --pivot metric:value a.prom
    exits 2 "oif: a.prom: --pivot is for CSV and NDJSON, and this is Prometheus's text"
}

@test "--pivot closes the row of a key that falls silent, and bounds how many are open" {
    (echo time,host,metric,value; echo 1,gone,cpu,1; seq 2 15000 | sed 's/.*/&,a,cpu,1/') > long.csv
    oif score --pivot metric:value --key host --time time --fields score long.csv
    equal "$status ${#lines[@]}" "0 15000"
    equal "$(printf '%s\n' "${lines[@]}" | grep -n gone | cut -d: -f1 | awk '{ print ($1 > 9000 && $1 < 12000) }')" 1
    (echo time,host,metric,value; seq 1 3000 | sed 's/.*/1,h&,cpu,1/') > wide.csv
    oif score --pivot metric:value --key host --time time --fields score wide.csv
    equal "$status ${#lines[@]}" "0 3000"
}

# oif score: commands for episodes, and the exit status for alerts.

load helper

# 600 rows of two hosts with times; web-1 has one episode that begins and ends.
make_episode() {
    awk 'BEGIN {
        print "at,host,load,note"
        for (i = 0; i < 600; i++) {
            state = (state * 16807 + 12345) % 2147483647
            far = i >= 501 && i < 510 && i % 2 == 1
            printf "%d,web-%d,%.3f,\"say \"\"%d\"\"\"\n", 1794769501 + i, i % 2, state % 100 / 100 + far * 90, i
        }
    }' > episode.csv
}

score_episode() {
    oif score --key host --time at --exclude note --detector rolling-iforest --window-size 64 --alert-rate 0.02 --mute 'change<30' "$@" episode.csv
}

@test "--on-alert runs once when an episode begins and once when it ends, with its record" {
    make_episode
    score_episode --on-alert 'echo "$OIF_EPISODE $OIF_GRADE" >> words; cat >> records' --rows episodes
    exits 0
    [ "${#lines[@]}" -eq 2 ]
    python3 - <<'PYTHON'
import json
begin, end = [json.loads(line) for line in open("records")]
words = open("words").read().split()
assert words[0::2] == ["begins", "ends"] and words[1] == begin["grade"] and words[3] == end["grade"], words
assert begin["episode"] == "begins" and end["episode"] == "ends"
assert begin["key"] == end["key"] == "web-1"
assert begin["id"] == end["id"] == 1
assert begin["start"] == end["start"] == "2026-11-15T19:13:22Z", begin
assert begin["end"] is None and end["end"] >= "2026-11-15T19:14:02Z", end
assert begin["rows"] == 1 and end["rows"] == end["row"]["at"] // 2 - begin["row"]["at"] // 2 + 1 >= 21 and end["anomalies"] >= 5, end
assert begin["grade"] in ("note", "warning", "critical") and end["peak"] >= begin["peak"] > 0
assert begin["reason"].startswith("load "), begin
assert end["reason"].startswith("load "), end
peak = lambda record: f"severity {record['peak']:.1f}".removesuffix(".0") + f" ({record['grade']})"
assert begin["text"] == f"web-1: {begin['reason']} since {begin['start']}, 1 row, {peak(begin)}", begin["text"]
assert end["text"] == f"web-1: {end['reason']} from {end['start']} to {end['end']}, {end['rows']} rows, {peak(end)}", end["text"]
assert begin["row"]["host"] == "web-1" and begin["row"]["note"] == 'say "501"' and begin["row"]["load"] > 90, begin["row"]
PYTHON
}

# Two episodes of grade note, then one that begins as a note and is critical from its fourth row on.
make_growing() {
    awk 'BEGIN {
        print "at,load"
        for (i = 0; i < 3000; i++) {
            load = 50
            for (j = 0; j < 4; j++) { state = (state * 16807 + 12345) % 2147483647; load += state % 1000 / 400 }
            if ((i >= 2000 && i < 2003) || (i >= 2500 && i < 2503)) load = 59.5
            if (i >= 2503 && i < 2506) load = 300
            printf "%d,%.3f\n", 1794769500 + i * 60, load
        }
    }' > growing.csv
}

@test "with --min-grade, --on-alert and --rows episodes tell of an episode that reaches that grade" {
    make_growing
    "$OIF" score --fields grade,episode --rows alerts growing.csv | grep -q '59.500,note,begins$' # some never reach it
    "$OIF" score --fields grade,episode,episode_id --rows episodes --min-grade critical \
        --on-alert 'cat >> records' growing.csv > told.csv
    equal "$(cut -d, -f2,3 told.csv | head -2)" "$(printf 'load,grade\n300.000,critical')"
    [ "$(wc -l < told.csv)" -eq 2 ]
    equal "$(jq -r '[.episode, .grade, .row.load] | join(" ")' records | head -1)" "begins critical 300"
    equal "$(jq -r '[.episode, .grade, .start] | join(" ")' records | tail -1)" "ends critical $(jq -r .start records | head -1)"
    [ "$(wc -l < records)" -eq 2 ]
    cmp <("$OIF" score --rows episodes --min-grade note growing.csv) <("$OIF" score --rows episodes growing.csv)
}

@test "an episode that reached --min-grade before a state was saved is not told again" {
    make_growing
    score() { "$OIF" score --state s.oif --fields grade,episode --rows episodes --min-grade critical "$@"; }
    head -2505 growing.csv | score - > first.csv # ends in the critical part
    equal "$(tail -1 first.csv | cut -d, -f2,3)" "300.000,critical"
    { head -1 growing.csv; tail -n +2506 growing.csv; } | score --on-alert 'echo $OIF_EPISODE >> words' - > second.csv
    equal "$(cat words)" ends
}

@test "--on-alert changes nothing of the rows, in CSV and in NDJSON, and is for all formats" {
    make_episode
    score_episode
    printf '%s\n' "$output" > expected
    score_episode --on-alert 'cat > /dev/null; echo to stdout'
    cmp <(printf '%s\n' "$output") expected
    equal "$stderr" $'to stdout\nto stdout'
    "$OIF" score --key host --time at --columns load --output ndjson --fields ready episode.csv | sed 's/,"oif".*/}/' > episode.ndjson
    "$OIF" score --key host --time at --columns load --detector rolling-iforest --window-size 64 --alert-rate 0.02 --mute 'change<30' \
        --on-alert 'cat >> records' episode.ndjson > /dev/null
    python3 -c '
import json
records = [json.loads(line) for line in open("records")]
assert [r["row"]["host"] for r in records] == ["web-1", "web-1"], records'
    "$OIF" score --columns load --detector rolling-iforest --window-size 64 --alert-rate 0.02 --mute 'change<30' --rows alerts \
        --on-alert 'cat > last' episode.csv > /dev/null
    python3 -c '
import json
last = json.load(open("last"))
assert last["key"] is None and isinstance(last["start"], int) and last["text"].startswith("load "), last'
}

# 60 episodes of one key, as fast as possible.
make_many() {
    awk 'BEGIN {
        print "x"
        for (i = 0; i < 3000; i++) {
            state = (state * 16807 + 12345) % 2147483647
            print state % 100 / 100 + (i > 500 && i % 40 == 0) * 90
        }
    }' > many.csv
}

score_many() {
    oif score --detector rolling-iforest --window-size 64 --alert-rate 0.02 --mute 'change<30' "$@" many.csv
}

@test "a command that fails is reported once and counted" {
    make_many
    score_many --on-alert 'exit 7'
    equal "$status" 0
    equal "${stderr_lines[0]}" "oif: --on-alert: the command ended with status 7; scoring continues, and further failures are only counted"
    [[ "$stderr" =~ "oif: --on-alert: "([0-9]+)" commands were run, "([0-9]+)" failed, 0 were dropped" ]]
    [ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ] && [ "${BASH_REMATCH[1]}" -gt 60 ]
    [ "$(wc -l <<< "$stderr")" -eq 2 ]
    score_many --on-alert 'kill -9 $$'
    contains "$stderr" "the command was ended by signal 9;"
    score_many --on-alert 'exec 2> /dev/null; /does/not/exist'
    contains "$stderr" "the command ended with status 127: the shell did not find it;"
}

@test "commands that never end do not hold up the rows, and are killed 10 s after the last one" {
    make_many
    score_many --rows alerts
    printf '%s\n' "$output" > expected
    score_many --rows alerts --on-alert 'echo $$ >> pids; sleep 1000; echo never'
    equal "$status" 0
    cmp <(printf '%s\n' "$output") expected
    contains "$stderr" "8 commands still run 10 s after the last row and are killed, and "
    while read -r pid; do
        ! kill -0 "$pid" 2> /dev/null || { ps -p "$pid" -o pid,stat,args; false; }
    done < pids
    score_many --on-alert 'trap "" TERM; while :; do sleep 0.1; done' > /dev/null
    equal "$status" 0
    contains "$stderr" "the command was ended by signal 9"
}

@test "commands that do not read, or write much, harm nothing" {
    make_many
    score_many --rows alerts
    printf '%s\n' "$output" > expected
    score_many --rows alerts --on-alert 'exec 0<&-; exit 0'
    exits 0
    cmp <(printf '%s\n' "$output") expected
    make_episode
    score_episode
    printf '%s\n' "$output" > expected
    "$OIF" score --key host --time at --exclude note --detector rolling-iforest --window-size 64 --alert-rate 0.02 --mute 'change<30' \
        --on-alert 'head -c 10000000 /dev/zero' episode.csv 2> noise | cmp - expected
    equal "$(tr -cd '\0' < noise | wc -c)" 20000000
}

@test "a record that is larger than a pipe arrives whole" {
    python3 - "$OIF" <<'PYTHON'
import json, subprocess, sys
long = "ä" * 300000
rows = "x,t\n" + "".join(f"{i * 7919 % 97},a\n" for i in range(300)) + f"99999,{long}\n" + "".join(f"{i * 7919 % 97},a\n" for i in range(300, 320))
subprocess.run([sys.argv[1], "score", "--columns", "x", "--detector", "rolling-iforest", "--window-size", "64",
                "--alert-rate", "0.02", "--mute", "change<30", "--on-alert", "sleep 0.05; cat >> records"],
               input=rows.encode(), stdout=subprocess.DEVNULL, check=True)
records = [json.loads(line) for line in open("records")]
assert records[0]["row"] == {"x": 99999, "t": long}, records[0]["row"]["x"]
assert [r["episode"] for r in records] == ["begins", "ends"]
PYTHON
}

@test "what does not fit into the queue is dropped and counted" {
    awk 'BEGIN { print "k,x"; for (i = 0; i < 130000; i++) {
        state = (state * 16807 + 12345) % 2147483647
        print "k" i % 1300 "," state % 100 / 100 + (i > 128000) * 90 } }' > keys.csv
    oif score --key k --detector rolling-iforest --window-size 32 --alert-rate 0.05 --rows episodes --on-alert 'sleep 1000' keys.csv
    equal "$status" 0
    contains "$stderr" "oif: --on-alert: 8 commands are running and 1000 are waiting; until some have ended, further ones are dropped and counted"
    [[ "$stderr" =~ "commands were run, 8 failed, "([0-9]+)" were dropped" ]]
    [ "${BASH_REMATCH[1]}" -gt 1000 ]
}

@test "commands inherit no file, not even the lock of the state" {
    make_episode
    exec 7> inherited
    score_episode --state s.oif --on-alert 'ls -l /proc/self/fd >&2' 7>&7
    equal "$status" 0
    [ -e s.oif ]
    [[ "$stderr" != *s.oif.lock* && "$stderr" != *episode.csv* && "$stderr" != *inherited* ]] || { echo "$stderr"; false; }
    contains "$stderr" "0 -> pipe:"
}

@test "commands run while the input waits, and SIGTERM waits for them" {
    make_many
    python3 - "$OIF" <<'PYTHON'
import os, signal, subprocess, sys, time
oif = subprocess.Popen([sys.argv[1], "score", "--detector", "rolling-iforest", "--window-size", "64", "--alert-rate", "0.02", "--mute", "change<30",
                        "--on-alert", "cat >> records"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
rows = open("many.csv").readlines()
oif.stdin.write("".join(rows[:1300]).encode())
oif.stdin.flush()
for _ in range(600):
    if os.path.exists("records") and len(open("records").readlines()) >= 38:
        break
    time.sleep(0.05)
else:
    sys.exit("commands that wait are not started: %d" % len(open("records").readlines()))
for _ in range(600):
    children = subprocess.run(["ps", "--ppid", str(oif.pid), "-o", "stat="], capture_output=True, text=True).stdout
    if "Z" not in children:
        break
    time.sleep(0.05)
assert "Z" not in children, children
oif.send_signal(signal.SIGTERM)
assert oif.wait(60) == 0
PYTHON
}

@test "--fail-on-alert exits with 3 when a row was an alert, and only then" {
    make_episode
    score_episode --fail-on-alert
    exits 3
    score_episode --fail-on-alert --on-alert 'exit 1'
    equal "$status" 3
    score_episode --fail-on-alert --mute 'column=load'
    exits 0
    printf 'x\n1\nbad\n' > bad.csv
    oif score --fail-on-alert bad.csv
    equal "$status" 1
    make_many
    "$OIF" score --detector rolling-iforest --window-size 64 --alert-rate 0.02 --mute 'change<30' --fields grade many.csv | sort | uniq -c > grades
    if grep -q critical grades; then want=3; else want=0; fi
    score_many --fail-on-alert --min-grade critical
    equal "$status" "$want"
    oif score --help-all
    contains "$output" "exit with status 3 if a row was anomalous"
    oif --help
    contains "$output" "3 there was an alert"
}

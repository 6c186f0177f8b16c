# oif score: which episode a row is of, a budget of episodes, silence, and frozen states.

load helper

# Two hosts, a row of each per minute. The load of h1 is far too high from row 3000 on for five rows and again 40 rows
# later; h2 sends nothing from row 3100 to 3200.
make_hosts() {
    awk 'BEGIN {
        state = 1
        print "at,host,load,free"
        for (i = 1; i <= 3300; i++)
            for (h = 1; h <= 2; h++) {
                state = state * 16807 % 2147483647
                load = 5 + state % 1000 / 1000
                state = state * 16807 % 2147483647
                free = 50 + state % 1000 / 100
                high = h == 1 && (i >= 3000 && i < 3005 || i == 3040)
                if (h == 1 || i < 3100 || i >= 3200)
                    printf "%d,h%d,%.3f,%.3f\n", 1794700000 + 60 * i, h, load + high * (i == 3002 ? 900 : 90), free
            }
    }' > hosts.csv
}

hosts() {
    "$OIF" score --key host --time at --alert-rate 0.0005 "$@" hosts.csv
}

@test "the worst row of an episode has its number and the reason" {
    make_hosts
    hosts --rows episodes --fields episode_id,why 2> /dev/null | tail -n +2 > one.csv
    equal "$(wc -l < one.csv)" 2
    grep -qE '^1794880[0-9]+,h1,9[0-9.]+,[0-9.]+,1,"?load ' one.csv
    hosts --rows episodes --output ndjson 2> /dev/null | grep -v silence > all.ndjson
    contains "$(cat all.ndjson)" '"why":[{"column":"load","direction":"high",'
}

# A level that rises at row 2500 and stays for 40 rows, with a spike so many rows after it has begun.
risen() {
    awk -v spike="$1" 'BEGIN {
        state = 1
        print "x,y"
        for (i = 1; i <= 2700; i++) {
            state = state * 16807 % 2147483647
            x = 5 + state % 1000 / 1000 + (i >= 2500 && i < 2540) + (i == 2500 + spike) * 90
            state = state * 16807 % 2147483647
            printf "%.3f,%.3f\n", x, state % 1000 / 1000
        }
    }' | "$OIF" score -q --freeze=off --only-alerts --fields severity,episode_id | tail -n +2
}

@test "an episode that becomes far worse after 16 rows is a line, and what it became is the next" {
    risen 36 > two
    equal "$(cut -d, -f4 two | tr '\n' ' ')" "1 2 "
    equal "$(sed 's/\..*//' two | tr '\n' ' ')" "6 96 "
    awk -F, 'NR == 1 { first = $3 } END { exit !($3 > first + 1) }' two
    risen 5 > one
    equal "$(sed 's/\..*//' one | tr '\n' ' ')" "96 "
}

@test "rows outside have no episode" {
    make_hosts
    "$OIF" score --key host --exclude at --alert-rate 0.0005 --fields episode_id hosts.csv > all.csv
    contains "$(grep '^1794880060,h1' all.csv)" ",1"
    equal "$(grep '^1794880060,h2' all.csv | cut -d, -f5)" ""
    "$OIF" score --key host --exclude at --alert-rate 0.0005 --fields episode_id --output ndjson hosts.csv > all.ndjson
    contains "$(grep '1794880060,"host":"h2"' all.ndjson)" '{"episode_id":null}'
}

@test "times and budgets of the command line have units" {
    make_hosts
    oif score --silence 10x hosts.csv
    equal "$status" 2
    contains "$stderr" "--silence: expected a time such as 30s, 10m, 2h or 1d, 0 or -1, not '10x'"
    oif score --alerts 5/month hosts.csv
    equal "$status" 2
    contains "$stderr" "--alerts: expected a number per day, hour or week, such as 5/day, not '5/month'"
    oif score --silence -3h hosts.csv
    equal "$status" 2
    "$OIF" score --key host --time at --state s.oif --alerts 7/week --silence 2d hosts.csv > /dev/null
    "$OIF" state inspect --json s.oif > s.json
    contains "$(cat s.json)" '"alerts": 1, "silence": 172800'
}

@test "--alerts contradicts --alert-rate" {
    make_hosts
    oif score --key host --time at --alerts 5/day --alert-rate 0.001 hosts.csv
    equal "$status" 2
    contains "$stderr" "--alerts cannot be combined with --alert-rate"
}

@test "a budget of alerts is kept" {
    awk 'BEGIN {
        print "at,x,y"
        for (i = 0; i < 30000; i++) {
            state = (i == 0 ? 1 : state) * 16807 % 2147483647
            x = state % 1000 / 1000
            state = state * 16807 % 2147483647
            print 1794700000 + 60 * i "," x * x * x "," state % 1000 / 1000
        }
    }' > days.csv
    awk -F, -v OFS=, 'NR > 1 && NR % 40 == 0 { $2 += 50 + NR % 7 * 90 } { print }' days.csv > bad.csv
    episodes() { "$OIF" score -q --time at --alerts "$1" --only-alerts "$2" | tail -n +2 | wc -l; }
    [ "$(episodes 10/day days.csv)" -le 208 ] # the most in 20.8 days; a healthy stream has few
    [ "$(episodes 7/week bad.csv)" -le 99 ]   # twice as many, and some saved
    [ "$(episodes 100/day bad.csv)" -gt "$(episodes 7/week bad.csv)" ]
}

@test "a long key in a message is cut between characters" {
    make_hosts
    local long longer
    long=$(printf 'x%.0s' $(seq 79))
    longer=$(printf 'x%.0s' $(seq 99))
    sed "s/\bh2\b/$long\xc3\xa4\xc3\xb6/; s/\bh1\b/$longer\xc3\xa4\xc3\xb6/" hosts.csv > long.csv
    "$OIF" score --key host --time at --rows episodes --on-alert 'cat >> records' long.csv 2> notes.txt > alerts.csv
    contains "$(cat notes.txt)" "oif: $long: silence begins: no row since"
    contains "$(cat records)" "\"$longer: load "
    "$OIF" score --key host --max-keys 1 long.csv 2> notes.txt > alerts.csv
    contains "$(cat notes.txt)" "of the key \"$long\":"
    iconv -f utf-8 -t utf-8 notes.txt > /dev/null
}

@test "a host that falls silent raises an alert of its own, and its end" {
    make_hosts
    hosts --rows episodes --output ndjson > alerts.ndjson
    equal "$(grep silence alerts.ndjson)" \
        '{"host":"h2","oif":{"silence":"begins","since":"2026-11-17T03:25:40Z","seconds":300}}
{"host":"h2","oif":{"silence":"ends","since":"2026-11-17T03:25:40Z","seconds":6060}}'
    hosts --rows episodes 2> notes.txt > alerts.csv
    equal "$(grep silence notes.txt)" "oif: h2: silence begins: no row since 2026-11-17T03:25:40Z, more than 5 min
oif: h2: silence ends: no row since 2026-11-17T03:25:40Z, 101 min"
    equal "$(grep -c silence alerts.csv)" 0
    hosts --rows episodes --silence 3h --output ndjson > alerts.ndjson
    equal "$(grep -c silence alerts.ndjson)" 0
    hosts --rows episodes --silence -1 --output ndjson > alerts.ndjson
    equal "$(grep -c silence alerts.ndjson)" 0
    hosts --output ndjson > all.ndjson
    equal "$(wc -l < all.ndjson)" "$(($(wc -l < hosts.csv) - 1))"
}

@test "silence runs the command of --on-alert, with its begin and its end, and counts for --fail-on-alert" {
    make_hosts
    hosts --silence 5m --on-alert 'echo "$OIF_EPISODE,$OIF_GRADE" >> order; cat >> records' --output ndjson > all.ndjson
    equal "$(grep silence records)" \
        '{"silence":"begins","key":"h2","start":"2026-11-17T03:25:40Z","end":null,"seconds":300,"reason":"silence","text":"h2: silence begins: no row since 2026-11-17T03:25:40Z, more than 5 min"}
{"silence":"ends","key":"h2","start":"2026-11-17T03:25:40Z","end":"2026-11-17T05:06:40Z","seconds":6060,"reason":"silence","text":"h2: silence ends: no row since 2026-11-17T03:25:40Z, 101 min"}'
    equal "$(grep -c '^begins,$' order)" 1
    # without --silence it is found too, and rows stay alone on stdout
    rm records
    hosts --on-alert 'cat >> records' --output ndjson > all.ndjson
    equal "$(grep -c silence records)" 2
    equal "$(wc -l < all.ndjson)" "$(($(wc -l < hosts.csv) - 1))"
    oif score --key host --time at --mute column=load --mute column=free --fail-on-alert hosts.csv
    exits 3 "oif: h2: silence begins: no row since 2026-11-17T03:25:40Z, more than 5 min
oif: h2: silence ends: no row since 2026-11-17T03:25:40Z, 101 min"
    oif score --key host --time at --mute column=load --mute column=free --fail-on-alert --silence -1 hosts.csv
    exits 0
}

@test "a silence that was reported is not reported again after a restart" {
    make_hosts
    hosts --rows episodes --output ndjson 2> /dev/null | sort > whole.ndjson
    (head -1 hosts.csv; awk -F, 'NR > 1 && $1 < 1794700000 + 60 * 3150' hosts.csv) > first.csv
    (head -1 hosts.csv; awk -F, 'NR > 1 && $1 >= 1794700000 + 60 * 3150' hosts.csv) > second.csv
    for part in first second; do
        "$OIF" score --key host --time at --alert-rate 0.0005 --rows episodes --output ndjson --state s.oif $part.csv
    done > parts.ndjson 2> /dev/null
    sort parts.ndjson | cmp - whole.ndjson # an open episode is printed when the state is saved
}

@test "live input that stops is silence by the clock" {
    mkfifo in
    "$OIF" score --time at --silence 1s --output ndjson in > out.ndjson 2> /dev/null 3>&- &
    pid=$!
    exec 4> in
    printf 'at,x\n' >&4
    printf "$(date +%s),%d\n" 1 2 3 4 5 >&4 # a pause between two would be silence
    await_lines 6 out.ndjson
    equal "$(grep -c '"silence":"begins"' out.ndjson)" 1
    equal "$(wc -l < out.ndjson)" 6
    exec 4>&-
    wait $pid
}

@test "live input of another time has no silence by the clock" {
    mkfifo in
    "$OIF" score --time at --silence 1s --output ndjson in > out.ndjson 2> /dev/null 3>&- &
    pid=$!
    exec 4> in
    printf 'at,x\n' >&4
    for i in 1 2 3; do echo "$((1000000000 + i)),$i" >&4; done
    sleep 2.5
    exec 4>&-
    wait $pid
    equal "$(wc -l < out.ndjson)" 3
}

@test "--freeze compares rows with a state and changes nothing" {
    make_hosts
    "$OIF" score --key host --exclude at --state s.oif hosts.csv > /dev/null
    cp s.oif before.oif
    (echo at,host,load,free; for _ in 1 2 3; do printf '1,h1,5.5,55\n1,h1,99,55\n'; done) > new.csv
    "$OIF" score --key host --exclude at --state s.oif --freeze --fields score,severity,anomaly new.csv \
        > out.csv 2> /dev/null
    cmp s.oif before.oif
    equal "$(tail -n +2 out.csv | sort | uniq -c | awk '{print $1, $2}' | cut -d, -f 1-4)" "3 1,h1,5.5,55
3 1,h1,99,55"
    equal "$(grep -c ',99,55,.*,1$' out.csv)" 3
    oif score --exclude at --freeze new.csv
    equal "$status" 2
    contains "$stderr" "--freeze needs --state FILE"
    oif score --exclude at --freeze --state none.oif new.csv
    equal "$status" 1
    contains "$stderr" "none.oif: no such file, and --freeze needs one that has learned; run once without --freeze"
    [ ! -e none.oif ]
}

@test "a state takes other options about alerts, but no others" {
    make_hosts
    "$OIF" score --key host --time at --state s.oif hosts.csv > /dev/null
    "$OIF" score --key host --time at --state s.oif --alert-rate 0.01 --silence 5m hosts.csv > /dev/null
    contains "$("$OIF" state inspect --json s.oif)" '"alert_rate": 0.01'
    oif score --key host --time at --state s.oif --evicted keep hosts.csv
    equal "$status" 2
    contains "$stderr" "the state was learned with --evicted forget, not keep"
}

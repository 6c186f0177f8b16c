# oif score --rows incidents: one record when an incident begins and one when it is over, instead of rows.

load helper

# 8 hosts in 2 racks, a row a minute for 1600 minutes. From minute 1200 on, the hosts of rack-1 have a load of 100 for
# 20 minutes, host-1 first and one more each minute; at minute 1450 host-0 of rack-0 alone.
make_fleet() {
    awk 'BEGIN {
        state = 3
        print "at,host,load,memory"
        for (i = 0; i < 1600; i++)
            for (h = 0; h < 8; h++) {
                for (j = 0; j < 2; j++) {
                    sum = 0
                    for (k = 0; k < 12; k++) {
                        state = state * 16807 % 2147483647
                        sum += state / 2147483647
                    }
                    x[j] = 50 + 3 * (sum - 6)
                }
                if (h % 2 == 1 && i >= 1200 + (h - 1) / 2 && i < 1220)
                    x[0] = 100
                if (h == 0 && i >= 1450 && i < 1465)
                    x[1] = 100
                printf "%d,rack-%d/host-%d,%.3f,%.3f\n", 1767571200 + 60 * i, h % 2, h, x[0], x[1]
            }
    }' > fleet.csv
}

incidents() {
    "$OIF" score --key host --time at --alert-rate 0.0001 --rows incidents "$@"
}

# The same with a single thread.
on_one_processor() {
    taskset -c "$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')" \
        "$OIF" score --key host --time at --alert-rate 0.0001 --rows incidents "$@"
}

@test "--rows incidents: an outage of four hosts is one begin and one end, with the worst host and what all share" {
    make_fleet
    incidents fleet.csv > records.ndjson
    grep -c . records.ndjson
    [ "$(jq -r 'select(.start >= "2026-01-05T20:00") | .incident' records.ndjson | tr '\n' ' ')" = "begins ends begins ends " ]
    record=$(jq -c 'select(.incident == "ends" and .members == 4)' records.ndjson)
    [ "$(jq -r .worst.column <<< "$record")" = load ]
    [ "$(jq -c .shared <<< "$record")" = '[{"column":"load"},{"part":"rack-1"}]' ]
    [ "$(jq -r .start <<< "$record")" = 2026-01-05T20:00:00Z ]
    [ "$(jq -r '[.order[].key] | join(" ")' <<< "$record")" = "rack-1/host-1 rack-1/host-3 rack-1/host-5 rack-1/host-7" ]
    [ "$(jq -r .open <<< "$record")" = 0 ]
    [ "$(jq -r .worst.grade <<< "$record")" = critical ]
    [ "$(jq '[.order[] | .grade == (if .peak >= 4 then "critical" elif .peak >= 3.3 then "warning" else "note" end)] | all' <<< "$record")" = true ]
    [[ "$(jq -r .text <<< "$record")" == *"is over: rack-1/host-"*": load "*" and 3 more since 2026-01-05T20:00:00Z (critical); all share load" ]]
}

@test "--rows incidents: a line comes when the incident begins, not when it is over" {
    make_fleet
    head -n 9620 fleet.csv > until.csv # some minutes into the outage
    run incidents until.csv
    [ "$status" -eq 0 ]
    [[ "${lines[-2]}" == '{"incident":"begins"'*'"end":null,"members":1,'*'"reason":"load '* ]]
    [[ "${lines[-1]}" == '{"incident":"lasts"'*'"end":null,"members":'* ]]
}

@test "--rows incidents with --on-alert: the command runs once per begin and end of an incident" {
    make_fleet
    incidents --on-alert 'jq -r "[env.OIF_EPISODE, .incident, .id, .members] | join(\" \")" >> ran' fleet.csv > records.ndjson
    [ "$(sort ran)" = "$(jq -r 'select(.incident != "lasts") | [.incident, .incident, .id, .members] | join(" ")' records.ndjson | sort)" ]
}

@test "--rows incidents: threads, formats of the input and blocks do not matter" {
    make_fleet
    incidents fleet.csv > one
    on_one_processor fleet.csv | cmp - one
    "$OIF" score --output ndjson --fields score fleet.csv --strict --columns load,memory | jq -c 'del(.oif)' > fleet.ndjson
    incidents fleet.ndjson | cmp - one
}

@test "--rows incidents without keys and times: starts are numbers of rows" {
    make_fleet
    grep -v rack-0 fleet.csv | cut -d, -f3,4 > plain.csv
    run "$OIF" score --alert-rate 0.0005 --rows incidents plain.csv
    [ "$status" -eq 0 ]
    [[ "${lines[-1]}" == *'"start":'[0-9]* ]]
    [[ "${lines[-1]}" == *'"worst":{"key":"","column":'* ]]
}

@test "--rows incidents refuses options that are about rows" {
    make_fleet
    for option in "--min-grade warning" --watch "--fields score" "--output csv"; do
        # shellcheck disable=SC2086
        run incidents $option fleet.csv
        [ "$status" -eq 2 ]
        [[ "$output" == "oif: ${option%% *} is about rows, and --rows incidents prints"* ]]
    done
}

# What two runs print for a file that is cut after `$1` lines, with one state. "lasts" is printed at the end of each run.
in_two_runs() {
    head -n "$1" fleet.csv > first.csv
    (head -n 1 fleet.csv && tail -n "+$(($1 + 1))" fleet.csv) > second.csv
    rm -f incidents.oif
    incidents --state incidents.oif first.csv 2> /dev/null | sed '/"lasts"/d'
    incidents --state incidents.oif "${@:2}" second.csv 2> /dev/null
}

@test "--rows incidents with --state: a restart changes no record, wherever it is" {
    make_fleet
    incidents --state whole.oif fleet.csv > whole
    grep -q '"members":4' whole
    # before the outage; while hosts join; when all have ended; in the middle of the other one
    for lines in 500 9620 9910 11650; do
        in_two_runs "$lines" > halves
        diff halves whole
        cmp incidents.oif whole.oif
    done
    in_two_runs 9620 | cmp - whole
}

@test "--rows incidents with --state: numbers and what was learned continue without times, too" {
    make_fleet
    grep -v rack-0 fleet.csv | cut -d, -f3,4 > plain.csv
    plain() { "$OIF" score --alert-rate 0.0005 --rows incidents --state "$@"; }
    plain whole.oif plain.csv > whole
    head -n 4815 plain.csv > first.csv
    (head -n 1 plain.csv && tail -n +4816 plain.csv) > second.csv
    (plain halves.oif first.csv 2> /dev/null && plain halves.oif second.csv 2> /dev/null) | grep -v lasts > halves
    [ "$(jq .id halves | sort -n | uniq | tr '\n' ' ')" = "$(grep -v lasts whole | jq .id | sort -n | uniq | tr '\n' ' ')" ]
    diff halves <(grep -v lasts whole)
}

@test "--rows incidents: what is open at the end of the input lasts, and is over with its last episode" {
    make_fleet
    head -n 9660 fleet.csv > until.csv # all four last
    run incidents until.csv
    [[ "${lines[-1]}" == '{"incident":"lasts"'*'"members":4,"open":4,'* ]]
    head -n 11520 fleet.csv > until.csv # all four have ended
    run incidents until.csv
    [[ "${lines[-1]}" == '{"incident":"ends"'*'"members":4,"open":0,'* ]]
}

@test "--rows incidents with --state: a run without --rows incidents keeps them" {
    make_fleet
    head -n 9620 fleet.csv > first.csv
    sed -n '1p;9621,9628p' fleet.csv > second.csv
    id=$(incidents --state state.oif first.csv | tail -1 | jq .id)
    "$OIF" score --key host --time at --state state.oif second.csv > /dev/null 2>&1
    (head -n 1 fleet.csv && tail -n +9629 fleet.csv) > third.csv
    run incidents --state state.oif third.csv
    [[ "$output" == *"\"incident\":\"ends\",\"id\":$id,"* ]]
    [[ "$output" != *"\"incident\":\"begins\",\"id\":$id,"* ]]
}

# A host of each rack is silent from minute 1300 to 1329; host-1 begins with the outage of its rack, at minute 1200.
make_silent_fleet() {
    make_fleet
    awk -F, -v OFS=, 'NR == 1 {print; next} {minute = ($1 - 1767571200) / 60}
        (minute >= 1300 && minute < 1330 && ($2 ~ /host-[23]$/)) || (minute >= 1201 && minute < 1219 && $2 ~ /host-1$/) {next}
        {print}' fleet.csv > silent.csv
}

@test "--rows incidents: keys that fall silent together are members of one incident, which ends when they return" {
    make_silent_fleet
    incidents --silence 5m silent.csv > records.ndjson 2> messages
    [ ! -s messages ]
    record=$(jq -c 'select(.incident == "ends" and .start > "2026-01-05T21:30" and .start < "2026-01-05T22:00")' records.ndjson)
    [ "$(jq -c '[.start, .end, .members, .open, .grade]' <<< "$record")" = '["2026-01-05T21:44:00Z","2026-01-05T22:10:00Z",2,0,"note"]' ]
    [ "$(jq -c '[.order[] | .key, .column, .end]' <<< "$record")" = \
        '["rack-0/host-2","silence","2026-01-05T22:10:00Z","rack-1/host-3","silence","2026-01-05T22:10:00Z"]' ]
    [ "$(jq -r 'select(.incident == "begins" and .start == "2026-01-05T21:44:00Z") | .text' records.ndjson)" = \
        "incident $(jq .id <<< "$record"): rack-0/host-2: no row for 5 min since 2026-01-05T21:44:00Z (note)" ]
    # a silence joins episodes
    [ "$(jq 'select(.incident == "ends" and .members == 5) | [.order[].column] | index("silence")' records.ndjson)" = 4 ]
    on_one_processor --silence 5m silent.csv | cmp - records.ndjson
    grep -v host-2, silent.csv > other.csv # and without the option, a pause is too long by what was learned
    incidents other.csv | grep -q '"order":\[{"key":"rack-1/host-3","column":"silence"'
}

@test "--rows incidents: a silence resumes with the state, and runs the command of --on-alert once" {
    make_silent_fleet
    incidents --silence 5m --state whole.oif silent.csv > whole
    head -n 10460 silent.csv > first.csv # minute 1316
    (head -n 1 silent.csv && tail -n +10461 silent.csv) > second.csv
    incidents --silence 5m --state s.oif first.csv 2> /dev/null | sed '/"lasts"/d' > halves
    incidents --silence 5m --state s.oif second.csv 2> /dev/null >> halves
    diff halves whole
    cmp s.oif whole.oif
    incidents --silence 5m --on-alert 'jq -r "[.incident, .id] | join(\" \")" >> ran' silent.csv > /dev/null
    [ "$(sort ran)" = "$(jq -r 'select(.incident != "lasts") | [.incident, .id] | join(" ")' whole | sort)" ]
}

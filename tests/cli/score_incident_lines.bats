# oif score --incidents: one record when an incident begins and one when it is over, instead of rows.

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
    "$OIF" score --key host --time at --alert-rate 0.0001 --incidents "$@"
}

@test "--incidents: an outage of four hosts is one begin and one end, with the first host and the shared rack" {
    make_fleet
    incidents fleet.csv > records.ndjson
    grep -c . records.ndjson
    [ "$(jq -r 'select(.start >= "2026-01-05T20:00") | .incident' records.ndjson | tr '\n' ' ')" = "begins ends begins ends " ]
    record=$(jq -c 'select(.incident == "ends" and .members == 4)' records.ndjson)
    [ "$(jq -r .first.key <<< "$record")" = rack-1/host-1 ]
    [ "$(jq -r .first.column <<< "$record")" = load ]
    [ "$(jq -r .start <<< "$record")" = 2026-01-05T20:00:00Z ]
    [ "$(jq -r '[.order[].key] | join(" ")' <<< "$record")" = "rack-1/host-1 rack-1/host-3 rack-1/host-5 rack-1/host-7" ]
    [ "$(jq -r .open <<< "$record")" = 0 ]
    [[ "$(jq -r .text <<< "$record")" == *"is over: 4 episodes from 2026-01-05T20:00:00Z"*"first rack-1/host-1: load"* ]]
}

@test "--incidents: a line comes when the incident begins, not when it is over" {
    make_fleet
    head -n 9620 fleet.csv > until.csv # some minutes into the outage
    run incidents until.csv
    [ "$status" -eq 0 ]
    [[ "${lines[-2]}" == '{"incident":"begins"'*'"end":null,"members":1,'*'"reason":"load high '* ]]
    [[ "${lines[-1]}" == '{"incident":"lasts"'*'"end":null,"members":'* ]]
}

@test "--incidents with --on-alert: the command runs once per begin and end of an incident" {
    make_fleet
    incidents --on-alert 'jq -r "[env.OIF_EPISODE, .incident, .id, .members] | join(\" \")" >> ran' fleet.csv > records.ndjson
    [ "$(sort ran)" = "$(jq -r 'select(.incident != "lasts") | [.incident, .incident, .id, .members] | join(" ")' records.ndjson | sort)" ]
}

@test "--incidents: threads, formats of the input and blocks do not matter" {
    make_fleet
    incidents fleet.csv > one
    incidents --threads 2 fleet.csv | cmp - one
    "$OIF" score --output ndjson --fields score fleet.csv --strict --columns load,memory | jq -c 'del(.oif)' > fleet.ndjson
    incidents fleet.ndjson | cmp - one
}

@test "--incidents without keys and times: starts are numbers of rows" {
    make_fleet
    grep -v rack-0 fleet.csv | cut -d, -f3,4 > plain.csv
    run "$OIF" score --alert-rate 0.0005 --incidents plain.csv
    [ "$status" -eq 0 ]
    [[ "${lines[-1]}" == *'"start":'[0-9]* ]]
    [[ "${lines[-1]}" == *'"first":{"key":"","column":'* ]]
}

@test "--incidents refuses options that are about rows" {
    make_fleet
    for option in --only-alerts --alert-once "--min-grade warning" --watch "--fields score" "--output csv"; do
        # shellcheck disable=SC2086
        run incidents $option fleet.csv
        [ "$status" -eq 2 ]
        [[ "$output" == "oif: ${option%% *} is about rows, and --incidents prints"* ]]
    done
}

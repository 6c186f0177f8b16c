# oif state feedback: a rule is proposed from a useless alert, and mutes others like it once it is added.

load helper

# Two hosts: the latency of web-1 is high now and then, the errors of web-2 are, too.
make_hosts() { # make_hosts ROWS [FIRST]
    awk -v rows="$1" -v first="${2:-0}" 'BEGIN { OFS = ","; state = 1; print "host,latency,errors,t"
        for (i = 0; i < rows; i++)
            for (k = 1; k <= 2; k++) {
                state = state * 16807 % 2147483647; x = 100 + state % 1000 / 500
                state = state * 16807 % 2147483647; y = state % 1000 / 100
                if (i > 1000 && i % 300 == 0 && k == 1) x += 30
                if (i > 1000 && i % 700 == 0 && k == 2) y += 80
                if (i >= first) print "web-" k, x, y, 1700000000 + 10 * i } }' > hosts.csv
}

learn() { # learn STATE [OPTION...]
    "$OIF" score --key host --time t --state "$@" hosts.csv > scored.csv
}

# Of the state `s`: fields of each past episode.
past() { # past EXPRESSION
    "$OIF" state feedback --json s | python3 -c "import json, sys
for line in sys.stdin:
    e = json.loads(line)
    print($1)"
}

@test "the past episodes are listed with their causes" {
    make_hosts 2500
    learn s
    oif state feedback s
    exits 0
    contains "${lines[0]}" "severity"
    contains "$output" "web-1#"
    contains "$output" latency 
    contains "$output" "2023-11-1"
    past '(e["key"], e["column"], e["direction"], e["reason"])' > list
    [ "$(grep -cF "('web-1', 'latency', 'high', " list)" -ge 3 ]
    [ "$(grep -cF "('web-2', 'errors', 'high', " list)" -ge 2 ]
}

# The widest of the rules that are proposed for the latency of web-1.
widest() {
    past 'e["number"] if e["column"] == "latency" and e["change"] > 20 else ""' | grep . | while read -r number; do
        "$OIF" state feedback --propose "web-1#$number" s
    done | sort -t '<' -k 2n | tail -1
}

@test "a useless alert becomes a rule that mutes its kind and no other" {
    make_hosts 2500
    learn s
    rule=$(widest)
    contains "$rule" "mute column=latency direction=high change<"
    contains "$rule" " key=web-1"
    cp s without
    oif state feedback --add "$rule" s
    exits 0 "oif: s: added: $rule # feedback"
    contains "$("$OIF" state feedback s)" "rule 1  $rule # feedback"
    make_hosts 5000 2500
    learn s --output ndjson --fields episode --rows alerts
    muted=$(grep '"episode":"begins"' scored.csv | grep -c '"host":"web-1","latency":13' || true)
    [ "$(grep '"episode":"begins"' scored.csv | grep -c 'web-2')" -ge 2 ]
    learn without --output ndjson --fields episode --rows alerts
    [ "$(grep '"episode":"begins"' scored.csv | grep -c '"host":"web-1","latency":13')" -ge "$((muted + 1))" ]
}

@test "an added rule stays beside those that options give, until an empty file removes all" {
    make_hosts 2500
    learn s
    oif state feedback --add "$(widest)" s
    equal "$status" 0
    learn s --mute 'column=latency direction=low'
    equal "$("$OIF" state inspect --json s | jq -c '.rules | map(.rule | endswith("# feedback"))')" '[false,true]'
    learn s --mute 'column=latency direction=low'
    equal "$("$OIF" state inspect --json s | jq -c '.rules | map(.rule | endswith("# feedback"))')" '[false,true]'
    "$OIF" state inspect --json s | jq -r '.rules[].rule' > same.rules
    learn s --rules same.rules
    equal "$("$OIF" state inspect --json s | jq '.rules | length')" 2
    learn s --rules /dev/null
    equal "$("$OIF" state inspect --json s | jq -c .rules)" '[]'
}

@test "one rule is removed by its number" {
    make_hosts 2500
    learn s --mute 'column=errors change<1'
    oif state feedback --add 'mute column=latency change<2' s
    equal "$status" 0
    oif state feedback --remove 3 s
    exits 1 "oif: s: there is no rule 3"
    oif state feedback --remove 1 s
    exits 0 "oif: s: removed: mute column=errors change<1"
    equal "$("$OIF" state inspect --json s | jq -c '.rules | map(.rule)')" '["mute column=latency change<2 # feedback"]'
    cp s before
    oif state feedback --add 'mute colum=errors' s
    exits 2 "oif: --add: character 6: not a condition of a rule, such as column=latency"
    oif state feedback --add 'mute column=error' s
    exits 2 "oif: --add: character 13: no column is called error"
    cmp s before
}

@test "what is not an episode is refused with what to do" {
    make_hosts 2500
    learn s
    cp s before
    oif state feedback --propose web-1#999 s
    exits 1 "oif: s: there is no past episode 'web-1#999'; list all with: oif state feedback s"
    oif state feedback --propose web-9#1 s
    exits 1 "oif: s: there is no past episode 'web-9#1'; list all with: oif state feedback s"
    oif state feedback --propose 1 s
    exits 1 "oif: s: there is no past episode '1'; list all with: oif state feedback s"
    oif state feedback --propose web-1 s
    exits 2 "oif: 'web-1' is not an episode: write its number, or KEY#NUMBER"
    oif state feedback --propose web-1#1x s
    exits 2 "oif: 'web-1#1x' is not an episode: write its number, or KEY#NUMBER"
    oif state feedback --propose 1 --remove 1 s
    exits 2 "oif: give only one of --propose, --add, --remove"
    oif state feedback
    exits 2 "oif: feedback needs a FILE, as 'oif score --state FILE' writes it"
    oif state feedback none
    equal "$status" 1
    oif state feedback --remove 1 none
    exits 1 "oif: none: there is no such file"
    oif state feedback --remove 0 s
    equal "$status" 2
    cmp s before
}

@test "without keys a number is enough" {
    make_hosts 2500
    "$OIF" score --columns latency,errors --exclude host --time t --state s hosts.csv > scored.csv 2> messages
    number=$(past 'e["number"]' | sed -n 1p)
    contains "$("$OIF" state feedback --propose "$number" s)" "mute column="
}

@test "a state without past episodes says how to get them" {
    make_hosts 100
    learn s
    python3 - <<'PY'
# As a program writes it that keeps no episodes: without the section PAST. Here no log, which has the end of its updates behind the header.
import struct, zlib
data = open("s", "rb").read()
assert struct.unpack_from("<HH", data, 8) == (1, 1)
header, sections = data[:8] + struct.pack("<HH", 1, 0), data[28:]
at = sections.index(b"PAST")
length = struct.unpack_from("<Q", sections, at + 4)[0]
open("old", "wb").write(header + struct.pack("<I", zlib.crc32(header)) + sections[:at] + sections[at + 20 + length:])
PY
    oif state feedback old
    exits 1 "oif: old: has no past episodes: the program that wrote it kept none; 'oif score --state old' keeps them from now on"
    learn old 2> messages
    oif state feedback old
    exits 0
}

@test "a state that another program holds can be read, but not changed" {
    make_hosts 2500
    learn s
    mkfifo rows
    "$OIF" score --key host --time t --state s < rows > scored.csv 2> messages &
    exec 8> rows
    head -2 hosts.csv >&8
    await_lines 1 scored.csv
    oif state feedback --remove 1 s
    exits 1 "oif: another process is using the state file 's'; stop it, or name another file"
    oif state feedback s
    exits 0
    exec 8>&-
    wait
}

@test "an episode of rows without a key is listed with a name that is understood" {
    make_hosts 2500
    sed -i 's/^web-1,/,/' hosts.csv
    learn s 2> /dev/null
    number=$(past 'e["number"] if e["key"] is None else ""' | grep . | sed -n 1p)
    [ "$("$OIF" state feedback s | grep -c " #$number ")" -eq 1 ]
    oif state feedback --propose "#$number" s
    exits 1 "oif: s: no rule describes episode #$number"
    "$OIF" score --state plain --columns latency,errors --time t hosts.csv > /dev/null 2>&1
    [ "$("$OIF" state feedback plain | grep -c '#')" -eq 0 ] # without keys the number is enough
}

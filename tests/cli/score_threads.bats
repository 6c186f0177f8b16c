# oif score --key: the output, the messages and the state of one thread, with any number of processors.

load helper

# 3,000 rows of 23 hosts at random, 50 per second, of which some come late and some fall silent, with outliers.
make_fleet() {
    awk 'BEGIN {
        srand(5); print "at,host,load,queue"
        for (i = 0; i < 3000; i++) {
            known = 3 + int(i / 100); if (known > 23) known = 23
            host = int(rand() * known); if (i > 2000 && host % 4 == 1) host = 0
            odd = rand() < 0.01 ? 500 : 0
            printf "%.2f,\"web,%d\",%.3f,%d\n", 1700000000 + i / 50, host, host + rand() + odd, int(rand() * 9)
        }
    }' > fleet.csv
}

# The same command with one processor, which is one thread, and with all.
same_with_threads() {
    local expected=0 got=0
    taskset -c "$first" "$OIF" score --key host "$@" fleet.csv > one.out 2> one.err || expected=$?
    "$OIF" score --key host "$@" fleet.csv > many.out 2> many.err || got=$?
    equal "$got" "$expected"
    cmp one.out many.out
    cmp one.err many.err
    [ -s one.out ]
}

# The first processor that this process may use.
first=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
one() { taskset -c "$first" "$OIF" "$@"; }

@test "threads change no byte of the output" {
    make_fleet
    same_with_threads
    same_with_threads --detector online-iforest --output ndjson --fields score,severity,anomaly,why
    same_with_threads --time at --alert-rate 0.01 --rows episodes
    same_with_threads --time at --alert-rate 0.01 --rows alerts --fields score,why,episode_id --output logfmt
    same_with_threads --time at --alert-rate 0.02 --rows alerts --fields why,expected --mute 'column=queue key=web*'
    same_with_threads --time at --silence 5s --rows alerts --output ndjson
    equal "$(grep -c '"silence":"begins"' one.out | sed 's/^[1-9][0-9]*$/some/')" some
    same_with_threads --time at --rows alerts --output ndjson
    same_with_threads --max-keys 9 --fail-on-alert
    same_with_threads --time at --alerts 100/day
    same_with_threads --time at --category queue
}

@test "threads hide no silence behind a row that is too long to wait" {
    python3 -c '
for key, at in ("A", 0), ("B", 3), ("B", 6), ("B", 100), ("B", 101), ("C", 300):
    print("{\"host\":\"%s\",\"at\":%d,\"x\":1.5,\"pad\":\"%s\"}" % (key, 1700000000 + at, 1200000 * "z"))' > fleet.csv
    same_with_threads --format ndjson --time at --exclude pad --silence 5
    equal "$(grep -c '"silence":"begins"' one.out)" 3
}

@test "threads hide no silence of a model that a row without a time brings back" {
    printf '%s\n' '{"host":"A","at":1700000000,"x":1}' '{"host":"B","at":1700000003,"x":1}' '{"host":"A","at":null,"x":1}' \
        '{"host":"B","at":1700000007.5,"x":1}' '{"host":"B","at":1700000007.6,"x":1}' > rows.ndjson
    one score --key host --time at --silence 5 --max-keys 1 --evicted keep --state s1 --save-every 2 rows.ndjson > out1 2> messages
    "$OIF" score --key host --time at --silence 5 --max-keys 1 --evicted keep --state s2 --save-every 2 rows.ndjson > out2 2> messages
    cmp out1 out2
    contains "$(cat out1)" '"silence":"begins"'
}

@test "the state is that of one thread, and resumes with any number of them" {
    make_fleet
    (head -1 fleet.csv; sed -n '2,1500p' fleet.csv) > first.csv
    (head -1 fleet.csv; sed -n '1501,$p' fleet.csv) > second.csv
    one score --key host --time at --state s1 --save-every 100 first.csv > a1 2> messages
    "$OIF" score --key host --time at --state s7 --save-every 100 first.csv > a7 2> messages
    cmp s1 s7
    one score --key host --time at --state s1 second.csv > b1 2> messages
    "$OIF" score --key host --time at --state s7 second.csv > b7 2> messages
    cmp b1 b7
    cmp s1 s7
}

@test "a row is answered at once, also with threads" {
    make_fleet
    mkfifo in out
    "$OIF" score --key host < in > out 2> messages &
    exec 7> in 8< out
    head -1100 fleet.csv >&7
    for ((i = 0; i < 1100; i++)); do read -r -t 60 line <&8; done
    sed -n 1101p fleet.csv >&7
    read -r -t 60 line <&8
    equal "${line%,*,*,*}" "$(sed -n 1101p fleet.csv)"
    exec 7>&- 8<&-
    wait $!
}

@test "a bad row is reported after the rows before it" {
    make_fleet
    sed '2000s/$/x/' fleet.csv > bad.csv
    one score --key host bad.csv > one.out 2> one.err || status=$?
    equal "$status" 1
    status=0
    "$OIF" score --key host bad.csv > many.out 2> many.err || status=$?
    equal "$status" 1
    cmp one.out many.out
    cmp one.err many.err
}

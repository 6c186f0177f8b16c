# oif score --key --threads: the output, the messages and the state of one thread.

load helper

# 3,000 rows of 23 hosts at random, of which some come late and some fall silent, with outliers.
make_fleet() {
    awk 'BEGIN {
        srand(5); print "at,host,load,queue"
        for (i = 0; i < 3000; i++) {
            known = 3 + int(i / 100); if (known > 23) known = 23
            host = int(rand() * known); if (i > 2000 && host % 4 == 1) host = 0
            odd = rand() < 0.01 ? 500 : 0
            printf "%d,\"web,%d\",%.3f,%d\n", 1700000000 + int(i / 5), host, host + rand() + odd, int(rand() * 9)
        }
    }' > fleet.csv
}

# The same command with 1, 2, 3 and 7 threads.
same_with_threads() {
    local expected=0 got
    "$OIF" score --key host "$@" fleet.csv > one.out 2> one.err || expected=$?
    for threads in 2 3 7; do
        got=0
        "$OIF" score --key host "$@" --threads $threads fleet.csv > many.out 2> many.err || got=$?
        equal "$got" "$expected"
        cmp one.out many.out
        cmp one.err many.err
    done
    [ -s one.out ]
}

@test "threads change no byte of the output" {
    make_fleet
    same_with_threads
    same_with_threads --detector online-iforest --output ndjson --explain
    same_with_threads --time at --alert-rate 0.01 --alert-once --explain 2
    same_with_threads --time at --alert-rate 0.01 --only-alerts --fields score,why,episode_why,episode_peak --output logfmt
    same_with_threads --time at --silence 20s --only-alerts --output ndjson
    same_with_threads --max-keys 9 --fail-on-alert
    same_with_threads --time at --alerts 100/day
    same_with_threads --time at --category queue
}

@test "the state is that of one thread, and resumes with any number of them" {
    make_fleet
    (head -1 fleet.csv; sed -n '2,1500p' fleet.csv) > first.csv
    (head -1 fleet.csv; sed -n '1501,$p' fleet.csv) > second.csv
    for threads in 1 2 7; do
        "$OIF" score --key host --time at --threads $threads --state "s$threads" --save-every 100 first.csv > "a$threads" 2> messages
    done
    cmp s1 s2
    cmp s1 s7
    "$OIF" score --key host --time at --threads 3 --state s1 second.csv > b1 2> messages
    "$OIF" score --key host --time at --state s7 second.csv > b7 2> messages
    cmp b1 b7
    cmp s1 s7
}

@test "a row is answered at once, also with threads" {
    make_fleet
    mkfifo in out
    "$OIF" score --key host --threads 3 < in > out 2> messages &
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
    "$OIF" score --key host bad.csv > one.out 2> one.err || status=$?
    equal "$status" 1
    status=0
    "$OIF" score --key host --threads 3 bad.csv > many.out 2> many.err || status=$?
    equal "$status" 1
    cmp one.out many.out
    cmp one.err many.err
}

@test "--threads without --key is refused" {
    make_fleet
    oif score --threads 2 fleet.csv
    equal "$status" 2
    contains "$stderr" "--threads needs --key COL"
}

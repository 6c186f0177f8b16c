# oif score --evicted keep: a key that comes back goes on as if it had never lost its model.

load helper

# 600 rows of 20 hosts in no order, each with its own level.
make_many_hosts() {
    awk 'BEGIN {
        OFS = ","
        state = 7
        print "host,x,y"
        for (i = 1; i <= 600; i++) {
            state = state * 16807 % 2147483647
            host = state % 20
            state = state * 16807 % 2147483647
            x = state % 8
            state = state * 16807 % 2147483647
            print "web-" host, x / 4 + host * 100 + (i % 50 == 0) * 7, state % 8 / 4
        }
    }' > hosts.csv
}

figure() {
    "$OIF" state inspect "$1" | sed -n "s/^$2   *//p"
}

@test "with two models in memory all keys get what they would get without limits" {
    make_many_hosts
    head -241 hosts.csv > few.csv # models are written and read back 200 times
    for detector in online-iforest hst iforest-asd rrcf loda sdo; do
        rm -rf keep && mkdir keep
        "$OIF" score --key host --detector "$detector" --fields score,severity,anomaly,why --alert-rate 0.02 few.csv > whole.csv
        oif score --key host --detector "$detector" --fields score,severity,anomaly,why --alert-rate 0.02 --max-keys 2 --evicted keep \
            --state keep/s few.csv
        exits 0
        cmp <(echo "$output") whole.csv
        equal "$(ls -A keep | tr '\n' ' ')" "s s.evicted "
        equal "$(figure keep/s models)" 2
        equal "$(figure keep/s "evicted models kept")" 18
        equal "$(figure keep/s "models lost")" 0
    done
}

@test "a stream in two parts as well, and the state knows that it keeps models" {
    make_many_hosts
    "$OIF" score --key host hosts.csv > whole.csv
    head -301 hosts.csv > first.csv
    (head -1 hosts.csv; tail -n +302 hosts.csv) > second.csv
    "$OIF" score --key host --max-keys 2 --evicted keep --state s first.csv > both.csv
    oif score --key host --state s second.csv
    exits 0 "oif: s: resumes after 300 rows"
    tail -n +2 <<< "$output" >> both.csv
    cmp both.csv whole.csv
    equal "$("$OIF" state inspect --json s | grep -o '"kept": [0-9]*, "lost": [0-9]*')" '"kept": 18, "lost": 0'
}

@test "it needs a state file, and one that was learned that way" {
    make_many_hosts
    oif score --key host --evicted keep hosts.csv
    exits 2 "oif: --evicted keep needs --state FILE; evicted models are kept beside it"
    oif score --key host --evicted drop --state s hosts.csv
    equal "$status" 2
    "$OIF" score --key host --state s hosts.csv > scored.csv
    oif score --key host --evicted keep --state s hosts.csv
    exits 2 "oif: s: the state was learned with --evicted forget, not keep; leave it out or name another file"
    [ ! -e s.evicted ]
}

@test "after kill -9 the rows since the last save, given again, get what they would have got" {
    make_many_hosts
    "$OIF" score --key host --detector loda --alert-rate 0.02 hosts.csv > whole.csv
    cat > test.py <<'PYTHON'
import json, os, random, select, subprocess, sys
oif = sys.argv[1]
rows = open("hosts.csv", "rb").read().splitlines(keepends=True)
whole = open("whole.csv", "rb").read().splitlines(keepends=True)
chance = random.Random(1)

def state():
    return json.loads(subprocess.check_output([oif, "state", "inspect", "--json", "s"]))

def line(tool):
    ready, _, _ = select.select([tool.stdout], [], [], 60)
    assert ready, "no output although a whole row was given"
    return tool.stdout.readline()

done, kills, again = 0, 0, 0
while done < 600:
    tool = subprocess.Popen([oif, "score", "--key", "host", "--detector", "loda", "--alert-rate", "0.02", "--max-keys", "2",
                             "--evicted", "keep", "--state", "s", "--save-every", "7"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    tool.stdin.write(rows[0])
    assert line(tool) == whole[0]
    for number in range(done, min(done + chance.randrange(1, 60), 600)):
        tool.stdin.write(rows[1 + number])
        row = line(tool)
        assert row == whole[1 + number], (number, row, whole[1 + number])
    if number == 599:
        tool.stdin.close()
    else:
        tool.kill()
        kills += 1
    tool.wait()
    before, done = number + 1, state()["rows"] if os.path.exists("s") else 0
    again += before - done
    assert before - 8 <= done <= before, (before, done)
    assert kills < 300, "it does not get on"
end = state()
assert (end["models"], end["kept"], end["lost"]) == (2, 18, 0), end
# Two slots for each of the 20 keys; a packed model takes no more there than half of a model in memory. 538 evictions would take 13 times that.
assert end["kept_bytes"] <= 40 * end["memory_bytes"] / 2 / 2, end
print(f"# {kills} kills, {again} rows given again")
PYTHON
    python3 test.py "$OIF"
}

@test "a file of kept models that is damaged costs the models that are, one that is missing is refused" {
    make_many_hosts
    "$OIF" score --key host --max-keys 2 --evicted keep --state s hosts.csv > first.csv
    cp s s.copy && cp s.evicted evicted.copy
    for start in $(LC_ALL=C grep -obUaP '\x89oif' evicted.copy | cut -d: -f1); do # of each model
        printf 'XXXXXXXX' | dd of=s.evicted bs=1 seek=$((start + 100)) conv=notrunc status=none
    done
    oif score --key host --state s hosts.csv
    exits 1 "oif: s: resumes after 600 rows
oif: the evicted models of 's' are damaged: a checksum is wrong; a model is lost, its key starts over, and scoring continues
oif: s: models that were lost: 18"
    equal "${#lines[@]}" 601
    equal "$(figure s "models lost")" 18
    oif score --key host --state s hosts.csv # what was lost before is not told again
    exits 0 "oif: s: resumes after 1200 rows"
    cp s.copy s && rm s.evicted
    oif score --key host --state s hosts.csv
    exits 1 "oif: cannot open the evicted models of 's': No such file or directory; restore a backup, or remove the file to start over"
    cmp s s.copy
    head -c 1000000 evicted.copy > s.evicted
    oif score --key host --state s hosts.csv
    equal "$status" 1
    contains "$stderr" "oif: the evicted models of 's' are cut off after"
    cp evicted.copy s.evicted
    oif score --key host --state s hosts.csv
    exits 0 "oif: s: resumes after 600 rows"
}

@test "of a state behind a link the evicted models is beside the state" {
    make_many_hosts
    mkdir far
    "$OIF" score --key host --detector loda --max-keys 2 --evicted keep --state far/s hosts.csv > /dev/null
    ln -s far/s link
    "$OIF" score --state link --key host hosts.csv > /dev/null 2>&1
    equal "$(ls -A far | tr '\n' ' ')" "s s.evicted "
    [ ! -e link.evicted ]
    equal "$(figure link "bytes of kept models" | tr -d ,)" "$(($(stat -c %b far/s.evicted) * 512))"
}

@test "a model that cannot be kept is lost with a count, and scoring continues" {
    make_many_hosts
    mkdir s.evicted # in the way
    oif score --key host --max-keys 2 --evicted keep --state s hosts.csv
    equal "$status" 1
    equal "${#lines[@]}" 601
    lost=$(figure s "models lost")
    equal "$stderr" "oif: cannot write to the evicted models of 's': Is a directory; a model is lost, its key starts over, and scoring continues
oif: s: models that were lost: $lost"
    equal "$lost" "$(figure s evictions)"
    equal "$(figure s "evicted models kept")" 0
    rmdir s.evicted
    oif score --key host --state s hosts.csv
    exits 0 "oif: s: resumes after 600 rows"
    equal "$(figure s "evicted models kept")" 18
}

@test "on a disk that is full what the last state knows of stays whole" {
    mkdir disk
    # The mount is gone with the process that sees it.
    alone() { unshare --map-root-user --mount "$@"; }
    alone mount -t tmpfs tmpfs disk 2> reason || skip "cannot mount: $(cat reason)"
    make_many_hosts
    "$OIF" score --key host hosts.csv > whole.csv
    head -301 hosts.csv > first.csv
    (head -1 hosts.csv; tail -n +302 hosts.csv) > second.csv
    run alone bash -c '
        set -e
        mount -t tmpfs -o size=60m tmpfs disk
        "$1" score -q --key host --max-keys 2 --evicted keep --state disk/s first.csv > scored.csv
        cp disk/s before
        head -c 60m /dev/zero > disk/filler 2> /dev/null || true
        code=0
        "$1" score --key host --state disk/s --save-every 100 second.csv > second-scored.csv 2> messages || code=$?
        echo "exit $code, $(wc -l < second-scored.csv) lines"
        cmp disk/s before
        rm disk/filler
        "$1" score --key host --state disk/s second.csv 2> /dev/null | tail -n +2 >> scored.csv
        "$1" state inspect disk/s | grep "^models lost"
        cmp scored.csv whole.csv
        ls -A disk | tr "\n" " "' bash "$OIF"
    equal "$output" "exit 1, 301 lines
models lost                             0
s s.evicted "
    contains "$(cat messages)" "oif: cannot write to the evicted models of 'disk/s': No space left on device; a model is lost, its key starts over, and scoring continues
"
    contains "$(cat messages)" "oif: cannot write 'disk/s': No space left on device; it keeps the state it had"
    contains "$(cat messages)" "oif: disk/s: models that were lost: "
}

@test "4,000 keys come, go and come back with 200 models in memory" {
    awk 'BEGIN {print "key,x"; for (turn = 0; turn < 2; turn++) for (i = 0; i < 4000; i++) print "k" i "," i % 7 + turn}' > many.csv
    small=(--key key --detector loda --num-projections 2 --num-bins 4 --window-size 8)
    "$OIF" score "${small[@]}" many.csv > whole.csv
    "$OIF" score "${small[@]}" --max-keys 200 --evicted keep --state s many.csv | cmp - whole.csv
    equal "$(figure s models)" 200
    equal "$(figure s evictions)" 7,800
    equal "$(figure s "evicted models kept")" 3,800
    equal "$(figure s "models lost")" 0
    "$OIF" score -q "${small[@]}" --state s <(head -2 many.csv) 2> messages | tail -1 | grep '^k0,'
    equal "$(cat messages)" ""
}

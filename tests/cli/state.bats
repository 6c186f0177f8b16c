# oif score --state: goes on where the last run ended, and loses nothing on the way.

load helper

# head_and_tail N: the header with the first N rows of stream.csv, and with the rows after them.
head_and_tail() {
    head -n $(($1 + 1)) stream.csv > first.csv
    (head -1 stream.csv; tail -n +$(($1 + 2)) stream.csv) > second.csv
}

rows_seen() {
    "$OIF" state inspect --json "$1" | sed -n 's/.*"rows": \([0-9]*\).*/\1/p'
}

# The folder holds these files and no others.
only_files() {
    equal "$(ls -A "$1" | tr '\n' ' ')" "${2:+$2 }"
}

# A folder for the state file, and `start ARGUMENTS...` for a run that stays under control.
python_with_tool() {
    mkdir -p keep
    cat > test.py <<'PYTHON'
import json, os, select, signal, subprocess, sys, time
oif = sys.argv[1]

def start(*arguments, **more):
    return subprocess.Popen([oif, "score", "--state", "keep/s", *arguments], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, **more)

def line(tool):
    ready, _, _ = select.select([tool.stdout], [], [], 60)
    assert ready, "no output although a whole row was given"
    return tool.stdout.readline()

def message(tool):
    ready, _, _ = select.select([tool.stderr], [], [], 60)
    assert ready, "no message"
    return tool.stderr.readline()

def rows_seen():
    return json.loads(subprocess.check_output([oif, "state", "inspect", "--json", "keep/s"]))["rows"]

def wait_for(condition):
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)

PYTHON
    cat >> test.py
    python3 test.py "$OIF"
}

@test "a stream in two parts gets the scores of the whole" {
    make_stream
    for detector in online-iforest hst iforest-asd rrcf loda sdo rolling-iforest; do
        rm -rf keep && mkdir keep
        head_and_tail 120
        "$OIF" score --detector "$detector" stream.csv > whole.csv
        oif score --detector "$detector" --state keep/s first.csv
        exits 0
        echo "$output" > both.csv
        equal "$(rows_seen keep/s)" 120
        oif score --state keep/s second.csv # the file knows which detector it is
        exits 0 "oif: keep/s: resumes after 120 rows"
        tail -n +2 <<< "$output" >> both.csv
        cmp both.csv whole.csv
        equal "$(rows_seen keep/s)" 300
        only_files keep s
    done
}

@test "parameters that are those of the state, or not given, are fine" {
    make_stream
    "$OIF" score --state s --detector online-iforest --num-trees 8 --variant paper stream.csv > first.csv
    oif score --state s stream.csv
    exits 0 "oif: s: resumes after 300 rows"
    oif score --state s --detector online-iforest --num-trees 8 --variant paper stream.csv
    exits 0 "oif: s: resumes after 600 rows"
}

@test "parameters that contradict the state are a usage error" {
    make_stream
    mkdir keep
    "$OIF" score --state keep/s --num-trees 8 --insertion path stream.csv > first.csv
    cp keep/s before
    oif score --state keep/s --num-trees 16 stream.csv
    exits 2 "oif: keep/s: the state was learned with --num-trees 8, not 16; leave it out or name another file"
    oif score --state keep/s --insertion row stream.csv
    exits 2 "oif: keep/s: the state was learned with --insertion path, not row; leave it out or name another file"
    oif score --state keep/s --detector hst stream.csv
    exits 2 "oif: keep/s: the state is of the detector rolling-iforest, not hst; leave --detector out or name another file"
    equal "$output" ""
    "$OIF" score --state other --detector hst stream.csv > first.csv
    oif score --state other --max-leaf-samples 5 stream.csv
    exits 2 "oif: other: --max-leaf-samples does not suit the state, whose detector is hst; leave it out"
    cmp keep/s before
    only_files keep s
}

@test "an input with another number of columns is refused" {
    make_stream
    "$OIF" score --state s stream.csv > first.csv
    cp s before
    tail -n +2 stream.csv > rows.csv
    oif score --state s --label x2 rows.csv
    exits 1 "oif: s: the state has learned 3 columns, but the input has 2; choose the same ones with --columns or --exclude, or name another state"
    cmp s before
}

@test "what is no state, or a damaged one, is an error that says what to do" {
    make_stream
    oif score --state stream.csv stream.csv
    exits 1 "oif: 'stream.csv': byte 8: this is not a snapshot of oif; name another file"
    "$OIF" score --state s stream.csv > first.csv
    head -c 1000 s > cut
    oif score --state cut stream.csv
    equal "$status" 1
    contains "$stderr" "oif: 'cut': byte "
    contains "$stderr" "; restore a backup, or remove the file to start over"
    equal "$output" ""
    head -c 1000 s | cmp - cut
    oif score --state no/such/folder stream.csv
    exits 1 "oif: cannot open the folder of 'no/such/folder': No such file or directory; create the folder, or name another file"
    oif score --state . stream.csv
    exits 1 "oif: '.' is a folder or a device; name a file"
    oif score --state "" stream.csv
    exits 1 "oif: a state file needs a name; '' has none"
}

@test "--save-every wants rows or a time, and a file to save to" {
    make_stream
    for bad in 0 -1 2.5 x 10h s 1e300 ""; do
        oif score --state s --save-every "$bad" stream.csv
        exits 2 "oif: --save-every: expected rows such as 10000, or a time such as 30s or 5m, not '$bad'"
    done
    oif score --save-every 10 stream.csv
    exits 2 "oif: --save-every needs --state FILE, the file to save to"
    head -5 stream.csv > short.csv
    for good in 1 1e3 0.5s 2m; do
        oif score --state s --save-every "$good" short.csv
        equal "$status" 0
    done
}

@test "a second program on the same state is refused and the first goes on" {
    make_stream
    python_with_tool <<'PYTHON'
first = start()
first.stdin.write(b"a,b\n1,2\n")
line(first), line(first)
second = start()
output, messages = second.communicate(b"a,b\n1,2\n", timeout=300)
expected = b"oif: another process is using the state file 'keep/s'; stop it, or name another file\n"
assert (second.returncode, output, messages) == (1, b"", expected), (second.returncode, output, messages)
output, messages = first.communicate(b"3,4\n", timeout=300)
assert (first.returncode, messages) == (0, b""), (first.returncode, messages)
assert rows_seen() == 2
assert os.listdir("keep") == ["s"], os.listdir("keep")
PYTHON
}

@test "SIGTERM ends in order: whole rows are learned and saved, half a row is not" {
    make_stream
    python_with_tool <<'PYTHON'
tool = start()
tool.stdin.write(b"a,b\n1,2\n3,4\n5,")
assert line(tool) == b"a,b,score,severity,anomaly\n"
assert line(tool).startswith(b"1,2,") and line(tool).startswith(b"3,4,")
tool.send_signal(signal.SIGTERM)
output, messages = tool.communicate(timeout=300)
assert (tool.returncode, output, messages) == (0, b"", b""), (tool.returncode, output, messages)
assert rows_seen() == 2, rows_seen()
assert os.listdir("keep") == ["s"], os.listdir("keep")
PYTHON
}

@test "Ctrl-C ends in order and is passed on to the shell" {
    make_stream
    python_with_tool <<'PYTHON'
tool = start()
tool.stdin.write(b"a,b\n1,2\n")
line(tool), line(tool)
tool.send_signal(signal.SIGINT)
assert tool.wait(timeout=300) == -signal.SIGINT, tool.returncode
assert rows_seen() == 1
assert os.listdir("keep") == ["s"], os.listdir("keep")
PYTHON
}

@test "SIGTERM before the first line, and in the middle of a long file, ends in order as well" {
    make_stream
    python_with_tool <<'PYTHON'
tool = start()
caught = lambda: next(line for line in open(f"/proc/{tool.pid}/status") if line.startswith("SigCgt")).split()[1]
wait_for(lambda: int(caught(), 16) >> (signal.SIGTERM - 1) & 1)
tool.send_signal(signal.SIGTERM)
_, messages = tool.communicate(timeout=300)
assert (tool.returncode, messages) == (0, b""), (tool.returncode, messages)
assert os.listdir("keep") == [], os.listdir("keep")

with open("long.csv", "w") as file:
    file.writelines(f"{i % 97},{i % 89}\n" for i in range(1000000))
tool = start("long.csv")
line(tool)
tool.send_signal(signal.SIGTERM)
output, messages = tool.communicate(timeout=300)
assert (tool.returncode, messages) == (0, b""), (tool.returncode, messages)
assert rows_seen() == 1 + output.count(b"\n") < 1000000, (rows_seen(), output.count(b"\n"))
PYTHON
}

@test "SIGHUP ends in order, as an ssh session that drops sends it" {
    make_stream
    python_with_tool <<'PYTHON'
tool = start()
tool.stdin.write(b"a,b\n1,2\n3,4\n5,")
line(tool), line(tool), line(tool)
tool.send_signal(signal.SIGHUP)
output, messages = tool.communicate(timeout=300)
assert (tool.returncode, output, messages) == (0, b"", b""), (tool.returncode, output, messages)
assert rows_seen() == 2, rows_seen()
assert os.listdir("keep") == ["s"], os.listdir("keep")

tool = start(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) # nohup
tool.stdin.write(b"a,b\n1,2\n")
line(tool), line(tool)
tool.send_signal(signal.SIGHUP)
time.sleep(0.05)
tool.communicate(b"3,4\n", timeout=300)
assert rows_seen() == 4, rows_seen()
PYTHON
}

@test "what was learned is saved when the terminal of the output is gone" {
    python_with_tool <<'PYTHON'
import pty
pid, terminal = pty.fork()
if pid == 0:
    os.execv(oif, [oif, "score", "--state", "keep/s"])
os.write(terminal, b"a,b\n1,2\n3,4\n")
seen = b""
while b"3,4," not in seen:
    ready, _, _ = select.select([terminal], [], [], 20)
    assert ready, seen
    seen += os.read(terminal, 1000)
os.close(terminal)
wait_for(lambda: os.waitpid(pid, os.WNOHANG)[0] == pid)
assert os.listdir("keep") == ["s"], os.listdir("keep")
assert rows_seen() == 2, rows_seen()
PYTHON
}

@test "SIGUSR1 saves at once, in the middle of a wait for input too, and scoring continues" {
    python_with_tool <<'PYTHON'
tool = start()
tool.stdin.write(b"a,b\n1,2\n3,4\n")
line(tool), line(tool), line(tool)
tool.send_signal(signal.SIGUSR1)
assert message(tool) == b"oif: keep/s: saved after 2 rows\n"
assert rows_seen() == 2, rows_seen()
tool.stdin.write(b"5,6\n")
line(tool)
for _ in range(3): # the second and third find it saved
    tool.send_signal(signal.SIGUSR1)
    assert message(tool) == b"oif: keep/s: saved after 3 rows\n"
assert rows_seen() == 3, rows_seen()
output, messages = tool.communicate(b"7,8\n", timeout=300)
assert (tool.returncode, messages) == (0, b""), (tool.returncode, messages)
assert rows_seen() == 4, rows_seen()
assert os.listdir("keep") == ["s"], os.listdir("keep")

tool = start() # a save that fails is reported, and scoring continues
tool.stdin.write(b"a,b\n1,2\n")
line(tool), line(tool)
message(tool) # where it resumes
os.mkdir("keep/s.new")
tool.send_signal(signal.SIGUSR1)
assert b"scoring continues" in message(tool)
assert b"could not be saved this time either" in message(tool)
os.rmdir("keep/s.new")
tool.communicate(b"", timeout=300)
assert tool.returncode == 0 and rows_seen() == 5

tool = subprocess.Popen([oif, "score"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
tool.stdin.write(b"a,b\n1,2\n")
line(tool), line(tool)
tool.send_signal(signal.SIGUSR1)
assert message(tool) == b"oif: nothing was saved: there is no --state FILE\n"
tool.communicate(b"", timeout=300)
assert tool.returncode == 0
PYTHON
}

@test "what decides about alerts and output may change from run to run" {
    make_stream
    "$OIF" score --state s --alert-rate 0.01 --fields score,severity stream.csv > first.csv
    oif score --state s --alert-rate 0.1 --fields anomaly stream.csv
    exits 0 "oif: s: resumes after 300 rows"
    equal "${lines[0]}" "x,y,fault,anomaly"
    contains "$("$OIF" state inspect --json s)" '"alert_rate": 0.1'
    oif score --state s --silence 3m stream.csv
    contains "$stderr" "oif: s: resumes after 600 rows"
    contains "$("$OIF" state inspect --json s)" '"silence": 180'
}

@test "a state from before the first release is refused and left as it is" {
    make_stream
    # The header of format 7, which a development version wrote.
    printf '\x89OIF\r\n\x1a\n\x07\x00\x00\x00\xaa\x63\x73\x46' > s
    cp s before
    oif score --state s stream.csv
    exits 1 "oif: 's': byte 8: a version of oif before 0.1.0 wrote this snapshot, and no release reads it; name another file"
    cmp s before
}

@test "the snapshot of a detector is taken up, and becomes a state" {
    make_stream
    cp "$BATS_TEST_DIRNAME/../golden/snapshots/format-1/rolling-iforest.oif" made-in-python.oif
    cp made-in-python.oif before.oif
    oif score --state made-in-python.oif --alert-rate 0.02 stream.csv
    exits 0 "oif: made-in-python.oif: resumes a detector that has learned 600 rows; from now on its alerts are saved with it"
    equal "$("$OIF" state --json made-in-python.oif | grep -o '"rows": [0-9]*')" '"rows": 300'
    contains "$("$OIF" state inspect made-in-python.oif)" "rows_learned                        "
    oif score --state made-in-python.oif stream.csv
    exits 0 "oif: made-in-python.oif: resumes after 300 rows"
    cp before.oif s
    oif score --state s --key fault stream.csv
    exits 2 "oif: s: contains a detector that has learned one stream; leave --key out, or name another file"
    oif score --state s --detector hst stream.csv
    exits 2 "oif: s: the state is of the detector rolling-iforest, not hst; leave --detector out or name another file"
    oif score --state s --exclude x stream.csv
    equal "$status" 1
    contains "$stderr" "the state has learned 3 columns, but the input has 2"
    cmp s before.oif
}

@test "a signal that the caller ignores stays ignored" {
    make_stream
    python_with_tool <<'PYTHON'
tool = start(preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
tool.stdin.write(b"a,b\n1,2\n")
line(tool), line(tool)
tool.send_signal(signal.SIGINT)
time.sleep(0.05)
output, messages = tool.communicate(b"3,4\n", timeout=300)
assert (tool.returncode, messages) == (0, b"") and rows_seen() == 2, (tool.returncode, messages)
PYTHON
}

@test "kill -9 loses no saved row, and given the rest again the scores are those of an uninterrupted run" {
    make_stream
    "$OIF" score stream.csv > whole.csv
    python_with_tool <<'PYTHON'
import random
rows = open("stream.csv", "rb").read().splitlines(keepends=True)
whole = open("whole.csv", "rb").read().splitlines(keepends=True)
chance = random.Random(1)
done, kills, lost = 0, 0, 0  # rows that the state has learned
scored = whole[:1]
while done < 300:
    tool = start("--save-every", "7")
    tool.stdin.write(rows[0])
    assert line(tool) == whole[0]
    for number in range(done, min(done + chance.randrange(1, 40), 300)):
        tool.stdin.write(rows[1 + number])
        row = line(tool)
        scored[1 + number:] = [row]
        assert row == whole[1 + number], (number, row, whole[1 + number])
    if number == 299:
        tool.stdin.close()
    else:
        tool.kill()
        kills += 1
    tool.wait()
    before, done = number + 1, rows_seen() if os.path.exists("keep/s") else 0
    lost += before - done
    assert before - 8 <= done <= before, (before, done)
    assert kills < 300, "it does not get on"
assert scored == whole
print(f"# {kills} kills, {lost} rows to be given again")
PYTHON
}

@test "--save-every with a time saves while no input comes" {
    make_stream
    python_with_tool <<'PYTHON'
tool = start("--save-every", "0.05s")
tool.stdin.write(b"a,b\n1,2\n")
wait_for(lambda: os.path.exists("keep/s"))
assert rows_seen() == 1
time.sleep(0.2)
before = os.stat("keep/s").st_mtime_ns
time.sleep(0.2)
assert os.stat("keep/s").st_mtime_ns == before, "saved although nothing was learned"
tool.stdin.write(b"3,4\n")
wait_for(lambda: rows_seen() == 2)
tool.kill()
tool.wait()
os.remove("keep/s")
tool = start("--save-every", "1m")
tool.stdin.write(b"a,b\n1,2\n")
time.sleep(0.3)
assert not os.path.exists("keep/s"), "saved although the minute is not over"
tool.kill()
tool.wait()
PYTHON
}

@test "a save that fails is told once, scoring continues, and so does saving when it works again" {
    make_stream
    python_with_tool <<'PYTHON'
tool = start("--save-every", "1")
tool.stdin.write(b"a,b\n1,2\n")
line(tool), line(tool)
wait_for(lambda: os.path.exists("keep/s"))
os.mkdir("keep/s.new")  # in the way
for i in range(5):
    tool.stdin.write(b"1,2\n")
    line(tool)
expected = b"oif: cannot write beside 'keep/s': File exists; it keeps the state it had; scoring continues\n"
told = message(tool)
assert told == expected, told
assert rows_seen() == 1
os.rmdir("keep/s.new")
tool.stdin.write(b"3,4\n")
line(tool)
told = message(tool)
assert told == b"oif: keep/s: saving works again\n", told
wait_for(lambda: rows_seen() == 7)
os.mkdir("keep/s.new")
output, messages = tool.communicate(b"5,6\n", timeout=300)
assert output.startswith(b"5,6,") and tool.returncode == 1, (tool.returncode, output)
last = b"oif: cannot write beside 'keep/s': File exists; it keeps the state it had\n"
assert messages == expected + last, messages
os.rmdir("keep/s.new")
assert rows_seen() == 7
assert os.listdir("keep") == ["s"], os.listdir("keep")
PYTHON
}

@test "rows before a bad one are learned and saved" {
    printf 'a,b\n1,2\n3,x\n' > in.csv
    oif score --state s in.csv
    equal "$status" 1
    contains "$stderr" "in.csv:3:3: 'x' is not a number"
    equal "$(rows_seen s)" 1
}

@test "a pipeline that could not be made ready is not saved" {
    # The names of the columns, which all begin with the long one, are longer than a state may have.
    awk 'BEGIN {
        for (long = "k"; length(long) < 1000000;)
            long = long long
        printf "{\"%s\": {\"c0\": 0", long
        for (i = 1; i < 20; i++)
            printf ", \"c%d\": %d", i, i
        print "}}"
    }' > long.ndjson
    run --separate-stderr "$OIF" score --state s long.ndjson
    equal "$status" 1
    contains "$stderr" "the column names have"
    [ ! -e s ]
}

@test "the state never gets ahead of the output" {
    make_stream
    mkdir keep
    "$OIF" score --state keep/s stream.csv > first.csv
    cp keep/s before
    run --separate-stderr bash -c "'$OIF' score --state keep/s stream.csv > /dev/full"
    exits 1 "oif: keep/s: resumes after 300 rows
oif: keep/s: not saved, because the output was closed
oif: cannot write the output: No space left on device"
    cmp keep/s before
    for closed in '>&-' '<&- >&-'; do
        run bash -c "'$OIF' score --state keep/s stream.csv $closed"
        equal "$status" 1
        contains "$output" "cannot write the output: Bad file descriptor"
        cmp keep/s before
    done
    seq -f '%g,1,0' 200000 > long.csv
    run bash -c "'$OIF' score --state keep/s long.csv 2> messages | head -1 > /dev/null; echo \${PIPESTATUS[0]}"
    equal "$output" 1
    equal "$(tail -1 messages)" "oif: keep/s: not saved, because the output was closed"
    cmp keep/s before
    only_files keep s
}

@test "on a disk that is full the last state stays whole and the failure is told" {
    mkdir disk
    # The mount is gone with the process that sees it.
    alone() { unshare --map-root-user --mount "$@"; }
    alone mount -t tmpfs tmpfs disk 2> reason || skip "cannot mount: $(cat reason)"
    make_stream
    run alone bash -c '
        set -e
        mount -t tmpfs -o size=640k tmpfs disk
        "$1" score --state disk/s stream.csv > first.csv
        cp disk/s before
        head -c 500000 /dev/zero > disk/filler 2> /dev/null || true
        code=0
        "$1" score --state disk/s --save-every 100 stream.csv > second.csv 2> messages || code=$?
        cmp disk/s before
        ls -A disk | tr "\n" " "
        echo "exit $code"
        rm disk/filler
        "$1" score --state disk/s stream.csv 2> /dev/null | cmp - second.csv
        "$1" state inspect disk/s | grep "^rows"
        ls -A disk | tr "\n" " "' bash "$OIF"
    equal "$output" "filler s exit 1
rows                                  600
s "
    equal "$(cat messages)" "oif: disk/s: resumes after 300 rows
oif: cannot write 'disk/s': No space left on device; it keeps the state it had; scoring continues
oif: cannot write 'disk/s': No space left on device; it keeps the state it had"
}

@test "a person at a terminal is told that a state does not exist yet, so that a wrong name shows" {
    make_stream
    python3 - "$OIF" > told <<'PYTHON'
import os, pty, sys
pty.spawn(["sh", "-c", '"$0" score --state s stream.csv > scored.csv', sys.argv[1]], lambda fd: os.read(fd, 4096), lambda fd: b"")
PYTHON
    contains "$(cat told)" "oif: s: no such file yet; starting a new state"
    oif score --state t stream.csv
    exits 0
}

@test "with keys a save appends what has changed, and one that was interrupted is reported" {
    awk 'BEGIN { print "host,x"; for (i = 0; i < 120; i++) print "h" i % 40 "," i * 37 % 41 }' > first.csv
    printf 'host,x\nh1,5\nh2,6\n' > second.csv
    oif score --key host --state s first.csv
    exits 0
    oif score --key host --state s second.csv
    exits 0 "oif: s: resumes after 120 rows"
    contains "$("$OIF" state inspect --json s)" '"updates": 1,'
    contains "$("$OIF" state inspect s)" "updates                                 1"
    (cat first.csv; tail -n 2 second.csv) > both.csv
    oif score --key host --state whole both.csv
    equal "$("$OIF" state s --keys)" "$("$OIF" state whole --keys)"
    printf 'half of an update' >> s
    oif score --key host --state s second.csv
    exits 0 "oif: s: its last save was interrupted; the 17 bytes of it are ignored, and the one before is used
oif: s: resumes after 122 rows"
    contains "$("$OIF" state inspect --json s)" '"updates": 2,'
}

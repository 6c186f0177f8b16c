# oif score --watch, and what else a person at a terminal sees.

load helper

# A folder with alarms.csv, and `terminal(ARGUMENTS...)`: what the tool prints on a terminal.
python_with_terminal() {
    cat > test.py <<'PYTHON'
import fcntl, os, pty, re, struct, sys, termios
oif = sys.argv[1]
with open("alarms.csv", "w") as file:
    file.write("host,at,flow,pressure\n")
    for i in range(4000):
        file.write(f"web-{i % 2},{i // 60:02}:{i % 60:02},{i * 7919 % 400 / 100 + 300 * (i % 500 == 499)},{i * 31 % 17}\n")

def terminal(*arguments, columns=120, **environment):
    pid, screen = pty.fork()
    if pid == 0:
        os.environ.update({"TERM": "xterm", "LC_ALL": "C.UTF-8", **environment})
        os.environ["NO_COLOR" if environment.get("NO_COLOR") else "UNUSED"] = "1"
        os.execv(oif, [oif, "score", "--detector", "loda", "--alert-rate", "0.01", *arguments])
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    printed = b""
    while True:
        try:
            printed += os.read(screen, 65536)
        except OSError:  # how Linux says that the other side is closed
            break
    _, status = os.waitpid(pid, 0)
    assert status == 0, (status, printed)
    return printed.decode().replace("\r\n", "\n")

PYTHON
    cat >> test.py
    python3 test.py "$OIF"
}

@test "--watch draws counts, scores and the last alerts with their reasons, in place" {
    python_with_terminal <<'PYTHON'
import threading, time
os.mkfifo("rows")

def write_slowly():
    rows = open("alarms.csv").readlines()
    with open("rows", "w") as file:
        for start in range(0, 4001, 1000):
            file.writelines(rows[start:start + 1000])
            file.flush()
            time.sleep(0.2)

writer = threading.Thread(target=write_slowly)
writer.start()
printed = terminal("--watch", "--key", "host", "--time", "at", "rows")
writer.join()
frames = re.split(r"\033\[\d+A", printed)
shown = [re.sub(r"\033\[[0-9]*[mK]", "", frame).split(" ")[0] for frame in frames]
assert {"999", "1,999", "2,999", "3,999"} <= set(shown), shown  # what there is when the input pauses
last = re.sub(r"\033\[[0-9]*[mK]", "", frames[-1]).split("\n")
assert re.match(r"4,000 rows   [0-9,]+ rows/s   2 keys   [0-9]+ anomalies in [0-9]+ episodes$", last[0]), last[0]
assert re.match(r"score .*[▁▂▃▄▅▆▇█].* [0-9.]+ to [0-9.]+$", last[1]), last[1]
assert "▲" in last[2], last[2]
assert last[3] == "last alerts", last
assert re.match(r"  web-1  66:39  row 4,000  (note|warning|critical) [0-9.]+  score [0-9.]+  p [0-9.e-]+  flow high [0-9]+%", last[4]), last[4]
assert "host,at" not in printed
moves = [int(move) for move in re.findall(r"\033\[(\d+)A", printed)]
lines = [frame.count("\n") for frame in frames[:-1]]
assert moves == lines, (moves, lines)
PYTHON
}

@test "NO_COLOR leaves colours out, and a narrow terminal cuts lines off" {
    python_with_terminal <<'PYTHON'
assert "\033[31m" in terminal("--watch", "--key", "host", "--time", "at", "alarms.csv")
printed = terminal("--watch", "--key", "host", "--time", "at", "alarms.csv", NO_COLOR="1", columns=40)
assert not re.search(r"\033\[[0-9;]*m", printed), printed
drawn = re.sub(r"\033\[[0-9]*[AK]", "", printed).split("\n")
assert all(len(line) < 40 for line in drawn if not line.startswith("oif: ")), drawn
PYTHON
}

@test "what the input holds cannot steer the terminal" {
    python_with_terminal <<'PYTHON'
rows = open("alarms.csv").read().replace("web-1", "we\033[2Jb")
open("alarms.csv", "w").write(rows)
printed = terminal("--watch", "--key", "host", "--time", "at", "alarms.csv")
assert "we?[2Jb" in printed and "\033[2J" not in printed, printed
PYTHON
}

@test "--watch without a terminal prints anomalous rows with their reasons" {
    make_stream
    "$OIF" score --label fault --threshold 0.45 --window-size 64 --only-alerts --explain stream.csv > expected.csv
    "$OIF" score --label fault --threshold 0.45 --window-size 64 --watch stream.csv | cmp - expected.csv
    [ "$(wc -l < expected.csv)" -gt 5 ]
    python_with_terminal <<'PYTHON'
printed = terminal("--watch", "--key", "host", "--time", "at", "alarms.csv", TERM="dumb")
assert printed.startswith("host,at,flow,pressure,score,p,anomaly,why\n") and "\033[1m" not in printed, printed
PYTHON
}

@test "a summary comes at the end where stderr is a terminal, and only there" {
    python_with_terminal <<'PYTHON'
printed = terminal("--only-alerts", "--key", "host", "--time", "at", "--on-bad-row", "skip", "alarms.csv")
last = printed.rstrip("\n").split("\n")[-1]
assert re.match(r"oif: 4,000 rows, [0-9]+ anomalies \([0-9, a-z]+\) in [0-9]+ episodes, 2 keys \(0 evicted\); [0-9,]+ rows/s$", last), last
PYTHON
    make_stream
    oif score stream.csv
    exits 0
}

@test "--watch says how long a key warms up, in rows and in time, and who is silent" {
    python_with_terminal <<'PYTHON'
with open("timed.csv", "w") as file:
    file.write("at,x\n")
    for i in range(90):
        file.write(f"{1794700000 + i * 60 + (i > 80) * 7200},{i * 7919 % 400}\n")
printed = re.sub(r"\033\[[0-9]*[mKJ]", "", terminal("--watch", "--time", "at", "timed.csv"))
assert "warming up: a key needs about 100 rows, 3.91 h, before its first alert" in printed, printed
assert "silence begins: no row since 2026-11-15T" in printed, printed
assert "silence ends: no row since 2026-11-15T" in printed, printed
printed = terminal("--watch", "--exclude", "host,at", "alarms.csv")
assert "warming up" not in printed.split("4,000 rows")[-1], printed
PYTHON
}

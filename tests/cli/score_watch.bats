# oif score --watch, and what else a person at a terminal sees.

load helper

# A program with terminal.py, and alarms.csv.
on_terminal() {
    (echo 'from terminal import *'; echo 'make_alarms()'
        echo 'WATCH = "--watch", "--key", "host", "--time", "at", "--detector", "rolling-iforest"'
        cat) > test.py
    PYTHONPATH=$BATS_TEST_DIRNAME python3 test.py "$OIF"
}

@test "--watch fills the terminal: counts, scores with threshold, marks and times, episodes, columns, keys" {
    on_terminal <<'PYTHON'
lines, terminal = run(*WATCH, "alarms.csv", columns=120, lines=40)
assert terminal.status == 0 and terminal.screen.wrapped == 0
assert re.match(r"oif: 6,000 rows, [0-9]+ anomalies .* in [0-9]+ episodes, 3 keys \(0 evicted\); [0-9,]+ rows/s$", lines[-1]), lines[-1]
assert re.match(r"6,000 rows   [0-9,]+ rows/s   3 keys   [0-9]+ anomalies in (1 episode|[0-9]+ episodes)$", lines[0]), lines[0]
axis = next(i for i, line in enumerate(lines) if line.lstrip().startswith("12:00:00"))
assert re.match(r" {7}12:00:00 +1[0-9]:[0-9:]+ +20:1[0-9]:[0-9]+$", lines[axis]), lines[axis]
assert "▲" in lines[axis - 1], lines[axis - 1]
chart = lines[1:axis - 1]
assert len(chart) >= 8 and "█" in chart[-1] and any("─" in line for line in chart), chart
assert re.match(r" *[0-9.]+ ", chart[0]) and re.match(r" *[0-9.]+ ", chart[-1]), chart
assert len(max(chart, key=len)) > 110, "the chart is not as wide as the terminal"
assert lines[axis + 1] == "episodes", lines
first = lines[axis + 2]
assert re.match(r"  20:[0-9:]+ +(now, )?[0-9]+ rows, [0-9.]+ (s|min) +(note|warning|critical) +[0-9.]+  web-2  flow .+", first), first
begins = sum(re.match("  [12][0-9]:", line) is not None and " rows, " in line for line in lines)
assert begins == int(re.search(r"in ([0-9]+) episodes", lines[0])[1]), (begins, lines)  # one line each
title = lines.index("web-2: around the start of the latest episode")
assert re.match(r"  flow +[▁▂▃▄▅▆▇█ ]{20,}  [0-9.]+ to 9[0-9.]+$", lines[title + 1]), lines[title + 1]
assert re.match(r"  pressure +[▁▂▃▄▅▆▇█]", lines[title + 2]), lines[title + 2]
make_alarms("calm.csv", rows=5900)  # the last burst is long past
narrow, _ = run(*WATCH, "calm.csv", columns=80, lines=40)
title = narrow.index("web-2: around the start of the latest episode")
assert re.match(r"  flow +[▁▂]{5,}[▁▂▃▄▅▆▇█]*█[▁▂▃▄▅▆▇█]*  [0-9.]+ to 9[0-9.]+$", narrow[title + 1]), narrow[title + 1]
keys = lines.index("keys, the most unusual now first")
ranked = [float(re.match(r"  web-[0-9] +severity +([0-9.]+)", line)[1]) for line in lines[keys + 1:-1] if "in an episode" not in line]
assert len(ranked) >= 2 and ranked == sorted(ranked, reverse=True), ranked
PYTHON
}

@test "--watch suits a terminal of 40 x 10 and one of 200 x 60, and never wraps" {
    on_terminal <<'PYTHON'
for columns, lines in (40, 10), (200, 60), (20, 5), (80, 24), (3, 2):
    os.mkfifo("rows") if not os.path.exists("rows") else None
    terminal = Terminal(*WATCH, "rows", columns=columns, lines=lines)
    close = write_rows(terminal, "rows", open("alarms.csv").read(), r"^6,000 rows" if columns >= 20 else "")
    shown = terminal.settle()
    close()
    if columns < 20:
        terminal.end()
        assert terminal.status == 0
        continue
    assert terminal.screen.wrapped == 0, shown
    assert shown[0].startswith("6,000 rows"), shown
    used = sum(1 for line in shown if line)
    if (columns, lines) == (40, 10):
        assert any(re.match(r"20:[0-9:]+ (note|warning|critical) [0-9.]+ web-2 fl", line) for line in shown), shown
        assert any("█" in line for line in shown), shown
    if (columns, lines) == (200, 60):
        assert used > 50, (used, shown)
        assert max(map(len, shown)) > 185, shown
    terminal.end()
    assert terminal.status == 0
PYTHON
}

@test "--watch follows the size of the terminal while it waits for rows" {
    on_terminal <<'PYTHON'
os.mkfifo("rows")
terminal = Terminal(*WATCH, "rows", columns=120, lines=40)
close = write_rows(terminal, "rows", open("alarms.csv").read(), r"^6,000 rows")
terminal.settle()
terminal.resize(60, 20)
terminal.wait_until_cleared()
terminal.wait_for(r"^6,000 rows")
shown = terminal.settle()
close()
terminal.end()
assert terminal.status == 0 and max(map(len, shown)) < 60, shown
PYTHON
}

@test "--watch says how many rows and how much time is left until it can alert" {
    on_terminal <<'PYTHON'
with open("timed.csv", "w") as file:
    file.write("at,x\n")
    for i in range(40):
        file.write(f"{1794700000 + i * 60 + (i > 36) * 7200},{i * 7919 % 400}\n")
lines, _ = run("--watch", "--time", "at", "--detector", "rolling-iforest", "timed.csv")
found = re.match(r"warming up: 40 of ([0-9]+) rows until the first possible alert, about ([0-9.]+) (h|min) left$", lines[1])
assert found, lines
assert abs(float(found[2]) / (60 if found[3] == "min" else 1) - (int(found[1]) - 40) * (39 * 60 + 7200) / 39 / 3600) < 0.1, lines[1]
assert "silence begins: no row since" in "\n".join(lines), lines
rows = [f"{i * 7919 % 400}" for i in range(2000)]
open("x.csv", "w").write("x\n" + "\n".join(rows) + "\n")
import subprocess
ready = subprocess.run([OIF, "score", "--fields", "ready", "--detector", "rolling-iforest", "x.csv"], capture_output=True, text=True).stdout
first = next(i for i, line in enumerate(ready.split("\n")) if line.endswith(",1"))
assert abs(int(found[1]) - first) < 0.05 * first, (found[1], first)  # what it promised
lines, _ = run("--watch", "--exclude", "host,at", "alarms.csv")
assert "warming up" not in "\n".join(lines), lines
PYTHON
}

@test "after an input error --watch draws nothing, and messages outlive the view" {
    on_terminal <<'PYTHON'
rows = open("alarms.csv").readlines()
open("bad.csv", "w").writelines(rows[:500] + ["web-1,5,x,y\n"])
lines, terminal = run(*WATCH, "bad.csv", lines=50)
assert terminal.status == 1
error = next(i for i, line in enumerate(lines) if line.startswith("oif: bad.csv:501:"))
assert all(line.startswith("oif: ") or i < error for i, line in enumerate(lines)), lines
assert sum("bad.csv:501" in line for line in lines) == 1, lines
open("worse.csv", "w").write("a\nx\n")
lines, terminal = run("--watch", "--columns", "b", "worse.csv")
assert terminal.status == 2 and "\033" not in terminal.printed, terminal.printed
open("skipped.csv", "w").writelines(rows[:300] + ["bad\n"] + rows[300:600])
lines, terminal = run(*WATCH, "--on-bad-row", "skip", "skipped.csv", lines=50)
assert any(line.startswith("oif: skipped.csv:") for line in lines), lines
PYTHON
}

@test "NO_COLOR leaves colours out, and other locales get ASCII" {
    on_terminal <<'PYTHON'
_, terminal = run(*WATCH, "alarms.csv")
assert "\033[31m" in terminal.printed
_, terminal = run(*WATCH, "alarms.csv", NO_COLOR="1")
assert not re.search(r"\033\[[0-9;]*m", terminal.printed)
lines, terminal = run(*WATCH, "alarms.csv", LC_ALL="C")
assert terminal.printed.isascii() and any("^" in line for line in lines) and any("|||" in line for line in lines), lines
PYTHON
}

@test "what the input holds cannot steer the terminal, and wide characters take two columns" {
    on_terminal <<'PYTHON'
rows = open("alarms.csv").read().replace("web-2", "we\033[2Jb\u009b2J").replace("flow", "fl\tow").replace("web-1", "日本")
open("alarms.csv", "w").write(rows)
lines, terminal = run(*WATCH, "alarms.csv", lines=40)
text = "\n".join(lines)
assert "we?[2Jb?2J" in text and "fl?ow" in text and "\u009b" not in terminal.printed, lines
assert "\033[2J" not in terminal.printed and "  日本 " in text, lines
PYTHON
}

@test "--watch without a terminal prints anomalous rows with their reasons" {
    make_stream
    "$OIF" score --label fault --alert-rate 0.02 --window-size 64 --rows alerts stream.csv > expected.csv
    "$OIF" score --label fault --alert-rate 0.02 --window-size 64 --watch stream.csv | cmp - expected.csv
    [ "$(wc -l < expected.csv)" -gt 1 ]
    on_terminal <<'PYTHON'
_, terminal = run(*WATCH, "alarms.csv", TERM="dumb")
assert terminal.printed.startswith("host,at,flow,pressure,score,severity,anomaly,why\r\n") and "\033" not in terminal.printed, terminal.printed
PYTHON
}

@test "a summary comes at the end where stderr is a terminal, and only there" {
    on_terminal <<'PYTHON'
lines, _ = run("--key", "host", "--time", "at", "--on-bad-row", "skip", "alarms.csv")
summary = r"oif: 6,000 rows, [0-9]+ anomalies \([0-9, a-z]+\) in [0-9]+ episodes, 3 keys \(0 evicted\); [0-9,]+ rows/s$"
assert sum(bool(re.match(summary, line)) for line in lines) == 1, lines
assert lines[-1] == "oif: to see one line per episode, and why: oif score --only-alerts alarms.csv", lines[-1]
PYTHON
    make_stream
    oif score stream.csv
    exits 0
}

# oif demo: the first thing a stranger sees.

load helper

@test "the demo shows rows, measures, speed and the score over time" {
    oif demo
    exits 0
    contains "$output" "The 10 most anomalous rows:"
    contains "$output" "ROC AUC"
    contains "$output" "average precision"
    contains "$output" "rows per second"
    contains "$output" "The score over the last day"
    equal "$(grep -cE 'leak|blockage|overheating|none planted' <<< "$output")" 10
}

@test "the demo is the same each time apart from the speed" {
    "$OIF" demo | grep -v 'rows per second' > first
    "$OIF" demo | grep -v 'rows per second' | cmp - first
}

@test "the demo finds most of what was planted" {
    "$OIF" demo | awk '/^ROC AUC/ {auc = $3} END {if (auc < 0.9) {print "ROC AUC " auc; exit 1}}'
}

@test "the chart is at most 72 characters wide" {
    LC_ALL=C.UTF-8 "$OIF" demo > out
    python3 - <<'PYTHON'
lines = open("out", encoding="utf-8").read().split("\n")
start = next(i for i, line in enumerate(lines) if line.startswith("The score over"))
chart = lines[start + 2:start + 13]
assert "24:00" in chart[-1], chart
assert max(len(line) for line in chart) == 72, [len(line) for line in chart]
PYTHON
}

@test "the chart is plain ASCII where the locale or the terminal knows no more" {
    LC_ALL=C "$OIF" demo > plain
    LC_ALL=C.UTF-8 TERM=dumb "$OIF" demo > dumb
    LC_ALL=C.UTF-8 TERM=xterm "$OIF" demo > blocks
    equal "$(cat plain dumb | tr -d ' -~\n' | wc -c)" 0
    grep -q '█' blocks
}

@test "a demo that nobody reads ends quietly" {
    run bash -c "'$OIF' demo 2> messages | true; echo \${PIPESTATUS[0]}"
    equal "${lines[0]}" 0
    equal "$(cat messages)" ""
}

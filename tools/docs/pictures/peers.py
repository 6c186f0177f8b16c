"""Charts of ours beside the detectors of others: AUC, and rows per second.

Both are drawn from benchmarks/figures.json, which `tools/docs/make_pictures.py --figures RESULT.json` takes over from the
results of `make bench` and of `experiments/run.sh accuracy --anchors --json RESULT.json`: what the charts need, and no more.
"""

import json
import math

from .svg import Drawing

FILE = "benchmarks/figures.json"
TIMED_WAYS = ("one by one, from C", "one by one")  # the others are named beside the method
LEFT, RIGHT, TOP, STEP, WIDTH = 330, 64, 62, 23, 900


# ---- From results to figures ----


def reduce_speed(results):
    """Rows per second of each method on each set, without what was passed from Python to ours."""
    rates = {}
    for measured in results["sets"]:
        for r in measured["detectors"]:
            ours = r["package"] == "oif"
            if "missing" in r or (ours and not r["how"].endswith("from C")):
                continue
            way = "" if r["how"] in TIMED_WAYS else f", {r['how']}"
            found = rates.setdefault((r["name"].removeprefix("oif ") + way, ours), {})
            found[measured["name"]] = float(f"{r['rows_per_second']:.3g}")
    return {
        "date": results["date"],
        "processor": results["processor"],
        "command": results["command"],
        "sets": [{"name": measured["name"], "d": measured["d"]} for measured in results["sets"]],
        "methods": [{"name": name, "ours": ours, "rows_per_second": found} for (name, ours), found in rates.items()],
    }


def reduce_auc(results):
    """Mean AUC of each method on each set, of the table with the most rows."""
    table = max(results["tables"], key=lambda table: table["rows"])
    methods = [
        {"name": m["name"], "ours": m["ours"], "aucs": {name: round(auc, 4) for name, auc in m["aucs"].items()}}
        for m in table["methods"]
        if "missing" not in m
    ]
    return {"date": results["date"], "rows": table["rows"], "runs": results["runs"], "methods": methods}


def read(checkout):
    file = checkout / FILE
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def take_over(checkout, paths):
    """Puts the figures of results into the file."""
    figures = read(checkout)
    for path in paths:
        results = json.loads(path.read_text(encoding="utf-8"))
        figures.update({"auc": reduce_auc(results)} if "tables" in results else {"speed": reduce_speed(results)})
    text = json.dumps(figures, indent=1, sort_keys=True) + "\n"
    (checkout / FILE).write_text(text, encoding="utf-8")


# ---- The charts ----


def mean(values):
    return sum(values) / len(values)


def geometric_mean(values):
    return math.exp(mean([math.log(value) for value in values]))


def draw_lines(drawing, methods, to_x, ticks, middle, label):
    """A line for each method, the best first: a dot for each set, a bar from the left to their mean."""
    theme = drawing.theme
    bottom = TOP + STEP * len(methods)
    for tick, text in ticks:
        drawing.line(to_x(tick), TOP, to_x(tick), bottom, theme.faint)
        drawing.text(to_x(tick), bottom + 18, text, theme.quiet, 12, "middle")
    for line, (name, ours, values) in enumerate(sorted(methods, key=lambda m: -middle(m[2]))):
        y = TOP + STEP * line + STEP / 2
        at = to_x(middle(values))
        drawing.text(LEFT - 12, y + 4, name, theme.ink if ours else theme.quiet, 12, "end", 700 if ours else None)
        drawing.rectangle(LEFT, y - 4, max(at - LEFT, 0), 8, theme.calm_soft if ours else theme.faint, radius=2)
        for value in values:
            drawing.circle(to_x(value), y, 3.5, theme.calm if ours else theme.quiet, theme.paper)
        drawing.line(at, y - 8, at, y + 8, theme.alarm, 2)
        drawing.text(WIDTH - 12, y + 4, label(middle(values)), theme.alarm, 11, "end")
    return bottom


def draw_auc(figures, theme):
    methods = [(m["name"], m["ours"], list(m["aucs"].values())) for m in figures["methods"]]
    sets = len(methods[0][2])
    height = TOP + STEP * len(methods) + 52
    drawing = Drawing(WIDTH, height, "ROC AUC of our detectors and of others", theme)
    drawing.text(16, 26, f"ROC AUC on the paper's {sets} data sets, ours (bold) beside others", size=16, weight=700)
    shuffles = f"mean of {figures['runs']} shuffles of at most {figures['rows']:,} rows"
    least = 0.4
    drawing.text(16, 46, f"a dot per set: {shuffles}; on the left edge: below {least}; red: their mean", theme.quiet)

    def to_x(auc):
        return LEFT + (max(auc, least) - least) / (1 - least) * (WIDTH - LEFT - RIGHT)

    ticks = [(tick / 10, f"{tick / 10:.1f}") for tick in range(4, 11)]
    bottom = draw_lines(drawing, methods, to_x, ticks, mean, lambda auc: f"{auc:.3f}"[1:])
    drawing.text(16, bottom + 40, f"experiments/run.sh accuracy --anchors, {figures['date']}", theme.quiet, 11)
    return drawing.finish()


def short(rate):
    """1500 -> 1.5k"""
    for unit, letter in ((1e6, "M"), (1e3, "k")):
        if rate >= unit:
            return f"{rate / unit:.3g}{letter}"
    return f"{rate:.3g}"


def draw_speed(figures, theme):
    methods = [(m["name"], m["ours"], list(m["rows_per_second"].values())) for m in figures["methods"]]
    rates = [rate for _, _, values in methods for rate in values]
    low, high = math.floor(math.log10(min(rates))), math.ceil(math.log10(max(rates)))
    sets = ", ".join(f"{s['name']} (d = {s['d']})" for s in figures["sets"])
    height = TOP + STEP * len(methods) + 52
    drawing = Drawing(WIDTH, height, "Rows per second of our detectors and of others", theme)
    drawing.text(16, 26, "Rows per second, learned and scored, one thread, ours (bold) beside others", size=16, weight=700)
    drawing.text(16, 46, f"a dot per set: {sets}; red: geometric mean; each step is ten times as fast", theme.quiet)

    def to_x(rate):
        return LEFT + (math.log10(rate) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    ticks = [(10**power, short(10**power)) for power in range(low, high + 1)]
    bottom = draw_lines(drawing, methods, to_x, ticks, geometric_mean, short)
    drawing.text(16, bottom + 40, f"{figures['command']}, {figures['date']}, {figures['processor']}", theme.quiet, 11)
    return drawing.finish()


def pictures(checkout):
    """Of the figures that there are."""
    figures = read(checkout)
    drawn = {
        "auc": lambda theme: draw_auc(figures["auc"], theme),
        "speed": lambda theme: draw_speed(figures["speed"], theme),
    }
    return {f"peers-{name}": draw for name, draw in drawn.items() if name in figures}

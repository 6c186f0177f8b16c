"""The plots of benchmarks/peers.py: our detectors, rows a second of everyone, and how our time grows."""

import matplotlib

matplotlib.use("Agg")  # no screen

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: E402

OURS, THEIRS, PLAIN, INK = "#0b6e4f", "#9aa5b1", "#c8553d", "#333333"
STYLE = {
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.hashsalt": "oif",  # the same results, the same file
}


def short(number, _=None):
    """1500 -> 1.5k, 2000000 -> 2M"""
    for unit, letter in ((1e6, "M"), (1e3, "k")):
        if number >= unit:
            return f"{number / unit:.3g}{letter}"
    return f"{number:.3g}"


def save(figure, base, name):
    paths = [base.with_name(f"{base.name}-{name}.{kind}") for kind in ("svg", "png")]
    for path in paths:
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, bbox_inches="tight", dpi=150, facecolor="white", metadata=metadata)
    plt.close(figure)
    return paths


def is_ours(result):
    return result["package"] == "oif"


DETECTOR_COLOURS = ("#0b6e4f", "#57a773", "#3b6ea5", "#c8553d", "#d9a441", "#8e6bbf", "#222222", "#9aa5b1")


def draw_ours(measured_sets, processor, date):
    """Nanoseconds a row of each of our detectors, a group of bars for each set."""
    names = [r["detector"] for r in measured_sets[0]["detectors"]]
    figure, axes = plt.subplots(figsize=(14, 4.6))
    width = 0.8 / len(names)
    for i, (name, colour) in enumerate(zip(names, DETECTOR_COLOURS)):
        times = [measured["detectors"][i]["nanoseconds"]["one-by-one"] for measured in measured_sets]
        places = [j + (i - (len(names) - 1) / 2) * width for j in range(len(times))]
        axes.bar(places, times, width=0.92 * width, color=colour, label=name)
        for place, time in zip(places, times):
            axes.text(place, time * 1.06, short(time), ha="center", fontsize=6.5)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(short))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xticks(range(len(measured_sets)), [f"{m['name']}\nd = {m['d']}" for m in measured_sets])
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="y", color="#e5e5e5")
    axes.set_axisbelow(True)
    axes.set_ylabel("nanoseconds per row (log scale)")
    axes.set_title("learn and score, one by one", loc="left", fontweight="bold", pad=22)
    axes.text(0, 1.0, f"{processor}, {date}; one thread", transform=axes.transAxes, fontsize=9, color="#777777",
              va="bottom")  # fmt: skip
    figure.legend(loc="outside upper right", ncols=4, frameon=False, fontsize=9)
    return figure


def draw_peers(measured, processor, date):
    """Rows a second on one set, fastest on top."""
    found = sorted((r for r in measured["detectors"] if "missing" not in r), key=lambda r: r["rows_per_second"])
    missing = [r for r in measured["detectors"] if "missing" in r]
    figure, axes = plt.subplots(figsize=(9, 1.3 + 0.36 * len(found)))
    rates = [r["rows_per_second"] for r in found]
    axes.barh(range(len(found)), rates, color=[OURS if is_ours(r) else THEIRS for r in found], height=0.72)
    axes.set_xscale("log")
    axes.set_xlim(min(rates) / 3, max(rates) * 12)
    axes.set_yticks(range(len(found)), [f"{r['name']}, {r['how']}" for r in found])
    for label, r in zip(axes.get_yticklabels(), found):
        if is_ours(r):
            label.set_color(OURS)
            label.set_fontweight("bold")
    for i, r in enumerate(found):
        auc = "" if r["auc"] is None else f"  AUC {r['auc']:.3f}"
        part = f" on {r['rows']:,} rows" if r["rows"] < measured["n"] else ""
        axes.text(r["rows_per_second"] * 1.12, i, f"{short(r['rows_per_second'])}{auc}{part}", va="center", fontsize=9)
    axes.xaxis.set_major_formatter(FuncFormatter(short))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#e5e5e5")
    axes.set_axisbelow(True)
    axes.set_xlabel("rows learned and scored per second (log scale)")
    title = f"{measured['name']}: {measured['n']:,} rows, d = {measured['d']}"
    axes.set_title(title, loc="left", fontweight="bold", pad=22)
    axes.text(0, 1.0, f"{processor}, {date}; one thread unless said", transform=axes.transAxes, fontsize=9,
              color="#777777", va="bottom")  # fmt: skip
    if missing:
        names = "; ".join(sorted({r["name"] for r in missing}))
        figure.text(0.01, -0.02, f"did not run: {names} (reasons in the .json)", fontsize=9, color=PLAIN)
    return figure


LINES = (
    ("plain", "plain C translation of the paper", PLAIN, "s"),
    ("one-by-one", "oif, one by one", OURS, "o"),
    ("blocks", "oif, blocks of 1000", "#57a773", "^"),
)


def draw_sweep(axes, sweep):
    """n: the total against n, on straight axes, where linear is a line through 0. Else: a row's time, log axes."""
    parameter, points = sweep["parameter"], sweep["points"]
    values = [p["value"] for p in points]
    for way, label, colour, marker in LINES:
        seconds = [p["seconds"][way] for p in points]
        times = seconds if parameter == "n" else [1e9 * s / p["rows"] for s, p in zip(seconds, points)]
        axes.plot(values, times, marker=marker, markersize=5, color=colour, label=label, linewidth=1.8)
    axes.grid(color="#e5e5e5")
    axes.set_axisbelow(True)
    axes.set_xlabel(parameter)
    axes.xaxis.set_major_formatter(FuncFormatter(short))
    if parameter == "n":
        axes.set(xlim=(0, None), ylim=(0, None), ylabel="seconds in all")
        axes.set_title("time is linear in n", loc="left", fontweight="bold")
        return
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(values, [f"{value:,}" for value in values])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(short))
    axes.yaxis.set_minor_formatter(FuncFormatter(lambda y, _: short(y) if f"{y:.0e}"[0] in "25" else ""))
    axes.tick_params(axis="both", which="both", labelsize=9)
    axes.set_ylabel("nanoseconds a row")
    axes.set_title(f"a row against {parameter}", loc="left", fontweight="bold")


def draw_growth(growth, processor, date):
    figure, grid = plt.subplots(2, 2, figsize=(10, 7.4), constrained_layout=True)
    for axes, sweep in zip(grid.flat, growth["sweeps"]):
        draw_sweep(axes, sweep)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    figure.supxlabel(
        f"{processor}, {date}; made-up rows, d = 10, 32 trees, window 2048 unless varied; one thread, processor time",
        fontsize=9, color="#777777",
    )  # fmt: skip
    return figure


def draw_all(results, base):
    """Draws everything; the files' paths."""
    paths = []
    with plt.rc_context(STYLE):
        if results["ours"]:
            paths += save(draw_ours(results["ours"], results["processor"], results["date"]), base, "ours")
        for measured in results["sets"]:
            figure = draw_peers(measured, results["processor"], results["date"])
            paths += save(figure, base, measured["name"].lower())
        if results["growth"]:
            paths += save(draw_growth(results["growth"], results["processor"], results["date"]), base, "growth")
    return paths

"""The figures, as SVG files. A detector has the same colour in all of them."""

from pathlib import Path
from typing import Any, Callable

import matplotlib

matplotlib.use("Agg")
import numpy as np  # noqa: E402
import oif  # noqa: E402
import pandas  # noqa: E402
from matplotlib import pyplot, ticker  # noqa: E402
from oif import plot  # noqa: E402

from . import claims, complexity, published, runs, synthetic, tables  # noqa: E402
from .configuration import EARLY_ROWS, OURS, by_key  # noqa: E402
from .ranks import LEAST_EXECUTIONS, Ranking  # noqa: E402
from .runs import BATCH_ROWS, Plan, parse_numbers  # noqa: E402

INK, QUIET, GRID = "#1f2933", "#8a94a0", "#e4e7eb"
WIDE = (9.2, 3.7)

pyplot.rcParams.update(
    {
        "axes.edgecolor": QUIET,
        "axes.grid": True,
        "axes.labelcolor": INK,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlecolor": INK,
        "axes.titlelocation": "left",
        "axes.titlesize": 11,
        "axes.titleweight": "bold",
        "axes.axisbelow": True,
        "figure.constrained_layout.use": True,
        "font.size": 9.5,
        "grid.color": GRID,
        "grid.linewidth": 0.7,
        "legend.frameon": False,
        "lines.linewidth": 1.6,
        "savefig.transparent": True,
        "svg.fonttype": "none",  # text stays text: to be found, copied and read aloud
        "svg.hashsalt": "oif",  # the same picture, the same bytes
        "xtick.color": INK,
        "ytick.color": INK,
    }
)


def save(figure: Any, plan: Plan, name: str) -> str:
    path = plan.results / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None, "Creator": None}, dpi=130)
    pyplot.close(figure)
    return path.name


def style(key: str) -> dict[str, Any]:
    column = by_key(key)
    return {"color": column.color, "linestyle": column.dashes, "label": column.title, "zorder": 3 + (key == OURS)}


def legend_above(figure: Any, ax: Any) -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=len(labels), handlelength=1.8, columnspacing=1.4)


def plain_numbers(axis: Any) -> None:
    """0.1, 10 and 20k on a logarithmic axis, not powers of ten."""
    short = ticker.FuncFormatter(lambda number, _: f"{number:g}" if number < 1e4 else f"{number / 1e3:g}k")
    axis.set_major_formatter(short)
    axis.set_minor_formatter(ticker.NullFormatter())


# -- Table 4: agreement, ranks, sizes


def draw_agreement(plan: Plan) -> str:
    """Our median and quartiles of oIFOR on each set, and the published median."""
    cells = tables.auc_cells(plan)
    names = [name for name in plan.stationary if (name, OURS) in cells]
    figure, ax = pyplot.subplots(figsize=(9.2, 0.7 + 0.34 * len(names)))
    for y, name in enumerate(reversed(names)):
        cell, color = cells[name, OURS], by_key(OURS).color
        ax.plot([cell.low, cell.high], [y, y], color=color, linewidth=5, alpha=0.25, solid_capstyle="round")
        ax.plot(cell.median, y, "o", color=color, markersize=7, label="here: median, quartiles" if y == 0 else None)
        if cell.published is not None:
            ax.plot(cell.published, y, "D", markerfacecolor="white", markeredgecolor=INK, markersize=6,
                    label="published median" if y == 0 else None)  # fmt: skip
    ax.set_yticks(range(len(names)), reversed(claims.titles(names)))
    ax.set_ylim(-0.6, len(names) - 0.4)
    ax.set_xlabel("ROC AUC")
    ax.grid(axis="y", visible=False)
    legend_above(figure, ax)
    return save(figure, plan, "agreement")


def draw_ranking(plan: Plan, ranking: Ranking, name: str, title: str) -> str:
    """A critical difference diagram: best left, bars join what does not differ significantly."""
    names = list(ranking.mean_ranks)
    half = (len(names) + 1) // 2
    groups = ranking.groups()
    figure, ax = pyplot.subplots(figsize=(9.2, 1.5 + 0.26 * half + 0.12 * len(groups)))
    low, high = 1, len(names)
    floor = -0.35 - 0.16 * len(groups)
    ax.plot([low, high], [0, 0], color=INK, linewidth=1)
    for tick in range(low, high + 1):
        ax.plot([tick, tick], [0, 0.12], color=INK, linewidth=1)
        ax.text(tick, 0.2, str(tick), ha="center", va="bottom", color=INK)
    for i, key in enumerate(names):
        left = i < half
        y = floor - 0.34 * (i if left else len(names) - 1 - i)
        x, end, column = ranking.mean_ranks[key], (low - 0.25 if left else high + 0.25), by_key(key)
        ax.plot([x, x, end], [0, y, y], color=column.color, linewidth=1.4, linestyle=column.dashes)
        text = f"{column.title}  {x:.2f}" if left else f"{x:.2f}  {column.title}"
        weight, side = ("bold" if key == OURS else "normal"), ("right" if left else "left")
        margin = -0.05 if left else 0.05
        ax.text(end + margin, y, text, ha=side, va="center", color=column.color, fontweight=weight)
    for i, group in enumerate(groups):
        ends = [ranking.mean_ranks[key] for key in (group[0], group[-1])]
        y = -0.17 - 0.16 * i
        ax.plot([ends[0] - 0.03, ends[1] + 0.03], [y, y], color=INK, linewidth=3.5, solid_capstyle="round", zorder=5)
    distance = ranking.critical_distance
    ax.plot([low, low + distance], [0.78, 0.78], color=INK, linewidth=1.5, marker="|", markersize=7)
    ax.text(low + distance + 0.06, 0.78, f"critical distance {distance:.3f}", va="center", color=INK, fontsize=9)
    ax.set_title(title)
    ax.set_xlim(low - 1.3, high + 1.3)
    ax.set_ylim(floor - 0.34 * half, 1.1)
    ax.axis("off")
    return save(figure, plan, name)


def draw_auc_ranking(plan: Plan) -> str:
    table = tables.aucs(plan, "batch")
    columns = tables.of_the_paper(tables.columns_of(table))
    return draw_ranking(
        plan, tables.ranking(table, "auc", columns), "cd_auc", "ROC AUC: mean ranks of the paper's five"
    )


def draw_auc_ranking_of_all(plan: Plan) -> str:
    table = tables.aucs(plan, "batch")
    return draw_ranking(
        plan, tables.ranking(table, "auc", tables.columns_of(table)), "cd_auc_all", "ROC AUC: mean ranks of all"
    )


def draw_time_ranking(plan: Plan) -> str:
    table = tables.times(plan)
    columns = tables.of_the_paper(tables.columns_of(table))
    return draw_ranking(
        plan, tables.ranking(table, "seconds", columns), "cd_time", "Time: mean ranks of the paper's five"
    )


def draw_sizes(plan: Plan) -> str:
    """Total time against the size of the set, ours and the published."""
    cells = tables.time_cells(plan)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=WIDE, sharex=True, sharey=True)
    for ax, source, title in ((left, "here", "here"), (right, "published", "published (other machine, Python)")):
        for key in plan.columns:
            points = sorted(
                (_size(plan, n, source), _total(cells, n, key, source)) for n in plan.stationary if (n, key) in cells
            )
            points = [(n, seconds) for n, seconds in points if seconds is not None and n]
            if points:
                ax.plot(*zip(*points), marker="o", markersize=4, **style(key))
        ax.set(xscale="log", yscale="log", xlabel="rows of the data set", title=title)
        plain_numbers(ax.xaxis)
        plain_numbers(ax.yaxis)
    left.set_ylabel("seconds in total")
    legend_above(figure, left)
    return save(figure, plan, "times_by_size")


def _size(plan: Plan, name: str, source: str) -> int:
    if source == "here":
        return len(runs.load(name, plan.most_rows).rows)
    return published.SHAPES[name].n if name in published.SHAPES else 0


def _total(cells: Any, name: str, key: str, source: str) -> Any:
    return cells[name, key].median if source == "here" else cells[name, key].published


# -- the first 1000 rows


def draw_early(plan: Plan) -> str:
    figure, (left, right) = pyplot.subplots(1, 2, figsize=WIDE)
    early, seconds = claims.early_aucs(plan), early_seconds(plan)
    for key in (key for key in plan.columns if key in early.index):
        left.plot(early.columns, early.loc[key], **style(key))
    for key in (key for key in plan.columns if key in seconds.index):
        right.plot(seconds.columns, 1e3 * seconds.loc[key], **style(key))
    left.set(title="ROC AUC of the rows so far", xlabel="rows", ylabel="median over sets and executions")
    right.set(title="time so far", xlabel="rows", ylabel="milliseconds", yscale="log")
    plain_numbers(right.yaxis)
    for ax in (left, right):
        ax.set_xlim(0, EARLY_ROWS)
    legend_above(figure, left)
    return save(figure, plan, "early")


def early_seconds(plan: Plan) -> pandas.DataFrame:
    curves = {}
    for column, group in tables.times(plan).groupby("column"):
        values = [parse_numbers(early) for early in group["early"]]
        values = [v for v in values if len(v) == EARLY_ROWS // BATCH_ROWS]
        if values:
            curves[column] = np.median(values, axis=0)
    return pandas.DataFrame(curves, index=list(range(BATCH_ROWS, EARLY_ROWS + 1, BATCH_ROWS))).T


# -- streams that drift


def draw_drift(plan: Plan, name: str) -> str:
    """AUC in a centred window, and the time a row takes, with a dotted line at each change."""
    table, seconds = (tables.read(ledger(plan), plan, [name]) for ledger in (runs.drift_of, runs.drift_times_of))
    stream = runs.load(name, plan.most_rows)
    figure, (top, bottom) = pyplot.subplots(2, 1, figsize=(9.2, 5.2), sharex=True, height_ratios=(5, 3))
    centers = runs.drift_centers(len(stream.rows))
    for key in plan.columns:
        curves = [parse_numbers(curve) for curve in table[table["column"] == key]["curve"]]
        if curves:
            known = ~np.isnan(curves).all(axis=0)  # without an anomaly in a window there is no AUC
            top.plot(centers[known], np.nanmedian(np.array(curves)[:, known], axis=0), **style(key))
        group = seconds[seconds["column"] == key]
        if len(group):
            bins, rows = np.median([parse_numbers(c) for c in group["curve"]], axis=0), int(group["bin_rows"].iloc[0])
            bottom.plot(rows * (np.arange(len(bins)) + 0.5), 1e6 * bins / rows, **{**style(key), "linewidth": 1.2})
    for ax in (top, bottom):
        for change in stream.change_points:
            ax.axvline(change, color=INK, linestyle=":", linewidth=1.1)
    window = int(table["window"].iloc[0]) if len(table) else runs.window_rows(len(stream.rows))
    top.set(ylabel=f"ROC AUC, window of {window:,} rows", title=stream.title)
    bottom.set(ylabel="µs a row", yscale="log", xlabel="row", xlim=(0, len(stream.rows)))
    plain_numbers(bottom.yaxis)
    bottom.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
    legend_above(figure, top)
    return save(figure, plan, f"drift_{name}")


# -- figure 1 and Table 1


def draw_surfaces(plan: Plan) -> str:
    """What the forest makes of the plane after 100, 300 and 1000 rows."""
    rows = synthetic.toy(1000)["X"]
    axes = plot.heatmap(oif.OnlineIsolationForest(num_trees=128, seed=1), rows)
    axes[0].figure.set_size_inches(9.2, 3.2)
    return save(axes[0].figure, plan, "surfaces")


def draw_complexity(plan: Plan) -> str:
    table = claims.measured(plan)
    figure, axes = pyplot.subplots(2, 3, figsize=(9.2, 5.4))
    usual = complexity.USUAL
    panels: list[tuple[str, Callable[[pandas.DataFrame], Any], str, str, Any]] = [
        ("n", lambda t: t["seconds"], "rows n", "seconds", lambda x: x),
        ("num_trees", _microseconds, "trees τ", "µs a row", lambda x: x),
        ("window_size", _microseconds, "window ω", "µs a row", lambda x: np.log2(x / usual["max_leaf_samples"])),
        ("max_leaf_samples", _microseconds, "leaf η", "µs a row", lambda x: np.log2(usual["window_size"] / x)),
    ]
    for ax, (parameter, value, x_label, y_label, law) in zip(axes.flat, panels):
        _sweep(ax, table[table["parameter"] == parameter], value, law)
        ax.set(xlabel=x_label, ylabel=y_label)
    _sweep_of_ratio(axes[1, 1], table, lambda t: t["nodes"] / usual["num_trees"], np.sqrt)
    axes[1, 1].set(xlabel="ω / η", ylabel="nodes a tree")
    _sweep_of_ratio(axes[1, 2], table, lambda t: (t["bytes"] - t["window_bytes"]) / 1024, lambda x: x)
    axes[1, 2].set(xlabel="ω / η", ylabel="KiB without the window")
    titles = (
        "n: linear",
        "τ: linear",
        "ω: ½ log₂(ω / η)",
        "η: ½ log₂(ω / η)",
        "nodes: √(ω / η)",
        "bytes: ω / η at worst",
    )
    for ax, title in zip(axes.flat, titles):
        ax.set_title(title, fontsize=10)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=2)
    return save(figure, plan, "complexity")


def _microseconds(table: pandas.DataFrame) -> Any:
    return 1e6 * table["seconds"] / table["rows"]


def _sweep(
    ax: Any, table: pandas.DataFrame, value: Callable[[pandas.DataFrame], Any], law: Callable[[Any], Any]
) -> None:
    """Medians, on logarithmic axes, and the paper's law through the middle of them."""
    if table.empty:
        return
    median = value(table).groupby(table["value"]).median()
    x, y = median.index.to_numpy(dtype=float), median.to_numpy(dtype=float)
    expected = law(x)
    ax.plot(x, y, "o-", color=by_key(OURS).color, label="measured", zorder=4)
    ax.plot(x, expected * np.median(y / expected), color=INK, linestyle=":", label="in proportion to the paper's order")
    ax.set(xscale="log", yscale="log")
    plain_numbers(ax.xaxis)
    plain_numbers(ax.yaxis)
    if y.max() / y.min() < 20:
        ax.set_ylim(y.min() / 2, y.max() * 2)
        ax.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))


def _sweep_of_ratio(ax: Any, table: pandas.DataFrame, value: Any, law: Any) -> None:
    """Of omega / eta: the sweeps of either are one."""
    changed = table[table["parameter"] == "max_leaf_samples"].copy()
    changed["value"] = complexity.USUAL["window_size"] / changed["value"]
    _sweep(ax, changed, value, law)


def enough(table: pandas.DataFrame, value: str) -> bool:
    """Whether there are the executions that a test of ranks needs."""
    return len(tables.paired(table, value, tables.columns_of(table))) >= LEAST_EXECUTIONS


def draw_all(plan: Plan) -> dict[str, Path]:
    """Name -> file of every figure that there are results for."""
    drawn = {"surfaces": draw_surfaces(plan)}
    if len(tables.aucs(plan, "batch")):
        drawn |= {"agreement": draw_agreement(plan), "early": draw_early(plan)}
    if enough(tables.aucs(plan, "batch"), "auc"):
        drawn |= {"cd_auc": draw_auc_ranking(plan), "cd_auc_all": draw_auc_ranking_of_all(plan)}
    if len(tables.times(plan)):
        drawn["times_by_size"] = draw_sizes(plan)
    if enough(tables.times(plan), "seconds"):
        drawn["cd_time"] = draw_time_ranking(plan)
    for name in plan.drifting:
        if len(tables.read(runs.drift_of(plan), plan, [name])):
            drawn[f"drift_{name}"] = draw_drift(plan, name)
    if len(claims.measured(plan)):
        drawn["complexity"] = draw_complexity(plan)
    return {name: plan.results / file for name, file in drawn.items()}

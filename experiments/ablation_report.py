"""The tables and the figure of the ablation: paired differences with standard errors, and curves of recovery."""

import math
from pathlib import Path
from typing import Iterable

import numpy as np
import pandas

from .configuration import Column
from .runs import parse_numbers

RECOVERED = 0.02  # below the AUC before the change
PANELS = 5  # of the figure side by side: as many as there are kinds of change
SMOOTHED = 4  # blocks: of rare anomalies there are few in one


# ---- Ingredients ----


class Table:
    """Columns of text that are printed as a table and written as CSV."""

    def __init__(self, *titles: str) -> None:
        self.titles, self.lines = titles, list[tuple[str, ...]]()

    def add(self, *cells: str) -> None:
        self.lines.append(cells)

    def print(self, heading: str) -> None:
        widths = [max(map(len, column)) for column in zip(self.titles, *self.lines)]
        print(f"\n{heading}\n")
        for line in (self.titles, tuple("-" * width for width in widths), *self.lines):
            first, *others = (
                cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths))
            )
            print("  ".join((first, *others)).rstrip())

    def write(self, path: Path) -> None:
        pandas.DataFrame(self.lines, columns=list(self.titles)).to_csv(path, index=False)


def by_set(runs: pandas.DataFrame, setting: Column, value: str) -> pandas.DataFrame:
    """One column a set, one line a shuffle."""
    mine = runs[runs["setting"] == setting.key]
    return mine.pivot(index="execution", columns="dataset", values=value)


def paired(difference: pandas.DataFrame) -> tuple[float, float]:
    """The mean over the sets of the mean difference, and its standard error: sets count alike, shuffles scatter."""
    mean = float(difference.mean().mean())
    variances = difference.var(ddof=1) / difference.count()
    return mean, math.sqrt(float(variances.sum())) / difference.shape[1]


def beyond_chance(difference: pandas.DataFrame) -> tuple[int, int]:
    """On how many sets it is better, and worse, by more than two standard errors."""
    error = difference.sem()
    return int((difference.mean() > 2 * error).sum()), int((difference.mean() < -2 * error).sum())


def ingredient_line(runs: pandas.DataFrame, setting: Column, base: Column) -> tuple[str, ...]:
    aucs, times = by_set(runs, setting, "auc"), by_set(runs, setting, "seconds")
    base_aucs, base_times = by_set(runs, base, "auc"), by_set(runs, base, "seconds")
    spread = aucs.quantile(0.75) - aucs.quantile(0.25)
    figures = (f"{aucs.median().mean():.4f}", f"{aucs.mean().mean():.4f}")
    scatter = (
        f"{aucs.std().mean():.4f}",
        f"{spread.mean():.4f}",
        f"{float((times.sum() / base_times.sum()).mean()):.2f}",
    )
    if setting is base:
        return (setting.title, *figures, "", "", "", *scatter)
    mean, error = paired(aucs - base_aucs)
    better, worse = beyond_chance(aucs - base_aucs)
    return (setting.title, *figures, f"{mean:+.4f}", f"{error:.4f}", f"{better}/{worse}", *scatter)


def report_family(runs: pandas.DataFrame, family: str, settings: Iterable[Column], results: Path) -> None:
    base = next(iter(settings))
    titles = ("median AUC", "mean AUC", "difference", "std. error", "better/worse", "std. dev.", "quartiles", "time")
    table = Table(f"{family}", *titles)
    for setting in settings:
        table.add(*ingredient_line(runs, setting, base))
    sets = runs["dataset"].nunique()
    table.print(
        f"{family}: {sets} sets, {runs['execution'].nunique()} shuffles; difference from the first line, paired"
    )
    table.write(results / f"ablation_{family}.csv")


def report_sets(runs: pandas.DataFrame, settings: Iterable[Column], results: Path) -> None:
    """The median AUC of the whole detectors, set by set, and their mean rank."""
    medians = pandas.DataFrame({s.title: by_set(runs, s, "auc").median() for s in settings})
    medians = medians.loc[list(dict.fromkeys(runs["dataset"]))]
    table = Table("median AUC", *medians.columns)
    for name, line in medians.iterrows():
        table.add(str(name), *(f"{auc:.3f}" for auc in line))
    table.add("mean", *(f"{auc:.3f}" for auc in medians.mean()))
    table.add("mean rank", *(f"{rank:.2f}" for rank in medians.rank(axis=1, ascending=False).mean()))
    table.print("Set by set")
    table.write(results / "ablation_sets.csv")


def report_ingredients(runs: pandas.DataFrame, families: dict[str, Iterable[Column]], results: Path) -> None:
    report_sets(runs, families["detectors"], results)
    for family, settings in families.items():
        report_family(runs, family, settings, results)


# ---- Changes ----


def curves(texts: Iterable[str]) -> np.ndarray:
    """Runs x changes x blocks; changes that have fewer blocks than others are filled up with NaN."""
    parsed = [[parse_numbers(part) for part in text.split(";")] for text in texts]
    longest = max(len(curve) for run in parsed for curve in run)
    return np.array(
        [[np.pad(curve, (0, longest - len(curve)), constant_values=np.nan) for curve in run] for run in parsed]
    )


def mean_curve(runs: pandas.DataFrame) -> np.ndarray:
    """The AUC of each block after a change, over all runs and changes."""
    with np.errstate(all="ignore"):
        return np.nanmean(curves(runs["curve"]), axis=(0, 1))


def rows_to_recover(curve: np.ndarray, before: float, block: int) -> float:
    """The rows after which the AUC, over SMOOTHED blocks at a time, stays near the one before; infinite: never does."""
    smooth = np.array([np.nanmean(curve[i : i + SMOOTHED]) for i in range(len(curve))])
    missing = np.flatnonzero(smooth < before - RECOVERED)
    if len(missing) == 0:
        return 0
    return math.inf if missing[-1] == len(smooth) - 1 else (missing[-1] + 1) * block


def drift_line(runs: pandas.DataFrame, after: tuple[int, ...], block: int) -> dict[str, float]:
    """One detector on one stream: the AUC before the first change, AUCs after each and how long it takes, on average."""
    before = float(np.mean([parse_numbers(text)[0] for text in runs["before"]]))
    aucs = np.nanmean(curves(runs["after"]), axis=(0, 1))
    line = {"before": before} | {f"{rows:,} after": float(auc) for rows, auc in zip(after, aucs)}
    return line | {"rows to recover": rows_to_recover(mean_curve(runs), before, block)}


def drift_table(
    runs: pandas.DataFrame, settings: Iterable[Column], after: tuple[int, ...], block: int
) -> pandas.DataFrame:
    lines = []
    for (name, kind), group in runs.groupby(["dataset", "kind"], sort=False):
        for setting in settings:
            figures = drift_line(group[group["setting"] == setting.key], after, block)
            lines.append({"dataset": name, "change": kind, "detector": setting.title} | figures)
    return pandas.DataFrame(lines)


def report_drift(
    runs: pandas.DataFrame, settings: Iterable[Column], results: Path, after: tuple[int, ...], block: int
) -> None:
    """Set by set as CSV and as a figure; on the terminal the mean over the sets, and the median of the rows to recover."""
    lines = drift_table(runs, settings, after, block)
    lines.to_csv(results / "ablation_drift_table.csv", index=False, float_format="%.4f")
    draw_drift(runs, list(settings), results / "ablation_drift.svg", block)
    for kind, group in lines.groupby("change", sort=False):
        sets = list(dict.fromkeys(group["dataset"]))
        table = Table(str(kind), *lines.columns[3:], "never, of the sets")
        for detector, mine in group.groupby("detector", sort=False):
            aucs = [f"{mine[title].mean():.3f}" for title in lines.columns[3:-1]]
            recover = mine["rows to recover"]
            median = "never" if math.isinf(recover.median()) else f"{recover.median():,.0f}"
            table.add(str(detector), *aucs, median, f"{int(np.isinf(recover).sum())} of {len(sets)}")
        table.print(f"{kind}: {', '.join(sets)}; {runs['execution'].nunique()} streams of each")


def draw_drift(runs: pandas.DataFrame, settings: list[Column], path: Path, block: int) -> None:
    """A panel a stream: the AUC of the blocks after a change; a dotted line where it was before."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    streams = list(runs.groupby(["dataset", "kind"], sort=False))
    lines = math.ceil(len(streams) / PANELS)
    size = (2.6 * PANELS, 1.9 * lines + 0.6)
    figure, axes = plt.subplots(lines, PANELS, figsize=size, sharey="row", squeeze=False, layout="constrained")
    for axis, ((name, kind), group) in zip(axes.flat, streams):
        draw_stream(axis, group, settings, block)
        axis.set_title(f"{name}: {kind}", fontsize=8)
    for axis in axes.flat[len(streams) :]:
        axis.set_visible(False)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(settings), fontsize=8, frameon=False)
    figure.supxlabel("rows after the change", fontsize=9)
    figure.supylabel("ROC AUC", fontsize=9)
    figure.savefig(path)
    plt.close(figure)


def draw_stream(axis, group: pandas.DataFrame, settings: list[Column], block: int) -> None:
    for setting in settings:
        mine = group[group["setting"] == setting.key]
        curve = mean_curve(mine)
        axis.plot((np.arange(len(curve)) + 0.5) * block, curve, label=setting.title, color=setting.color, linewidth=1.2)
    axis.tick_params(labelsize=7)
    axis.spines[["top", "right"]].set_visible(False)

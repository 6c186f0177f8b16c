"""Pictures of scores; needs matplotlib (pip install matplotlib, or "online-iforest[plot]").

    data                   the columns over time, with alerts, episodes and reasons marked
    scores                 severities over time, with the threshold and the anomalies; or scores
    keys                   when each key had anomalies
    attribution            why a row is anomalous
    attribution_over_time  why rows are
    heatmap                what a detector makes of the plane
    roc, precision_recall, evaluation   how well detectors do on labelled rows

Every function draws into the axes that it is given, or makes a figure, and returns the axes. Colours suit the paper: light, or
dark with pyplot.style.use("dark_background").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _hosts
from ._detectors import Detector
from ._results import Attribution

_hosts.need("plot")
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.colors import LinearSegmentedColormap  # noqa: E402

from ._plot_curves import evaluation, precision_recall, roc  # noqa: E402
from ._plot_data import attribution_over_time, data, keys  # noqa: E402
from ._plot_style import Style, axes_of, draw_series, field_of, legend_above, name_times, pyplot, style_of, times_of  # noqa: E402

__all__ = [
    "attribution",
    "attribution_over_time",
    "data",
    "evaluation",
    "heatmap",
    "keys",
    "precision_recall",
    "roc",
    "scores",
]

# Calm blue to white to alarming red, equally light at equal distances from the middle.
HEAT = LinearSegmentedColormap.from_list(
    "oif", ["#16425b", "#3a7ca5", "#bcd8e8", "#f9f4ec", "#f4b393", "#d64545", "#7d1420"]
)
MOST_TRIANGLES = 60  # more labelled rows are drawn by their density
MOST_THRESHOLDS = 8  # more keys have none drawn


def scores(
    results: Any, times: Any = None, labels: Any = None, ax: Axes | None = None, keys: Any = None, key: Any = None
) -> Axes:
    """Draw the severities of results over time, with the threshold and the anomalies; or just scores.

    Many numbers are drawn as bands: the middle half, all but a tenth at either end, and the lowest and highest.

    Args:
        results: what process returned, or just scores
        times: the position of each row on the horizontal axis; the dates of a DataFrame's index, or else the row's number
        labels: the truth, if known: rows that are anomalies are marked below, and false alarms have another colour
        ax: the axes to draw into
        keys: of the rows, if models are kept by key: each key has a threshold of its own
        key: the only one of them that is drawn
    """
    known = {name: field_of(results, name) for name in ("severity", "threshold", "anomaly", "ready")}
    score = known["severity"] if known["severity"] is not None else np.asarray(results, dtype=np.float64)
    if score.ndim != 1 or len(score) == 0:
        raise ValueError(
            f"expected results of process or scores, at least one, got an array of shape {score.shape}"
        )
    x, is_number = times_of(results, times, len(score))
    truth = None if labels is None else np.asarray(labels).astype(bool)
    names = np.zeros(len(score), "U1") if keys is None else np.asarray(keys, dtype=str)
    if len(names) != len(score):
        raise ValueError(f"there are {len(names)} keys for {len(score)} scores")
    if key is not None:
        only = names == str(key)
        if not only.any():
            raise ValueError(f"there is no row of the key {key!r}")
        score, x, names = score[only], x[only], names[only]
        truth = None if truth is None else truth[only]
        known = {name: None if values is None else values[only] for name, values in known.items()}
    ax, style = axes_of(ax, (10, 3.4))
    if known["ready"] is not None:
        _mark_learning(ax, x, known["ready"].astype(bool), style)
    draw_series(ax, x, score, style.calm)
    if known["threshold"] is not None:
        _draw_thresholds(ax, x, known["threshold"], names, style)
    if known["anomaly"] is not None and known["anomaly"].any():
        _mark_anomalies(ax, x, score, known, truth, style)
    if truth is not None:
        _mark_labels(ax, x, truth, known["anomaly"], style)
    if len(x) > 1:
        ax.set_xlim(x[0], x[-1])
    _frame_scores(ax, score)
    ax.set_ylabel("score" if known["severity"] is None else "severity", color=style.ink)
    name_times(ax, style, is_number)
    legend_above(ax, style, columns=6)
    return ax


def _draw_thresholds(ax: Axes, x: Any, threshold: Any, names: Any, style: Style) -> None:
    different = np.unique(names)
    if len(different) > MOST_THRESHOLDS:
        return
    label: str | None = "threshold" if len(different) == 1 else "threshold of each key"
    for name in different:
        own = names == name
        limit = np.where(np.isfinite(threshold[own]), threshold[own], np.nan)
        ax.plot(x[own], limit, drawstyle="steps-mid", color=style.ink, linewidth=1.1, zorder=4, label=label)
        label = None


def _mark_learning(ax: Axes, x: Any, ready: Any, style: Style) -> None:
    first = int(ready.argmax()) if ready.any() else len(ready) - 1
    if first == 0:
        return
    ax.axvspan(x[0], x[first], color=style.faint, linewidth=0, zorder=0)
    if first > 0.08 * len(ready):
        ax.annotate("learning", (0, 1), xytext=(6, -5), xycoords="axes fraction", textcoords="offset points", va="top",
                    fontsize=9, color=style.quiet, zorder=5)  # fmt: skip


def _mark_anomalies(ax: Axes, x: Any, score: Any, known: dict[str, Any], truth: Any, style: Style) -> None:
    hit = known["anomaly"].astype(bool)
    size = float(np.clip(2400 / hit.sum(), 6, 30))
    kinds = [(hit, style.alarm, "anomaly")]
    if truth is not None:
        kinds = [(hit & ~truth, style.false, "false alarm"), (hit & truth, style.alarm, "anomaly")]
    for rows, color, label in kinds:
        if not rows.any():
            continue
        if known["threshold"] is not None:
            ax.vlines(x[rows], known["threshold"][rows], score[rows], color=color, linewidth=0.8, alpha=0.7, zorder=4)
        ax.scatter(x[rows], score[rows], s=size, color=color, edgecolor=style.paper, linewidth=0.5, zorder=5, label=label)


def _mark_labels(ax: Axes, x: Any, truth: Any, anomaly: Any, style: Style) -> None:
    """Below the axis: each labelled row, or where they are many how dense they are."""
    below = ax.get_xaxis_transform()
    ax.tick_params(axis="x", pad=8)
    if truth.sum() > MOST_TRIANGLES:
        edges = np.unique(np.linspace(0, len(truth) - 1, min(len(truth) - 1, 250) + 1).astype(int))
        density = np.add.reduceat(truth.astype(float), edges[:-1]) / np.diff(edges)
        stretches = np.flatnonzero(density)
        ax.bar(x[edges[:-1]][stretches], 0.03, (x[edges[1:]] - x[edges[:-1]])[stretches], -0.035, align="edge", clip_on=False,
               color=[(*_rgb(style.alarm), 0.25 + 0.75 * share) for share in np.minimum(1, density[stretches])],
               transform=below, label="labelled anomaly")  # fmt: skip
        return
    found = truth & (np.zeros(len(truth), bool) if anomaly is None else anomaly.astype(bool))
    kinds = [(truth, style.alarm, "labelled anomaly")]
    if anomaly is not None:
        kinds = [(found, style.found, "labelled, found"), (truth & ~found, style.alarm, "labelled, missed")]
    for rows, color, label in kinds:
        if rows.any():
            ax.plot(x[rows], np.full(rows.sum(), -0.02), "^", color=color, markersize=5, markeredgewidth=0, clip_on=False,
                    transform=below, label=label, zorder=5)  # fmt: skip


def _rgb(color: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(color)


def _frame_scores(ax: Axes, score: Any) -> None:
    if np.isfinite(score).any():
        bottom, top = np.nanpercentile(score, 0.5), np.nanmax(score)  # the very first scores say nothing
        room = max(0.1 * (top - bottom), 1e-3)
        ax.set_ylim(bottom - room, top + room)


def heatmap(
    detector: Detector, x: Any, after: Sequence[int] = (100, 300, 1000), cells: int = 240, axes: Any = None
) -> Any:
    """Draw the scores of a detector over a plane after some rows of two numbers: figure 1 of the paper.

    Args:
        detector: one that has learned nothing yet; it stays as it is
        x: rows of two numbers; a DataFrame's columns name the axes
        after: how many of them are learned in each picture
        cells: of the surface, along each side
        axes: the axes to draw into, one for each picture
    """
    rows = np.asarray(x, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ValueError(f"expected rows of two columns, got an array of shape {rows.shape}")
    if not 0 < max(after, default=0) <= len(rows):
        raise ValueError(f"there are {len(rows)} rows, so pictures after {tuple(after)} of them cannot be drawn")
    if axes is None:
        shape = (3.5 * len(after) + 0.8, 3.9)
        _, axes = pyplot.subplots(1, len(after), figsize=shape, sharex=True, sharey=True, layout="constrained")
    axes = np.atleast_1d(axes)
    grid = _grid_around(rows, cells)
    surfaces = _surfaces(detector, rows, after, grid)
    bottom, top = np.min(surfaces), np.max(surfaces)
    for ax, count, surface in zip(axes, after, surfaces):
        style = style_of(ax)
        image = ax.pcolormesh(*grid, surface, cmap=HEAT, vmin=bottom, vmax=top, shading="nearest", rasterized=True)
        size = float(np.clip(1500 / count, 2, 12))
        ax.scatter(*rows[:count].T, s=size, color="white", edgecolor="#1f2933", linewidth=0.3, alpha=0.85)
        ax.set_title(f"after {count:,} rows", loc="left", fontsize=11, color=style.ink)
        ax.tick_params(colors=style.ink, labelsize=8, length=2)
        ax.locator_params(nbins=5)
        ax.set_box_aspect(1)
        for spine in ax.spines.values():
            spine.set_visible(False)
    names = [str(name) for name in getattr(x, "columns", ("column 0", "column 1"))]
    for name, label in zip(names, (axes[len(axes) // 2].set_xlabel, axes[0].set_ylabel)):
        label(name, color=style.ink)
    bar = axes[-1].figure.colorbar(image, cax=axes[-1].inset_axes((1.04, 0, 0.04, 1)))
    bar.set_label("score", color=style.ink)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, colors=style.ink, labelsize=9)
    return axes


def _grid_around(rows: Any, cells: int) -> list[Any]:
    low, high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
    margin = 0.15 * (high - low)
    return [np.linspace(low[j] - margin[j], high[j] + margin[j], cells) for j in (0, 1)]


def _surfaces(detector: Detector, rows: Any, after: Sequence[int], grid: list[Any]) -> list[Any]:
    plane = np.stack(np.meshgrid(*grid), axis=-1).reshape(-1, 2)
    learner, learned, surfaces = detector.clone(), 0, []
    for count in after:
        learner.learn(rows[learned:count])
        learned = count
        surfaces.append(learner.score(plane).reshape(len(grid[1]), len(grid[0])))
    return surfaces


def attribution(attributions: Any, names: Sequence[Any] | None = None, most: int = 10, ax: Axes | None = None) -> Axes:
    """Draw why a row has its score: the share of each column, and whether its number is low or high.

    Args:
        attributions: what Pipeline.explain returned, a row of what process with explain returned (also of a DataFrame), or the
            shares of a row that explain of a detector returned
        names: of the columns, where the attributions have none
        most: columns to draw, the largest share first; those below 1% are combined
        ax: the axes to draw into
    """
    ranked = sorted(_attributions_of(attributions, names), key=lambda a: -a.share)
    drawn = [a for a in ranked[:most] if a.share >= 0.01] or ranked[:1]
    others = ranked[len(drawn) :]
    if others:
        drawn.append(Attribution(f"{len(others)} other{'s' * (len(others) > 1)}", sum(a.share for a in others), 0))
    drawn = drawn[::-1]
    ax, style = axes_of(ax, (6, 0.6 + 0.36 * max(len(drawn), 1)))
    colors = [style.alarm if a.direction > 0 else style.low if a.direction < 0 else style.quiet for a in drawn]
    ax.barh(range(len(drawn)), [a.share for a in drawn], color=colors, height=0.62)
    ax.set_yticks(range(len(drawn)), [str(a.column) for a in drawn])
    words = {1: "high", -1: "low", 0: ""}
    for i, a in enumerate(drawn):
        note = f"{a.share:.0%} {words[a.direction]}".strip()
        ax.annotate(note, (a.share, i), xytext=(5, 0), textcoords="offset points", va="center", fontsize=9, color=style.ink)
    ax.set_xlim(0, 1.25 * max([a.share for a in drawn] + [0.01]))
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_title("share of the score", loc="left", fontsize=10, color=style.ink)
    return ax


def _row_by_name(given: Any) -> Mapping[Any, Any] | None:
    """A row of a DataFrame, as a Series, a DataFrame of one row or a dict; None for others."""
    if isinstance(given, Mapping):
        return given
    if hasattr(given, "columns"):
        if len(given) != 1:
            raise ValueError(f"expected a single row, got a DataFrame of {len(given)}")
        return {name: np.asarray(given[name])[0] for name in given.columns}
    if hasattr(given, "iloc") and hasattr(given, "index"):
        return dict(zip(given.index, given))
    return None


def _attributions_by_name(row: Mapping[Any, Any]) -> list[Attribution]:
    names = [name[6:] for name in row if isinstance(name, str) and name.startswith("share_")]
    if not names:
        raise ValueError("these results have no shares; ask for them: process(..., explain=True)")
    return [Attribution(name, float(row[f"share_{name}"]), int(row.get(f"direction_{name}", 0))) for name in names]


def _attributions_of(given: Any, names: Sequence[Any] | None) -> list[Attribution]:
    row = _row_by_name(given)
    if row is not None:
        return _attributions_by_name(row)
    fields = getattr(getattr(given, "dtype", None), "names", None)
    if fields:
        if "share" not in fields:
            raise ValueError("these results have no shares; ask for them: process(..., explain=True)")
        shares, directions = np.asarray(given["share"]), np.asarray(given["direction"])
    elif len(given) > 0 and not isinstance(given[0], Attribution):
        shares, directions = np.asarray(given, dtype=np.float64), np.zeros(np.shape(given), np.int8)
    else:
        return list(given)
    if shares.ndim != 1:
        raise ValueError(f"expected a single row, got an array of shape {shares.shape}")
    names = range(len(shares)) if names is None else names
    if len(names) != len(shares):
        raise ValueError(f"there are {len(names)} names for {len(shares)} shares")
    return [Attribution(*three) for three in zip(names, shares.tolist(), directions.tolist())]

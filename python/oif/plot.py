"""Pictures of scores; needs matplotlib (pip install matplotlib, or "online-iforest[plot]").

Every function draws into the axes that it is given, or makes a figure, and returns the axes.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _hosts
from ._detectors import Detector
from ._results import Attribution

_hosts.need("plot")
from matplotlib import dates, pyplot  # noqa: E402
from matplotlib.colors import LinearSegmentedColormap  # noqa: E402

__all__ = ["attribution", "heatmap", "scores"]

INK, QUIET, FAINT, CALM, ALARM, LOW = "#1f2933", "#9aa5b1", "#eef1f4", "#2f6f9f", "#d64545", "#2f6f9f"
# Calm blue to white to alarming red, equally light at equal distances from the middle.
HEAT = LinearSegmentedColormap.from_list(
    "oif", ["#16425b", "#3a7ca5", "#bcd8e8", "#f9f4ec", "#f4b393", "#d64545", "#7d1420"]
)
MOST_POINTS = 1500  # a line of more is a wall; bands of so many stretches at the most tell more
MOST_STRETCHES = 250


def scores(results: Any, times: Any = None, labels: Any = None, ax: Any = None) -> Any:
    """Draw scores over time, with the threshold and the anomalies where they are known.

    Many scores are drawn as bands: the middle half, all but a tenth at either end, and the lowest and highest.

    Args:
        results: what process returned, or just scores
        times: where each row stands on the horizontal axis; the dates of a DataFrame's index, or else the row's number
        labels: the truth, if known: rows that are anomalies are marked below
        ax: the axes to draw into
    """
    fields: Any = getattr(getattr(results, "dtype", None), "names", None) or getattr(results, "columns", ())
    known = {name: np.asarray(results[name]) for name in ("score", "threshold", "anomaly", "ready") if name in fields}
    score = known["score"] if "score" in known else np.asarray(results, dtype=np.float64)
    if score.ndim != 1 or len(score) == 0:
        raise ValueError(
            f"expected results of process or scores, at least one, got an array of shape {score.shape}"
        )
    times = _dates_of(results) if times is None else times
    x = np.arange(len(score)) if times is None else np.asarray(times)
    ax = _axes(ax, (10, 3.4))
    if len(x) != len(score):
        raise ValueError(f"there are {len(x)} times for {len(score)} scores")
    if "ready" in known:
        _mark_learning(ax, x, known["ready"].astype(bool))
    _draw_scores(ax, x, score)
    if "threshold" in known:
        limit = np.where(np.isfinite(known["threshold"]), known["threshold"], np.nan)
        ax.plot(x, limit, drawstyle="steps-mid", color=INK, linewidth=1.1, zorder=4, label="threshold")
    if "anomaly" in known and known["anomaly"].any():
        _mark_anomalies(ax, x, score, known)
    if labels is not None:
        truth = np.asarray(labels).astype(bool)
        ax.plot(x[truth], np.full(truth.sum(), -0.02), "^", color=ALARM, markersize=5, markeredgewidth=0, clip_on=False,
                transform=ax.get_xaxis_transform(), label="known to be one", zorder=5)  # fmt: skip
        ax.tick_params(axis="x", pad=8)
    if len(x) > 1:
        ax.set_xlim(x[0], x[-1])
    _frame_scores(ax, score)
    ax.set_ylabel("score", color=INK)
    if times is None:
        ax.set_xlabel("row", color=INK)
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    elif isinstance(ax.xaxis.get_major_locator(), dates.AutoDateLocator):
        formatter = dates.ConciseDateFormatter(ax.xaxis.get_major_locator())  # type: ignore[no-untyped-call]
        ax.xaxis.set_major_formatter(formatter)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1.01), ncols=4, frameon=False, handlelength=1.6, fontsize=9,
                  borderaxespad=0.2, labelcolor=INK)  # fmt: skip
    return ax


def _dates_of(results: Any) -> Any:
    index = getattr(results, "index", None)
    return index if getattr(getattr(index, "dtype", None), "kind", "") == "M" else None


def _draw_scores(ax: Any, x: Any, score: Any) -> None:
    if len(score) <= MOST_POINTS:
        ax.plot(x, score, color=CALM, linewidth=0.9, zorder=2)
        return
    size = -(-len(score) // MOST_STRETCHES)
    whole = len(score) // size * size
    stretches = score[:whole].reshape(-1, size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a stretch of nothing but NaN is left empty
        low, tenth, quarter, median, three, nine, high = np.nanquantile(
            stretches, [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1], axis=1
        )
    middle = x[:whole].reshape(-1, size)[:, size // 2]
    for below, above, alpha in ((low, high, 0.18), (tenth, nine, 0.3), (quarter, three, 0.45)):
        ax.fill_between(middle, below, above, color=CALM, alpha=alpha, linewidth=0, zorder=2)
    ax.plot(middle, median, color=CALM, linewidth=1, zorder=3)


def _mark_learning(ax: Any, x: Any, ready: Any) -> None:
    first = int(ready.argmax()) if ready.any() else len(ready) - 1
    if first == 0:
        return
    ax.axvspan(x[0], x[first], color=FAINT, linewidth=0, zorder=0)
    if first > 0.08 * len(ready):
        ax.annotate("learning", (0, 1), xytext=(6, -5), xycoords="axes fraction", textcoords="offset points", va="top",
                    fontsize=9, color=QUIET, zorder=5)  # fmt: skip


def _mark_anomalies(ax: Any, x: Any, score: Any, known: dict[str, Any]) -> None:
    hit = known["anomaly"].astype(bool)
    if "threshold" in known:
        ax.vlines(x[hit], known["threshold"][hit], score[hit], color=ALARM, linewidth=0.8, alpha=0.7, zorder=4)
    size = float(np.clip(2400 / hit.sum(), 6, 30))
    ax.scatter(x[hit], score[hit], s=size, color=ALARM, edgecolor="white", linewidth=0.5, zorder=5, label="anomaly")


def _frame_scores(ax: Any, score: Any) -> None:
    if np.isfinite(score).any():
        bottom, top = np.nanpercentile(score, 0.5), np.nanmax(score)  # the very first scores say nothing
        room = max(0.1 * (top - bottom), 1e-3)
        ax.set_ylim(bottom - room, top + room)


def heatmap(
    detector: Detector, x: Any, after: Sequence[int] = (100, 300, 1000), cells: int = 240, axes: Any = None
) -> Any:
    """Draw what a detector makes of the plane after some rows of two numbers: figure 1 of the paper.

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
        image = ax.pcolormesh(*grid, surface, cmap=HEAT, vmin=bottom, vmax=top, shading="nearest", rasterized=True)
        size = float(np.clip(1500 / count, 2, 12))
        ax.scatter(*rows[:count].T, s=size, color="white", edgecolor=INK, linewidth=0.3, alpha=0.85)
        ax.set_title(f"after {count:,} rows", loc="left", fontsize=11, color=INK)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_box_aspect(1)
        for spine in ax.spines.values():
            spine.set_visible(False)
    for name, label in zip(getattr(x, "columns", ()), (axes[len(axes) // 2].set_xlabel, axes[0].set_ylabel)):
        label(str(name), color=INK)
    bar = axes[-1].figure.colorbar(image, cax=axes[-1].inset_axes((1.04, 0, 0.04, 1)))
    bar.set_label("score", color=INK)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, colors=INK, labelsize=9)
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


def attribution(attributions: Any, names: Sequence[Any] | None = None, most: int = 10, ax: Any = None) -> Any:
    """Draw why a row has its score: the share of each column, and whether its number is low or high.

    Args:
        attributions: what Pipeline.explain returned, a row of what process with explain returned, or the shares of a row
            that explain of a detector returned
        names: of the columns, where the attributions have none
        most: columns that are drawn, the weightiest first; those under 1% are put together
        ax: the axes to draw into
    """
    ranked = sorted(_attributions_of(attributions, names), key=lambda a: -a.share)
    drawn = [a for a in ranked[:most] if a.share >= 0.01] or ranked[:1]
    others = ranked[len(drawn) :]
    if others:
        drawn.append(Attribution(f"{len(others)} other{'s' * (len(others) > 1)}", sum(a.share for a in others), 0))
    drawn = drawn[::-1]
    ax = _axes(ax, (6, 0.6 + 0.36 * max(len(drawn), 1)))
    colors = [ALARM if a.direction > 0 else LOW if a.direction < 0 else QUIET for a in drawn]
    ax.barh(range(len(drawn)), [a.share for a in drawn], color=colors, height=0.62)
    ax.set_yticks(range(len(drawn)), [str(a.column) for a in drawn])
    words = {1: "high", -1: "low", 0: ""}
    for i, a in enumerate(drawn):
        note = f"{a.share:.0%} {words[a.direction]}".strip()
        ax.annotate(note, (a.share, i), xytext=(5, 0), textcoords="offset points", va="center", fontsize=9, color=INK)
    ax.set_xlim(0, 1.25 * max([a.share for a in drawn] + [0.01]))
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_title("share of the score", loc="left", fontsize=10, color=INK)
    return ax


def _attributions_of(given: Any, names: Sequence[Any] | None) -> list[Attribution]:
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


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    if ax is None:
        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(QUIET)
    ax.tick_params(colors=INK, labelsize=9)
    return ax

"""Pictures of scores; needs matplotlib (pip install "oif[plot]").

Every function draws into the axes that it is given, or makes a figure, and returns the axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib import pyplot
from matplotlib.colors import LinearSegmentedColormap

from ._detectors import Detector
from ._results import Attribution

__all__ = ["attribution", "heatmap", "scores"]

INK, QUIET, CALM, ALARM, LOW = "#1f2933", "#9aa5b1", "#2f6f9f", "#d64545", "#2f6f9f"
# Calm blue to white to alarming red, equally light at equal distances from the middle.
HEAT = LinearSegmentedColormap.from_list(
    "oif", ["#16425b", "#3a7ca5", "#bcd8e8", "#f9f4ec", "#f4b393", "#d64545", "#7d1420"]
)


def scores(results: Any, times: Any = None, labels: Any = None, ax: Any = None) -> Any:
    """Draw scores over time, with the threshold and the anomalies where they are known.

    Args:
        results: what Pipeline.process returned, or just scores
        times: where each row stands on the horizontal axis; its number if not given
        labels: the truth, if known: rows that are anomalies are marked below
    """
    fields: Any = getattr(getattr(results, "dtype", None), "names", None) or getattr(results, "columns", ())
    known = {name: np.asarray(results[name]) for name in ("score", "threshold", "anomaly") if name in fields}
    score = known.get("score", np.asarray(results) if not known else None)
    assert score is not None
    x = np.arange(len(score)) if times is None else np.asarray(times)
    ax = _axes(ax, (10, 3.2))
    ax.plot(x, score, color=CALM, linewidth=0.7, alpha=0.9, zorder=2)
    if "threshold" in known:
        limit = np.where(np.isfinite(known["threshold"]), known["threshold"], np.nan)
        ax.step(x, limit, where="mid", color=INK, linewidth=1, linestyle=(0, (4, 2)), zorder=3, label="threshold")
    if "anomaly" in known and known["anomaly"].any():
        hit = known["anomaly"].astype(bool)
        ax.scatter(x[hit], score[hit], s=26, color=ALARM, edgecolor="white", linewidth=0.6, zorder=4, label="anomaly")
    if labels is not None:
        truth = np.asarray(labels).astype(bool)
        ax.plot(x[truth], np.full(truth.sum(), 0.03), "|", color=ALARM, markersize=8, markeredgewidth=1.2,
                transform=ax.get_xaxis_transform(), clip_on=False, label="known to be one")  # fmt: skip
    ax.set_xlim(x[0], x[-1])
    bottom, top = np.nanpercentile(score, 0.5), np.nanmax(score)  # the very first scores say nothing
    ax.set_ylim(bottom - 0.1 * (top - bottom), top + 0.1 * (top - bottom))
    ax.set_ylabel("score")
    ax.set_xlabel("row" if times is None else "")
    if ax.get_legend_handles_labels()[0]:
        ax.legend(
            loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, frameon=False, handlelength=1.8, borderaxespad=0.2
        )
    return ax


def heatmap(
    detector: Detector, x: npt.ArrayLike, after: Sequence[int] = (100, 300, 1000), cells: int = 240, axes: Any = None
) -> Any:
    """Draw what a detector makes of the plane after some rows of two numbers: figure 1 of the paper.

    Args:
        detector: one that has learned nothing yet; it stays as it is
        x: rows of two numbers
        after: how many of them are learned in each picture
        cells: of the surface, along each side
    """
    rows = np.asarray(x, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ValueError(f"rows of two numbers are asked for, not an array of shape {rows.shape}")
    if axes is None:
        shape = (3.7 * len(after) + 0.6, 4.1)
        _, axes = pyplot.subplots(1, len(after), figsize=shape, sharex=True, sharey=True, layout="constrained")
    axes = np.atleast_1d(axes)
    low, high = rows.min(axis=0), rows.max(axis=0)
    margin = 0.15 * (high - low)
    grid = [np.linspace(low[j] - margin[j], high[j] + margin[j], cells) for j in (0, 1)]
    plane = np.stack(np.meshgrid(*grid), axis=-1).reshape(-1, 2)
    surfaces = []
    learner, learned = detector.clone(), 0
    for count in after:
        learner.learn(rows[learned:count])
        learned = count
        surfaces.append(learner.score(plane).reshape(cells, cells))
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
    bar = axes[0].figure.colorbar(image, ax=list(axes), fraction=0.025, pad=0.01, aspect=28)
    bar.set_label("score", color=INK)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, colors=INK)
    return axes


def attribution(attributions: Sequence[Attribution], most: int = 10, ax: Any = None) -> Any:
    """Draw why a row has its score: the share of each feature, and whether its number is low or high.

    Args:
        attributions: what Pipeline.explain returned
        most: features that are drawn, the weightiest first
    """
    ranked = sorted(attributions, key=lambda a: -a.share)[:most][::-1]
    ax = _axes(ax, (6, 0.7 + 0.36 * max(len(ranked), 1)))
    colors = [ALARM if a.direction > 0 else LOW if a.direction < 0 else QUIET for a in ranked]
    ax.barh([str(a.feature) for a in ranked], [a.share for a in ranked], color=colors, height=0.62)
    words = {1: "high", -1: "low", 0: ""}
    for i, a in enumerate(ranked):
        note = f"{a.share:.0%} {words[a.direction]}".strip()
        ax.annotate(note, (a.share, i), xytext=(5, 0), textcoords="offset points", va="center", fontsize=9, color=INK)
    ax.set_xlim(0, 1.18 * max([a.share for a in ranked] + [0.01]))
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_title("share of the score", loc="left", fontsize=10, color=INK)
    return ax


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    if ax is None:
        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(QUIET)
    ax.tick_params(colors=INK, labelsize=9)
    return ax

"""The data themselves, with what was found in them; why, over time; and which keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import rows_of
from ._plot_style import Style, axes_of, draw_series, field_of, frame, legend_above, name_times, shares_of, style_of
from ._plot_style import pyplot, times_of
from ._results import Episode, Grade, Reason

BLAMED = 0.25  # a column with this share of a score is one of its reasons


def data(
    x: Any,
    results: Any,
    times: Any = None,
    columns: Sequence[Any] | None = None,
    labels: Any = None,
    most: int = 6,
    axes: Any = None,
) -> npt.NDArray[np.object_]:
    """Draw the columns of the data over time with the alerts in them: episodes shaded, anomalies marked, reasons named;
    returns the axes, one for each column.

    With results that were explained, an anomaly is marked in the columns that are a reason for it, and the columns that are
    the reason most often come first. Else it is marked in all.

    Args:
        x: the rows: an array, a DataFrame, a series
        results: what process returned for them
        times: the position of each row on the horizontal axis; the dates of a DataFrame's index, or else the row's number
        columns: names of the columns to draw, or their names if x has none
        labels: the truth, if known: rows that are anomalies are shaded below
        most: columns that are drawn
        axes: the axes to draw into, one for each column
    """
    rows, names = _rows_and_names(x)
    if columns is not None and not set(columns) <= set(names):
        if len(columns) != len(names):
            raise ValueError(f"there are {len(columns)} names for {len(names)} columns")
        names = list(columns)
    anomaly = field_of(results, "anomaly")
    if anomaly is None or len(anomaly) != len(rows):
        raise ValueError("expected the results of process for these rows")
    marked = _marked(results, anomaly.astype(bool), len(names))
    chosen = _chosen(names, columns, marked, most)
    if axes is None:
        shape = (10, 1.2 + 1.5 * len(chosen))
        _, axes = pyplot.subplots(len(chosen), 1, figsize=shape, sharex=True, layout="constrained", squeeze=False)
    drawn: npt.NDArray[np.object_] = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    at, is_number = times_of(x if times is None and _has_dates(x) else results, times, len(rows))
    for ax, column in zip(drawn, chosen):
        style = style_of(ax)
        frame(ax, style)
        draw_series(ax, at, rows[:, column], style.calm)
        _shade_episodes(ax, at, field_of(results, "episode"), anomaly.astype(bool), style)
        _mark_rows(ax, at, rows[:, column], marked[:, column], style)
        if labels is not None:
            _shade_labels(ax, at, np.asarray(labels).astype(bool), style)
        ax.set_ylabel(str(names[column]), color=style.ink)
        if len(at) > 1:
            ax.set_xlim(at[0], at[-1])
    _name_reasons(drawn[0], at, results, anomaly.astype(bool), style_of(drawn[0]))
    name_times(drawn[len(chosen) - 1], style_of(drawn[0]), is_number)
    legend_above(drawn[0], style_of(drawn[0]))
    return drawn


def _has_dates(x: Any) -> bool:
    return getattr(getattr(getattr(x, "index", None), "dtype", None), "kind", "") == "M"


def _rows_and_names(x: Any) -> tuple[Any, list[Any]]:
    rows, names = rows_of(x, None, True, 0, False)
    rows = np.asarray(rows, dtype=np.float64)
    rows = rows.reshape(-1, 1) if rows.ndim == 1 else rows
    return rows, list(names) if names else list(range(rows.shape[1]))


def _marked(results: Any, anomaly: Any, width: int) -> Any:
    """For each row and column whether an anomaly is marked there."""
    explained = shares_of(results)
    if explained is None or explained[0].shape[1] != width:
        return np.repeat(anomaly[:, None], width, axis=1)
    share = explained[0]
    reasons = (share >= BLAMED) | (share == share.max(axis=1, keepdims=True))
    return reasons & anomaly[:, None]


def _chosen(names: list[Any], columns: Sequence[Any] | None, marked: Any, most: int) -> list[int]:
    if columns is not None and set(columns) <= set(names):
        return [names.index(name) for name in columns][:most]
    order = np.argsort(-marked.sum(axis=0), kind="stable")[:most]
    return [int(i) for i in (order if len(names) > most else np.arange(len(names)))]


def _shade_episodes(ax: Any, at: Any, episode: Any, anomaly: Any, style: Style) -> None:
    if episode is None:
        return
    label: str | None = "episode"
    begins = np.flatnonzero(episode == Episode.BEGINS)
    ends = np.flatnonzero(episode == Episode.ENDS)
    for begin in begins[:200]:
        end = ends[ends >= begin]
        last = int(end[0]) if len(end) else len(episode) - 1
        hits = np.flatnonzero(anomaly[begin : last + 1])
        last = int(begin + hits[-1]) if len(hits) else last  # what follows the last anomaly is calm
        ax.axvspan(at[begin], at[last], color=style.alarm, alpha=0.13 if style.ink == "#1f2933" else 0.3, linewidth=1.5, zorder=0, label=label)
        label = None


def _mark_rows(ax: Any, at: Any, values: Any, marked: Any, style: Style) -> None:
    if marked.any():
        size = float(np.clip(2400 / marked.sum(), 6, 30))
        ax.scatter(at[marked], values[marked], s=size, color=style.alarm, edgecolor=style.paper, linewidth=0.5, zorder=5,
                   label="anomaly, in the columns that explain it")  # fmt: skip


def _shade_labels(ax: Any, at: Any, labels: Any, style: Style) -> None:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], labels, [False]]).astype(np.int8))).reshape(-1, 2)
    label: str | None = "labelled anomaly"
    for begin, end in edges[:500]:
        ax.axvspan(at[begin], at[end - 1], 0, 0.06, color=style.false, linewidth=1.5, zorder=1, label=label)
        label = None


def _name_reasons(ax: Any, at: Any, results: Any, anomaly: Any, style: Style) -> None:
    """The reason of each of the first episodes above it, where it is not just the values."""
    reason, episode = field_of(results, "reason"), field_of(results, "episode")
    if reason is None or episode is None:
        return
    for begin in np.flatnonzero(episode == Episode.BEGINS)[:40]:
        if reason[begin] != Reason.VALUES:
            ax.annotate(Reason(int(reason[begin])).name.lower(), (at[begin], 1), xycoords=("data", "axes fraction"),
                        xytext=(2, -8), textcoords="offset points", fontsize=8, color=style.alarm)  # fmt: skip


def attribution_over_time(
    results: Any, names: Sequence[Any] | None = None, times: Any = None, most: int = 10, ax: Any = None
) -> Any:
    """Draw which columns the anomalies are due to, over time: the stronger the colour, the larger the share.

    Without a single anomaly, it is the scores of all rows.

    Args:
        results: what process returned with explain
        names: of the columns, where the results have none
        times: the position of each row on the horizontal axis
        most: columns that are drawn, those with the largest shares
        ax: the axes to draw into
    """
    explained = shares_of(results)
    if explained is None:
        raise ValueError("these results have no shares; ask for them: process(..., explain=True)")
    share, own = explained
    names = own if names is None else [str(name) for name in names]
    if len(names) != share.shape[1]:
        raise ValueError(f"there are {len(names)} names for {share.shape[1]} shares")
    anomaly = field_of(results, "anomaly")
    if anomaly is not None and anomaly.any():
        share = np.where(anomaly.astype(bool)[:, None], share, 0.0)
    known = share.sum(axis=1) > 0
    order = np.argsort(-share[known].sum(axis=0), kind="stable")[:most]
    ax, style = axes_of(ax, (10, 1 + 0.36 * len(order)))
    at, is_number = times_of(results, times, len(share))
    edges = np.unique(np.linspace(0, len(share), min(len(share), 200) + 1).astype(int))
    counts = np.maximum(1, np.add.reduceat(known.astype(float), edges[:-1]))
    means = np.add.reduceat(share[:, order], edges[:-1], axis=0) / counts[:, None]
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("shares", [style.paper, style.alarm])
    ends = np.append(at[edges[:-1]], at[-1])
    ax.pcolormesh(ends, np.arange(len(order) + 1), means.T[::-1], cmap=shades, vmin=0, vmax=max(0.5, float(means.max(initial=0))),
                  rasterized=True)  # fmt: skip
    ax.set_yticks(np.arange(len(order)) + 0.5, [names[i] for i in order[::-1]])
    ax.tick_params(axis="y", length=0)
    ax.set_title("share of the score", loc="left", fontsize=10, color=style.ink)
    name_times(ax, style, is_number)
    return ax


def keys(results: Any, keys: Any, times: Any = None, most: int = 30, ax: Any = None) -> Any:
    """Draw when each key had anomalies, by their grade; the keys with the most come first.

    Args:
        results: what process returned
        keys: of the rows
        times: the position of each row on the horizontal axis
        most: keys that are drawn
        ax: the axes to draw into
    """
    anomaly = field_of(results, "anomaly")
    if anomaly is None or len(anomaly) != len(keys):
        raise ValueError("expected the results of process, and a key for each of them")
    names, number = np.unique(np.asarray(keys, dtype=str), return_inverse=True)
    hit = np.flatnonzero(anomaly)
    counts = np.bincount(number[hit], minlength=len(names))
    order = np.argsort(-counts, kind="stable")[:most]
    place = np.full(len(names), -1)
    place[order] = np.arange(len(order))[::-1]
    ax, style = axes_of(ax, (10, 1 + 0.28 * len(order)))
    at, is_number = times_of(results, times, len(anomaly))
    grade = field_of(results, "grade")
    sizes = {Grade.NOTE: 12, Grade.WARNING: 28, Grade.CRITICAL: 60}
    for level in sizes:
        rows = hit[(grade[hit] == level) & (place[number[hit]] >= 0)] if grade is not None else hit[:0]
        if len(rows):
            ax.scatter(at[rows], place[number[rows]], s=sizes[level], color=style.alarm, edgecolor=style.paper,
                       alpha=0.35 + 0.2 * level, linewidth=0.5, label=level.name.lower())  # fmt: skip
    ax.set_yticks(np.arange(len(order)), [f"{names[i]} ({counts[i]:,})" for i in order[::-1]])
    ax.set_ylim(-0.7, len(order) - 0.3)
    if len(at) > 1:
        ax.set_xlim(at[0], at[-1])
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", color=style.faint, zorder=0)
    ax.set_axisbelow(True)
    name_times(ax, style, is_number)
    legend_above(ax, style)
    return ax

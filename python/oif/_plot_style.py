"""Colours that suit the paper they are drawn on, light or dark; times and stretches on the horizontal axis."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from . import _hosts

_hosts.need("plot")
from matplotlib import dates  # noqa: E402
from matplotlib import pyplot as pyplot  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.colors import to_hex, to_rgba  # noqa: E402

MOST_POINTS = 1500  # a line of more is a wall; bands of at most that many stretches show more
MOST_STRETCHES = 250


class Style(NamedTuple):
    """Colours by what they are for."""

    ink: str  # text
    quiet: str  # frames
    faint: str  # shades
    paper: str
    calm: str
    alarm: str
    false: str  # alarms that are false
    found: str
    low: str


def style_of(ax: Axes) -> Style:
    """The paper decides, whatever the current settings are."""
    red, green, blue, alpha = to_rgba(ax.get_facecolor())
    if alpha < 0.5:
        red, green, blue, alpha = to_rgba(ax.figure.get_facecolor())  # type: ignore[union-attr,unused-ignore]
    if alpha < 0.5:
        red, green, blue = (1.0, 1.0, 1.0)
    paper = to_hex((red, green, blue))
    if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5:
        return Style("#1f2933", "#9aa5b1", "#eef1f4", paper, "#2f6f9f", "#d64545", "#d98c1f", "#2e8b57", "#2f6f9f")
    return Style("#e4e7eb", "#7b8794", "#2b333d", paper, "#6fb3e0", "#ff6b6b", "#f0b429", "#5fd39a", "#6fb3e0")


def axes_of(ax: Axes | None, size: tuple[float, float]) -> tuple[Axes, Style]:
    if ax is None:
        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    style = style_of(ax)
    frame(ax, style)
    return ax, style


def frame(ax: Axes, style: Style) -> None:
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(style.quiet)
    ax.tick_params(colors=style.ink, labelsize=9)


def legend_above(ax: Axes, style: Style, columns: int = 4) -> None:
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1.01), ncols=columns, frameon=False, handlelength=1.6, fontsize=9,
                  borderaxespad=0.2, labelcolor=style.ink)  # fmt: skip


def times_of(results: Any, times: Any, count: int) -> tuple[Any, bool]:
    """Where each row is on the horizontal axis, and whether that is just its number."""
    if times is None:
        index = getattr(results, "index", None)
        times = index if getattr(getattr(index, "dtype", None), "kind", "") == "M" else None
    x = np.arange(count) if times is None else np.asarray(times)
    if len(x) != count:
        raise ValueError(f"there are {len(x)} times for {count} scores")
    return x, times is None


def name_times(ax: Axes, style: Style, is_number: bool) -> None:
    if is_number:
        ax.set_xlabel("row", color=style.ink)
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    elif isinstance(ax.xaxis.get_major_locator(), dates.AutoDateLocator):
        formatter = dates.ConciseDateFormatter(ax.xaxis.get_major_locator())  # type: ignore[no-untyped-call,unused-ignore]
        ax.xaxis.set_major_formatter(formatter)
        ax.xaxis.get_offset_text().set_color(style.ink)


def draw_series(ax: Axes, x: Any, values: Any, color: str) -> None:
    """A line, or where that would be a wall of ink bands: the middle half, all but a tenth at either end, and all."""
    if len(values) <= MOST_POINTS:
        ax.plot(x, values, color=color, linewidth=0.9, zorder=2)
        return
    size = -(-len(values) // MOST_STRETCHES)
    whole = len(values) // size * size
    stretches = values[:whole].reshape(-1, size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a stretch of nothing but NaN is left empty
        low, tenth, quarter, median, three, nine, high = np.nanquantile(
            stretches, [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1], axis=1
        )
    middle = x[:whole].reshape(-1, size)[:, size // 2]
    for below, above, alpha in ((low, high, 0.18), (tenth, nine, 0.3), (quarter, three, 0.45)):
        ax.fill_between(middle, below, above, color=color, alpha=alpha, linewidth=0, zorder=2)
    ax.plot(middle, median, color=color, linewidth=1, zorder=3)


def field_of(results: Any, name: str) -> Any:
    """A field of what process returned, as an array; None if it has no such field."""
    fields: Any = getattr(getattr(results, "dtype", None), "names", None) or getattr(results, "columns", ())
    return np.asarray(results[name]) if name in fields else None


def shares_of(results: Any) -> tuple[Any, list[str]] | None:
    """The share of each column for each row and the names of the columns; None if nothing was explained."""
    fields = getattr(getattr(results, "dtype", None), "names", None)
    if fields:
        share = np.asarray(results["share"]) if "share" in fields else None
        return None if share is None else (share, [str(i) for i in range(share.shape[1])])
    names = [name for name in getattr(results, "columns", ()) if isinstance(name, str) and name.startswith("share_")]
    if not names:
        return None
    return np.stack([np.asarray(results[name]) for name in names], axis=1), [name[6:] for name in names]

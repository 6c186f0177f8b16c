"""The sheet: a strip for each of some series, with values, labels and the alerts of two scorers, to be looked at.

    crash app1-01, 358 rows: 2 of 7 events reported, ...
    column a   ~~~|/\\|~~~    orange band: labelled; grey: history
    column b   ~~~|~~|\\__
    alerts         |    |     blue: of the tool; grey: of the yardstick

Every pixel shows the least and the largest value of its rows. Values beyond the usual range are drawn at its edge.
"""

from html import escape
from typing import Iterator, NamedTuple, Sequence

import numpy as np

from . import measures
from .measures import Span, episodes, spans
from .series import Series

STRIPS = 20
WIDTH, MARGIN, TITLE, VALUES, TICKS, GAP = 1200, 10, 16, 66, 9, 12  # pixels
MOST_COLUMNS = 3
USUAL = (0.002, 0.998)  # quantiles of the values that are drawn in full
BEYOND = 1.5  # usual ranges that are drawn above and below, if there are values
LARGEST_Z = 20.0  # that a column gets for an event
STYLE = """text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: #222 } .name { fill: #777; font-size: 10px }
.line { fill: none; stroke: #222; stroke-width: .8 } .label { fill: #ffb84d; opacity: .6 } .history { fill: #eee }
.tick0 { fill: #1f4fe0 } .tick1 { fill: #999 } .paper { fill: #fff }"""


class Strip(NamedTuple):
    height: int
    svg: str


def telling_columns(series: Series) -> list[int]:
    """Those that are furthest from their median in the events, in usual deviations."""
    rows = np.nan_to_num(series.rows)
    low, centre, high = np.quantile(rows, (0.1, 0.5, 0.9), axis=0)
    scale = np.maximum((high - low) / 2.56, 0.1 * rows.std(axis=0))
    weights = np.zeros(len(series.columns))
    for event in spans(series.labels):
        away = np.abs(rows[event.first : event.end] - centre).max(axis=0)
        weights += np.minimum(np.divide(away, scale, out=np.zeros_like(away), where=scale > 0), LARGEST_Z)
    order = [int(j) for j in np.argsort(-weights, kind="stable")[:MOST_COLUMNS]]
    return sorted(j for j in order if weights[j] > 0 or j == order[0])


# ---- From rows to pixels ----


def extremes(values: np.ndarray) -> Iterator[tuple[float, float, float]]:
    """x, the least and the largest value of each pixel; both NaN if it has none."""
    count = min(WIDTH, len(values))
    edges = np.linspace(0, len(values), count + 1).round().astype(int)
    for i in range(count):
        part = values[edges[i] : edges[i + 1]]
        part = part[~np.isnan(part)]
        x = (i + 0.5) * WIDTH / count
        yield (x, float(part.min()), float(part.max())) if len(part) else (x, np.nan, np.nan)


def line_path(values: np.ndarray, low: float, high: float, top: float, height: float) -> str:
    """Through the extremes of all pixels, with a gap where values are missing."""
    parts, last = [], None
    for x, least, largest in extremes(np.clip(values, low, high)):
        if least != least:
            last = None
            continue
        near, far = (round(top + height * (high - y) / (high - low)) for y in (least, largest))
        if last is not None and abs(far - last) < abs(near - last):
            near, far = far, near
        parts.append(f"{'M' if last is None else 'L'}{x:g} {near}" + (f"V{far}" if far != near else ""))
        last = far
    return "".join(parts)


def drawn_range(values: np.ndarray, is_usual: np.ndarray) -> tuple[float, float]:
    """Of all values, but not much more than the range of the usual ones."""
    known, usual = values[~np.isnan(values)], values[is_usual & ~np.isnan(values)]
    if not len(known):
        return 0.0, 1.0
    low, high = np.quantile(usual if len(usual) else known, USUAL)
    margin = BEYOND * (high - low) or abs(high) or 1.0
    low, high = max(low - margin, known.min()), min(high + margin, known.max())
    return float(low), float(high if high > low else low + 1)


# ---- A strip, and all of them ----


def rectangle(span: Span, rows: int, top: float, height: float, style: str) -> str:
    """At least two pixels wide."""
    x = span.first * WIDTH / rows
    width = max(2.0, (span.end - span.first) * WIDTH / rows)
    box = f'x="{x:.1f}" y="{top:g}" width="{width:.1f}" height="{height:g}"'
    return f'<rect {box} class="{style}"/>'


def words(series: Series, alerts: np.ndarray) -> str:
    found = measures.find(alerts[series.start :], series.labels[series.start :])
    counts = f"{found.reported} of {found.events} events reported, {found.found} found, {found.others} others"
    return f"{series.title}, {len(series.rows):,} rows: {counts}"


def strip(series: Series, alerts: dict[str, np.ndarray]) -> Strip:
    """`alerts`: of the scorers; those of the first two are drawn."""
    rows, shown = len(series.rows), list(alerts.values())[:2]
    drawn = [f'<text x="0" y="{TITLE - 4}">{escape(words(series, shown[0]))}</text>']
    if series.start:
        drawn.append(rectangle(Span(0, series.start), rows, TITLE, VALUES, "history"))
    drawn += [rectangle(event, rows, TITLE, VALUES, "label") for event in spans(series.labels)]
    columns = telling_columns(series)
    height = VALUES / len(columns)
    for i, j in enumerate(columns):
        top = TITLE + i * height
        low, high = drawn_range(series.rows[:, j], ~series.labels)
        drawn.append(f'<path d="{line_path(series.rows[:, j], low, high, top, height - 2)}" class="line"/>')
        drawn.append(f'<text x="2" y="{top + 10:g}" class="name">{escape(series.columns[j])}</text>')
    for i, flags in enumerate(shown):
        for episode in episodes(flags):
            drawn.append(rectangle(episode, rows, TITLE + VALUES + 1 + i * TICKS, TICKS - 1, f"tick{i}"))
    return Strip(TITLE + VALUES + 2 * TICKS + GAP, "".join(drawn))


def sheet(strips: Sequence[Strip]) -> str:
    parts, top = [], MARGIN
    for one in strips:
        parts.append(f'<g transform="translate({MARGIN} {top})">{one.svg}</g>')
        top += one.height
    size = f'width="{WIDTH + 2 * MARGIN}" height="{top}"'
    paper = '<rect width="100%" height="100%" class="paper"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{STYLE}</style>{paper}{"".join(parts)}</svg>\n'

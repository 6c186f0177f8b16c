"""The picture of a series: its most telling columns, its events, the alerts and the score.

    history  |  green band: found      red band: missed
    column a   ~~~~/\\~~~~~
    column b   ~~~~~~~~~\\__
    alerts        |    |         green: of an event, orange: of none
    score      __/\\____/\\_

Every pixel shows the least and the largest value of its rows. Values beyond the usual range are drawn at its edge.
Colours are classes; the page has them for light and for dark surroundings.
"""

from html import escape
from typing import Iterator, NamedTuple, Optional, Sequence, Union

import numpy as np

from .measures import Span, episodes, spans
from .outcome import Labelled, Planted, delay_of, other_episodes, reach
from .plants import Incident
from .scorers import Scored
from .series import Series

WIDTH, STRIP, GAP, TICKS, SCORES, NAMES = 800, 52, 8, 12, 40, 30  # pixels
MOST_COLUMNS = 3
USUAL = (0.002, 0.998)  # quantiles of the values that are drawn in full
LARGEST_Z = 20.0  # that a column gets for an event


class Band(NamedTuple):
    """An event or incident, as it is drawn."""

    first: int
    end: int
    is_found: bool
    kind: str
    words: str


# ---- What is drawn ----


def bands_of(series: Series, incidents: Sequence[Incident], alerts: np.ndarray) -> list[Band]:
    """Planted incidents, or else the labelled events that count."""
    found = []
    for incident in incidents:
        names = ", ".join(series.columns[j] for j in incident.columns[:5])
        more = f" and {len(incident.columns) - 5} more" if len(incident.columns) > 5 else ""
        delay = delay_of(incident, alerts)
        words = f"{incident.kind} of {names}{more}, {found_words(incident.first, incident.end, delay)}"
        found.append(Band(incident.first, incident.end, delay is not None, incident.kind, words))
    if incidents:
        return found
    for event in spans(series.labels[series.start :]):
        first, end = event.first + series.start, event.end + series.start
        delay = int(np.argmax(alerts[first:end])) if alerts[first:end].any() else None
        found.append(Band(first, end, delay is not None, "", f"event, {found_words(first, end, delay)}"))
    return found


def found_words(first: int, end: int, delay: Optional[int]) -> str:
    after = "missed" if delay is None else f"found after {delay} rows"
    return f"rows {first:,} to {end - 1:,}: {after}"


def telling_columns(series: Series, bands: Sequence[Band], incidents: Sequence[Incident]) -> list[int]:
    """Those of most incidents; or those that are furthest from their median in the events, in usual deviations."""
    weights = np.zeros(len(series.columns))
    for incident in incidents:
        weights[list(incident.columns)] += 1
    if not incidents:
        rows = np.nan_to_num(series.rows)
        low, centre, high = np.quantile(rows, (0.1, 0.5, 0.9), axis=0)
        scale = np.maximum((high - low) / 2.56, 0.1 * rows.std(axis=0))
        for band in bands or [Band(series.start, len(rows), False, "", "")]:
            away = np.abs(rows[band.first : band.end] - centre).max(axis=0)
            weights += np.minimum(np.divide(away, scale, out=np.zeros_like(away), where=scale > 0), LARGEST_Z)
    order = [int(j) for j in np.argsort(-weights, kind="stable")[:MOST_COLUMNS]]
    return sorted(j for j in order if weights[j] > 0 or j == order[0])


# ---- From rows to pixels ----


def pixel(row: float, rows: int) -> float:
    return row * WIDTH / rows


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


def usual_range(values: np.ndarray, is_usual: np.ndarray) -> tuple[float, float]:
    known = values[is_usual & ~np.isnan(values)]
    known = known if len(known) else np.nan_to_num(values)
    low, high = np.quantile(known, USUAL)
    margin = 0.3 * (high - low) or abs(high) or 1.0
    return float(low - margin), float(high + margin)


# ---- The parts of a picture ----


def rectangle(first: float, end: float, rows: int, top: float, height: float, style: str, words: str) -> str:
    """At least two pixels wide."""
    x = pixel(first, rows)
    width = max(2.0, pixel(end, rows) - x)
    box = f'x="{x:.1f}" y="{top:g}" width="{width:.1f}" height="{height:g}"'
    return f'<rect {box} class="{style}"><title>{escape(words)}</title></rect>'


def kind_names(bands: Sequence[Band], rows: int) -> list[str]:
    """In two lines by turns, as neighbours may be near."""
    drawn = []
    for i, band in enumerate(bands):
        x, y = pixel((band.first + band.end) / 2, rows), 12 + 14 * (i % 2)
        anchor = "start" if x < 40 else "end" if x > WIDTH - 40 else "middle"
        style = "found" if band.is_found else "missed"
        drawn.append(f'<text x="{x:.0f}" y="{y}" text-anchor="{anchor}" class="{style}">{escape(band.kind)}</text>')
    return drawn


def ticks(series: Series, incidents: Sequence[Incident], scored: Scored, top: float) -> list[str]:
    others = set(other_episodes(series, incidents, scored.alerts))
    drawn = []
    for span in episodes(scored.alerts[series.start :]):
        place = Span(span.first + series.start, span.end + series.start)
        words = f"{'other' if place in others else 'alert'}, rows {place.first:,} to {place.end - 1:,}"
        if scored.severities is not None:
            words += f", severity {scored.severities[slice(*place)].max():.1f}"
        style = "other" if place in others else "hit"
        drawn.append(rectangle(*place, len(series.rows), top, TICKS, style, words))
    return drawn


def score_area(series: Series, scored: Scored, top: float) -> str:
    """The largest score of each pixel, above the usual one."""
    counted = scored.scores[series.start :]
    low, high = float(np.quantile(counted, 0.05)), float(counted.max())
    high = high if high > low else low + 1
    points = []
    for x, _, largest in extremes(np.clip(scored.scores, low, high)):
        points.append(f"L{x:g} {top + SCORES * (high - largest) / (high - low):.0f}")
    return f'<path d="M0 {top + SCORES:g}{"".join(points)}L{WIDTH} {top + SCORES:g}Z" class="score"/>'


def draw(series: Series, incidents: Sequence[Incident], scored: Scored) -> str:
    rows, bands = len(series.rows), bands_of(series, incidents, scored.alerts)
    columns = telling_columns(series, bands, incidents)
    is_usual = ~series.labels.copy()
    for incident in incidents:
        is_usual[slice(*reach(incident))] = False
    top = float(NAMES if incidents else 0)
    below = top + len(columns) * (STRIP + GAP)
    height = below + TICKS + GAP + SCORES
    drawn = [rectangle(0, series.start, rows, top, height - top, "history", "history")] if series.start else []
    for event in spans(series.labels) if incidents else ():
        drawn.append(rectangle(*event, rows, top, below - top, "band label", "labelled"))
    for band in bands:
        style = "found" if band.is_found else "missed"
        drawn.append(rectangle(band.first, band.end, rows, top, below - top, f"band {style}", band.words))
    drawn += kind_names(bands, rows) if incidents else []
    for i, j in enumerate(columns):
        y = top + i * (STRIP + GAP)
        low, high = usual_range(series.rows[:, j], is_usual)
        drawn.append(f'<path d="{line_path(series.rows[:, j], low, high, y, STRIP)}" class="line"/>')
        drawn.append(f'<text x="4" y="{y + 12:g}" class="name">{escape(series.columns[j])}</text>')
    drawn += ticks(series, incidents, scored, below)
    drawn.append(score_area(series, scored, below + TICKS + GAP))
    size = f'viewBox="0 0 {WIDTH} {height:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" class="series" {size} role="img">{"".join(drawn)}</svg>'


# ---- Words above it ----


def words(outcome: Union[Labelled, Planted]) -> str:
    """What was found, in a line."""
    if isinstance(outcome, Planted):
        caught = sum(incident.delay is not None for incident in outcome.incidents)
        per_rows = 1e4 * outcome.others / outcome.rows
        planted = len(outcome.incidents)
        return f"{caught} of {planted} incidents, {outcome.others} others ({per_rows:.1f} per 10,000 rows)"
    found = f"{outcome.found.found} of {outcome.found.events} events"
    figures = "" if outcome.auc is None else f", AUC {outcome.auc:.2f}, VUS-PR {outcome.vus:.2f}"
    return f"{found}, {outcome.found.others} others ({outcome.others:.1f} per 10,000 rows){figures}"

"""A series with and without a person who clicks: the labels say which alerts are useless."""

import math
from ctypes import CDLL
from typing import NamedTuple, Optional

import numpy as np

from ..reality.measures import Span, spans
from ..reality.series import Series
from .library import BEGINS, LASTS, Kind, Pipeline

CLICKS = 5


class Episode(NamedTuple):
    first: int  # its first row
    kind: Kind
    is_useless: bool  # none of its alerts is in a labelled event


class Click(NamedTuple):
    row: int
    kind: Kind
    rules: tuple[str, ...]  # accepted after it


class Run(NamedTuple):
    episodes: tuple[Episode, ...]
    alerts: np.ndarray  # per row
    clicks: tuple[Click, ...]
    bits: bytes  # of all scores, then the snapshot at the end


def seconds_of(series: Series) -> np.ndarray:
    """NaN for each row without a time."""
    if not series.times:
        return np.full(len(series.rows), np.nan)
    if all(text.replace(".", "", 1).isdigit() for text in series.times):
        return np.array(series.times, dtype=float)
    return np.array(series.times, dtype="datetime64[ms]").astype(float) / 1000


def is_useless(pipeline: Pipeline, series: Series, seconds: np.ndarray, row: int) -> bool:
    """Whether no alert of the episode that begins at `row` will be in an event. A copy of the pipeline looks ahead."""
    if series.labels[row]:
        return False
    ahead = pipeline.clone()
    for later in range(row + 1, len(series.rows)):
        result = ahead.process(series.rows[later], seconds[later])
        if result.episode != LASTS:
            return True
        if result.anomaly and series.labels[later]:
            return False
    return True


def run(library: CDLL, series: Series, clicks: int, restart_at: Optional[int] = None) -> Run:
    """Runs a series; the first `clicks` useless episodes are clicked when they begin."""
    series = series._replace(rows=np.ascontiguousarray(series.rows, dtype=float))
    seconds = seconds_of(series)
    pipeline = Pipeline(library, series.rows.shape[1])
    alerts, scores = np.zeros(len(series.rows), dtype=bool), np.zeros(len(series.rows))
    episodes, clicked = list[Episode](), list[Click]()
    for row in range(len(series.rows)):
        if row == restart_at:
            pipeline = pipeline.restarted()
        result = pipeline.process(series.rows[row], seconds[row])
        alerts[row], scores[row] = result.anomaly, result.score
        if result.episode != BEGINS:
            continue
        kind, useless = pipeline.newest_kind(), is_useless(pipeline, series, seconds, row)
        episodes.append(Episode(row, kind, useless))
        if useless and len(clicked) < clicks:
            clicked.append(Click(row, kind, tuple(pipeline.click())))
    return Run(tuple(episodes), alerts, tuple(clicked), scores.tobytes() + pipeline.save())


# ---- With and without ----


class Outcome(NamedTuple):
    family: str
    name: str
    rows: int
    clicks: int
    rules: int
    repeats: int  # useless episodes of a clicked kind after its click, without clicks
    repeats_left: int  # the same with clicks
    others: int  # useless episodes after the first click, without clicks
    others_left: int
    events: int
    found: int  # without clicks
    lost: int  # of these, with clicks
    lost_kind: int  # of the lost ones: only alerts of a clicked kind had found them
    won: int  # found only with clicks
    is_same_after_restart: Optional[bool]  # None: not tried


def first_clicks(clicks: tuple[Click, ...]) -> dict[Kind, int]:
    """The row of the first click on each kind."""
    found: dict[Kind, int] = {}
    for click in clicks:
        found.setdefault(click.kind, click.row)
    return found


def repeats(episodes: tuple[Episode, ...], clicked: dict[Kind, int]) -> int:
    return sum(one.is_useless and one.first > clicked.get(one.kind, math.inf) for one in episodes)


def is_of_kinds(event: Span, run_: Run, clicked: dict[Kind, int]) -> bool:
    """Whether all episodes with an alert in the event are of a kind that was clicked before."""
    episodes = [one for one in run_.episodes if one.first < event.end]
    inside = [one for one in episodes if one.first >= event.first] or episodes[-1:]
    return all(one.first > clicked.get(one.kind, math.inf) for one in inside)


def compare(library: CDLL, series: Series, tries_restart: bool = True) -> Outcome:
    plain, clicking = run(library, series, 0), run(library, series, CLICKS)
    same = None
    if tries_restart:
        same = run(library, series, CLICKS, len(series.rows) // 2).bits == clicking.bits
    clicked = first_clicks(clicking.clicks)
    first = min(clicked.values(), default=len(series.rows))
    counted = [event for event in spans(series.labels) if event.first >= series.start]
    before, after = ({event for event in counted if r.alerts[event.first : event.end].any()} for r in (plain, clicking))
    lost = before - after
    return Outcome(
        series.family,
        series.name,
        len(series.rows),
        len(clicking.clicks),
        sum(len(click.rules) for click in clicking.clicks),
        repeats(plain.episodes, clicked),
        repeats(clicking.episodes, clicked),
        sum(one.is_useless and one.first > first for one in plain.episodes),
        sum(one.is_useless and one.first > first for one in clicking.episodes),
        len(counted),
        len(before),
        len(lost),
        sum(is_of_kinds(event, plain, clicked) for event in lost),
        len(after - before),
        same,
    )

"""The kinds of anomaly: where each is planted, in which background, and what it is called."""

from typing import NamedTuple

import numpy as np

from . import backgrounds, tool
from .backgrounds import COUNTER, LATENCY, PERIOD, REQUESTS, TRAFFIC, Background
from .plants import (
    ALL,
    Plant,
    after_an_incident,
    all_half_a_period_late,
    contradict,
    decouple,
    half_a_period_late,
    one,
    put,
    scale,
    shift,
    shift_all,
    spike_all,
    stick,
    widen,
)

START = 7_000
FIRST_SEED = 1_000
SEASON_START = START - START % PERIOD + PERIOD // 8  # half way up to the peak


class Kind(NamedTuple):
    key: str
    group: str
    title: str  # one line for a reader of the table
    background: Background
    plant: Plant
    rows: int = 1  # that the anomaly lasts
    start: int = START
    options: tuple[str, ...] = ()  # of the tool, beside the detector
    seconds: int = 0  # between rows; 0: they have no times
    counters: tuple[int, ...] = ()  # columns of which the tool gets the running total


class Stream(NamedTuple):
    normal: np.ndarray  # the background
    rows: np.ndarray  # the same with the anomaly in it
    start: int  # the row with which the anomaly begins
    length: int  # rows of the anomaly


def build(kind: Kind, seed: int) -> Stream:
    """The stream of a seed. Kinds with the same background have the same one for the same seed."""
    random = np.random.default_rng(FIRST_SEED + seed)
    normal = kind.background(random)
    rows = normal.copy()
    kind.plant(rows, slice(kind.start, kind.start + kind.rows), random)
    return Stream(normal, rows, kind.start, kind.rows)


def text_of(kind: Kind, rows: np.ndarray) -> bytes:
    """What the tool reads."""
    return tool.csv_text(tool.totals(rows, kind.counters), kind.seconds)


# ---- The table ----

SPIKES, SHIFTS, COUNTERS = "Spikes of one row", "Shifts, drops, spread", "Counters and flags"
MISSING, TIME, REAL = "Missing and stuck", "Shape of time", "A real recording"
GROUPS = (SPIKES, SHIFTS, COUNTERS, MISSING, TIME, REAL)

five, ten, hundred, single = map(backgrounds.independent, (5, 10, 100, 1))
service, seldom = backgrounds.service, backgrounds.with_seldom_counter
never, always = backgrounds.with_constant(0), backgrounds.with_constant(1)
pair, close_pair = backgrounds.correlated(0.2), backgrounds.correlated(0.1)


def group(name: str, *entries: tuple) -> list[Kind]:
    """Kinds of one group. An entry is key, title, background, plant and, if not 1, the rows."""
    return [Kind(key, name, *others) for key, *others in entries]


def season(
    key: str,
    title: str,
    background: Background,
    option: str = "",
    plant: Plant = half_a_period_late,
) -> Kind:
    """A season that is late; an option such as `--season 96` becomes part of key and title."""
    if option:
        key, title = f"{key}{option[1:].replace(' ', '-')}", f"{title}, {option}"
    return Kind(key, TIME, title, background, plant, 24, SEASON_START, tuple(option.split()))


LATE = "season half a period late, 1 of 3 columns"
LATE_SINGLE = "season half a period late, single series"
LATE_ALL = "season half a period late, 3 of 3 columns"
three_seasons, one_season = map(backgrounds.seasonal, (3, 1))
BY_ROWS = f"--season {PERIOD}"
RATE_OPTIONS = ("--time", tool.TIME, "--rate", f"c{TRAFFIC}")
BURST = "rate of a counter x 5, 10 rows, --rate"
SECOND = "all columns 6 sd, 1 row, after an incident"

KINDS = (
    *group(
        SPIKES,
        ("spike-4", "1 of 5 columns, 4 sd", five, shift(0, 4)),
        ("spike-6", "1 of 5 columns, 6 sd", five, shift(0, 6)),
        ("spike-10", "1 of 5 columns, 10 sd", five, shift(0, 10)),
        ("spike-50", "1 of 5 columns, 50 sd", five, shift(0, 50)),
        ("spike-10-of-10", "1 of 10 columns, 10 sd", ten, shift(0, 10)),
        ("spike-50-of-10", "1 of 10 columns, 50 sd", ten, shift(0, 50)),
        ("spike-10-of-100", "1 of 100 columns, 10 sd", hundred, shift(0, 10)),
        ("spike-6-single", "single series, 6 sd", single, shift(0, 6)),
        ("latency-6", "service: latency (lognormal), 6 sd", service, shift(LATENCY, 6)),
        ("latency-20", "service: latency (lognormal), 20 sd", service, shift(LATENCY, 20)),
        ("spike-all-4", "all 5 columns, 4 sd", five, spike_all(4)),
        ("spike-all-10", "all 5 columns, 10 sd", five, spike_all(10)),
    ),
    *group(
        SHIFTS,
        ("shift-1", "level + 1 sd, 1 of 5 columns, 200 rows", five, shift(0, 1), 200),
        ("shift-3", "level + 3 sd, 1 of 5 columns, 200 rows", five, shift(0, 3), 200),
        ("shift-6", "level + 6 sd, 1 of 5 columns, 200 rows", five, shift(0, 6), 200),
        ("latency-shift-3", "service: latency + 3 sd, 200 rows", service, shift(LATENCY, 3), 200),
        ("shift-3-single", "level + 3 sd, single series, 200 rows", single, shift(0, 3), 200),
        ("shift-3-all", "level + 3 sd, all 5 columns, 200 rows", five, shift_all(3), 200),
        ("spread-3", "spread x 3, 1 of 5 columns, 200 rows", five, widen(0, 3), 200),
        ("spread-6", "spread x 6, 1 of 5 columns, 200 rows", five, widen(0, 6), 200),
        ("drop", "drop to 0 (100 sd), 1 of 5 columns, 10 rows", five, put(one(1), 0), 10),
        ("requests-drop", "service: requests to 0 (5 sd), 10 rows", service,
         put(one(REQUESTS), 0), 10),
        ("drop-all", "drop to 0, all 5 columns, 10 rows", five, put(ALL, 0), 10),
        ("unit-error", "unit error: 1 of 5 columns x 100, 10 rows", five, scale(0, 100), 10),
    ),
    *group(
        COUNTERS,
        ("counter-1", "counter, always 0, becomes 1, 1 row", never, put(one(COUNTER), 1)),
        ("counter-1000", "counter, always 0, becomes 1000, 1 row", never, put(one(COUNTER), 1000)),
        ("counter-seldom", "counter 0, seldom 1, becomes 50, 1 row", seldom, put(one(COUNTER), 50)),
        ("up", "gauge up, always 1, becomes 0, 20 rows", always, put(one(COUNTER), 0), 20),
    ),
    Kind("rate-burst", COUNTERS, BURST, backgrounds.traffic, scale(TRAFFIC, 5), 10,
         options=RATE_OPTIONS, seconds=60, counters=(TRAFFIC,)),
    *group(
        MISSING,
        ("missing", "1 of 5 columns missing, 50 rows", five, put(one(0), np.nan), 50),
        ("missing-4", "4 of 5 columns missing, 50 rows", five, put(slice(1, None), np.nan), 50),
        ("stuck-50", "1 of 5 columns stuck, 50 rows", five, stick(one(0)), 50),
        ("stuck-all-50", "all 5 columns stuck, 50 rows", five, stick(ALL), 50),
        ("stuck", "1 of 5 columns stuck, 200 rows", five, stick(one(0)), 200),
        ("stuck-all", "all 5 columns stuck, 200 rows", five, stick(ALL), 200),
        ("latency-stuck", "service: latency stuck, 200 rows", service, stick(one(LATENCY)), 200),
    ),
    *group(
        TIME,
        ("correlation", "correlation of .98 breaks, 200 rows", pair, decouple, 200),
        ("correlation-row", "1 row against a correlation of .995", close_pair, contradict),
    ),
    season("season", LATE, three_seasons),
    season("season", LATE, three_seasons, BY_ROWS),
    season("season-all", LATE_ALL, backgrounds.all_seasonal, "", all_half_a_period_late),
    season("season-all", LATE_ALL, backgrounds.all_seasonal, BY_ROWS, all_half_a_period_late),
    season("season-single", LATE_SINGLE, one_season),
    season("season-single", LATE_SINGLE, one_season, BY_ROWS),
    Kind("second", TIME, SECOND, five, after_an_incident),
)  # fmt: skip

BY_KEY = {kind.key: kind for kind in KINDS}

QUICK = (
    *("spike-6", "spike-10-of-10", "latency-6", "shift-3", "spread-3", "drop", "unit-error"),
    *("counter-1", "counter-seldom", "up", "missing", "second"),
    *("rate-burst", "stuck-50", "season-single-season-96"),
)

"""Lines of their own: what must not be found, and what else there is to say of what was found.

A measure takes the tool and a seed and returns a part and a whole; those of all seeds are added up.
All are of the default command, with the options that the stream needs.
"""

from pathlib import Path
from typing import Callable, NamedTuple

import numpy as np
from numpy.random import Generator

from . import backgrounds, kinds, recording, tool
from .backgrounds import PERIOD, TRAFFIC
from .outcome import Part, episodes
from .tool import RATE


class Measure(NamedTuple):
    key: str
    title: str
    low: float  # wanted, as part / whole
    high: float
    of: Callable[[Path, int], Part]
    is_recorded: bool = False  # needs the recording


def random_of(seed: int) -> Generator:
    return np.random.default_rng(kinds.FIRST_SEED + seed)


# ---- Is the reason right? ----


def explained(key: str, judge: str, columns: tuple[str, ...]) -> Callable[[Path, int], Part]:
    """Of the alerts in the anomaly: those of the judge with one of the columns as first reason."""

    def measure(oif: Path, seed: int) -> Part:
        kind = kinds.BY_KEY[key]
        text = kinds.text_of(kind, kinds.build(kind, seed).rows)
        alerts = tool.reasons(oif, text, seed, kind.options)
        inside = [alert for alert in alerts if 0 <= alert.row - kind.start < kind.rows]
        right = [alert for alert in inside if alert.judge == judge and alert.column in columns]
        return Part(len(right), len(inside))

    return measure


CAREFUL = ("stuck", "partner", "season")  # judges that find something often in some streams: src/pipeline/alerts/gate.h


def largest_judge(oif: Path, seed: int) -> Part:
    """The alerts of the recording, and those of the careful judge that has most of them."""
    alerts = tool.reasons(oif, tool.csv_text(recording.load()), seed)
    judges = [alert.judge for alert in alerts]
    return Part(max(map(judges.count, CAREFUL)), len(alerts))


# ---- Silence ----

HOSTS, STEP, SENT = 5, 60, 2_000  # keys; seconds between the rows of one; its rows
SILENT, SPOKE = "host2", 1_500  # which, after how many of its rows


def heartbeats(random: Generator, ends: bool) -> bytes:
    """Hosts that send about once a minute, up to 20 s early or late; 1% of the rows are lost."""
    lines = []
    for number in range(HOSTS):
        host = f"host{number}"
        rows = SPOKE if ends and host == SILENT else SENT
        times = 1_767_571_200 + STEP * np.arange(rows) + random.integers(-20, 21, size=rows)
        values = random.normal(size=rows)
        keeps = random.random(rows) >= 0.01
        lines += [(t, f"{t},{host},{v:.6g}") for t, v in zip(times[keeps], values[keeps])]
    return "\n".join(["at,host,load", *(line for _, line in sorted(lines)), ""]).encode()


HEARTBEAT_OPTIONS = ("--key", "host", "--time", "at")


def silence_found(oif: Path, seed: int) -> Part:
    """Whether the host that ends is reported, and no other."""
    reported = tool.silences(oif, heartbeats(random_of(seed), True), seed, HEARTBEAT_OPTIONS)
    return Part(int([record["host"] for record in reported] == [SILENT]), 1)


def silence_invented(oif: Path, seed: int) -> Part:
    """Silences in a stream in which every host goes on."""
    text = heartbeats(random_of(seed), False)
    return Part(len(tool.silences(oif, text, seed, HEARTBEAT_OPTIONS)), 1)


# ---- What is not an anomaly ----


def counter_reset(oif: Path, seed: int) -> Part:
    """Whether a counter that begins at 0 again, within the time of a row, alerts in three rows."""
    random = random_of(seed)
    rows = tool.totals(backgrounds.traffic(random), (TRAFFIC,))
    before, after = rows[kinds.START - 1 : kinds.START + 1, TRAFFIC]
    rows[kinds.START :, TRAFFIC] -= round(before + random.random() * (after - before))
    text = tool.csv_text(rows, seconds=60)
    alerts = tool.score(oif, text, tool.DEFAULT, seed, kinds.RATE_OPTIONS).alerts
    return Part(int(alerts[kinds.START : kinds.START + 3].any()), 1)


FLAT, SLOPE, SLOPES = 10_000, 5_000, 4  # rows before the drift, rows of 5 sd, up and down in turns


def drifting(random: Generator, columns: int) -> np.ndarray:
    """Five columns of noise, of which the first ones drift."""
    rows = random.normal(size=(FLAT + SLOPES * SLOPE, 5))
    way = np.arange(SLOPES * SLOPE) / SLOPE
    rows[FLAT:, :columns] += 5 * (1 - np.abs(way % 2 - 1))[:, None]
    return rows


def drift(columns: int) -> Callable[[Path, int], Part]:
    """Episodes in the drift, and as many as the rate allows."""

    def measure(oif: Path, seed: int) -> Part:
        text = tool.csv_text(drifting(random_of(seed), columns))
        alerts = tool.score(oif, text, tool.DEFAULT, seed).alerts[FLAT:]
        return Part(episodes(alerts), RATE * len(alerts))

    return measure


CHANGE, DAYS, HOUR = 70 * PERIOD, 210, PERIOD // 24  # the row in which clocks change; all days


def local_clock(random: Generator) -> np.ndarray:
    """Two columns with a pattern of the day, which is an hour earlier from CHANGE on."""
    row = np.arange(DAYS * PERIOD)
    phase = 2 * np.pi * (row + HOUR * (row >= CHANGE)) / PERIOD
    shape = np.sin(phase) + 0.4 * np.sin(2 * phase + 1)
    noise = 0.1 * random.normal(size=(2, len(row)))
    return np.stack([100 + 20 * (shape + noise[0]), 50 + 5 * (shape + noise[1])], axis=1)


def clock_change(oif: Path, seed: int) -> Part:
    """Episodes later than a day after the change, and as many as the rate allows."""
    text, options = tool.csv_text(local_clock(random_of(seed))), kinds.BY_ROWS.split()
    alerts = tool.score(oif, text, tool.DEFAULT, seed, options).alerts[CHANGE + PERIOD :]
    return Part(episodes(alerts), RATE * len(alerts))


# ---- All of them ----

PAIR, THREE = ("c0", "c1"), ("c0", "c1", "c2")
FIVE = tuple(f"c{i}" for i in range(5))
NAMED = (0.95, 1.0)  # reasons that are right
BUDGET = (0.0, 1.2)

MEASURES = (
    Measure("why-stuck", "reason is stuck, and the column, 50 rows", *NAMED,
            explained("stuck-50", "stuck", ("c0",))),
    Measure("why-stuck-all", "reason is stuck, all columns, 50 rows", *NAMED,
            explained("stuck-all-50", "stuck", FIVE)),
    Measure("why-correlation", "reason is the partner, one of the pair", *NAMED,
            explained("correlation", "partner", PAIR)),
    Measure("why-season", "reason is the season, and the column, 1 of 3", *NAMED,
            explained("season-season-96", "season", ("c0",))),
    Measure("why-season-all", "reason is the season, 3 of 3 columns", *NAMED,
            explained("season-all-season-96", "season", THREE)),
    Measure("why-season-single", "reason is the season, single series", *NAMED,
            explained("season-single-season-96", "season", ("c0",))),
    Measure("silence", "streams in which the silent key is reported, and no other", 1, 1,
            silence_found),
    Measure("silence-none", "silences per stream in which all keys continue, with jitter", 0, 0,
            silence_invented),
    Measure("reset", "streams with an alert at a counter's reset, --rate", 0, 0, counter_reset),
    Measure("drift", "episodes in a drift of 5 sd in 5,000 rows, 1 of 5 columns, by the rate",
            *BUDGET, drift(1)),
    Measure("drift-all", "episodes in a drift of 5 sd in 5,000 rows, all 5 columns, by the rate",
            *BUDGET, drift(5)),
    Measure("clock-change", "episodes after a clock change and a day, --season, by the rate",
            *BUDGET, clock_change),
    Measure("host-judge", "share of the recording's alerts by one of stuck, partner, season", 0, 1 / 3,
            largest_judge, is_recorded=True),
)  # fmt: skip

BY_KEY = {measure.key: measure for measure in MEASURES}
QUICK = ("why-stuck", "why-season-single", "silence", "silence-none", "reset")

"""Incidents planted in real series: eight kinds, each once in every copy of a series.

A copy depends on the series and its seed alone. Incidents lie in equal parts of the last 70% of the rows, one in each
part, in an order drawn from the seed. They affect one column, two, or half of the columns, as the seed says. Planted
values are rounded to the decimals that the column has.
"""

import zlib
from typing import Callable, NamedTuple

import numpy as np

from .series import Series

QUIET_SHARE = 0.3  # of the rows before the first incident
LEAST_ROWS = {"outage": 2, "ramp": 8, "leak": 12, "unit": 2, "missing": 3, "frozen": 6, "late day": 7, "burst": 3}


class Incident(NamedTuple):
    kind: str
    first: int
    end: int  # the row after the last
    columns: tuple[int, ...]


def outage(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """The value is 0."""
    return np.zeros_like(part)


def ramp(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """It rises to twice its value, and stays there for as long."""
    return part * np.minimum(2, np.linspace(1, 3, len(part)))[:, None]


def leak(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """It rises by 5 sd."""
    return part + np.linspace(0, 5, len(part))[:, None] * np.nanstd(whole, axis=0)


def unit(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return part * 1000


def missing(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.full_like(part, np.nan)


def frozen(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.repeat(part[:1], len(part), axis=0)


def late_day(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """The day is as it was, half a day late."""
    return np.roll(part, len(part) // 2, axis=0)


def burst(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return part + 8 * np.nanstd(whole, axis=0)


KINDS: dict[str, tuple[Callable[[np.ndarray, np.ndarray], np.ndarray], float]] = {  # how, and how many days
    "outage": (outage, 1 / 48),
    "ramp": (ramp, 1 / 2),
    "leak": (leak, 1 / 2),
    "unit": (unit, 0),
    "missing": (missing, 1 / 48),
    "frozen": (frozen, 1 / 4),
    "late day": (late_day, 1),
    "burst": (burst, 0),
}


def decimals_of(column: np.ndarray) -> int:
    """Digits after the point that the column is written with, at most 9."""
    texts = [repr(x) for x in column[~np.isnan(column)][:2000].tolist()]
    digits = [0 if text.endswith(".0") else len(text.partition(".")[2]) for text in texts if "e" not in text]
    return min(9, int(np.quantile(digits, 0.9))) if digits else 9


def choose_columns(series: Series, seed: int, random: np.random.Generator) -> tuple[int, ...]:
    candidates = [series.columns.index(name) for name in series.planted]
    # A column that hardly ever changes can neither freeze nor come late.
    lively = [j for j in candidates if np.mean(np.diff(series.rows[:, j]) != 0) > 0.1] or candidates
    count = (1, 2, -(-len(lively) // 2))[seed % 3]
    return tuple(sorted(random.choice(lively, min(count, len(lively)), replace=False).tolist()))


def plant(series: Series, seed: int) -> tuple[Series, tuple[Incident, ...]]:
    """A copy with one incident of each kind; labelled rows are left alone, and nothing is planted near them."""
    random = np.random.default_rng([seed, zlib.crc32(series.title.encode())])
    rows = series.rows.copy()
    begin = max(series.start, int(len(rows) * QUIET_SHARE))
    slot = (len(rows) - begin) // len(KINDS)
    incidents = []
    for place, kind in enumerate(random.permutation(list(KINDS))):
        change, days = KINDS[kind]
        length = max(LEAST_ROWS[kind], round(days * series.day_rows))
        columns = choose_columns(series, seed, random)
        first = free_place(series, begin + place * slot, slot, length, columns, random)
        if first is None:
            continue
        part, cells = slice(first, first + length), np.ix_(range(first, first + length), columns)
        decimals = [decimals_of(series.rows[:, j]) for j in columns]
        changed = change(series.rows[cells], series.rows[:, columns])
        for i, j in enumerate(columns):
            rows[part, j] = np.round(changed[:, i], decimals[i])
        incidents.append(Incident(str(kind), first, first + length, columns))
    return series._replace(rows=rows), tuple(incidents)


def free_place(
    series: Series, begin: int, slot: int, length: int, columns: tuple[int, ...], random: np.random.Generator
) -> "int | None":
    """The first row of an incident within its part of the stream: away from labels, and where values are present."""
    if length + 2 >= slot:
        return None
    for _ in range(50):
        first = int(begin + random.integers(0, slot - length - 1))
        near = slice(max(0, first - length), first + 2 * length)
        values = series.rows[first : first + length][:, columns]
        changes = length < 3 or (np.ptp(values, axis=0) > 0).any()
        if not series.labels[near].any() and not np.isnan(values).any() and (values != 0).any() and changes:
            return first
    return None

"""What goes wrong: functions that change some rows of a background.

Each takes the rows, the slice of them that is the anomaly, and a random generator, and changes the
rows in place. Nothing outside of the slice changes, but for `after_an_incident`.
"""

from typing import Callable

import numpy as np
from numpy.random import Generator

from .backgrounds import PERIOD

FIRST_INCIDENT, FIRST_ROWS = 6_000, 100

Plant = Callable[[np.ndarray, slice, Generator], None]
ALL = slice(None)  # columns


def spread(rows: np.ndarray, at: slice) -> np.ndarray:
    """The standard deviation of each column before the anomaly."""
    return rows[: at.start].std(axis=0)


def shift(column: int, deviations: float) -> Plant:
    """Adds some standard deviations: a spike if it lasts one row, a level shift if many."""

    def plant(rows: np.ndarray, at: slice, random: Generator) -> None:
        rows[at, column] += deviations * spread(rows, at)[column]

    return plant


def shift_all(deviations: float) -> Plant:
    def plant(rows: np.ndarray, at: slice, random: Generator) -> None:
        rows[at] += deviations * spread(rows, at)

    return plant


def spike_all(deviations: float) -> Plant:
    """Every column is off, each upwards or downwards at random."""

    def plant(rows: np.ndarray, at: slice, random: Generator) -> None:
        rows[at] += deviations * spread(rows, at) * random.choice([-1, 1], size=rows.shape[1])

    return plant


def widen(column: int, factor: float) -> Plant:
    def plant(rows: np.ndarray, at: slice, random: Generator) -> None:
        mean = rows[: at.start, column].mean()
        rows[at, column] = mean + factor * (rows[at, column] - mean)

    return plant


def put(columns: slice, value: float) -> Plant:
    """Sets columns to a value; NaN is a missing one."""

    def plant(rows: np.ndarray, at: slice, random: Generator) -> None:
        rows[at, columns] = value

    return plant


def one(column: int) -> slice:
    return slice(column, column + 1)


def scale(column: int, factor: float) -> Plant:
    def plant(rows: np.ndarray, at: slice, random: Generator) -> None:
        rows[at, column] *= factor

    return plant


def stick(columns: slice) -> Plant:
    """Repeats the last values before the anomaly."""

    def plant(rows: np.ndarray, at: slice, random: Generator) -> None:
        rows[at, columns] = rows[at.start - 1, columns]

    return plant


def decouple(rows: np.ndarray, at: slice, random: Generator) -> None:
    """The second column keeps its distribution and no longer follows the first."""
    rows[at, 1] = random.permutation(rows[: at.start, 1])[: at.stop - at.start]


def contradict(rows: np.ndarray, at: slice, random: Generator) -> None:
    """The first column is 2 standard deviations high, the second, which follows it, 2 low."""
    mean, deviation = rows[: at.start].mean(axis=0), spread(rows, at)
    rows[at, 0] = mean[0] + 2 * deviation[0]
    rows[at, 1] = mean[1] - 2 * deviation[1]


def half_a_period_late(rows: np.ndarray, at: slice, random: Generator) -> None:
    """The first column goes down where its season goes up."""
    phase = 2 * np.pi * np.arange(at.start, at.stop) / PERIOD
    rows[at, 0] = 100 - 20 * np.sin(phase) + 2 * random.normal(size=at.stop - at.start)


def all_half_a_period_late(rows: np.ndarray, at: slice, random: Generator) -> None:
    """Every column has the values that it had half a period before."""
    rows[at] = rows[at.start - PERIOD // 2 : at.stop - PERIOD // 2]


def after_an_incident(rows: np.ndarray, at: slice, random: Generator) -> None:
    """A hundred rows with all columns 4 standard deviations high, then the row to be found."""
    deviation = spread(rows, slice(FIRST_INCIDENT, None))
    rows[FIRST_INCIDENT : FIRST_INCIDENT + FIRST_ROWS] += 4 * deviation
    rows[at] += 6 * deviation * random.choice([-1, 1], size=rows.shape[1])

"""Streams in which nothing is wrong, for false alerts: five columns of each, 50,000 rows."""

from typing import Callable, NamedTuple

import numpy as np
from numpy.random import Generator

from . import tool
from .backgrounds import PERIOD, autoregressive

LENGTH, COLUMNS = 50_000, 5
SEASON = 288
RATES = (0.001, 0.01)


def normal(random: Generator) -> np.ndarray:
    return random.normal(size=(LENGTH, COLUMNS))


def heavy_tails(random: Generator) -> np.ndarray:
    return random.standard_t(3, size=(LENGTH, COLUMNS))


def smooth(random: Generator) -> np.ndarray:
    """Each value is .95 of the last one plus noise."""
    return np.stack([autoregressive(random, LENGTH, 0.95, 0.31) for _ in range(COLUMNS)], axis=1)


def counts(random: Generator) -> np.ndarray:
    return random.poisson((0.5, 1.5, 4, 10, 50), size=(LENGTH, COLUMNS)).astype(float)


def trend(random: Generator) -> np.ndarray:
    """Every column rises by 10 standard deviations in the course of the stream."""
    return normal(random) + np.linspace(0, 10, LENGTH)[:, None]


def season(random: Generator) -> np.ndarray:
    """Sines with a period of 288 rows, of different phases, and noise of a fifth."""
    phase = 2 * np.pi * np.arange(LENGTH)[:, None] / SEASON
    return np.sin(phase + np.arange(COLUMNS)) + 0.2 * normal(random)


def random_walk(random: Generator) -> np.ndarray:
    return np.cumsum(normal(random), axis=0)


def binary(random: Generator) -> np.ndarray:
    return (random.random((LENGTH, COLUMNS)) < (0.5, 0.3, 0.2, 0.1, 0.05)).astype(float)


def constant(random: Generator) -> np.ndarray:
    return np.tile([5.0, 7.0, 0.0, 1.0, 0.1], (LENGTH, 1))


def quantised(random: Generator) -> np.ndarray:
    """Values that hold for a while, of 9 or so: a thermometer that reads half degrees."""
    slow = [autoregressive(random, LENGTH, 0.98, 0.2) for _ in range(COLUMNS)]
    return np.stack(slow, axis=1).round() / 2


def counters(random: Generator) -> np.ndarray:
    """Running totals of lognormal amounts."""
    sizes = (3, 4, 5, 6, 7)
    return np.cumsum(random.lognormal(sizes, 0.3, size=(LENGTH, COLUMNS)).round(), axis=0)


def weekends(random: Generator) -> np.ndarray:
    """Days of PERIOD rows with a peak at noon, of which two in seven have a fourth of it."""
    row = np.arange(LENGTH)
    height = np.where(row // PERIOD % 7 < 5, 20, 5)
    peak = height * (1 - np.cos(2 * np.pi * row / PERIOD))
    return 100 + peak[:, None] * (1, 0.8, 0.6, 0.4, 0.2) + 2 * normal(random)


class Healthy(NamedTuple):
    title: str
    make: Callable[[Generator], np.ndarray]
    options: tuple[str, ...] = ()  # of the tool
    seconds: int = 0  # between rows; 0: they have no times


BY_ROWS = ("--season", str(SEASON))
BY_DAY = ("--season", str(PERIOD))
RATES_OF_ALL = ("--time", tool.TIME, "--rate", ",".join(f"c{i}" for i in range(COLUMNS)))
QUARTER, DAY, WEEK = 900, 86_400, 604_800  # seconds
DAY_AND_WEEK = (
    *("--time", tool.TIME, "--season", f"{DAY}s"),
    *("--season", f"{WEEK}s"),
)

STREAMS: dict[str, Healthy] = {
    "normal": Healthy("normal noise", normal),
    "heavy-tails": Healthy("heavy tails (t, 3 degrees of freedom)", heavy_tails),
    "smooth": Healthy("autocorrelated, AR(1) .95", smooth),
    "counts": Healthy("Poisson counts", counts),
    "trend": Healthy("trend, 10 sd", trend),
    "season": Healthy("season", season),
    "season-rows": Healthy("season, --season", season, BY_ROWS),
    "weekends": Healthy("days and weekends", weekends),
    "weekends-day": Healthy("days and weekends, --season of a day", weekends, BY_DAY),
    "weekends-week": Healthy("days and weekends, both seasons", weekends, DAY_AND_WEEK, QUARTER),
    "quantised": Healthy("quantised, values repeat", quantised),
    "counters": Healthy("counters", counters),
    "counters-rate": Healthy("counters, --rate", counters, RATES_OF_ALL, 60),
    "random-walk": Healthy("random walk", random_walk),
    "binary": Healthy("binary", binary),
    "constant": Healthy("constant", constant),
}
QUICK = ("normal", "counts", "season-rows", "constant")


def build(key: str, seed: int) -> np.ndarray:
    return STREAMS[key].make(np.random.default_rng([seed, 2]))

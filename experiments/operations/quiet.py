"""Streams in which nothing is wrong, for false alerts: five columns of each, 50,000 rows."""

from typing import Callable

import numpy as np
from numpy.random import Generator

from .backgrounds import autoregressive

LENGTH, COLUMNS = 50_000, 5
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
    phase = 2 * np.pi * np.arange(LENGTH)[:, None] / 288
    return np.sin(phase + np.arange(COLUMNS)) + 0.2 * normal(random)


def random_walk(random: Generator) -> np.ndarray:
    return np.cumsum(normal(random), axis=0)


def binary(random: Generator) -> np.ndarray:
    return (random.random((LENGTH, COLUMNS)) < (0.5, 0.3, 0.2, 0.1, 0.05)).astype(float)


def constant(random: Generator) -> np.ndarray:
    return np.tile([5.0, 7.0, 0.0, 1.0, 0.1], (LENGTH, 1))


STREAMS: dict[str, tuple[str, Callable[[Generator], np.ndarray]]] = {
    "normal": ("normal noise", normal),
    "heavy-tails": ("heavy tails (t, 3 degrees of freedom)", heavy_tails),
    "smooth": ("autocorrelated, AR(1) .95", smooth),
    "counts": ("Poisson counts", counts),
    "trend": ("trend, 10 sd", trend),
    "season": ("season", season),
    "random-walk": ("random walk", random_walk),
    "binary": ("binary", binary),
    "constant": ("constant", constant),
}
QUICK = ("normal", "counts", "constant")


def build(key: str, seed: int) -> np.ndarray:
    return STREAMS[key][1](np.random.default_rng([seed, 2]))

"""Streams of metrics in which nothing is wrong. The anomalies of kinds.py are planted in them.

A background takes a random generator and returns an array with one line per row of the stream; the
same generator state gives the same stream. LENGTH rows are enough for a detector to learn (windows
hold 2,048 rows) and to measure an alert rate of 0.001 on some thousand scores before the anomaly.
"""

from typing import Callable

import numpy as np
from numpy.random import Generator

LENGTH = 8_000
PERIOD = 96  # rows of a season: a day of quarters of an hour

Background = Callable[[Generator], np.ndarray]


def autoregressive(random: Generator, length: int, memory: float, step: float) -> np.ndarray:
    """Each value is `memory` times the last one plus noise of standard deviation `step`."""
    noise = step * random.normal(size=length)
    series = np.zeros(length)
    for i in range(1, length):
        series[i] = memory * series[i - 1] + noise[i]
    return series


def independent(columns: int) -> Background:
    """Normal columns with standard deviations 1, 10, 100, 1, 10, ... and a mean of 100 of them."""

    def make(random: Generator) -> np.ndarray:
        unit = 10.0 ** (np.arange(columns) % 3)
        return unit * (100 + random.normal(size=(LENGTH, columns)))

    return make


def service(random: Generator) -> np.ndarray:
    """A web service: cpu, requests, latency, memory, errors, driven by a load that drifts."""
    load = autoregressive(random, LENGTH, 0.95, 0.3)
    slow = autoregressive(random, LENGTH, 0.995, 0.1)

    def noise() -> np.ndarray:
        return random.normal(size=LENGTH)

    cpu = np.clip(40 + 10 * load + 2 * noise(), 0, 100)
    requests = np.maximum(0, 1000 + 200 * load + 30 * noise()).round()
    latency = np.exp(3 + 0.1 * load + 0.25 * noise())
    memory = 8000 + 300 * slow + 10 * noise()
    errors = random.poisson(1.5, size=LENGTH).astype(float)
    return np.stack([cpu, requests, latency, memory, errors], axis=1)


REQUESTS, LATENCY = 1, 2  # columns of `service`


def seasonal(columns: int) -> Background:
    """Up to three columns: two follow a period of PERIOD rows, with noise; the third is noise."""

    def make(random: Generator) -> np.ndarray:
        phase = 2 * np.pi * np.arange(LENGTH) / PERIOD
        noise = random.normal(size=(3, LENGTH))
        first = 100 + 20 * np.sin(phase) + 2 * noise[0]
        second = 50 + 15 * np.sin(phase + 0.5) + 2 * noise[1]
        return np.stack([first, second, 20 + 5 * noise[2]], axis=1)[:, :columns]

    return make


def all_seasonal(random: Generator) -> np.ndarray:
    """Three columns that follow the period, each with a phase and noise of its own."""
    phase = 2 * np.pi * np.arange(LENGTH)[:, None] / PERIOD + np.array([0, 0.5, 1])
    height = np.array([20, 15, 5])
    noise = random.normal(size=(LENGTH, 3))
    return np.array([100, 50, 20]) + height * (np.sin(phase) + 0.1 * noise)


def correlated(noise: float) -> Background:
    """Five columns; the second is three times the first plus `noise` times as much of its own."""

    def make(random: Generator) -> np.ndarray:
        rows = independent(5)(random)
        rows[:, 1] = 3 * rows[:, 0] + 3 * noise * random.normal(size=LENGTH)
        return rows

    return make


COUNTER = 1  # the column of `with_constant` and `with_seldom_counter`


def with_constant(value: float) -> Background:
    """Five columns; the second is always `value`: a counter of restarts, or a gauge like `up`."""

    def make(random: Generator) -> np.ndarray:
        rows = independent(5)(random)
        rows[:, COUNTER] = value
        return rows

    return make


TRAFFIC = 0  # the column of `traffic` that the tool gets as a counter


def traffic(random: Generator) -> np.ndarray:
    """Bytes since the row before (lognormal), load and temperature."""
    sent = random.lognormal(7, 0.25, size=LENGTH).round()
    load, heat = 2 + 0.3 * random.normal(size=LENGTH), 50 + random.normal(size=LENGTH)
    return np.stack([sent, load, heat], axis=1)


def with_seldom_counter(random: Generator) -> np.ndarray:
    """Five columns; the second is 0, but 1 in 0.2% of the rows."""
    rows = independent(5)(random)
    rows[:, COUNTER] = random.random(LENGTH) < 0.002
    return rows

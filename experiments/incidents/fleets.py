"""Synthetic fleets: hosts in racks, metrics with a daily season, faults that spread and faults that do not.

A fault that spreads has an origin. Other hosts follow it with delays from 0 to `longest_delay`: hosts of its rack, hosts
anywhere with the same column, or both. A single fault hits one host. What belongs to what is known, so it can be compared
with what `oif score --rows incidents` reports. The same shape and seed give the same fleet.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

COLUMNS = ("cpu", "memory", "disk", "network", "latency")
ROWS = 6_000  # of each host; a detector needs some thousand before it raises alerts
FIRST_FAULT = 3_000
DAY = 86_400
FIRST_TIME = 1_767_571_200  # 2026-01-05, a Monday
ORIGIN_IS = 1.4  # times as strong as at the others


class Shape(NamedTuple):
    """What a fleet is like."""

    hosts: int = 40
    racks: int = 4
    interval: int = 60  # seconds between two rows of a host
    longest_delay: int = 600  # seconds from the origin
    jitter: bool = False  # rows of different hosts have different times


class Fault(NamedTuple):
    """What happens to one host."""

    cause: int  # number; faults with the same one spread from one origin
    host: int
    column: int
    start: float  # seconds since the first row
    end: float
    size: float  # standard deviations
    is_origin: bool
    spreads: bool


class Fleet(NamedTuple):
    shape: Shape
    keys: list[str]
    times: np.ndarray  # of host x row, seconds since the first row
    values: np.ndarray  # of host x row x column
    faults: list[Fault]


def season(random: Generator, times: np.ndarray) -> np.ndarray:
    """A day that all hosts share, with their own strength and a few minutes of their own phase."""
    hosts = len(times)
    strength = random.uniform(1, 3, size=(hosts, 1, len(COLUMNS)))
    phase = random.normal(scale=0.02, size=(hosts, 1, len(COLUMNS)))
    day = times[:, :, None] / DAY
    return strength * np.sin(2 * np.pi * (day + phase))


def noise(random: Generator, hosts: int, rows: int) -> np.ndarray:
    """Half of the variance with a memory of some rows, half without."""
    fresh = random.normal(size=(hosts, rows, len(COLUMNS)))
    slow = np.zeros_like(fresh)
    for i in range(1, rows):
        slow[:, i] = 0.8 * slow[:, i - 1] + 0.6 * fresh[:, i]
    return np.sqrt(0.5) * (slow + random.normal(size=slow.shape))


def spreading(random: Generator, shape: Shape, cause: int, start: float) -> list[Fault]:
    """The origin, and those that follow it: of its rack, of its column, or of its rack and with its column."""
    origin, column = int(random.integers(shape.hosts)), int(random.integers(len(COLUMNS)))
    kind = random.choice(["rack", "column", "both"])
    rack = np.arange(shape.hosts) % shape.racks
    others = np.flatnonzero(rack == rack[origin]) if kind != "column" else np.arange(shape.hosts)
    others = random.permutation(others[others != origin])
    most = max(3, shape.hosts // shape.racks)
    others = others[: int(random.integers(max(2, most // 2), most + 1))]
    length = max(1_200, 12 * shape.interval) * random.uniform(1, 2)
    faults = [Fault(cause, origin, column, start, start + length, 8 * ORIGIN_IS, True, True)]
    for host in others:
        delay = random.uniform(0, shape.longest_delay)
        where = int(random.integers(len(COLUMNS))) if kind == "rack" else column
        faults.append(
            Fault(cause, int(host), where, start + delay, start + length, 8, False, True)
        )
    return faults


def plant(random: Generator, shape: Shape, spread: int, single: int) -> list[Fault]:
    """Faults that spread, far from each other, and single ones at any time."""
    first, last = FIRST_FAULT * shape.interval, (ROWS - 100) * shape.interval
    starts = np.linspace(first, last, spread, endpoint=False)
    room = (last - first) / spread
    faults: list[Fault] = []
    for cause, start in enumerate(starts):
        faults += spreading(random, shape, cause, start + random.uniform(0, room / 3))
    for cause in range(spread, spread + single):
        start = random.uniform(first, last)
        length = max(1_200, 12 * shape.interval) * random.uniform(0.5, 1.5)
        host, column = int(random.integers(shape.hosts)), int(random.integers(len(COLUMNS)))
        faults.append(Fault(cause, host, column, start, start + length, 8, True, False))
    return faults


def make(shape: Shape, seed: int, spread: int = 8, single: int = 16) -> Fleet:
    random = np.random.default_rng([seed, *(int(x) for x in shape)])
    times = np.tile(np.arange(ROWS) * float(shape.interval), (shape.hosts, 1))
    if shape.jitter:
        times += np.floor(random.uniform(0, shape.interval, size=(shape.hosts, 1)))
    values = season(random, times) + noise(random, shape.hosts, ROWS)
    faults = plant(random, shape, spread, single)
    for fault in faults:
        hit = (times[fault.host] >= fault.start) & (times[fault.host] < fault.end)
        values[fault.host, hit, fault.column] += fault.size
    keys = [f"rack-{host % shape.racks}/host-{host:03}" for host in range(shape.hosts)]
    return Fleet(shape, keys, times, values, faults)


def csv_text(fleet: Fleet) -> bytes:
    """All hosts in one stream, in the order of time; of one time in a random order of hosts."""
    random = np.random.default_rng(fleet.shape.hosts)
    hosts, rows = fleet.times.shape
    place = random.permuted(np.tile(np.arange(hosts), (rows, 1)), axis=1).T
    order = np.lexsort((place.ravel(), fleet.times.ravel()))
    flat = fleet.values.reshape(-1, len(COLUMNS))
    times = fleet.times.ravel()
    lines = [",".join(("at", "host", *COLUMNS))]
    form = ",".join(["%.5g"] * len(COLUMNS))
    for i in order.tolist():
        lines.append(f"{FIRST_TIME + times[i]:.0f},{fleet.keys[i // rows]},{form % tuple(flat[i])}")
    return ("\n".join(lines) + "\n").encode()

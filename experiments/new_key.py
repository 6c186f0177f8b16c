"""How much sooner is a new key useful if it begins with what other keys have learned, and how many false alerts does that cost?

    OIF_DATA=... python -m experiments.new_key [--rate 0.001] [--fleets "similar,SKAB"] [--excerpts 3]

Until the model of a new key is ready, another one judges its rows: a *common* model, which continues to learn rows of all
keys in turn; that of the *nearest* of four other keys; or a common model of *scaled* rows, each less the mean of its key's
earlier rows, by their spread. A guard ends that for good once the key's own rows disagree: after `first` rows, the share of
those whose p is below `bound` exceeds `share`. For comparison, *grown* is a model that has learned other rows of the key.

The table shows the share of planted events that were found / false alerts per 10,000 rows, in the first 500 rows of a key.
An alert is a row with which an episode begins. Events are planted in a copy; false alerts are those of the original.
*Left out*: the guard was chosen on all other families.

Fleets: synthetic ones, whose hosts differ as their names say; families of real series, labelled rows left out; and pieces of one
recording as hosts, as alike as instances of one service.
"""

import argparse
import functools
import gzip
import itertools
import json
import os
import sys
import warnings
import zlib
from concurrent.futures import ProcessPoolExecutor
from typing import Callable, NamedTuple, Optional

import numpy as np
import oif

from . import data
from .reality import series

ROWS, HISTORY, COMMON_ROWS, CALM, SKIPPED = 500, 2000, 4000, 16, 20


class Host(NamedTuple):
    rows: np.ndarray
    usable: np.ndarray  # per row: no incident is known there


class Guard(NamedTuple):
    first: int  # rows before it judges
    bound: float  # of p
    share: float  # of rows below the bound that is too much
    recent: bool  # of the last `first` rows, not of all


GUARD = Guard(20, 0.1, 0.25, False)
TO_CHOOSE_FROM = itertools.product((10, 20, 40), (0.05, 0.1, 0.2), (1.5, 2, 2.5, 3), (False, True))
GUARDS = [Guard(first, bound, times * bound, recent) for first, bound, times, recent in TO_CHOOSE_FROM]


class Stream(NamedTuple):
    """What each model said about the first rows of a new key."""

    fleet: str
    events: Optional[list[tuple[int, int]]]  # first row and the row after the last; None: nothing was planted
    ready: np.ndarray  # the key's own model
    anomaly: dict[str, np.ndarray]
    p: dict[str, np.ndarray]


# ---- Fleets ----


def synthetic(kind: str, seed: int, hosts: int = 12, columns: int = 3) -> list[Host]:
    """Columns share a load; means differ by that many spreads."""
    random = np.random.default_rng([seed, zlib.crc32(kind.encode())])
    count, fleet = HISTORY + ROWS, []
    for i in range(hosts):
        mean = 50 + {"apart": 2, "dissimilar": 40}.get(kind, 0.5) * random.normal(size=columns)
        mean += 40 * (i % 2) * (kind == "two groups")
        mean[0] += 40 * random.normal() * (kind == "one column")
        spread = np.exp(random.normal(size=columns)) if kind == "dissimilar" else 1 + 0.1 * random.random(columns)
        load = random.normal(size=(count, 1))
        rows = mean + spread * (0.6 * load + 0.8 * random.normal(size=(count, columns)))
        fleet.append(Host(rows, np.ones(count, dtype=bool)))
    return fleet


def family(name: str) -> list[Host]:
    return [Host(np.ascontiguousarray(s.rows), ~s.labels) for s in series.labelled() if s.family == name]


def pieces(host: Host, count: int) -> list[Host]:
    return list(map(Host, np.array_split(host.rows, count), np.array_split(host.usable, count)))


def numbers_in(value) -> list[float]:
    if isinstance(value, dict):
        return [number for part in value.values() for number in numbers_in(part)]
    return [] if isinstance(value, str) else [float(value)]


def recorded_machine() -> Host:
    path = data.find("host_metrics.ndjson.gz")
    if path is None:
        raise data.DataMissing("there is no host_metrics.ndjson.gz; leave out the fleet `machine pieces`")
    with gzip.open(path, "rt") as file:
        rows = np.array([numbers_in(json.loads(line)) for line in file])
    usable = np.ones(len(rows), dtype=bool)
    for first, end in ((1876, 2006), (3740, 3770), (18351, 18417), (18566, 18631), (18776, 19055)):
        usable[first:end] = False
    return Host(rows, usable)


FLEETS: dict[str, Callable[[], list[list[Host]]]] = {
    **{
        kind: functools.partial(lambda kind: [synthetic(kind, seed) for seed in range(2)], kind)
        for kind in ("similar", "apart", "two groups", "one column", "dissimilar")
    },
    **{name: functools.partial(lambda name: [family(name)], name) for name in ("SKAB", "SMD", "ASD", "MSL")},
    "SMD pieces": lambda: [pieces(host, 6) for host in family("SMD")[:2]],
    "ASD pieces": lambda: [pieces(host, 5) for host in family("ASD")],
    "machine pieces": lambda: [pieces(recorded_machine(), 8)],
}


def family_of(fleet: str) -> str:
    name = fleet.removesuffix(" pieces")
    return name if name in ("SKAB", "SMD", "ASD", "MSL", "machine") else "synthetic"


# ---- Events ----


def plant(rows: np.ndarray, spread: np.ndarray, random: np.random.Generator):
    """One event in 120 rows: a spike of 8 spreads, a shift by 5, half of the columns by 4, or zeros."""
    rows, events = rows.copy(), []
    lively = np.flatnonzero((spread > 0) & (np.nanstd(rows, axis=0) > 0))
    for first in range(int(random.integers(10, 120)), ROWS - 6, 120) if len(lively) else ():
        kind, column = random.integers(4), random.choice(lively)
        end = first + (1, 6, 1, 4)[kind]
        if kind == 2:
            column = random.permutation(lively)[: -(-len(lively) // 2)]
        if kind == 3:
            rows[first:end, column] = 0
        else:
            rows[first:end, column] += (8, 5, 4)[kind] * spread[column]
        events.append((first, end))
    return rows, events


# ---- Models ----

# Rows of several hosts in turn do not follow each other.
VALUES_ONLY = {"find_season": "off"}


def learned(rate: float, rows: np.ndarray, **options: str) -> bytes:
    model = oif.Pipeline(alert_rate=rate, **options)
    model.process(rows)
    return model.to_bytes()


def in_turn(hosts: list[Host], count: int, random: np.random.Generator) -> np.ndarray:
    """Rows of the hosts in turn, each from a moment of its own."""
    share, chosen = -(-count // len(hosts)), []
    for host in hosts:
        usable = np.roll(np.flatnonzero(host.usable), -int(random.integers(host.usable.sum())))
        chosen.append(host.rows[usable[np.arange(share) % len(usable)]])
    return np.stack(chosen, axis=1).reshape(-1, chosen[0].shape[1])[:count]


def scaled(rows: np.ndarray) -> np.ndarray:
    """Each row less the mean of the rows before it, by their spread."""
    count = np.arange(1, len(rows))[:, None]
    known = np.nan_to_num(rows - rows[0])
    mean = np.cumsum(known, axis=0)[:-1] / count
    spread = np.sqrt(np.maximum(np.cumsum(known**2, axis=0)[:-1] / count - mean**2, 0))
    least = 1e-6 * (np.abs(np.nan_to_num(rows[0])) + 1)
    return np.vstack([np.zeros_like(rows[:1]), np.clip((known[1:] - mean) / np.maximum(spread, least), -20, 20)])


def scaled_of(hosts: list[Host], random: np.random.Generator) -> np.ndarray:
    parts: list[np.ndarray] = []
    while sum(map(len, parts)) < COMMON_ROWS:
        host = hosts[random.integers(len(hosts))]
        rows = host.rows[host.usable]
        first = random.integers(max(1, len(rows) - ROWS))
        parts.append(scaled(rows[first : first + ROWS])[SKIPPED:])
    return random.permutation(np.concatenate(parts))[:COMMON_ROWS]


def judge(snapshot: bytes, rows: np.ndarray) -> np.ndarray:
    return oif.Pipeline.load(snapshot).process(rows)


class Others:
    """Models of other hosts than the new one."""

    def __init__(self, hosts: list[Host], models: list[bytes], rate: float, random: np.random.Generator):
        rows = in_turn(hosts, COMMON_ROWS + ROWS, random)
        self.later = rows[COMMON_ROWS:]
        self.common = learned(rate, rows[:COMMON_ROWS], **VALUES_ONLY)
        self.scaled = learned(rate, scaled_of(hosts, random), **VALUES_ONLY)
        self.models = [models[i] for i in random.permutation(len(models))[:4]]

    def judge(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        both = np.stack([rows, self.later], axis=1).reshape(2 * ROWS, -1)
        unusual = [np.mean(judge(model, rows[:20])["p"] < 0.2) for model in self.models]
        late = judge(self.scaled, scaled(rows)[SKIPPED:])
        early = np.zeros(SKIPPED, late.dtype)
        early["p"] = 1
        return {
            "common": judge(self.common, both)[::2],
            "nearest": judge(self.models[int(np.argmin(unusual))], rows),
            "scaled": np.concatenate([early, late]),
        }


def streams_of(task) -> list[Stream]:
    warnings.simplefilter("ignore")  # of short streams
    name, number, fleet, rate, excerpts = task
    models = [learned(rate, host.rows[host.usable][:HISTORY]) for host in fleet]
    found = []
    for new, host in enumerate(fleet):
        random = np.random.default_rng([new, number, zlib.crc32(name.encode())])
        rest = [i for i in range(len(fleet)) if i != new]
        others = Others([fleet[i] for i in rest], [models[i] for i in rest], rate, random)
        spread = np.nanstd(host.rows[host.usable], axis=0)
        possible = [i for i in range(len(host.rows) - ROWS + 1) if host.usable[i : i + ROWS].all()]
        for first in random.choice(possible, excerpts) if possible else ():
            rows = host.rows[first : first + ROWS]
            elsewhere = host.usable.copy()
            elsewhere[first : first + ROWS] = False
            grown = learned(rate, host.rows[elsewhere][:HISTORY])
            for stream, events in ((rows, None), plant(rows, spread, random)):
                own = oif.Pipeline(alert_rate=rate).process(stream)
                results = {"own": own, "grown": judge(grown, stream), **others.judge(stream)}
                anomaly = {key: r["anomaly"].astype(bool) for key, r in results.items()}
                p = {key: r["p"].copy() for key, r in results.items()}
                found.append(Stream(name, events, own["ready"].astype(bool), anomaly, p))
    return found


# ---- Guards and counts ----


def agrees(p: np.ndarray, guard: Guard) -> np.ndarray:
    """Per row, whether the rows up to it have always looked like the others' since the guard began."""
    count = np.arange(1, len(p) + 1)
    low = np.cumsum(p < guard.bound)
    if guard.recent:
        low[guard.first :] = low[guard.first :] - low[: -guard.first]
        share = low / np.minimum(count, guard.first)
    else:
        share = low / count
    disagrees = (count >= guard.first) & (share > guard.share)
    return (count >= guard.first) & ~np.maximum.accumulate(disagrees)


def begins_of(stream: Stream, start: str, guard: Optional[Guard]) -> list[int]:
    """Rows with which an episode begins."""
    early = stream.anomaly[start] & agrees(stream.p[start], guard) if guard else stream.anomaly[start]
    rows = np.flatnonzero(early if start == "grown" else np.where(stream.ready, stream.anomaly["own"], early))
    return rows[np.diff(rows, prepend=-CALM - 1) > CALM].tolist()


def count(streams: list[Stream], start: str, guard: Optional[Guard]) -> tuple[float, float]:
    """Share of events found, false alerts per 10,000 rows."""
    found, alerts = [], []
    for stream in streams:
        begins = begins_of(stream, start, guard)
        if stream.events is None:
            alerts.append(len(begins))
        else:
            found += [any(first <= i <= end for i in begins) for first, end in stream.events]
    return float(np.mean(found)), float(np.mean(alerts)) * 10000 / ROWS


def choose(counts: dict[Guard, dict[str, tuple[float, float]]], left_out: str, rate: float) -> Optional[Guard]:
    """The guard that finds most, of those with at most 1.5 times as many false alerts as requested in every other fleet."""

    def value(guard: Guard) -> float:
        kept = {fleet: c for fleet, c in counts[guard].items() if family_of(fleet) != left_out}
        by_family = {f: [c[0] for fleet, c in kept.items() if family_of(fleet) == f] for f in map(family_of, kept)}
        is_safe = all(c[1] <= 1.5 * rate * 10000 for c in kept.values())
        return float(np.mean([np.mean(shares) for shares in by_family.values()])) if is_safe and kept else -1.0

    best = max(counts, key=value)
    return best if value(best) >= 0 else None


STARTS = {
    "blank": ("own", None),
    "grown": ("grown", None),
    "common, no guard": ("common", None),
    "common, guard": ("common", GUARD),
    "nearest, guard": ("nearest", GUARD),
    "scaled, guard": ("scaled", GUARD),
}
CHOSEN = ("common", "scaled")  # also with guards that were chosen


def print_table(fleets: dict[str, list[Stream]], rate: float) -> None:
    counts = {start: {g: {f: count(fleets[f], start, g) for f in fleets} for g in GUARDS} for start in CHOSEN}
    titles = ["fleet", "streams", *STARTS, *(f"{start}, left out" for start in CHOSEN)]
    print(f"Alert rate {rate:g}: {rate * 10000:g} alerts per 10,000 rows are requested.\n")
    print(f"| {' | '.join(titles)} |\n|{' --- |' * len(titles)}")
    for fleet, streams in fleets.items():
        cells = [count(streams, *start) for start in STARTS.values()]
        for start in CHOSEN:
            guard = choose(counts[start], family_of(fleet), rate)
            cells.append(counts[start][guard][fleet] if guard else count(streams, "own", None))
            print(f"{fleet}: {start}: {guard}", file=sys.stderr)
        print(f"| {fleet} | {len(streams) // 2} | {' | '.join(f'{a:.2f} / {b:.0f}' for a, b in cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="experiments.new_key", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rate", type=float, default=0.001)
    parser.add_argument("--fleets", default=",".join(FLEETS), help="default: %(default)s")
    parser.add_argument("--excerpts", type=int, default=3, help="of each host (default: 3)")
    given = parser.parse_args()
    tasks = [
        (name, number, fleet, given.rate, given.excerpts)
        for name in given.fleets.split(",")
        for number, fleet in enumerate(FLEETS[name]())
    ]
    fleets: dict[str, list[Stream]] = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for task, streams in zip(tasks, pool.map(streams_of, tasks)):
            fleets.setdefault(task[0], []).extend(streams)
    print_table(fleets, given.rate)


if __name__ == "__main__":
    main()

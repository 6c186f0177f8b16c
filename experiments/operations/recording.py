"""A real recording of a machine, with three loads that were caused on purpose.

host_metrics.ndjson.gz, in $OIF_DATA or the cache: /proc of a busy two-core
Linux machine, ten rows per second. The other kinds of anomaly are synthetic.
"""

import gzip
import json
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .. import data
from .kinds import REAL

FILE = "host_metrics.ndjson.gz"


class Event(NamedTuple):
    key: str
    title: str
    start: int
    rows: int

    @property
    def group(self) -> str:
        return REAL


EVENTS = (
    Event("host-dd-first", "disk: 3 GB dd, 130 rows", 1_876, 130),
    Event("host-dd", "disk: 1.5 GB dd, 66 rows", 18_351, 66),
    Event("host-storm", "50,000 context switches per row, 59 rows", 18_996, 59),
)


def is_there() -> bool:
    return data.find(FILE) is not None


def numbers(record: dict[str, Any]) -> list[float]:
    """The numbers of a line, those of nested objects included, in their order."""
    found: list[float] = []
    for value in record.values():
        if isinstance(value, dict):
            found += numbers(value)
        elif isinstance(value, (int, float)):
            found.append(float(value))
    return found


@lru_cache(maxsize=1)
def load() -> np.ndarray:
    path = data.find(FILE)
    if path is None:
        raise data.DataMissing(f"{FILE} is not in {' nor in '.join(map(str, data.folders()))}")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return np.array([numbers(json.loads(line)) for line in file])


def elsewhere(length: int, rows: int) -> np.ndarray:
    """Where windows as long as an event begin that meet none of the events: for chance."""
    starts = np.arange(EVENTS[0].start, rows - length)
    apart = [(starts + length <= e.start) | (starts >= e.start + e.rows) for e in EVENTS]
    return starts[np.all(apart, axis=0)]

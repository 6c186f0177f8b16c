"""Streams that change, made of data sets that do not: what a detector is worth after a change can then be measured on
real rows whose labels are known.

Each stream is a sample of the rows of one set, in random order; from a change on, rows are moved. How far is told in
units of each feature's own spread, so a stream is as hard for money as for temperatures.
"""

from __future__ import annotations

from typing import Callable, NamedTuple

import numpy as np

SEGMENT = 10_240  # rows before a change, and after it
GRADUAL = 5_120  # rows that a gradual change takes
AS_IT_IS = "as it is"  # a set that changes by itself


class Stream(NamedTuple):
    rows: np.ndarray
    anomalous: np.ndarray
    changes: tuple[int, ...]  # the first row of each new concept


def _deviations(rows: np.ndarray) -> np.ndarray:
    return rows.std(axis=0)


def _ranges(rows: np.ndarray) -> np.ndarray:
    return rows.max(axis=0) - rows.min(axis=0)


def shift(rows: np.ndarray, anomalous: np.ndarray, random: np.random.RandomState) -> Stream:
    """Half of the features move by one standard deviation."""
    moving = random.permutation(rows.shape[1]) < (rows.shape[1] + 1) // 2
    rows[SEGMENT:] += moving * _deviations(rows)
    return Stream(rows, anomalous, (SEGMENT,))


def jump(rows: np.ndarray, anomalous: np.ndarray, random: np.random.RandomState) -> Stream:
    """Every feature moves by three times its range: nothing is where it was."""
    rows[SEGMENT:] += 3 * _ranges(rows)
    return Stream(rows, anomalous, (SEGMENT,))


def gradual(rows: np.ndarray, anomalous: np.ndarray, random: np.random.RandomState) -> Stream:
    """Every feature moves by three standard deviations, a little with each row."""
    moved = np.clip((np.arange(len(rows)) - SEGMENT) / GRADUAL, 0, 1)
    rows += moved[:, np.newaxis] * 3 * _deviations(rows)
    return Stream(rows, anomalous, (SEGMENT,))


def recurring(rows: np.ndarray, anomalous: np.ndarray, random: np.random.RandomState) -> Stream:
    """The jump, back again, and there once more."""
    part = SEGMENT // 2
    away = 3 * _ranges(rows)
    rows[part : 2 * part] += away
    rows[3 * part :] += away
    return Stream(rows, anomalous, (part, 2 * part, 3 * part))


def new_cluster(rows: np.ndarray, anomalous: np.ndarray, random: np.random.RandomState) -> Stream:
    """Half of the normal rows are now elsewhere, by three times the range of each feature."""
    moving = ~anomalous & (random.uniform(size=len(rows)) < 0.5)
    moving[:SEGMENT] = False
    rows[moving] += 3 * _ranges(rows)
    return Stream(rows, anomalous, (SEGMENT,))


KINDS: dict[str, Callable[[np.ndarray, np.ndarray, np.random.RandomState], Stream]] = {
    "shift": shift,
    "jump": jump,
    "gradual": gradual,
    "recurring": recurring,
    "new cluster": new_cluster,
}


def build(kind: str, rows: np.ndarray, anomalous: np.ndarray, seed: int) -> Stream:
    """A changing stream of this kind; the same seed makes the same one for every detector."""
    if len(rows) < 2 * SEGMENT:
        raise ValueError(f"{len(rows)} rows are too few for two segments of {SEGMENT}")
    random = np.random.RandomState(seed)
    sample = random.permutation(len(rows))[: 2 * SEGMENT]
    return KINDS[kind](rows[sample].copy(), anomalous[sample].copy(), random)

"""Streams that hold one kind of anomaly each, so that a table can say who finds what.

Normal rows never change: whatever a detector misses here, it misses because of the kind. A stream depends on the
seed and the numbers given alone (RandomState: its numbers are the same in every version of numpy). All columns have
one scale, which suits methods that measure distances; real columns seldom do.
"""

from typing import Callable, NamedTuple

import numpy as np

SHARE = 0.005  # of the rows are anomalous
SPIKE = 8.0  # standard deviations
CORRELATION = 0.95
DENSE_SPREAD = 0.05  # of the dense cluster; that of the wide one is 1
CLUSTER_DISTANCE = 6.0
LOCAL_DISTANCE = 6.0  # of an anomaly from where the dense cluster ends, in spreads of the dense cluster


class Stream(NamedTuple):
    rows: np.ndarray
    anomalous: np.ndarray


Generator = Callable[[int, int, int], Stream]  # rows, columns, seed


def choose_places(random: np.random.RandomState, rows: int) -> np.ndarray:
    """Which rows are to be anomalous, in random order."""
    return random.choice(rows, round(SHARE * rows), replace=False)


def labelled(rows: np.ndarray, places: np.ndarray) -> Stream:
    anomalous = np.zeros(len(rows), dtype=bool)
    anomalous[places] = True
    return Stream(rows, anomalous)


def spikes(rows: int, columns: int, seed: int) -> Stream:
    """Independent normal numbers; an anomalous row has one that is 8 standard deviations further up or down."""
    random = np.random.RandomState(seed)
    numbers = random.standard_normal((rows, columns))
    places = choose_places(random, rows)
    column = random.randint(columns, size=len(places))
    numbers[places, column] += SPIKE * random.choice([-1.0, 1.0], size=len(places))
    return labelled(numbers, places)


def local(rows: int, columns: int, seed: int) -> Stream:
    """Half of the rows are a wide cluster, half a dense one beside it; anomalies are close to the dense one.

    Their distance from it is large for its rows and small for those of the wide cluster.
    """
    random = np.random.RandomState(seed)
    numbers = random.standard_normal((rows, columns))
    direction = np.full(columns, 1 / np.sqrt(columns))
    dense = random.permutation(rows) < rows // 2
    numbers[dense] = CLUSTER_DISTANCE * direction + DENSE_SPREAD * numbers[dense]
    places = choose_places(random, rows)
    away = random.standard_normal((len(places), columns))
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    radius = DENSE_SPREAD * (np.sqrt(columns) + LOCAL_DISTANCE)
    numbers[places] = CLUSTER_DISTANCE * direction + radius * away
    return labelled(numbers, places)


def dependency(rows: int, columns: int, seed: int) -> Stream:
    """Columns that follow one load, correlated by .95; anomalous rows break that, because they exchange numbers.

    Each column goes round by a different number of anomalous rows, so it still holds exactly the numbers it held.
    """
    random = np.random.RandomState(seed)
    load = random.standard_normal((rows, 1))
    own = random.standard_normal((rows, columns))
    numbers = np.sqrt(CORRELATION) * load + np.sqrt(1 - CORRELATION) * own
    places = choose_places(random, rows)
    for column in range(columns):
        numbers[places, column] = numbers[np.roll(places, column + 1), column]
    return labelled(numbers, places)


# What a group of the table holds: the generator, and the numbers of columns that its mean is taken over.
KINDS: dict[str, tuple[Generator, tuple[int, ...]]] = {
    "spikes": (spikes, (3, 10, 30)),
    "local": (local, (2, 5, 10)),
    "dependency": (dependency, (2, 4, 10)),
}

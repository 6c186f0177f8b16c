"""A yardstick in a few lines: the largest |z| of any column, with the alert rule of the tool.

z is the distance of a value from the mean of the WINDOW rows before it, in standard deviations of
these. A column that was constant has none: any other value is then infinitely far. Missing values
count neither as near nor as far.

The alert rule (src/pipeline/alerts/score_history.h): a row is an alert if, among the past scores, at most
`rate` are as high as its own, older ones counting less, to 1/e after `memory` scores.
"""

from bisect import bisect_left
from math import exp

import numpy as np

TITLE = "max |z|"
WINDOW = 2_048
FIRST = 256  # rows before the first score
KEPT = 1_024  # of the highest scores; an alert has far fewer above it


def before(values: np.ndarray) -> np.ndarray:
    """For each row the sum over the WINDOW rows before it."""
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    first = np.maximum(np.arange(len(values)) - WINDOW, 0)
    return sums[:-1] - sums[first]


def largest_z(rows: np.ndarray) -> np.ndarray:
    """The score of every row: the largest |z| of its columns."""
    known = ~np.isnan(rows)
    first = np.array([column[~np.isnan(column)][0] for column in rows.T])
    values = np.where(known, rows - first, 0)  # constant columns become exactly 0
    count = np.maximum(before(known.astype(float)), 1)
    mean = before(values) / count
    deviation = np.sqrt(np.maximum(before(values**2) / count - mean**2, 0))
    away = np.where(known, np.abs(values - mean), 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(away > 0, away / deviation, 0)
    return z.max(axis=1)


def rank_alerts(scores: np.ndarray, rate: float) -> np.ndarray:
    """Which scores are among the highest `rate` of those before them."""
    memory = max(16 / rate, 8_192)
    forget = exp(-1 / memory)
    highest: list[tuple[float, int]] = []  # score and row, ascending
    alerts, total = np.zeros(len(scores), dtype=bool), 0.0
    for row, score in enumerate(scores.tolist()):
        place = bisect_left(highest, (score, -1))
        spare = rate * (total + 1) - 1  # what past scores that are as high may weigh
        for _, when in reversed(highest[place:]):
            if spare < 0:
                break
            spare -= exp((when - row) / memory)
        alerts[row] = spare >= 0 and (place > 0 or len(highest) < KEPT)
        highest.insert(place, (score, row))
        del highest[:-KEPT]
        total = total * forget + 1
    return alerts


def alerts_of(rows: np.ndarray, rate: float) -> np.ndarray:
    alerts = np.zeros(len(rows), dtype=bool)
    alerts[FIRST:] = rank_alerts(largest_z(rows)[FIRST:], rate)
    return alerts

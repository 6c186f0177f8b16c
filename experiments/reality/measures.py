"""What is measured on a scored series."""

from typing import NamedTuple, Optional

import numpy as np

CALM = 16  # rows without an alert that end an episode, as in the tool


class Span(NamedTuple):
    first: int
    end: int  # the row after the last


def spans(flags: np.ndarray) -> list[Span]:
    """Runs of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    return [Span(int(first), int(end)) for first, end in zip(edges[::2], edges[1::2])]


def episodes(alerts: np.ndarray, calm: int = CALM) -> list[Span]:
    """Alerts that are at most `calm` rows apart are one episode."""
    rows = np.flatnonzero(alerts)
    if not len(rows):
        return []
    breaks = np.flatnonzero(np.diff(rows) > calm)
    firsts, lasts = np.concatenate(([0], breaks + 1)), np.concatenate((breaks, [len(rows) - 1]))
    return [Span(int(rows[a]), int(rows[b]) + 1) for a, b in zip(firsts, lasts)]


def area_under_roc(scores: np.ndarray, labels: np.ndarray) -> Optional[float]:
    positives = int(labels.sum())
    negatives = len(labels) - positives
    if not positives or not negatives:
        return None
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    return float((ranks[inverse][labels].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def average_precision(order: np.ndarray, ends: np.ndarray, labels: np.ndarray) -> float:
    """`order`: rows by falling score; `ends`: where the last of several equal scores is."""
    hits = np.cumsum(labels[order])[ends]
    recall, precision = hits / hits[-1], hits / (ends + 1)
    return float(np.sum(np.diff(np.concatenate(([0], recall))) * precision))


def volume_under_pr(scores: np.ndarray, labels: np.ndarray) -> Optional[float]:
    """The mean area under precision and recall, with labels widened by 0, 10, ..., 100 rows (half on each side)."""
    if not labels.any() or labels.all():
        return None
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.diff(scores[order], append=np.inf) != 0)
    volumes = []
    for width in range(0, 101, 10):
        wide = np.convolve(labels, np.ones(width + 1), mode="same") > 0 if width else labels
        volumes.append(average_precision(order, ends, wide))
    return float(np.mean(volumes))


THRESHOLDS = 100  # tried
MOST_ALERTS = 0.3  # of the rows: if all were alerts, they would be one episode that finds everything


def within_reach(scores: np.ndarray, labels: np.ndarray, others: float) -> int:
    """Events found at the best threshold that has at most `others` other episodes per 10,000 rows."""
    falling = -np.sort(-scores)
    most = MOST_ALERTS * len(scores)
    counts = np.unique(np.geomspace(1, max(1, most), THRESHOLDS).astype(int))
    found = [find(scores >= falling[count - 1], labels) for count in counts]
    allowed = [one for one in found if 1e4 * one.others <= others * one.rows and one.alert_rows <= most]
    return max((one.found for one in allowed), default=0)


class Found(NamedTuple):
    """What alerts found of the labelled events of a series."""

    events: int
    found: int
    delays: tuple[int, ...]  # rows from the begin of each event found to its first alert
    others: int  # episodes without a labelled row
    alert_rows: int
    other_rows: int  # alerts outside of events
    rows: int


def find(alerts: np.ndarray, labels: np.ndarray) -> Found:
    events = spans(labels)
    within = [alerts[event.first : event.end] for event in events]
    delays = [int(np.argmax(rows)) for rows in within if rows.any()]
    others = [span for span in episodes(alerts) if not labels[span.first : span.end].any()]
    outside = int((alerts & ~labels).sum())
    return Found(len(events), len(delays), tuple(delays), len(others), int(alerts.sum()), outside, len(labels))

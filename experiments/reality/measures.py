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


class Found(NamedTuple):
    """What alerts found of the labelled events of a series; means of several shifts."""

    events: int
    reported: float  # an episode begins inside
    found: float  # an alert is inside
    delays: tuple[int, ...]  # rows from the begin of each event found to its first alert
    others: float  # episodes without a labelled row
    alert_rows: int
    rows: int


def find(alerts: np.ndarray, labels: np.ndarray) -> Found:
    events, begun = spans(labels), episodes(alerts)
    begins = np.zeros(len(alerts), dtype=bool)
    begins[[episode.first for episode in begun]] = True
    reported = sum(bool(begins[event.first : event.end].any()) for event in events)
    within = [alerts[event.first : event.end] for event in events]
    delays = [int(np.argmax(rows)) for rows in within if rows.any()]
    others = sum(not labels[episode.first : episode.end].any() for episode in begun)
    return Found(len(events), reported, len(delays), tuple(delays), others, int(alerts.sum()), len(labels))

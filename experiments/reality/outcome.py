"""What a scorer reached on one series: on its labelled events, or on the incidents planted in it."""

import zlib
from typing import Iterable, Iterator, NamedTuple, Optional, Sequence

import numpy as np

from . import measures
from .measures import Found, Span
from .plants import Incident
from .scorers import Scored
from .series import Series

SHORT = 1_300  # rows of a short series: about two months of hours
LATE_ROWS, LATE_SHARE = 4, 4  # an incident may be noticed 4 rows late, or a quarter of its length
AFTER_ROWS = 16  # alerts that soon after an incident are of it
LASTING = ("late day", "ramp", "leak")  # incidents whose end is a change of its own: a day after them


# ---- Labelled series ----


class Labelled(NamedTuple):
    collection: str
    family: str
    name: str
    is_short: bool
    auc: Optional[float]
    vus: Optional[float]
    found: Found

    @property
    def is_silent(self) -> bool:
        return self.found.events > 0 and self.found.alert_rows == 0

    def is_noisy(self, rate: float) -> bool:
        """More than twice the episodes that were asked for; a single one is allowed in any series."""
        return self.found.others > 1 and self.found.others > 2 * rate * self.found.rows


def judge_labelled(series: Series, scored: Scored) -> Labelled:
    """Only rows from `start` on count."""
    part = slice(series.start, None)
    scores, alerts, labels = scored.scores[part], scored.alerts[part], series.labels[part]
    auc, vus = measures.area_under_roc(scores, labels), measures.volume_under_pr(scores, labels)
    is_short = len(series.rows) <= SHORT
    found = measures.find(alerts, labels)
    return Labelled(series.collection, series.family, series.name, is_short, auc, vus, found)


# ---- Planted incidents ----


class Caught(NamedTuple):
    """One incident; `found` is 0 or 1, or the mean of several shifts."""

    kind: str
    first: int
    end: int
    found: float


class Planted(NamedTuple):
    family: str
    name: str
    seed: int
    incidents: tuple[Caught, ...]
    others: float  # episodes that belong neither to an incident nor to a labelled row
    rows: int

    @property
    def title(self) -> str:
        return f"{self.family} {self.name}"


def reach(incident: Incident) -> Span:
    """The rows in which an alert finds the incident."""
    return Span(incident.first, incident.end + max(LATE_ROWS, (incident.end - incident.first) // LATE_SHARE))


def covered(series: Series, incidents: Sequence[Incident]) -> np.ndarray:
    """The rows whose alerts are explained: by a label, or by an incident that is there or just was."""
    flags = series.labels.copy()
    for incident in incidents:
        after = series.day_rows if incident.kind in LASTING else AFTER_ROWS
        flags[incident.first : reach(incident).end + after] = True
    return flags


def judge_planted(series: Series, incidents: Sequence[Incident], seed: int, alerts: np.ndarray) -> Planted:
    """Only other episodes from `start` on count."""
    caught = [Caught(one.kind, one.first, one.end, float(alerts[slice(*reach(one))].any())) for one in incidents]
    explained = covered(series, incidents)[series.start :]
    begun = measures.episodes(alerts[series.start :])
    others = sum(not explained[episode.first : episode.end].any() for episode in begun)
    return Planted(series.family, series.name, seed, tuple(caught), others, len(explained))


# ---- As many alerts at random ----

SHIFTS = 20


def shifted(series: Series, alerts: np.ndarray) -> Iterator[np.ndarray]:
    """The alerts that count, SHIFTS times moved in a circle: number and length of episodes stay, and what they mean is lost."""
    random = np.random.default_rng(zlib.crc32(series.title.encode()))
    history, counted = alerts[: series.start], alerts[series.start :]
    for offset in random.integers(0, len(counted), SHIFTS):
        yield np.concatenate((history, np.roll(counted, offset)))


def mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def labelled_by_chance(series: Series, alerts: np.ndarray, judged: Labelled) -> Labelled:
    """There is no score to rank."""
    start = series.start
    found = [measures.find(moved[start:], series.labels[start:]) for moved in shifted(series, alerts)]
    reported, hits, others = (mean(getattr(one, name) for one in found) for name in ("reported", "found", "others"))
    delays = tuple(delay for one in found for delay in one.delays)
    by_chance = judged.found._replace(reported=reported, found=hits, others=others, delays=delays)
    return judged._replace(auc=None, vus=None, found=by_chance)


def planted_by_chance(series: Series, incidents: Sequence[Incident], alerts: np.ndarray, judged: Planted) -> Planted:
    each = [judge_planted(series, incidents, judged.seed, moved) for moved in shifted(series, alerts)]
    found = zip(*(one.incidents for one in each))
    caught = tuple(same[0]._replace(found=mean(one.found for one in same)) for same in found)
    return judged._replace(incidents=caught, others=mean(one.others for one in each))

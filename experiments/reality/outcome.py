"""What a scorer reached on one series: on its labelled events, or on the incidents planted in it."""

from typing import NamedTuple, Optional, Sequence

import numpy as np

from . import measures
from .measures import Found, Span
from .plants import Incident
from .scorers import Scored
from .series import Series

LATE_ROWS, LATE_SHARE = 4, 4  # an incident may be noticed 4 rows late, or a quarter of its length
AFTER_ROWS = 16  # alerts that soon after an incident are of it
FEW_OTHERS = 5  # per 10,000 rows
LASTING = ("late day", "ramp", "leak")  # incidents whose end is a change of its own: a day after them


# ---- Chance ----


def chance(alerts: np.ndarray, explained: np.ndarray, length: int) -> float:
    """The share of windows of that many rows, none of them explained, that have an alert."""
    if length > len(alerts):
        return 0.0
    counted, taken = (np.concatenate(([0], np.cumsum(flags))) for flags in (alerts, explained))
    is_free = taken[length:] == taken[:-length]
    return float(np.mean((counted[length:] > counted[:-length])[is_free])) if is_free.any() else 0.0


# ---- Labelled series ----


class Labelled(NamedTuple):
    family: str
    name: str
    auc: Optional[float]
    vus: Optional[float]
    within_reach: int  # events found at the best threshold with 5 others per 10,000 rows
    found: Found
    chance: float  # events that would be found by alerts as frequent as outside of events

    @property
    def others(self) -> float:
        """Other episodes per 10,000 rows."""
        return 1e4 * self.found.others / self.found.rows


def judge_labelled(series: Series, scored: Scored) -> Labelled:
    """Only rows from `start` on count."""
    part = slice(series.start, None)
    scores, alerts, labels = scored.scores[part], scored.alerts[part], series.labels[part]
    auc, vus = measures.area_under_roc(scores, labels), measures.volume_under_pr(scores, labels)
    by_chance = sum(chance(alerts, labels, event.end - event.first) for event in measures.spans(labels))
    reached = measures.within_reach(scores, labels, FEW_OTHERS)
    return Labelled(series.family, series.name, auc, vus, reached, measures.find(alerts, labels), by_chance)


# ---- Planted incidents ----


class Caught(NamedTuple):
    """One incident: rows until the first alert, None if missed; how probable an alert is in as many usual rows."""

    kind: str
    first: int
    end: int
    delay: Optional[int]
    chance: float


class Planted(NamedTuple):
    family: str
    name: str
    seed: int
    incidents: tuple[Caught, ...]
    others: int  # episodes that belong neither to an incident nor to a labelled row
    alert_rows: int
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


def other_episodes(series: Series, incidents: Sequence[Incident], alerts: np.ndarray) -> list[Span]:
    """Those that touch nothing explained; only rows from `start` on count."""
    flags, start = covered(series, incidents), series.start
    found = [Span(span.first + start, span.end + start) for span in measures.episodes(alerts[start:])]
    return [span for span in found if not flags[span.first : span.end].any()]


def delay_of(incident: Incident, alerts: np.ndarray) -> Optional[int]:
    within = alerts[slice(*reach(incident))]
    return int(np.argmax(within)) if within.any() else None


def judge_planted(series: Series, incidents: Sequence[Incident], seed: int, scored: Scored) -> Planted:
    alerts, explained, start = scored.alerts, covered(series, incidents), series.start
    caught = []
    for incident in incidents:
        first, end = reach(incident)
        by_chance = chance(alerts[start:], explained[start:], end - first)
        caught.append(Caught(incident.kind, incident.first, incident.end, delay_of(incident, alerts), by_chance))
    others = len(other_episodes(series, incidents, alerts))
    counted = int(alerts[start:].sum())
    return Planted(series.family, series.name, seed, tuple(caught), others, counted, len(alerts) - start)


# ---- The budget of alerts ----

WITHIN = (0.3, 1.5)  # times the episodes that were asked for
FAR_ABOVE = 2.0
SPARE = 1  # episodes more or fewer are always allowed: in a short series one is a large share


class Budget(NamedTuple):
    """How many series spend as many other episodes as were asked for; `far` are among those above."""

    within: int
    below: int
    above: int
    far: int


def spends(found: Found, rate: float) -> str:
    """A word: within, below, above, or far above."""
    asked = rate * found.rows
    if found.others > asked + SPARE and found.others > FAR_ABOVE * asked:
        return "far"
    if found.others > asked + SPARE and found.others > WITHIN[1] * asked:
        return "above"
    return "below" if found.others < asked - SPARE and found.others < WITHIN[0] * asked else "within"


def budget(outcomes: Sequence[Labelled], rate: float) -> Budget:
    words = [spends(outcome.found, rate) for outcome in outcomes]
    far = words.count("far")
    return Budget(words.count("within"), words.count("below"), words.count("above") + far, far)

"""What alerts are worth: was an anomaly found, how late, and how many episodes were there?"""

from statistics import median
from typing import NamedTuple, Optional

import numpy as np

from .tool import CALM


def delay(alerts: np.ndarray, start: int, length: int) -> Optional[int]:
    """Rows from the beginning of the anomaly to the first alert in it; None: it was not found."""
    within = np.flatnonzero(alerts[start : start + length])
    return int(within[0]) if len(within) else None


def episodes(alerts: np.ndarray, calm: int = CALM) -> int:
    """Runs of alerts, as the tool counts them: `calm` rows without an alert end one.

    Two alerts belong to one episode if the second comes at most `calm` rows after the first.
    """
    rows = np.flatnonzero(alerts)
    return int((np.diff(rows) > calm).sum()) + 1 if len(rows) else 0


def chance(alerts: np.ndarray, length: int, starts: np.ndarray) -> float:
    """The share of the windows of that length, beginning at `starts`, that have an alert."""
    before = np.concatenate([[0], np.cumsum(alerts)])
    return float((before[starts + length] > before[starts]).mean())


def delay_text(rows: Optional[float]) -> str:
    """`+28`; nothing for the first row, or if there is no delay to speak of."""
    if not rows:
        return ""
    return f"+{rows:.1f}" if rows < 1 else f"+{rows:.0f}"


class Chance(NamedTuple):
    """What is found without an anomaly: of each seed, the share of windows that have an alert."""

    shares: tuple[float, ...]
    delay = None

    @property
    def seeds(self) -> int:
        return len(self.shares)

    @property
    def found(self) -> float:
        """Streams in which a window would be found, on average."""
        return round(sum(self.shares), 1)

    def text(self) -> str:
        return f"{self.found:g}"


class Cell(NamedTuple):
    """One kind of anomaly and one command: the delay of each seed, None where it was missed."""

    delays: tuple[Optional[int], ...]

    @property
    def seeds(self) -> int:
        return len(self.delays)

    @property
    def found(self) -> int:
        return sum(rows is not None for rows in self.delays)

    @property
    def delay(self) -> Optional[float]:
        """The median of those that were found."""
        known = [rows for rows in self.delays if rows is not None]
        return median(known) if known else None

    def text(self) -> str:
        """`9 +28`: found in nine streams, after 28 rows; without a delay: in the first row."""
        return f"{self.found} {delay_text(self.delay)}".rstrip()


class Quiet(NamedTuple):
    """One stream without anomaly, one rate and one command, all seeds together."""

    rate: float
    ready: int  # rows in which an alert was possible
    alerts: int
    episodes: int
    seeds: int

    @property
    def share(self) -> float:
        """Of the rows, those with an alert."""
        return self.alerts / self.ready if self.ready else 0.0

    @property
    def ratio(self) -> float:
        """Episodes per row in relation to the rate that was asked for: what is promised."""
        return self.episodes / self.ready / self.rate if self.ready else 0.0


class Part(NamedTuple):
    """What a measure counts, and of how much; of one seed or of all."""

    part: float
    whole: float

    @property
    def share(self) -> float:
        return self.part / self.whole if self.whole else 0.0

    def text(self) -> str:
        return f"{self.share:.2f} ({self.part:g} of {self.whole:g})"

"""What is compared: `oif score` as a user runs it, a yardstick of two lines, and AWS's thresholded Random Cut Forest.

Each gets the rows of a series in their order, without labels, and returns a score and an alert for every row. None sees
a row before it is judged. The labels are not part of the text that `oif score` reads.
"""

import hashlib
import inspect
import os
import re
import sys
import zlib
from bisect import bisect_left, insort
from pathlib import Path
from typing import Callable, NamedTuple, Optional, Sequence

import numpy as np

from ..operations import tool
from ..published import CHECKOUT
from . import series as real
from .series import Series

sys.path.insert(0, str(CHECKOUT / "tools" / "measure"))
import aws_forest  # noqa: E402

ForestMissing = aws_forest.ForestMissing

RATE = tool.RATE  # alerts per row that are asked for, unless --options say otherwise


class Scored(NamedTuple):
    scores: np.ndarray  # per row, finite
    alerts: np.ndarray  # per row: true or false


class Scorer(NamedTuple):
    """A line of the tables.

    Scores of a slow scorer are kept in files: `kept_as` is their name, and as long as `fingerprint` is the same, so are
    the scores. With `alerts`, another rule decides from the scores which rows are alerts.
    """

    title: str
    score: Callable[[Series], Scored]
    kept_as: str = ""
    fingerprint: str = ""
    alerts: Optional[Callable[[np.ndarray], np.ndarray]] = None

    @property
    def is_slow(self) -> bool:
        return bool(self.kept_as)


# ---- The tool ----


def rate_of(options: Sequence[str]) -> float:
    """The alert rate that is asked for."""
    for option, value in zip(options, (*options[1:], "")):
        name, _, joined = option.partition("=")
        if name == "--alert-rate":
            return float(joined or value)
    return RATE


def oif_score(oif: Path, options: Sequence[str], series: Series) -> Scored:
    """`oif score` with the time of a row, if it has one."""
    time = ("--time", "time") if series.times and "--time" not in options else ()
    asked = ("--output", "csv", "--fields", "score,anomaly", *time, *options)
    lines = tool.run(oif, ["score", *asked], real.csv_text(series)).decode().splitlines()[1:]
    if len(lines) != len(series.rows):
        raise tool.ToolFailed(f"oif score {' '.join(asked)} printed {len(lines)} of {len(series.rows)} rows")
    fields = [line.rsplit(",", 2)[1:] for line in lines]
    return Scored(np.array([float(score or 0) for score, _ in fields]), np.array([flag == "1" for _, flag in fields]))


# ---- A running quantile: AWS's forest at a given rate ----

FIRST = 256  # rows that are only learned
MEMORY = 16_384  # scores that a quantile is of
LEAST = 128  # scores before the first alert


def quantile_alerts(scores: np.ndarray, rate: float) -> np.ndarray:
    """Which scores are above the quantile 1 - `rate` of up to MEMORY scores before them.

    With fewer than 1 / rate scores: which are above all before them. The first FIRST rows do not count.
    """
    alerts, before = np.zeros(len(scores), dtype=bool), list[float]()
    for row, score in enumerate(scores[FIRST:].tolist(), FIRST):
        as_high = len(before) - bisect_left(before, score)
        alerts[row] = len(before) >= LEAST and as_high <= rate * len(before)
        insort(before, score)
        if len(before) > MEMORY:
            del before[bisect_left(before, float(scores[row - MEMORY]))]
    return alerts


# ---- The yardstick: a step that is larger than usual ----

MARGIN = 2.5  # times the usual step
USUAL, STEPS = 0.99, 4_096  # the usual step is this quantile of that many before it
FIRST_JUDGED = 48  # value of a column
MOST = 1e6  # of a step where none was before


def step_ratios(values: np.ndarray) -> list[float]:
    """Each step of a column without missing values, over the usual step; 0 for the first ones.

    The usual step is at least the mean of the steps that are not 0: a column that seldom moves has a quantile of 0.
    """
    steps, ratios = np.abs(np.diff(values)).tolist(), [0.0] * len(values)
    before, total, moves = list[float](), 0.0, 0  # the last steps, ascending; sum and number of those that are not 0
    for i, step in enumerate(steps):
        if step > 0 and i + 1 >= FIRST_JUDGED:
            place = USUAL * (len(before) - 1)
            low, high = before[int(place)], before[min(int(place) + 1, len(before) - 1)]
            usual = max(low + (place - int(place)) * (high - low), total / moves if moves else 0.0)
            ratios[i + 1] = min(step / usual, MOST) if usual > 0 else MOST
        if len(before) == STEPS:
            del before[bisect_left(before, steps[i - STEPS])]
        insort(before, step)
        total += step
        moves += step > 0
    return ratios


def yardstick(series: Series) -> Scored:
    """The largest ratio of any column; a missing value makes no step."""
    scores = np.zeros(len(series.rows))
    for column in series.rows.T:
        known = np.flatnonzero(~np.isnan(column))
        scores[known] = np.maximum(scores[known], step_ratios(column[known]))
    return Scored(scores, scores > MARGIN)


# ---- AWS ----

SHINGLE = 8  # rows together, for a single column: the default of OpenSearch, which is built on this forest


def filled(rows: np.ndarray) -> np.ndarray:
    """A missing value is the last one of its column, 0 before the first: the forest takes none."""
    last = np.where(np.isnan(rows), 0, np.arange(len(rows))[:, None])
    np.maximum.accumulate(last, axis=0, out=last)
    return np.nan_to_num(np.take_along_axis(rows, last, axis=0))


def aws_shingle(series: Series) -> int:
    """Several columns are judged row by row: with a shingle of 8 rows, a row of MSL would be 440 numbers."""
    return SHINGLE if series.rows.shape[1] == 1 else 1


def aws_score(series: Series) -> Scored:
    """With its own alerts: rows of an anomaly grade above 0."""
    seed = zlib.crc32(series.title.encode())
    scores, grades = aws_forest.run_thresholded(filled(series.rows), seed, aws_shingle(series))
    return Scored(scores, grades > 0)


def why_no_aws() -> str:
    """Empty if it can be run."""
    try:
        aws_forest.check()
    except ForestMissing as failure:
        return str(failure)
    return ""


# ---- All of them ----

OIF, RANDOM, YARDSTICK = "oif score", "random, as many", f"step > {MARGIN} usual"
AWS, AWS_AT_RATE = "AWS RCF", "AWS RCF at the rate"


def oif_scorer(oif: Path, options: Sequence[str] = ()) -> Scorer:
    return Scorer(" ".join((OIF, *options)), lambda series: oif_score(oif, options, series))


def yardstick_scorer() -> Scorer:
    return Scorer(YARDSTICK, yardstick)


def aws_fingerprint() -> str:
    """Of everything that the scores depend on beside the rows."""
    texts = [inspect.getsource(function) for function in (filled, aws_shingle, aws_score)]
    texts.append((CHECKOUT / "benchmarks" / "ThresholdedForestScores.java").read_text(encoding="utf-8"))
    parts = (aws_forest.version(), str(SHINGLE), *texts)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def aws_scorers(rate: float) -> tuple[Scorer, Scorer]:
    """One forest with two alert rules: its own, which has no rate to ask for, and the running quantile."""
    own = Scorer(AWS, aws_score, "aws", aws_fingerprint())
    return own, own._replace(title=AWS_AT_RATE, alerts=lambda scores: quantile_alerts(scores, rate))


def scored_by(scorer: Scorer, series: Series, kept: "Optional[Kept]" = None) -> Scored:
    """With the scores of an earlier run, if they were kept."""
    scored = kept.find(scorer, series) if kept and scorer.is_slow else None
    if scored is None:
        scored = scorer.score(series)
        if kept and scorer.is_slow:
            kept.add(scorer, series, scored)
    return scored._replace(alerts=scorer.alerts(scored.scores)) if scorer.alerts else scored


# ---- Scores that are kept ----


class Kept:
    """A folder with a file for each series and each slow scorer; another fingerprint replaces it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fingerprint(self, scorer: Scorer, series: Series) -> str:
        return hashlib.sha256(scorer.fingerprint.encode() + series.rows.tobytes()).hexdigest()

    def path(self, scorer: Scorer, series: Series) -> Path:
        """The rows are part of the name: copies of a series have its title."""
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", f"{scorer.kept_as}-{series.title}")
        return self.folder / f"{name}-{zlib.crc32(series.rows.tobytes()):08x}.npz"

    def find(self, scorer: Scorer, series: Series) -> Optional[Scored]:
        path = self.path(scorer, series)
        if not path.is_file():
            return None
        with np.load(path) as arrays:
            if str(arrays["fingerprint"]) != self.fingerprint(scorer, series):
                return None
            return Scored(arrays["scores"], arrays["alerts"])

    def add(self, scorer: Scorer, series: Series, scored: Scored) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        written = self.path(scorer, series).with_suffix(f".{os.getpid()}.new")
        with open(written, "wb") as file:
            fingerprint = np.array(self.fingerprint(scorer, series))
            np.savez_compressed(file, scores=scored.scores, alerts=scored.alerts, fingerprint=fingerprint)
        os.replace(written, self.path(scorer, series))

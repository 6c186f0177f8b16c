"""Methods of others beside ours in the tables by set and by kind (accuracy_by_set.py, accuracy_by_kind.py).

Everyone gets the same rows in the same order, and scores then learns each. Most measure distances or want numbers in
[0, 1], so they get rows on one scale: z-scores by mean and standard deviation of the 2,048 rows before the row, which
nobody sees in advance; "unit" is .5 + z / 8. Isolation forests and random cut forests get the rows as they are, as ours
do. Parameters are the packages' or the papers' where they give any, and windows of 2,048 rows where there is a choice,
as ours have. Slow ones have a limit of rows, and ours are measured on just those rows too.

Left out: dSalmon's local outlier factor (50 seconds for 10,000 rows); of CapyMOA OnlineIsolationForest
(tests/reference compares ours with it), RobustRandomCutForest, StreamRHF, Loda and RSHash (2 to 100 milliseconds per
row, `make bench` has their times), HalfSpaceTrees and Autoencoder (they need Java and torch).
"""

import importlib.metadata
import sys
from pathlib import Path
from typing import Callable, NamedTuple, Optional

import aws_forest
import numpy as np

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.append(str(CHECKOUT / "tests" / "reference"))
import authors_code  # noqa: E402  (its folder is on the path only now)

WINDOW = 2048
SLOW_ROWS = 2000
HOW_TO_INSTALL = "experiments/run.sh accuracy --anchors installs them in build/bench-venv"


def z_scores(rows, window=WINDOW):
    """Each row by the rows before it. Where these do not differ, a column is only centred; the first row is 0."""
    centred = (rows - rows[0]).astype(np.longdouble)  # sums of squares stay small
    zeros = np.zeros((1, rows.shape[1]), dtype=np.longdouble)
    sums, squares = (np.concatenate((zeros, np.cumsum(x, axis=0))) for x in (centred, centred**2))
    end = np.arange(len(rows))
    start = np.maximum(end - window, 0)
    count = np.maximum(end - start, 1)[:, None]
    mean = (sums[end] - sums[start]) / count
    variance = (squares[end] - squares[start]) / count - mean**2
    changes = np.cumsum(np.diff(rows, axis=0, prepend=rows[:1]) != 0, axis=0)
    flat = changes[np.maximum(end - 1, 0)] == changes[start]  # asked of the rows: rounding leaves sums some variance
    scaled = (centred - mean) / np.sqrt(np.where(flat | (variance <= 0), 1, variance))
    scaled[0] = 0
    return np.ascontiguousarray(scaled, dtype=np.float64)


def as_they_are(rows):
    return rows


def unit(rows):
    return 0.5 + z_scores(rows) / 8


def score_then_learn(rows, score, learn):
    scores = []
    for row in rows:
        scores.append(score(row))
        learn(row)
    return np.array(scores)


def dsalmon(name, seeded=True, **settings):
    def run(rows, seed):
        from dSalmon import outlier

        more = {"seed": seed} if seeded else {}
        return getattr(outlier, name)(**settings, **more).fit_predict(rows)

    return run


def pysad(name, bounded=False, **settings):
    """Its fit_score_partial scores first. The bounds are those of "unit", four standard deviations either way."""

    def run(rows, seed):
        from pysad import models

        bounds = (np.zeros(rows.shape[1]), np.ones(rows.shape[1])) if bounded else ()
        model = getattr(models, name)(*bounds, random_state=seed, **settings)
        return np.array([model.fit_score_partial(row) for row in rows])

    return run


class Instance:
    """What CapyMOA's detectors read of a row; they compare them by identity."""

    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


class Schema(NamedTuple):
    """What they read of a schema."""

    columns: int

    def get_num_attributes(self):
        return self.columns


def new_capymoa(name, file, columns, seed, **settings):
    """A detector of CapyMOA that is one file of Python: loaded without the rest, which needs Java and torch."""
    kind = authors_code.load_class(f"capymoa/anomaly/{file}.py", name)
    return kind(Schema(columns), **seed, **settings)


def capymoa(name, file, seed="seed", **settings):
    def run(rows, number):
        detector = new_capymoa(name, file, rows.shape[1], {seed: number}, **settings)
        return score_then_learn(map(Instance, rows), detector.score_instance, detector.train)

    return run


def rcf3(name):
    def run(rows, seed):
        import rcf3 as package

        detector = getattr(package, name)(rows.shape[1], seed=seed)
        return score_then_learn(rows.tolist(), detector.score, detector.update)

    return run


def aws(rows, seed):
    return aws_forest.run(rows, seed)[1]


class Anchor(NamedTuple):
    package: str
    scale: Callable
    run: Callable  # rows, seed -> scores, higher is more anomalous
    rows: Optional[int] = None  # at most, of the slow ones

    def score(self, rows, seed):
        return np.asarray(self.run(self.scale(rows), seed), dtype=np.float64).ravel()


def slow_capymoa(name, file, **settings):
    return Anchor("capymoa", as_they_are, capymoa(name, file, **settings), SLOW_ROWS)


ANCHORS = {
    "SDOstream (dSalmon)": Anchor("dSalmon", z_scores, dsalmon("SDOstream", k=200, T=WINDOW)),
    "kNN (dSalmon)": Anchor("dSalmon", z_scores, dsalmon("SWKNN", seeded=False, window=WINDOW, k=10)),
    "RSHash (dSalmon)": Anchor(
        "dSalmon", unit, dsalmon("RSHash", n_estimators=100, window=WINDOW, cms_w=4, cms_d=10_000, n_jobs=1)
    ),
    "HST (dSalmon)": Anchor("dSalmon", unit, dsalmon("HSTrees", window=250, n_estimators=32, max_depth=15, n_jobs=1)),
    "RRCF (dSalmon)": Anchor("dSalmon", as_they_are, dsalmon("SWRRCT", window=256, n_estimators=32, n_jobs=1)),
    "LODA (dSalmon)": Anchor(
        "dSalmon", z_scores, dsalmon("LODA", window=512, n_projections=32, n_bins=100, n_jobs=1), rows=SLOW_ROWS
    ),
    "RCF (AWS)": Anchor(aws_forest.NAME, as_they_are, aws),
    "RCF (rcf3)": Anchor("rcf3", as_they_are, rcf3("Forest")),
    "OnlineIForest (rcf3)": Anchor("rcf3", as_they_are, rcf3("OnlineIForest")),
    "RSHash (PySAD)": Anchor("pysad", unit, pysad("RSHash", bounded=True), rows=SLOW_ROWS),
    "xStream (PySAD)": Anchor("pysad", z_scores, pysad("xStream"), rows=SLOW_ROWS),
    "xStream (dSalmon)": Anchor(
        "dSalmon",
        z_scores,
        dsalmon("xStream", window=256, n_estimators=100, n_projections=100, depth=15, n_jobs=1),
        rows=SLOW_ROWS,  # version 0.1 does not run at all
    ),
    "AIF (CapyMOA)": slow_capymoa("AdaptiveIsolationForest", "_adaptive_isolation_forest"),
    "SIF (CapyMOA)": slow_capymoa("StreamingIsolationForest", "_streaming_isolation_forest", n_trees=32),
    "IForestASD (CapyMOA)": slow_capymoa("IForestASD", "_iforest_asd", seed="random_state", window_size=512),
}


FAST = [name for name, anchor in ANCHORS.items() if not anchor.rows]


def version(package):
    if package == aws_forest.NAME:
        return aws_forest.version()
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise ValueError(f"{package} is not installed; {HOW_TO_INSTALL}") from None


def versions(names):
    """Of their packages; a ValueError says what is missing."""
    return {ANCHORS[name].package: version(ANCHORS[name].package) for name in names if name in ANCHORS}

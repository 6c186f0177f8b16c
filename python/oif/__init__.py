"""Score anomalies on a stream.

>>> import numpy as np, oif
>>> rows = np.random.default_rng(0).normal(size=(3000, 2))
>>> forest = oif.OnlineIsolationForest()
>>> forest.learn(rows)
>>> forest.score_one([0.1, -0.2]) < forest.score_one([5, 5])
True

A detector (OnlineIsolationForest, IForestASD, HalfSpaceTrees, RobustRandomCutForest, Loda, RollingIsolationForest) learns
rows and scores them; a Pipeline raises alerts, and keeps a model for each key. Adapters for other libraries are modules of
their own: oif.river, oif.sklearn, oif.pysad, oif.capymoa; pictures are in oif.plot.
"""

from ._core import version as __version__
from ._detectors import (
    Detector,
    HalfSpaceTrees,
    IForestASD,
    Loda,
    OnlineIsolationForest,
    RobustRandomCutForest,
    RollingIsolationForest,
)
from ._errors import (
    DataError,
    Error,
    FileError,
    InvariantError,
    OutOfMemoryError,
    ParameterError,
    SnapshotError,
    SnapshotKindError,
)
from ._load import load
from ._pipeline import Attribution, Episode, Pipeline, Result

__all__ = [
    "Attribution",
    "DataError",
    "Detector",
    "Episode",
    "Error",
    "FileError",
    "HalfSpaceTrees",
    "IForestASD",
    "InvariantError",
    "Loda",
    "OnlineIsolationForest",
    "OutOfMemoryError",
    "ParameterError",
    "Pipeline",
    "Result",
    "RobustRandomCutForest",
    "RollingIsolationForest",
    "SnapshotError",
    "SnapshotKindError",
    "__version__",
    "load",
]

"""Score anomalies on a stream.

>>> import numpy as np, oif
>>> rows = np.random.default_rng(0).normal(size=(3000, 2))
>>> forest = oif.RollingIsolationForest()
>>> forest.learn(rows)
>>> forest.score_one([0.1, -0.2]) < forest.score_one([5, 5])
True

A detector (RollingIsolationForest, OnlineIsolationForest, IForestASD, HalfSpaceTrees, RobustRandomCutForest, Loda,
SparseDataObservers) learns rows and scores them; a Pipeline raises alerts, and keeps a model for each key. Adapters for
other libraries are modules of their own: oif.river, oif.sklearn, oif.pyod, oif.pysad, oif.capymoa; pictures are in oif.plot.
"""

from ._core import version as __version__
import typing

from . import _detectors, _hosts
from ._arrays import ColumnWarning, KeyWarning, TimeWarning
from ._detectors import *
from ._detectors import Detector
from ._errors import (
    ColumnTypeError,
    DataError,
    Error,
    FileError,
    InvariantError,
    OutOfMemoryError,
    ParameterError,
    SnapshotError,
    SnapshotKindError,
)
from ._evaluate import Evaluation, Measured, evaluate
from ._incidents import Incident, IncidentMember, IncidentPlace, Incidents, IncidentShared
from ._load import load
from ._pipeline import Pipeline
from ._results import (
    Attribution,
    Episode,
    EpisodeInfo,
    Expected,
    Grade,
    KeyInfo,
    PastEpisode,
    Reason,
    Result,
    Rule,
    Season,
    Silence,
    TableInfo,
)

__all__ = [
    "Attribution",
    "ColumnTypeError",
    "ColumnWarning",
    "DataError",
    "Detector",
    "Episode",
    "EpisodeInfo",
    "Error",
    "Evaluation",
    "Expected",
    "FileError",
    "Grade",
    "Incident",
    "IncidentMember",
    "IncidentPlace",
    "IncidentShared",
    "Incidents",
    "InvariantError",
    "KeyInfo",
    "KeyWarning",
    "Measured",
    "OutOfMemoryError",
    "ParameterError",
    "PastEpisode",
    "Pipeline",
    "Reason",
    "Result",
    "Rule",
    "Season",
    "Silence",
    "SnapshotError",
    "SnapshotKindError",
    "TableInfo",
    "TimeWarning",
    "__version__",
    "evaluate",
    "load",
]
__all__ += _detectors.__all__

# The adapters and pictures are imported when they are asked for, with their packages.
if not typing.TYPE_CHECKING:
    __getattr__, __dir__ = _hosts.lazy_modules(__name__, __all__)

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._core import Detector as _DetectorCore
from ._detectors import DETECTORS, Detector
from ._errors import SnapshotKindError
from ._pipeline import Pipeline


def load(source: str | os.PathLike[str] | bytes, feature_names: Sequence[Any] | None = None) -> Detector | Pipeline:
    """Load what `save` wrote or `to_bytes` returned, also by the tool or on another machine.

    It goes on where it was, bit for bit. Snapshots hold no feature names; pickles do.

    >>> import oif
    >>> forest = oif.OnlineIsolationForest()
    >>> forest.learn([[1, 2], [3, 4]])
    >>> oif.load(forest.to_bytes()).rows_learned
    2
    """
    snapshot = source if isinstance(source, bytes) else Path(source).read_bytes()
    loaded: Detector | Pipeline
    try:
        loaded = _load_detector(snapshot)
    except SnapshotKindError:
        loaded = Pipeline.__new__(Pipeline)
        loaded._restore(snapshot)
    if feature_names is not None:
        loaded.feature_names = feature_names
    return loaded


def _load_detector(snapshot: bytes) -> Detector:
    unknown = _DetectorCore.__new__(_DetectorCore)
    unknown._restore(snapshot)
    cls = DETECTORS[unknown.kind]
    detector = cls.__new__(cls)
    detector._restore(snapshot)
    return detector

from __future__ import annotations

import os
from pathlib import Path

from ._core import Detector as _DetectorCore
from ._detectors import DETECTORS, Detector
from ._errors import SnapshotKindError
from ._pipeline import Pipeline


def load(source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> Detector | Pipeline:
    """Load what `save` wrote or `to_bytes` returned, also by the tool or on another machine.

    It continues where it was, bit for bit, with the column names if they are text.

    >>> import oif
    >>> forest = oif.OnlineIsolationForest()
    >>> forest.learn_one({"flow": 60, "heat": 4})
    >>> again = oif.load(forest.to_bytes())
    >>> again.rows_learned, again.column_names
    (1, ('flow', 'heat'))
    """
    snapshot = bytes(source) if isinstance(source, (bytes, bytearray, memoryview)) else Path(source).read_bytes()
    try:
        return _load_detector(snapshot)
    except SnapshotKindError:
        pipeline = Pipeline.__new__(Pipeline)
        pipeline._restore(snapshot)
        return pipeline


def _load_detector(snapshot: bytes) -> Detector:
    unknown = _DetectorCore.__new__(_DetectorCore)
    unknown._restore(snapshot)
    cls = DETECTORS[unknown.kind]
    detector = cls.__new__(cls)
    detector._restore(snapshot)
    return detector

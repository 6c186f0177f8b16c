from __future__ import annotations

import os
from pathlib import Path

from ._copies import Source, SupportsRead, SupportsSeek
from ._core import Detector as _DetectorCore
from ._detectors import DETECTORS, Detector
from ._errors import SnapshotKindError, file_error
from ._pipeline import Pipeline


def load(source: Source) -> Detector | Pipeline:
    """Load what `save` wrote or `to_bytes` returned, also by the tool or on another machine: from a path, from bytes or
    from an open binary file. Detector.load and Pipeline.load expect one of the two. Behind the snapshot in a file that can
    seek, other bytes may follow: the file is then at the first of them.

    It resumes bit for bit, with the column names if they are text.

    >>> import oif
    >>> forest = oif.OnlineIsolationForest()
    >>> forest.learn_one({"flow": 60, "heat": 4})
    >>> again = oif.load(forest.to_bytes())
    >>> again, again.column_names
    (OnlineIsolationForest() <1 row of 2 columns, not ready yet>, ('flow', 'heat'))
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _load_bytes(bytes(source))
    if not isinstance(source, SupportsRead):
        return _load_bytes(_read(source))
    if not isinstance(source, SupportsSeek) or not source.seekable():
        return _load_bytes(source.read())
    start = source.tell()
    made, used = _load_first(source.read())
    source.seek(start + used)
    return made


def _load_bytes(snapshot: bytes) -> Detector | Pipeline:
    try:
        return _load_detector(snapshot)
    except SnapshotKindError:
        pipeline = Pipeline.__new__(Pipeline)
        pipeline._restore(snapshot)
        return pipeline


def _load_first(data: bytes) -> tuple[Detector | Pipeline, int]:
    """What the bytes begin with, and the size of its snapshot."""
    try:
        unknown = _DetectorCore.__new__(_DetectorCore)
        used = unknown._restore_first(data)
        return _load_detector(data[:used]), used
    except SnapshotKindError:
        pipeline = Pipeline.__new__(Pipeline)
        return pipeline, pipeline._restore_first(data)


def _read(path: str | os.PathLike[str]) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise file_error(f"cannot read {os.fspath(path)!r}: {error.strerror}", error.errno, os.fspath(path)) from None


def _load_detector(snapshot: bytes) -> Detector:
    unknown = _DetectorCore.__new__(_DetectorCore)
    unknown._restore(snapshot)
    cls = DETECTORS[unknown.kind]
    detector = cls.__new__(cls)
    detector._restore(snapshot)
    return detector

"""From rows to alerts: shingles, thresholds, episodes, and a model for each key."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import IntEnum
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import keys_of
from ._core import Pipeline as _Core
from ._detectors import DETECTORS, Detector, _changed, _initial_params
from ._errors import ParameterError
from ._types import Row, Rows


class Episode(IntEnum):
    """Anomalies that follow each other closely are one episode."""

    NONE = 0
    BEGINS = 1
    LASTS = 2
    ENDS = 3


class Result(NamedTuple):
    """What is known about a row.

    score: the higher, the more anomalous; NaN while a shingle has too few rows
    p: the share of recent scores at least as high: 0.001 is one row in a thousand
    threshold: higher scores are anomalous; infinite while too few scores are known
    ready: enough was learned; before that nothing is anomalous
    learned: the row is now part of what is normal
    """

    score: float
    p: float
    threshold: float
    anomaly: bool
    ready: bool
    learned: bool
    episode: Episode


class Attribution(NamedTuple):
    """How much of a score is due to a feature, and whether its number is low (-1), high (1) or neither (0)."""

    feature: Any
    share: float
    direction: int


# As `record` in pipeline.c.
RESULT = np.dtype(
    [
        ("score", np.float64),
        ("p", np.float64),
        ("threshold", np.float64),
        ("anomaly", np.bool_),
        ("ready", np.bool_),
        ("learned", np.bool_),
        ("episode", np.uint8),
    ],
    align=True,
)

_EPISODES = tuple(Episode)


class Pipeline(_Core):
    """Turns rows into alerts: scores them, tells how rare a score is and which are anomalous, for each key by itself.

    Args:
        detector: a detector that has learned nothing yet, or its class; every key gets one like it
        alert_rate: share of the rows that is to be anomalous
        threshold: if not 0: rows with a higher score are anomalous, whatever their share
        memory: past scores that alert_rate is measured on; 0: 16 / alert_rate, but at least 8192
        learn: rows that are learned: all; those that are not anomalous (normal); or anomalies as well once patience of
            them have come (decay)
        patience: anomalies after which what lasts is the new normal; for learn="decay"
        calm: rows without an anomaly that end an episode of anomalies
        shingle: rows of a series that are scored as one
        max_keys: keys that have a model; more, and the one not seen for longest loses its own
        memory_limit: bytes that all models may take, with the same consequence; 0: any
        evicted: what happens to the model of a key that loses it; only "forget" for now: to "keep" it takes a state
            file that is held while rows come, as `oif score --state FILE --evicted keep` does

    >>> import numpy as np, oif
    >>> rows = np.random.default_rng(1).normal(size=(5000, 2))
    >>> rows[4321] = 9
    >>> alerts = oif.Pipeline(oif.OnlineIsolationForest(seed=1), alert_rate=0.001)
    >>> results = alerts.process(rows, explain="anomalies")
    >>> results["anomaly"][4321], results["p"][4321] < 0.002, results["direction"][4321]
    (np.True_, np.True_, array([1, 1], dtype=int8))
    >>> alerts.process_one([0.1, -0.2]).anomaly
    False
    >>> [attribution.feature for attribution in alerts.explain()]
    [0, 1]
    """

    def __init__(
        self,
        detector: Detector | type[Detector] | str = "online-iforest",
        *,
        alert_rate: float = 0.001,
        threshold: float = 0.0,
        memory: int = 0,
        learn: Literal["all", "normal", "decay"] = "all",
        patience: int = 256,
        calm: int = 16,
        shingle: int = 1,
        max_keys: int = 100000,
        memory_limit: int = 0,
        evicted: Literal["forget", "keep"] = "forget",
    ) -> None:
        kind, params = _detector_of(detector)
        if evicted == "keep":
            raise ParameterError('evicted="keep" needs a state file that is held while rows come, as oif score does')
        options = dict(alert_rate=alert_rate, threshold=threshold, memory=memory, learn=learn, patience=patience)
        options |= dict(calm=calm, shingle=shingle, max_keys=max_keys, memory_limit=memory_limit, evicted=evicted)
        super().__init__(kind, params, options)

    def process_one(self, x: Row, key: str | bytes | None = None) -> Result:
        """Take one row: a dict, a sequence or an array of one dimension. Each key has a model of its own."""
        score, p, threshold, anomaly, ready, learned, episode = self._process_one(x, key)
        return Result(score, p, threshold, anomaly, ready, learned, _EPISODES[episode])

    def process(
        self,
        x: Rows | Row,
        keys: Any = None,
        explain: bool | Literal["anomalies"] = False,
        output: Literal["auto", "array", "pandas", "polars"] = "auto",
    ) -> Any:
        """Take rows one after another, with a key for each if models are kept by key.

        Returns a structured array with the fields of Result, or a DataFrame of the kind that came. With explain, there
        is also the share of every feature and its direction; "anomalies" explains only those, which is quicker.
        Infinities and keys that are too long are found before the first row is taken.
        """
        wanted = None if keys is None else keys_of(keys)
        (records, shares, directions), single = self._process(
            x, wanted, _make_room(explain), bool(explain), explain == "anomalies"
        )
        package = _package_of(x) if output == "auto" else output
        if package in ("pandas", "polars"):
            return self._frame(package, x, records, shares, directions)
        results = _with_attributions(records, shares, directions) if explain else records
        return results[0] if single else results

    def explain(self) -> list[Attribution]:
        """Explain the row that was processed last: every feature with its share of the score and its direction."""
        attributions = self._explain()
        return [Attribution(name, *pair) for name, pair in zip(self._names(len(attributions)), attributions)]

    def clone(self) -> Pipeline:
        """Copy the pipeline with all its models; copy.copy, copy.deepcopy and pickle do as well."""
        copy = type(self).__new__(type(self))
        copy._assign(self)
        copy.__dict__.update(self.__dict__)
        return copy

    def __reduce__(self) -> tuple[Any, ...]:
        snapshot = self.to_bytes() if self.columns is not None else None
        arguments = (
            type(self),
            self.kind,
            self.params,
            self.options,
            snapshot,
            self.feature_names,
            self.ignore_unknown,
        )
        return rebuild_pipeline, arguments, getattr(self, "__dict__", None) or None

    def __repr__(self) -> str:
        initial = {param["name"]: param["initial"] for param in _core.pipeline_info()["params"]}
        detector = f"{DETECTORS[self.kind].__name__}({', '.join(_changed(self.params, _initial_params(self.kind)))})"
        return f"{type(self).__name__}({', '.join([detector, *_changed(self.options, initial)])})"

    def _names(self, count: int) -> tuple[Any, ...]:
        return self.feature_names or tuple(range(count))

    def _frame(self, package: str, x: Any, records: Any, shares: Any, directions: Any) -> Any:
        data = {name: records[name] for name in RESULT.names or ()}
        if shares is not None:
            for i, name in enumerate(self._names(shares.shape[1])):
                data[f"share_{name}"] = shares[:, i]
                data[f"direction_{name}"] = directions[:, i]
        frames = sys.modules.get(package) or __import__(package)
        index = {"index": x.index} if package == "pandas" and _package_of(x) == "pandas" and x.ndim == 2 else {}
        return frames.DataFrame(data, **index)


def rebuild_pipeline(
    cls: type[Pipeline],
    kind: str,
    params: dict[str, Any],
    options: dict[str, Any],
    snapshot: bytes | None,
    names: tuple[Any, ...] | None,
    ignore_unknown: bool,
) -> Pipeline:
    """Makes a pipeline of what was pickled."""
    pipeline = cls.__new__(cls)
    if snapshot is None:
        _Core.__init__(pipeline, kind, params, options)
    else:
        pipeline._restore(snapshot)
    pipeline.feature_names = names
    pipeline.ignore_unknown = ignore_unknown
    return pipeline


def _detector_of(detector: Detector | type[Detector] | str) -> tuple[str, dict[str, Any]]:
    if isinstance(detector, str):
        return detector, {}
    if isinstance(detector, type):
        make: Callable[[], Detector] = detector  # every class but Detector itself has only keywords with defaults
        detector = make()
    if detector.rows_learned > 0:
        raise ParameterError("a pipeline makes detectors of its own; give it one that has learned nothing yet")
    return detector.kind, detector.params


def _make_room(explain: object) -> Any:
    def make(count: int, width: int) -> tuple[Any, Any, Any]:
        records = np.zeros(count, RESULT)
        if not explain:
            return records, None, None
        return records, np.zeros((count, width)), np.zeros((count, width), np.int8)

    return make


def _with_attributions(records: Any, shares: Any, directions: Any) -> npt.NDArray[np.void]:
    width = shares.shape[1]
    fields = [(name, RESULT[name]) for name in RESULT.names or ()]
    results = np.empty(len(records), [*fields, ("share", np.float64, (width,)), ("direction", np.int8, (width,))])
    for name in RESULT.names or ():
        results[name] = records[name]
    results["share"], results["direction"] = shares, directions
    return results


def _package_of(x: object) -> str:
    """The package of a DataFrame; no other value has one that matters."""
    return type(x).__module__.partition(".")[0] if type(x).__name__ == "DataFrame" else ""

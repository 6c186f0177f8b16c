"""The detectors for River: in its pipelines, with its metrics, and with QuantileFilter and ThresholdFilter.

>>> import random
>>> from river import anomaly, compose, preprocessing
>>> import oif.river
>>> model = compose.Pipeline(
...     preprocessing.StandardScaler(),
...     anomaly.QuantileFilter(oif.river.OnlineIsolationForest(seed=3), q=0.99),
... )
>>> random = random.Random(5)
>>> for _ in range(2000):
...     model.learn_one({"flow": random.gauss(60, 2), "heat": random.gauss(4, 1)})
>>> model.score_one({"flow": 80, "heat": -1}) > model.score_one({"flow": 60, "heat": 4})
True

The columns are those of the first dict. Later ones may leave some out; what is new is left out by the detector. Until it
is ready, scores are 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _detectors, _hosts, _parameters
from ._adapters import make_adapters, make_native

_hosts.need("river")
try:
    from river.base import AnomalyDetector  # noqa: E402
except ImportError:  # River before 0.26; 0.21 is the last for Python 3.9
    from river.anomaly.base import AnomalyDetector  # type: ignore[no-redef]  # noqa: E402

__all__ = _detectors.__all__


class _River(AnomalyDetector):
    detector: _detectors.Detector

    def _start(self) -> None:
        self.detector = make_native(self)
        self.detector.ignore_unknown = True

    def _name_columns(self, x: Mapping[Any, Any]) -> None:
        # By name, so that the order of the first dict makes no difference.
        if x:
            self.detector.column_names = sorted(x, key=lambda name: (str(type(name)), str(name)))

    def learn_one(self, x: Mapping[Any, Any]) -> None:
        if self.detector.column_names is None:
            self._name_columns(x)
        if x or self.detector.column_names:
            self.detector.learn_one(x)

    def score_one(self, x: Mapping[Any, Any]) -> float:
        # River's filters learn nothing that scores as high as all before, and at first all scores are the same; 0 says
        # them that nothing is known yet, as that of River's own detectors does.
        return self.detector.score_one(x) if self.detector.ready else 0.0

    def learn_many(self, X: Any) -> None:
        """Learn the rows of a DataFrame."""
        if self.detector.column_names is None:
            self._name_columns({name: None for name in X.columns})
        self.detector.learn(X)

    def score_many(self, X: Any) -> Any:
        """The scores of the rows of a DataFrame, none of which is learned: a Series with its index."""
        import pandas

        scores = self.detector.score(X) if self.detector.ready else 0.0
        return pandas.Series(scores, index=X.index, name="score", dtype="float64")


if TYPE_CHECKING:  # what is made below, for editors and type checkers; tools/build/make_signatures.py writes it
    from typing_extensions import Unpack

    class HalfSpaceTrees(_River):
        def __init__(self, **parameters: Unpack[_parameters.HalfSpaceTrees]) -> None: ...

    class IForestASD(_River):
        def __init__(self, **parameters: Unpack[_parameters.IForestASD]) -> None: ...

    class Loda(_River):
        def __init__(self, **parameters: Unpack[_parameters.Loda]) -> None: ...

    class OnlineIsolationForest(_River):
        def __init__(self, **parameters: Unpack[_parameters.OnlineIsolationForest]) -> None: ...

    class RobustRandomCutForest(_River):
        def __init__(self, **parameters: Unpack[_parameters.RobustRandomCutForest]) -> None: ...

    class RollingIsolationForest(_River):
        def __init__(self, **parameters: Unpack[_parameters.RollingIsolationForest]) -> None: ...

    class SparseDataObservers(_River):
        def __init__(self, **parameters: Unpack[_parameters.SparseDataObservers]) -> None: ...

else:
    make_adapters(_River, globals())

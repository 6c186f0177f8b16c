"""The detectors for PySAD.

>>> import numpy as np, oif.pysad
>>> model = oif.pysad.OnlineIsolationForest(seed=1)
>>> model.fit_score(np.random.default_rng(0).normal(size=(1000, 3))).shape
(1000,)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from . import _detectors, _hosts, _parameters
from ._adapters import make_adapters, make_native

_hosts.need("pysad")
from pysad.core.base_model import BaseModel  # noqa: E402

__all__ = _detectors.__all__


class _Pysad(BaseModel):
    detector: _detectors.Detector

    def _start(self) -> None:
        self.detector = make_native(self)

    def fit_partial(self, X: Any, y: Any = None) -> _Pysad:
        self.detector.learn_one(X)
        return self

    def score_partial(self, X: Any) -> float:
        return self.detector.score_one(X)

    def fit(self, X: Any, y: Any = None) -> _Pysad:
        self.detector.learn(np.asarray(X))
        return self

    def score(self, X: Any) -> npt.NDArray[np.float64]:
        scores: npt.NDArray[np.float64] = self.detector.score(np.asarray(X))
        return scores


if TYPE_CHECKING:  # what is made below, for editors and type checkers; tools/build/make_signatures.py writes it
    from typing_extensions import Unpack

    class HalfSpaceTrees(_Pysad):
        def __init__(self, **parameters: Unpack[_parameters.HalfSpaceTrees]) -> None: ...

    class IForestASD(_Pysad):
        def __init__(self, **parameters: Unpack[_parameters.IForestASD]) -> None: ...

    class Loda(_Pysad):
        def __init__(self, **parameters: Unpack[_parameters.Loda]) -> None: ...

    class OnlineIsolationForest(_Pysad):
        def __init__(self, **parameters: Unpack[_parameters.OnlineIsolationForest]) -> None: ...

    class RobustRandomCutForest(_Pysad):
        def __init__(self, **parameters: Unpack[_parameters.RobustRandomCutForest]) -> None: ...

    class RollingIsolationForest(_Pysad):
        def __init__(self, **parameters: Unpack[_parameters.RollingIsolationForest]) -> None: ...

    class SparseDataObservers(_Pysad):
        def __init__(self, **parameters: Unpack[_parameters.SparseDataObservers]) -> None: ...

else:
    make_adapters(_Pysad, globals())

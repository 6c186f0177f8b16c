"""The detectors for PyOD: decision_scores_, labels_, threshold_, predict, predict_proba, as its own.

>>> import numpy as np, oif.pyod
>>> X = np.random.default_rng(0).normal(size=(2000, 2))
>>> model = oif.pyod.RollingIsolationForest(contamination=0.01).fit(X)
>>> int(model.labels_.sum()), model.predict([[0, 0], [8, 8]]).tolist()
(20, [0, 1])

Besides the detector's parameters there are

contamination: the share of outliers among the rows
shuffle: whether fit learns a random sample of X where X has more rows than the detector's window; else the detector has
    forgotten all but the last window_size rows when fit returns
random_state: the seed, as PyOD calls it
n_jobs: threads that share the trees, -1: one for each core, 16 at the most; scores do not depend on it

`detector_` is the detector itself, which can continue to learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _detectors, _hosts, _parameters
from ._adapters import make_adapters, make_fitted

_hosts.need("pyod")
from pyod.models.base import BaseDetector  # noqa: E402
from sklearn.utils import check_array  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402

__all__ = _detectors.__all__


class _Pyod(BaseDetector):  # type: ignore[misc]
    contamination: float
    shuffle: bool
    random_state: Any
    n_jobs: int | None
    detector_: _detectors.Detector

    def _start(self) -> None:
        BaseDetector.__init__(self, contamination=self.contamination)

    def fit(self, X: Any, y: Any = None) -> _Pyod:
        """Learn these rows and nothing else: a random sample of them if there are more than the detector's window."""
        rows = self._rows(X)
        self._set_n_classes(y)
        self.detector_ = make_fitted(self, rows)
        self.decision_scores_ = self.detector_.score(rows)
        self._process_decision_scores()
        return self

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """The scores: the higher, the more anomalous."""
        check_is_fitted(self, ["decision_scores_", "threshold_", "labels_"])
        scores: npt.NDArray[np.float64] = self.detector_.score(self._rows(X))
        return scores

    def _rows(self, X: Any) -> Any:
        return check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")


if TYPE_CHECKING:  # what is made below, for editors and type checkers; tools/build/make_signatures.py writes it
    from typing_extensions import Unpack

    class HalfSpaceTrees(_Pyod):
        def __init__(
            self, *, contamination: float = 0.1, shuffle: bool = True, random_state: Any = None,
            n_jobs: int | None = None, **parameters: Unpack[_parameters.HalfSpaceTrees]
        ) -> None: ...

    class IForestASD(_Pyod):
        def __init__(
            self, *, contamination: float = 0.1, shuffle: bool = True, random_state: Any = None,
            n_jobs: int | None = None, **parameters: Unpack[_parameters.IForestASD]
        ) -> None: ...

    class Loda(_Pyod):
        def __init__(
            self, *, contamination: float = 0.1, shuffle: bool = True, random_state: Any = None,
            n_jobs: int | None = None, **parameters: Unpack[_parameters.Loda]
        ) -> None: ...

    class OnlineIsolationForest(_Pyod):
        def __init__(
            self, *, contamination: float = 0.1, shuffle: bool = True, random_state: Any = None,
            n_jobs: int | None = None, **parameters: Unpack[_parameters.OnlineIsolationForest]
        ) -> None: ...

    class RobustRandomCutForest(_Pyod):
        def __init__(
            self, *, contamination: float = 0.1, shuffle: bool = True, random_state: Any = None,
            n_jobs: int | None = None, **parameters: Unpack[_parameters.RobustRandomCutForest]
        ) -> None: ...

    class RollingIsolationForest(_Pyod):
        def __init__(
            self, *, contamination: float = 0.1, shuffle: bool = True, random_state: Any = None,
            n_jobs: int | None = None, **parameters: Unpack[_parameters.RollingIsolationForest]
        ) -> None: ...

    class SparseDataObservers(_Pyod):
        def __init__(
            self, *, contamination: float = 0.1, shuffle: bool = True, random_state: Any = None,
            n_jobs: int | None = None, **parameters: Unpack[_parameters.SparseDataObservers]
        ) -> None: ...

else:
    make_adapters(_Pyod, globals(), contamination=0.1, shuffle=True, random_state=None, n_jobs=None)

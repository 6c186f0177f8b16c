"""The detectors for scikit-learn: outlier detectors that can go on learning.

>>> import numpy as np, oif.sklearn
>>> X = np.random.default_rng(0).normal(size=(2000, 2))
>>> forest = oif.sklearn.OnlineIsolationForest(contamination=0.01).fit(X)
>>> forest.predict([[0, 0], [8, 8]])
array([ 1, -1])
>>> forest.partial_fit(X + 8).predict([[8, 8]])
array([1])

Besides the detector's parameters there is `contamination`, the share of the rows that is to be outliers.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _detectors
from ._adapters import make_adapters, make_native
from ._errors import ParameterError

__all__ = _detectors.__all__

RECENT = 8192  # scores that the threshold of partial_fit is measured on
Floats = npt.NDArray[np.float64]


class _Sklearn(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    contamination: float

    def fit(self, X: Any, y: Any = None) -> _Sklearn:
        """Learn these rows and nothing else."""
        rows = self._rows(X, reset=True)
        self._check_contamination()
        self.detector_ = make_native(self)
        self.detector_.learn(rows)
        return self._set_offset(-self.detector_.score(rows))

    def partial_fit(self, X: Any, y: Any = None) -> _Sklearn:
        """Learn these rows as well."""
        first = not hasattr(self, "detector_")
        rows = self._rows(X, reset=first)
        self._check_contamination()
        if first:
            self.detector_ = make_native(self)
        before = [] if first else [self.recent_]
        self.detector_.learn(rows)
        return self._set_offset(np.concatenate([*before, -self.detector_.score(rows)]))

    def score_samples(self, X: Any) -> Floats:
        """As scikit-learn has it: the lower, the more anomalous."""
        check_is_fitted(self)
        scores: Floats = self.detector_.score(self._rows(X, reset=False))
        return -scores

    def decision_function(self, X: Any) -> Floats:
        """Negative for outliers."""
        check_is_fitted(self)
        distances: Floats = self.score_samples(X) - self.offset_
        return distances

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """1 for inliers, -1 for outliers."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def _rows(self, X: Any, reset: bool) -> Any:
        return validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=reset)

    def _set_offset(self, scores: Floats) -> _Sklearn:
        self.recent_ = scores[-RECENT:]
        self.offset_ = float(np.percentile(scores, 100 * self.contamination))
        return self

    def _check_contamination(self) -> None:
        share = self.contamination
        if not isinstance(share, numbers.Real) or not 0 < float(share) <= 0.5:
            raise ParameterError(f"contamination must be a number above 0, at most 0.5, not {share!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


if TYPE_CHECKING:  # what is made below, for editors and type checkers; python/tests compares them

    class OnlineIsolationForest(_Sklearn): ...

    class IForestASD(_Sklearn): ...

    class HalfSpaceTrees(_Sklearn): ...

    class RobustRandomCutForest(_Sklearn): ...

    class Loda(_Sklearn): ...

    class SparseDataObservers(_Sklearn): ...

    class RollingIsolationForest(_Sklearn): ...

else:
    make_adapters(_Sklearn, globals(), contamination=0.1)

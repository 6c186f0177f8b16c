"""The detectors for scikit-learn: outlier detectors that can continue to learn.

>>> import numpy as np, oif.sklearn
>>> X = np.random.default_rng(0).normal(size=(2000, 2))
>>> forest = oif.sklearn.OnlineIsolationForest(contamination=0.01).fit(X)
>>> forest.predict([[0, 0], [8, 8]])
array([ 1, -1])
>>> forest.partial_fit(X + 8).predict([[8, 8]])
array([1])

Besides the detector's parameters there are

contamination: the share of outliers among the rows; "auto": those with a score above the third quartile by more
    than three times the distance between the first and the third quartile; see fit_predict
shuffle: whether fit learns a random sample of X where X has more rows than the detector's window; else the detector has
    forgotten all but the last window_size rows when fit returns. Fewer than 1,024 rows are then learned several times, in
    random order, so small forests are whole. partial_fit always learns rows once, in their order
random_state: the seed, as scikit-learn calls it
n_jobs: threads that share the trees, -1: one for each core, 16 at the most; scores do not depend on it
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np
import numpy.typing as npt

from . import _detectors, _hosts, _parameters
from ._adapters import make_adapters, make_fitted
from ._errors import ParameterError
from ._pipeline import FEWEST_ROWS, MOST_ROWS, Pipeline

_hosts.need("sklearn")
from sklearn.base import BaseEstimator, OutlierMixin  # noqa: E402
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402

__all__ = _detectors.__all__

RECENT = 8192  # scores that the threshold of partial_fit is measured on
Floats = npt.NDArray[np.float64]
Contamination = Union[float, Literal["auto"]]


class _Sklearn(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    contamination: Contamination
    shuffle: bool
    random_state: Any
    n_jobs: int | None

    def fit(self, X: Any, y: Any = None) -> _Sklearn:
        """Learn these rows and nothing else: a random sample of them if there are more than the detector's window."""
        rows = self._rows(X, reset=True)
        self._check_contamination()
        self.detector_ = make_fitted(self, rows)
        return self._set_offset(-self.detector_.score(rows))

    def fit_predict(self, X: Any, y: Any = None, **unused: Any) -> npt.NDArray[np.int64]:
        """Fit these rows; 1 for inliers, -1 for outliers of them.

        With contamination="auto" the outliers of 40 to 2,000 rows are the anomalies of oif.Pipeline.process_table, which are those of
        `oif score` for the same file: no row is scored by what has learned it. Else it is fit and predict.
        """
        self.fit(X)
        rows = self._rows(X, reset=False)
        if self.contamination != "auto" or not FEWEST_ROWS <= len(rows) <= MOST_ROWS:
            return self.predict(X)
        detector = type(self.detector_)(**self.detector_.params)
        return np.where(Pipeline(detector).process_table(rows, output="array")["anomaly"], -1, 1)

    def partial_fit(self, X: Any, y: Any = None) -> _Sklearn:
        """Learn these rows as well, in their order."""
        first = not hasattr(self, "detector_")
        rows = self._rows(X, reset=first)
        self._check_contamination()
        if first:
            self.detector_ = make_fitted(self, rows[:0])
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
        if self.contamination == "auto":
            low, high = np.percentile(scores, [25, 75])
            self.offset_ = float(low - 3 * (high - low))
        else:
            self.offset_ = float(np.percentile(scores, 100 * self.contamination))
        return self

    def _check_contamination(self) -> None:
        share = self.contamination
        if share == "auto":
            return
        if not isinstance(share, numbers.Real) or not 0 < float(share) <= 0.5:
            raise ParameterError(f"contamination must be 'auto' or a number above 0, at most 0.5, not {share!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


if TYPE_CHECKING:  # what is made below, for editors and type checkers; tools/build/make_signatures.py writes it
    from typing_extensions import Unpack

    class HalfSpaceTrees(_Sklearn):
        def __init__(
            self, *, contamination: Contamination = 0.1, shuffle: bool = True, random_state: Any = None,
            n_jobs: int | None = None, **parameters: Unpack[_parameters.HalfSpaceTrees]
        ) -> None: ...

    class IForestASD(_Sklearn):
        def __init__(
            self, *, contamination: Contamination = 0.1, shuffle: bool = True, random_state: Any = None,
            n_jobs: int | None = None, **parameters: Unpack[_parameters.IForestASD]
        ) -> None: ...

    class Loda(_Sklearn):
        def __init__(
            self, *, contamination: Contamination = 0.1, shuffle: bool = True, random_state: Any = None,
            n_jobs: int | None = None, **parameters: Unpack[_parameters.Loda]
        ) -> None: ...

    class OnlineIsolationForest(_Sklearn):
        def __init__(
            self, *, contamination: Contamination = 0.1, shuffle: bool = True, random_state: Any = None,
            n_jobs: int | None = None, **parameters: Unpack[_parameters.OnlineIsolationForest]
        ) -> None: ...

    class RobustRandomCutForest(_Sklearn):
        def __init__(
            self, *, contamination: Contamination = 0.1, shuffle: bool = True, random_state: Any = None,
            n_jobs: int | None = None, **parameters: Unpack[_parameters.RobustRandomCutForest]
        ) -> None: ...

    class RollingIsolationForest(_Sklearn):
        def __init__(
            self, *, contamination: Contamination = 0.1, shuffle: bool = True, random_state: Any = None,
            n_jobs: int | None = None, **parameters: Unpack[_parameters.RollingIsolationForest]
        ) -> None: ...

    class SparseDataObservers(_Sklearn):
        def __init__(
            self, *, contamination: Contamination = 0.1, shuffle: bool = True, random_state: Any = None,
            n_jobs: int | None = None, **parameters: Unpack[_parameters.SparseDataObservers]
        ) -> None: ...

else:
    make_adapters(_Sklearn, globals(), contamination=0.1, shuffle=True, random_state=None, n_jobs=None)

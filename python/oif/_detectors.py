"""The detectors: one class each, with the parameters of the C library's table.

tools/build/make_signatures.py writes what follows `_kind` in each class.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np
import numpy.typing as npt

from . import _core
from ._copies import Copied, counted, memory_text, names_text
from ._errors import ParameterError
from ._parameters import Parameter, parameters
from ._progress import Progress
from ._results import AlertOptions, Alerting, Explain, Output, Result, as_words
from ._types import Frame, Row, Rows

if TYPE_CHECKING:
    import pandas
    import polars
    from typing_extensions import Unpack

# The one list of detectors: oif, its adapters and the tests take it from here.
__all__ = [
    "HalfSpaceTrees",
    "IForestASD",
    "Loda",
    "OnlineIsolationForest",
    "RobustRandomCutForest",
    "RollingIsolationForest",
    "SparseDataObservers",
]


class Detector(Copied, _core.Detector):
    """The methods that all detectors have.

    A detector learns rows of numbers one after another, forgets old ones, and gives every row a score: the higher, the
    more anomalous. The first row, learned or scored, decides how many columns a row has. NaN and None are missing
    numbers; infinities are refused. A call that fails changes nothing.

    Rows come as NumPy arrays (float64 without a copy, whatever the step from row to row), as anything else that is an
    array, as pandas, polars or Arrow tables, as lists; single rows also as dicts. The first dict or table names the
    columns. Later ones may be in any order and leave columns out, which are then missing; a column that was not
    there at first is an error, or left out with `ignore_unknown = True`, an attribute and a keyword of the constructor.

    Threads may share a detector; they take turns. Array methods release the GIL. `threads = 4`, an attribute and
    a keyword of the constructor, lets four threads share the trees of one detector; the scores do not depend on it.
    """

    _kind: ClassVar[str]

    _native = _core.Detector
    _kept = ("column_names", "ignore_unknown", "threads")
    _alerts: Alerting | None = None

    def __init__(self, kind: str, params: dict[str, Any], threads: int = 1, ignore_unknown: bool = False) -> None:
        super().__init__(kind, params)
        if threads != 1:
            self.threads = threads
        self.ignore_unknown = ignore_unknown

    @overload
    def process(
        self, x: Rows | Row, *, explain: Explain = ...,
        output: Literal["array"], progress: Progress = ..., **options: Unpack[AlertOptions]
    ) -> npt.NDArray[np.void]: ...
    @overload
    def process(
        self, x: Rows | Row, *, explain: Explain = ...,
        output: Literal["pandas"], progress: Progress = ..., **options: Unpack[AlertOptions]
    ) -> pandas.DataFrame: ...
    @overload
    def process(
        self, x: Rows | Row, *, explain: Explain = ...,
        output: Literal["polars"], progress: Progress = ..., **options: Unpack[AlertOptions]
    ) -> polars.DataFrame: ...
    @overload
    def process(
        self, x: Rows | Row, *, explain: Explain = ...,
        output: Literal["arrow"], progress: Progress = ..., **options: Unpack[AlertOptions]
    ) -> Any: ...  # pyarrow has no types
    @overload
    def process(
        self, x: Mapping[Any, Any], *, explain: Explain = ...,
        output: Literal["auto"] = ..., progress: Progress = ..., **options: Unpack[AlertOptions]
    ) -> np.void: ...
    @overload
    def process(
        self, x: Frame, *, explain: Explain = ...,
        output: Literal["auto"] = ..., progress: Progress = ..., **options: Unpack[AlertOptions]
    ) -> Frame: ...
    @overload
    def process(
        self, x: Rows | Row, *, explain: Explain = ...,
        output: Literal["auto"] = ..., progress: Progress = ..., **options: Unpack[AlertOptions]
    ) -> npt.NDArray[np.void]: ...
    def process(
        self,
        x: Any,
        *,
        explain: Explain = False,
        output: Output = "auto",
        progress: Progress = False,
        **options: Unpack[AlertOptions],
    ) -> Any:
        """Learn rows one after another and report for each how severe it is and whether it is anomalous.

        Returns a structured array with the fields of oif.Result, or a DataFrame or Arrow table if one was
        given. With explain, there
        is also the share of every column and its direction; "anomalies" explains only those, which is quicker.

        Options are those of oif.Pipeline for a single series: alert_rate, learn, season_rows and find_season. The first call
        sets them. The severity depends on the rows processed so far. Copies and pickles keep both, snapshots do not: they
        hold what the detector learned. For keys, shingles, moves and snapshots with everything use oif.Pipeline.

        >>> import numpy as np, oif
        >>> rows = np.random.default_rng(1).normal(size=(5000, 2))
        >>> rows[4321] = 9
        >>> results = oif.RollingIsolationForest(seed=1).process(rows, explain="anomalies", alert_rate=0.001)
        >>> results["anomaly"][4321], results["direction"][4321]
        (np.True_, array([1, 1], dtype=int8))
        """
        alerts = self._alerts_with(options)
        try:
            return alerts._results(x, None, explain, output, self, progress=progress)
        finally:
            if alerts.rows == 0:
                self.__dict__.pop("_alerts", None)  # no row was processed: the next call decides

    def process_one(self, x: Row, **options: Unpack[AlertOptions]) -> Result:
        """Learn one row and report how severe it is and whether it is anomalous: process for a single row.

        >>> import numpy as np, oif
        >>> history = np.random.default_rng(1).normal(size=(5000, 2))
        >>> forest = oif.RollingIsolationForest(seed=1)
        >>> before = forest.process(history, alert_rate=0.001)
        >>> forest.process_one([9, 9]).anomaly
        True
        """
        alerts = self._alerts_with(options) if options or self._alerts is None else self._alerts
        try:
            return alerts._process_one(x, None, math.nan, self)
        finally:
            if alerts.rows == 0:
                self.__dict__.pop("_alerts", None)

    def process_iter(self, rows: Iterable[Any], **options: Unpack[AlertOptions]) -> Iterator[Result]:
        """Take rows as they arrive, from a generator, a consumer or a file, and yield the result of each."""
        for row in rows:
            yield self.process_one(row._asdict() if hasattr(row, "_asdict") else row, **options)

    async def process_aiter(self, rows: AsyncIterable[Any], **options: Unpack[AlertOptions]) -> AsyncIterator[Result]:
        """Take rows as they arrive from an asynchronous source, and yield the result of each: `async for result in ...`."""
        async for row in rows:
            yield self.process_one(row._asdict() if hasattr(row, "_asdict") else row, **options)

    def _alerts_with(self, options: AlertOptions) -> Alerting:
        unknown = set(options) - set(AlertOptions.__annotations__)
        if unknown:
            raise TypeError(f"process of a detector takes no {min(unknown)!r}; see oif.Pipeline")
        if self._alerts is None:
            # A detector has no columns for moves.
            made = Alerting(self.kind, dict(self.params), {**as_words(options), "moves": "off"})
            self.__dict__.setdefault("_alerts", made)  # another thread may have been first
        alerts: Alerting = self.__dict__["_alerts"]
        changed = [name for name, value in as_words(options).items() if alerts.options[name] != value]
        if changed:
            first = alerts.options[changed[0]]
            raise ParameterError(f"{changed[0]} stays what it was when the first row was processed: {first!r}")
        return alerts

    def _has_rows(self) -> bool:
        return self.columns is not None

    def _arguments(self) -> tuple[Any, ...]:
        return self.kind, dict(self.params)

    def _memory_bytes(self) -> int:
        return self.memory_bytes + (0 if self._alerts is None else self._alerts._memory_bytes())

    def _own(self) -> dict[str, Any]:
        return super()._own() | ({} if self._alerts is None else {"_alerts": self._alerts.clone()})

    def _made_with(self) -> str:
        changed = _changed(self.params, _core.detector_params(self.kind))
        return f"{type(self).__name__}({', '.join(changed)})"

    def _state(self) -> dict[str, str]:
        if self.columns is None:
            return {}
        return {
            "rows": f"{counted(self.rows_learned, 'row')} of {counted(self.columns, 'column')}",
            "readiness": "ready" if self.ready else "not ready yet",
            "memory": memory_text(self.memory_bytes),
            "columns": names_text(self.column_names),
        }


def _changed(values: Mapping[str, Any], initial: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in values.items() if value != initial[name]]


class OnlineIsolationForest(Detector):
    """Trees that grow where rows are dense and shrink where they are forgotten.

    Choose it to follow its paper: every row is learned as it arrives and forgotten in order.
    Leveni, Cassales, Pfahringer, Bifet, Boracchi: Online Isolation Forest, ICML 2024.

    Args:
        num_trees: trees in the forest; more give steadier scores
        window_size: rows remembered; older ones are forgotten
        max_leaf_samples: rows that the first leaf of a tree holds before it is cut; 0: 32, with turnover 8
        growth: rows a leaf holds before it is cut: twice as many at each depth, or the same
        variant: depths relative to the rows now in the window, as the paper's text or as the authors' code
        subsample: share of the rows that each tree learns
        forgetting: what is forgotten: each row when it leaves the window, or the oldest tree every few rows
        shadow_trees: with turnover: young trees that learn beside the others and do not score yet
        maturity: with turnover: rows after which a young tree scores; 0: a quarter of window_size
        insertion: whether a row outside the ranges of recent rows is scored as if inserted; "auto": it is, except with
            variant="paper" and "reference"
        seed: start of the random numbers: same seed and rows, same scores, bit for bit

    >>> import numpy as np, oif
    >>> rows = np.random.default_rng(0).normal(size=(5000, 3))
    >>> forest = oif.OnlineIsolationForest(num_trees=64)
    >>> scores = forest.learn_score(rows)
    >>> forest.score([0, 0, 0]) < 0.4 < 0.6 < forest.score([4, -4, 4])
    True
    >>> forest.explain([0, 0, 5]).argmax()
    np.int64(2)
    """

    _kind = "online-iforest"
    num_trees, window_size, max_leaf_samples, shadow_trees, maturity, seed = parameters(int, 6)
    subsample = Parameter(float)
    growth, variant, forgetting, insertion = parameters(str, 4)

    def __init__(
        self, num_trees: int = 32, window_size: int = 2048, max_leaf_samples: int = 0,
        growth: Literal["adaptive", "fixed"] = "adaptive",
        variant: Literal["running", "paper", "reference"] = "running", subsample: float = 1.0,
        forgetting: Literal["window", "turnover"] = "window", shadow_trees: int = 4, maturity: int = 0,
        insertion: Literal["none", "row", "auto"] = "auto", seed: int = 0,
        *, threads: int = 1, ignore_unknown: bool = False,
    ) -> None:
        params: dict[str, Any] = {
            "num_trees": num_trees, "window_size": window_size, "max_leaf_samples": max_leaf_samples, "growth": growth,
            "variant": variant, "subsample": subsample, "forgetting": forgetting, "shadow_trees": shadow_trees,
            "maturity": maturity, "insertion": insertion, "seed": seed,
        }
        super().__init__(self._kind, params, threads, ignore_unknown)


class IForestASD(Detector):
    """An isolation forest that is retrained on each window of rows, or when they change.

    Choose it for speed, if data change slowly: an isolation forest, one window late.
    Ding, Fei: An Anomaly Detection Approach Based on Isolation Forest Algorithm for Streaming Data using Sliding
    Window, IFAC ICONS 2013.

    Args:
        num_trees: trees in the forest; more give steadier scores
        window_size: rows that the forest is trained on
        subsample_size: rows of the window that each tree is grown from
        retrain: after each window, or only when the share of anomalies in it is above drift_rate
        drift_rate: the share that indicates a change, for retrain="drift"
        insertion: whether a row outside the ranges of recent rows is scored as if inserted; not in the paper
        seed: start of the random numbers: same seed and rows, same scores, bit for bit

    >>> import oif
    >>> oif.IForestASD(window_size=512).estimate_bytes(columns := 10) < 400_000
    True
    """

    _kind = "iforest-asd"
    num_trees, window_size, subsample_size, seed = parameters(int, 4)
    drift_rate = Parameter(float)
    retrain, insertion = parameters(str, 2)

    def __init__(
        self, num_trees: int = 32, window_size: int = 2048, subsample_size: int = 256,
        retrain: Literal["window", "drift"] = "window", drift_rate: float = 0.25,
        insertion: Literal["none", "row"] = "none", seed: int = 0,
        *, threads: int = 1, ignore_unknown: bool = False,
    ) -> None:
        params: dict[str, Any] = {
            "num_trees": num_trees, "window_size": window_size, "subsample_size": subsample_size, "retrain": retrain,
            "drift_rate": drift_rate, "insertion": insertion, "seed": seed,
        }
        super().__init__(self._kind, params, threads, ignore_unknown)


class HalfSpaceTrees(Detector):
    """Row counts of the previous window in randomly halved cells.

    Choose it to compare each window of rows with the previous one; long rows cost no more than short ones.
    Tan, Ting, Liu: Fast Anomaly Detection for Streaming Data, IJCAI 2011.

    Args:
        num_trees: trees in the forest; more give steadier scores
        window_size: rows of a window
        max_depth: largest depth of a tree: how often the space is halved
        size_limit: a node with at most this share of the window's rows is not searched further
        ranges: where the numbers lie: as in the first window, as in every window, or fixed
        range_low: lowest number of every column when ranges is "fixed"
        range_high: highest number of every column when ranges is "fixed"
        seed: start of the random numbers: same seed and rows, same scores, bit for bit

    >>> import oif
    >>> trees = oif.HalfSpaceTrees(window_size=100)
    >>> for i in range(300):
    ...     trees.learn_one({"load": i % 7, "heat": i % 5})
    >>> trees.ready, trees.column_names
    (True, ('load', 'heat'))
    """

    _kind = "hst"
    num_trees, window_size, max_depth, seed = parameters(int, 4)
    size_limit, range_low, range_high = parameters(float, 3)
    ranges = Parameter(str)

    def __init__(
        self, num_trees: int = 32, window_size: int = 250, max_depth: int = 15, size_limit: float = 0.1,
        ranges: Literal["first", "every", "fixed"] = "first", range_low: float = 0.0, range_high: float = 1.0,
        seed: int = 0,
        *, threads: int = 1, ignore_unknown: bool = False,
    ) -> None:
        params: dict[str, Any] = {
            "num_trees": num_trees, "window_size": window_size, "max_depth": max_depth, "size_limit": size_limit,
            "ranges": ranges, "range_low": range_low, "range_high": range_high, "seed": seed,
        }
        super().__init__(self._kind, params, threads, ignore_unknown)


class RobustRandomCutForest(Detector):
    """Random cut trees; a row is anomalous if removing it would reshape the tree.

    Choose it if all columns have one unit, such as the last values of a series; the slowest.
    Guha, Mishra, Roy, Schrijvers: Robust Random Cut Forest Based Anomaly Detection On Streams, ICML 2016.

    Args:
        num_trees: trees in the forest; more give steadier scores
        tree_size: rows that each tree holds
        sample: the rows that a tree holds: some of the last window_size (reservoir), or the last ones (sliding)
        window_size: how far back the reservoirs reach
        seed: start of the random numbers: same seed and rows, same scores, bit for bit

    >>> import oif
    >>> oif.RobustRandomCutForest(tree_size=128).params["tree_size"]
    128
    """

    _kind = "rrcf"
    num_trees, tree_size, window_size, seed = parameters(int, 4)
    sample = Parameter(str)

    def __init__(
        self, num_trees: int = 32, tree_size: int = 256, sample: Literal["reservoir", "sliding"] = "reservoir",
        window_size: int = 2048, seed: int = 0,
        *, threads: int = 1, ignore_unknown: bool = False,
    ) -> None:
        params: dict[str, Any] = {
            "num_trees": num_trees, "tree_size": tree_size, "sample": sample, "window_size": window_size, "seed": seed,
        }
        super().__init__(self._kind, params, threads, ignore_unknown)


class Loda(Detector):
    """Histograms of random projections that forget old rows.

    Choose it if values are often missing: a row is judged by those that are there.
    Pevny: Loda: Lightweight on-line detector of anomalies, Machine Learning 102, 2016.

    Args:
        num_projections: projections, each with a histogram; more give steadier scores
        num_bins: bins of a histogram
        window_size: rows remembered; older ones are forgotten
        scale: whether the columns' scales are learned, or the numbers taken as they are
        seed: start of the random numbers: same seed and rows, same scores, bit for bit

    >>> import oif
    >>> oif.Loda(num_projections=64, scale="none")
    Loda(num_projections=64, scale='none')
    """

    _kind = "loda"
    num_projections, num_bins, window_size, seed = parameters(int, 4)
    scale = Parameter(str)

    def __init__(
        self, num_projections: int = 32, num_bins: int = 100, window_size: int = 512,
        scale: Literal["learn", "none"] = "learn", seed: int = 0,
        *, threads: int = 1, ignore_unknown: bool = False,
    ) -> None:
        params: dict[str, Any] = {
            "num_projections": num_projections, "num_bins": num_bins, "window_size": window_size, "scale": scale,
            "seed": seed,
        }
        super().__init__(self._kind, params, threads, ignore_unknown)


class SparseDataObservers(Detector):
    """Distances to a few rows that represent the stream.

    Choose it if columns depend on each other, an anomaly is in one of many columns, or memory is scarce.
    Hartl, Iglesias, Zseby: SDOstream: Low-density models for streaming outlier detection, ESANN 2020.

    Args:
        num_observers: rows of the stream that others are compared with; more see more detail
        num_neighbours: nearest observers whose median distance is the score
        idle_share: share of the observers, the least used ones, that do not score
        window_size: rows in which observers are replaced and counts fade
        scale: whether the columns are divided by their deviations, or the numbers taken as they are
        seed: start of the random numbers: same seed and rows, same scores, bit for bit

    >>> import oif
    >>> oif.SparseDataObservers(num_observers=100, scale="none")
    SparseDataObservers(num_observers=100, scale='none')
    """

    _kind = "sdo"
    num_observers, num_neighbours, window_size, seed = parameters(int, 4)
    idle_share = Parameter(float)
    scale = Parameter(str)

    def __init__(
        self, num_observers: int = 200, num_neighbours: int = 6, idle_share: float = 0.3, window_size: int = 2048,
        scale: Literal["robust", "none"] = "robust", seed: int = 0,
        *, threads: int = 1, ignore_unknown: bool = False,
    ) -> None:
        params: dict[str, Any] = {
            "num_observers": num_observers, "num_neighbours": num_neighbours, "idle_share": idle_share,
            "window_size": window_size, "scale": scale, "seed": seed,
        }
        super().__init__(self._kind, params, threads, ignore_unknown)


class RollingIsolationForest(Detector):
    """Small isolation trees on samples of recent rows; the oldest tree is replaced every few rows.

    Choose it first: it finds a single metric gone bad, the most common incident, and leads on our data sets; one to two
    times the time of online-iforest. No paper: isolation trees (Liu, Ting, Zhou, ICDM
    2008), rows inserted as in robust random cut trees (Guha, Mishra, Roy, Schrijvers, ICML 2016).

    Args:
        num_trees: trees in the forest; more give steadier scores
        window_size: age of the oldest row that a tree can hold; new trees are grown from the newer half
        sample_size: rows that each tree is grown from, at most window_size / 2
        max_depth: largest depth of a tree
        max_leaf_samples: a node with fewer rows is not split
        tournament: candidate columns per split; the heaviest-tailed one is used; 1: no tournament
        insertion: what of a row outside the ranges of recent rows is scored as if inserted: the whole row, only the
            values on a tree path (path), or nothing
        renew_trees: trees replaced at each renewal; renewals become rarer by the same factor
        seed: start of the random numbers: same seed and rows, same scores, bit for bit

    >>> import numpy as np, oif
    >>> rows = np.random.default_rng(0).normal(size=(5000, 3))
    >>> forest = oif.RollingIsolationForest()
    >>> scores = forest.learn_score(rows)
    >>> forest.score([0, 0, 0]) < forest.score([5, 0, 0]) < forest.score([50, 0, 0])
    True
    """

    _kind = "rolling-iforest"
    num_trees, window_size, sample_size, max_depth, max_leaf_samples, tournament, renew_trees, seed = parameters(int, 8)
    insertion = Parameter(str)

    def __init__(
        self, num_trees: int = 32, window_size: int = 2048, sample_size: int = 128, max_depth: int = 8,
        max_leaf_samples: int = 8, tournament: int = 3, insertion: Literal["path", "none", "row"] = "row",
        renew_trees: int = 1, seed: int = 0,
        *, threads: int = 1, ignore_unknown: bool = False,
    ) -> None:
        params: dict[str, Any] = {
            "num_trees": num_trees, "window_size": window_size, "sample_size": sample_size, "max_depth": max_depth,
            "max_leaf_samples": max_leaf_samples, "tournament": tournament, "insertion": insertion,
            "renew_trees": renew_trees, "seed": seed,
        }
        super().__init__(self._kind, params, threads, ignore_unknown)


DETECTORS: dict[str, type[Detector]] = {globals()[name]._kind: globals()[name] for name in __all__}

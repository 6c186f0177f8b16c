"""Which detector suits labelled rows: AUC, AP, and what an operator asks at an alert rate."""

from __future__ import annotations

import html
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from ._detectors import DETECTORS, Detector
from ._errors import DataError, ParameterError
from ._pipeline import Pipeline
from ._progress import Progress, progress_of
from ._types import Rows

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.bool_]


class Measured(NamedTuple):
    """A detector on labelled rows: means over the seeds, and the standard deviations between them as `..._spread`.

    auc: probability that an anomaly has a higher score than a normal row
    ap: average precision, the area under precision over recall
    precision: share of the rows called anomalous that are labelled so
    recall: share of the labelled rows that are called anomalous
    events: share of the events, successive labelled rows, in which at least one row is called anomalous
    delay: rows from the start of an event to the first that is called anomalous, median of the events found; NaN: none
    microseconds: time for a row
    """

    detector: str
    auc: float
    auc_spread: float
    ap: float
    ap_spread: float
    precision: float
    precision_spread: float
    recall: float
    recall_spread: float
    events: float
    delay: float
    microseconds: float


class Evaluation(Sequence[Measured]):
    """The detectors, the one with the highest AUC first; a table in a terminal and in a notebook.

    labels: of the rows; scores: of each detector with the first seed, by name; oif.plot.evaluation, oif.plot.roc and
    oif.plot.precision_recall draw them.
    """

    def __init__(
        self, measured: Iterable[Measured], labels: Labels, scores: dict[str, Floats], alert_rate: float, seeds: int
    ) -> None:
        self._measured = sorted(measured, key=lambda one: -one.auc)
        self.labels, self.scores, self.alert_rate, self.seeds = labels, scores, alert_rate, seeds

    @overload
    def __getitem__(self, place: int) -> Measured: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Measured]: ...
    def __getitem__(self, place: int | slice) -> Measured | Sequence[Measured]:
        return self._measured[place]

    def __len__(self) -> int:
        return len(self._measured)

    def to_dicts(self) -> list[dict[str, Any]]:
        """A dict for each detector."""
        return [one._asdict() for one in self._measured]

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each detector."""
        import pandas

        return pandas.DataFrame(self.to_dicts()).set_index("detector")

    def _cells(self) -> Iterator[list[str]]:
        yield ["detector", "AUC", "AP", "precision", "recall", "events", "delay", "us/row"]
        for one in self._measured:
            pairs = [
                (one.auc, one.auc_spread),
                (one.ap, one.ap_spread),
                (one.precision, one.precision_spread),
                (one.recall, one.recall_spread),
            ]
            shares = [f"{mean:.3f}" + (f" ±{spread:.3f}" if self.seeds > 1 else "") for mean, spread in pairs]
            delay = "" if one.delay != one.delay else f"{one.delay:g}"
            yield [one.detector, *shares, f"{one.events:.2f}", delay, f"{one.microseconds:.2f}"]

    def _title(self) -> str:
        rows, anomalies = len(self.labels), int(self.labels.sum())
        return f"{rows:,} rows, {anomalies:,} labelled anomalous; alert rate {self.alert_rate:g}; {self.seeds} seeds"

    def __repr__(self) -> str:
        lines = list(self._cells())
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        rows = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines]
        return "\n".join([self._title(), *rows])

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        cells = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>" for line in body)
        return f"<table><caption>{html.escape(self._title())}</caption><tr>{cells}</tr>{rows}</table>"


def evaluate(
    X: Rows,
    y: Any,
    detectors: Any = None,
    *,
    alert_rate: float = 0.01,
    seeds: int | Sequence[int] = 3,
    progress: Progress = False,
    **options: Any,
) -> Evaluation:
    """Run detectors over labelled rows as a stream, and measure how well each finds the anomalies.

    Every row is scored by what was learned from the rows before it, and then learned, as oif.Pipeline does. AUC and AP are of
    the detector's own scores; the other measures are of the anomalies of the pipeline, which has other judges, too.

    Args:
        X: rows in the order in which they arrived
        y: their labels: 1 or True for anomalies, 0 for others; -1 and 1, as scikit-learn has it; or the name of the column of
            X that has them
        detectors: those to compare: classes, detectors, names such as "rolling-iforest+sdo", or a dict that gives each a
            name; all of the package if not given
        alert_rate: the most episodes of anomalies that a healthy stream may cost, per row
        seeds: how many, or which; results are means over them
        progress: whether to show the progress
        options: others of oif.Pipeline, such as key="host" or season=24

    >>> import numpy as np, oif
    >>> random = np.random.default_rng(1)
    >>> X, y = random.normal(size=(4000, 3)), np.zeros(4000)
    >>> X[2000::100] += 8
    >>> y[2000::100] = 1
    >>> table = oif.evaluate(X, y, [oif.RollingIsolationForest, oif.Loda], alert_rate=0.01, seeds=2)
    >>> table[0].detector, table[0].auc > 0.99, table[0].recall > 0.9
    ('RollingIsolationForest', True, True)
    """
    if isinstance(y, str):
        labels = _labels_of(_column_of(X, y))
        excluded = options.get("exclude", ())
        options["exclude"] = [y, *((excluded,) if isinstance(excluded, str) else excluded)]
    else:
        labels = _labels_of(y)
    if isinstance(X, Sized) and not isinstance(X, Mapping) and len(X) != len(labels):
        raise DataError(f"{len(labels)} labels for {len(X)} rows; there must be one for each")
    _need_both(labels)
    chosen = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    if not chosen:
        raise ParameterError("seeds: at least one is needed")
    named = _named(detectors)
    scores: dict[str, Floats] = {}
    measured: list[Measured] = []
    with progress_of(progress, len(named) * len(chosen), "detectors") as bar:
        for name, detector in named.items():
            runs = []
            for seed in chosen:
                run, found = _run(X, labels, _seeded(detector, seed), alert_rate, options)
                scores.setdefault(name, found)
                runs.append(run)
                bar.update(1)
            measured.append(_summary(name, np.array(runs)))
    return Evaluation(measured, labels, scores, alert_rate, len(chosen))


def _column_of(X: Any, name: str) -> Any:
    try:
        return X[name]
    except (KeyError, IndexError, TypeError, ValueError):
        if isinstance(X, Sequence) and X and isinstance(X[0], Mapping):
            return [row.get(name) for row in X]
        raise DataError(f"X has no column {name!r} with labels") from None


def _labels_of(y: Any) -> Labels:
    array = np.asarray(y)
    if array.ndim != 1 or array.dtype.kind not in "biuf" or np.isnan(array.astype(np.float64)).any():
        raise DataError("labels must be one number per row: 1 for anomalies, 0 for others; or -1 and 1, as scikit-learn has it")
    labels: Labels = array < 0 if (array < 0).any() else array > 0
    return labels


def _need_both(labels: Labels) -> None:
    if labels.all() or not labels.any():
        raise DataError(f"{'all' if labels.all() else 'none'} of the {len(labels)} rows are labelled anomalous; both kinds are needed")


def _named(detectors: Any) -> dict[str, Any]:
    if detectors is None:
        detectors = list(DETECTORS.values())
    if isinstance(detectors, Mapping):
        return dict(detectors)
    if isinstance(detectors, (str, type, Detector)):
        detectors = [detectors]
    named: dict[str, Any] = {}
    for one in detectors:
        name = one if isinstance(one, str) else one.__name__ if isinstance(one, type) else repr(one)
        name = name if isinstance(one, (str, type)) or not name.endswith("()") else name[:-2]
        named[name if name not in named else f"{name} ({len(named) + 1})"] = one
    return named


def _seeded(detector: Any, seed: int) -> Any:
    if isinstance(detector, str):
        kinds = detector.split("+")
        if not all(kind in DETECTORS for kind in kinds):
            return detector  # the pipeline says what is wrong
        parts = [_seeded(DETECTORS[kind], seed) for kind in kinds]
        return parts if len(parts) > 1 else parts[0]
    if isinstance(detector, type):
        return detector(seed=seed)
    if isinstance(detector, Detector):
        return type(detector)(**{**detector.params, "seed": seed})
    return [_seeded(part, seed) for part in detector]


def _run(X: Any, labels: Labels, detector: Any, alert_rate: float, options: dict[str, Any]) -> tuple[list[float], Floats]:
    pipeline = Pipeline(detector, alert_rate=alert_rate, **options)
    begin = time.perf_counter()
    results = pipeline.process(X, output="array")
    seconds = time.perf_counter() - begin
    if len(results) != len(labels):
        raise DataError(f"there are {len(labels)} labels for {len(results)} rows")
    score, called = results["score"], results["anomaly"]
    known = np.isfinite(score)
    hits = float((called & labels).sum())
    events, delay = _events(labels, called)
    measures = [
        area_under_roc(labels[known], score[known]),
        average_precision(labels[known], score[known]),
        hits / max(1.0, float(called.sum())),
        hits / float(labels.sum()),
        events,
        delay,
        1e6 * seconds / len(labels),
    ]
    return measures, score


def _events(labels: Labels, called: Labels) -> tuple[float, float]:
    """The share of events that are found, and the median of the rows until then."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], labels, [False]]).astype(np.int8)))
    delays = [called[begin:end].argmax() for begin, end in edges.reshape(-1, 2) if called[begin:end].any()]
    return len(delays) / (len(edges) // 2), float(np.median(delays)) if delays else np.nan


def _summary(name: str, runs: Floats) -> Measured:
    mean, spread = runs.mean(axis=0), runs.std(axis=0)
    pairs = [float(value) for i in range(4) for value in (mean[i], spread[i])]
    delays = runs[:, 5][np.isfinite(runs[:, 5])]
    rest = [float(mean[4]), float(delays.mean()) if len(delays) else np.nan, float(mean[6])]
    return Measured._make([name, *pairs, *rest])


# ---- Curves ----


def area_under_roc(labels: Labels, scores: Floats) -> float:
    """Probability that an anomaly scores higher than another row; half for equal scores."""
    false_rate, true_rate, _ = roc_curve(labels, scores)
    return float(np.sum(np.diff(false_rate) * (true_rate[1:] + true_rate[:-1]) / 2))


def average_precision(labels: Labels, scores: Floats) -> float:
    precision, recall = precision_recall_curve(labels, scores)
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


def _counts(labels: Labels, scores: Floats) -> tuple[Floats, Floats, Floats]:
    """For every different score, from the highest on: anomalies and others with at least that score."""
    order = np.argsort(-scores, kind="stable")
    ranked, truth = scores[order], labels[order].astype(np.float64)
    last = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1) if len(ranked) else np.zeros(0, np.intp)
    hits = np.cumsum(truth)[last]
    return hits, last + 1.0 - hits, ranked[last]


def roc_curve(labels: Labels, scores: Floats) -> tuple[Floats, Floats, Floats]:
    """False alarm rate, detection rate, and the scores at which they are reached; the first is infinite."""
    hits, false, limits = _counts(labels, scores)
    most_hits, most_false = max(1.0, float(labels.sum())), max(1.0, float((~labels).sum()))
    start = np.zeros(1)
    return np.append(start, false / most_false), np.append(start, hits / most_hits), np.append([np.inf], limits)


def precision_recall_curve(labels: Labels, scores: Floats) -> tuple[Floats, Floats]:
    hits, false, _ = _counts(labels, scores)
    return hits / (hits + false), hits / max(1.0, float(labels.sum()))

"""One execution: a data set x a detector x a mode, in the order of the execution. And the lists of all of them.

AUC runs are independent and use all processors; runs that are timed are made alone. The time is the processor time of
learning and scoring, without reading and shuffling; on an idle machine it is the wall's, which is kept as well.
"""

import time
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from . import data
from .configuration import BATCH_ROWS, EARLY_ROWS, MODES, WINDOW_ROWS, by_key
from .data import Dataset
from .ledger import Ledger, Task, fill

EARLY_STEP = 50  # rows between two points of the curve of early AUCs
KEY = ("dataset", "column", "mode", "execution", "fingerprint")
DRIFT_POINTS = 300  # of the curve of AUCs in a window, at most


class Plan(NamedTuple):
    """What is run and where the results go."""

    results: Path
    stationary: list[str]
    drifting: list[str]
    columns: dict[str, str]  # keys of configuration.COLUMNS with their fingerprints
    executions: int
    timed_executions: int
    jobs: int
    most_rows: int  # of a set; quick runs take only the first
    quick: bool


def aucs_of(plan: Plan) -> Ledger:
    return Ledger(plan.results / "auc.csv", KEY, ("rows", "anomalies", "auc", "early"))


def times_of(plan: Plan) -> Ledger:
    return Ledger(plan.results / "times.csv", KEY, ("rows", "seconds", "wall_seconds", "early"))


def drift_of(plan: Plan) -> Ledger:
    return Ledger(plan.results / "drift.csv", KEY, ("rows", "window", "auc", "curve"))


def drift_times_of(plan: Plan) -> Ledger:
    return Ledger(plan.results / "drift_times.csv", KEY, ("rows", "seconds", "bin_rows", "curve"))


@lru_cache(maxsize=1)
def ordered(name: str, execution: int, most_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels in the order of an execution. Every detector is given the same."""
    return load(name, most_rows).shuffled(execution)


def load(name: str, most_rows: int) -> Dataset:
    return data.load(name).prefix(most_rows)


def batches(rows: np.ndarray) -> list[np.ndarray]:
    return [rows[start : start + BATCH_ROWS] for start in range(0, len(rows), BATCH_ROWS)]


def score_in_batches(detector: Any, rows: np.ndarray) -> np.ndarray:
    """Learns a batch, then scores it, as the paper did."""
    scores = []
    for batch in batches(rows):
        detector.learn(batch)
        scores.append(detector.score(batch))
    return np.concatenate(scores)


def score(detector: Any, rows: np.ndarray, mode: str) -> np.ndarray:
    if mode == "batch":
        return score_in_batches(detector, rows)
    assert mode == "row", mode
    return detector.learn_score(rows)  # an array or row by row: the scores are the same, bit for bit


def auc_or_nan(anomalous: np.ndarray, scores: np.ndarray) -> float:
    """Without an anomaly, or without a normal row, there is no AUC."""
    return float(roc_auc_score(anomalous, scores)) if 0 < anomalous.sum() < len(anomalous) else float("nan")


def numbers(values: Any) -> str:
    """Several numbers in one field of a CSV file."""
    return " ".join(f"{value:.6g}" for value in values)


def parse_numbers(text: str) -> np.ndarray:
    return np.array(text.split(), dtype=float)


def early_ends(rows: int) -> range:
    return range(EARLY_STEP, min(EARLY_ROWS, rows) + 1, EARLY_STEP)


def measure_auc(name: str, column: str, mode: str, execution: int, most_rows: int) -> dict[str, Any]:
    rows, anomalous = ordered(name, execution, most_rows)
    scores = score(by_key(column).create(seed=execution), rows, mode)
    early = [auc_or_nan(anomalous[:end], scores[:end]) for end in early_ends(len(rows))]
    return {
        "rows": len(rows),
        "anomalies": int(anomalous.sum()),
        "auc": repr(auc_or_nan(anomalous, scores)),
        "early": numbers(early),
    }


def time_batches(detector: Any, rows: np.ndarray) -> np.ndarray:
    """Seconds after each batch, processor time of this thread."""
    ends = []
    started = time.thread_time()
    for batch in batches(rows):
        detector.learn(batch)
        detector.score(batch)
        ends.append(time.thread_time() - started)
    return np.array(ends)


def measure_time(name: str, column: str, execution: int, most_rows: int) -> dict[str, Any]:
    rows, _ = ordered(name, execution, most_rows)
    detector = by_key(column).create(seed=execution)
    started = time.perf_counter()
    ends = time_batches(detector, rows)
    return {
        "rows": len(rows),
        "seconds": f"{ends[-1]:.6f}",
        "wall_seconds": f"{time.perf_counter() - started:.6f}",
        "early": numbers(ends[: EARLY_ROWS // BATCH_ROWS]),
    }


def window_rows(rows: int) -> int:
    """5000 as the paper's, less where the whole stream is hardly longer."""
    return min(WINDOW_ROWS, rows // 10)


def drift_centers(rows: int) -> np.ndarray:
    return np.linspace(0, rows - 1, min(DRIFT_POINTS, rows // 20)).astype(int)


def windowed_aucs(anomalous: np.ndarray, scores: np.ndarray, window: int) -> list[float]:
    """The AUC of the rows around each of some moments, half a window to either side."""
    spans = [slice(max(t - window // 2, 0), t + window // 2) for t in drift_centers(len(scores))]
    return [auc_or_nan(anomalous[span], scores[span]) for span in spans]


def measure_drift(name: str, column: str, execution: int, most_rows: int) -> dict[str, Any]:
    """A stream that drifts is not shuffled: executions differ in the detector's seed."""
    stream = load(name, most_rows)
    scores = score_in_batches(by_key(column).create(seed=execution), stream.rows)
    window = window_rows(len(scores))
    return {
        "rows": len(scores),
        "window": window,
        "auc": repr(auc_or_nan(stream.anomalous, scores)),
        "curve": numbers(windowed_aucs(stream.anomalous, scores, window)),
    }


def measure_drift_time(name: str, column: str, execution: int, most_rows: int) -> dict[str, Any]:
    """Seconds of each stretch of a hundredth of the stream."""
    stream = load(name, most_rows)
    ends = time_batches(by_key(column).create(seed=execution), stream.rows)
    in_bin = max(len(ends) // 100, 1)
    bins = np.diff(ends[in_bin - 1 :: in_bin], prepend=0)
    return {
        "rows": len(stream.rows),
        "seconds": f"{ends[-1]:.6f}",
        "bin_rows": in_bin * BATCH_ROWS,
        "curve": numbers(bins),
    }


def make_tasks(plan: Plan, names: list[str], modes: Any, executions: int, work: Any, modal: bool) -> list[Task]:
    """Ordered by set and execution, so that a set is read once and shuffled once."""
    tasks = []
    for name in names:
        rows = len(load(name, plan.most_rows).rows)
        for execution in range(executions):
            for column, fingerprint in plan.columns.items():
                for mode in modes:
                    key = dict(zip(KEY, (name, column, mode, execution, fingerprint)))
                    place = (mode, execution) if modal else (execution,)
                    weight = rows * by_key(column).microseconds * 1e-6
                    tasks.append(Task(key, work, (name, column, *place, plan.most_rows), weight))
    return tasks


def run_aucs(plan: Plan) -> None:
    tasks = make_tasks(plan, plan.stationary, MODES, plan.executions, measure_auc, modal=True)
    fill(aucs_of(plan), tasks, "AUC", plan.jobs)


def run_drift(plan: Plan) -> None:
    tasks = make_tasks(plan, plan.drifting, ["batch"], plan.executions, measure_drift, modal=False)
    fill(drift_of(plan), tasks, "drift", plan.jobs)


def run_times(plan: Plan) -> None:
    """Alone: nothing else of ours runs meanwhile."""
    tasks = make_tasks(plan, plan.stationary, ["batch"], plan.timed_executions, measure_time, modal=False)
    fill(times_of(plan), tasks, "time", jobs=1)
    executions = min(plan.timed_executions, 5)
    tasks = make_tasks(plan, plan.drifting, ["batch"], executions, measure_drift_time, modal=False)
    fill(drift_times_of(plan), tasks, "time under drift", jobs=1)

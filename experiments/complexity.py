"""Table 1 by measurement: the time of online-iforest against n, omega, eta and tau, its nodes and bytes against
omega / eta."""

from typing import Any, Iterable

import numpy as np

from .configuration import OURS, by_key
from .ledger import Ledger, Task, fill
from .runs import Plan, load, time_batches

USUAL = dict(num_trees=32, window_size=2048, max_leaf_samples=32)
SWEEPS: dict[str, tuple[int, ...]] = {
    "n": (2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000),
    "window_size": (256, 512, 1024, 2048, 4096, 8192, 16384),
    "max_leaf_samples": (8, 16, 32, 64, 128, 256),
    "num_trees": (4, 8, 16, 32, 64, 128),
}
SYMBOLS = {"n": "n", "window_size": "ω", "max_leaf_samples": "η", "num_trees": "τ"}
SWEEP_ROWS = 60_000  # where it is not n that varies; several of the largest windows
REPETITIONS = 5


def ledger_of(plan: Plan) -> Ledger:
    key = ("dataset", "parameter", "value", "repetition", "fingerprint")
    return Ledger(
        plan.results / "complexity.csv", key, ("rows", "seconds", "nodes", "depth_mean", "bytes", "window_bytes")
    )


def measure(name: str, parameter: str, value: int, repetition: int, rows: int) -> dict[str, Any]:
    """Learns and scores the first rows, in random order as in Table 4, with one parameter changed."""
    taken = value if parameter == "n" else rows
    shuffled = load(name, 1 << 62).shuffled(repetition)[0][:taken]
    params = dict(USUAL) if parameter == "n" else {**USUAL, parameter: value}
    detector = by_key(OURS).create(seed=repetition, **params)
    seconds = time_batches(detector, shuffled)[-1]
    shape = detector.describe()
    window = params["window_size"] * (
        shuffled.shape[1] * 8 + params["num_trees"]
    )  # the window itself: numbers and labels
    return {
        "rows": taken,
        "seconds": f"{seconds:.6f}",
        "nodes": int(shape["nodes"]),
        "depth_mean": f"{shape['depth_mean']:.4f}",
        "bytes": detector.memory_bytes,
        "window_bytes": window,
    }


def sweeps(plan: Plan, rows: int) -> Iterable[tuple[str, int]]:
    """Of n only what the set has; a quick run takes the ends and the middle."""
    for parameter, values in SWEEPS.items():
        fitting = [value for value in values if parameter != "n" or value <= rows]
        yield from ((parameter, value) for value in (fitting[::2] if plan.quick else fitting))


def run(plan: Plan) -> None:
    """Timed, so alone. On the longest of the sets."""
    name = max(plan.stationary, key=lambda name: len(load(name, 1 << 62).rows))
    available = min(len(load(name, 1 << 62).rows), plan.most_rows)
    tasks = []
    for repetition in range(2 if plan.quick else REPETITIONS):
        for parameter, value in sweeps(plan, available):
            rows = min(SWEEP_ROWS, available)
            key = dict(
                dataset=name, parameter=parameter, value=value, repetition=repetition, fingerprint=plan.columns[OURS]
            )
            weight = (value if parameter == "n" else rows) * 1e-6
            tasks.append(Task(key, measure, (name, parameter, value, repetition, rows), weight))
    fill(ledger_of(plan), tasks, "complexity", jobs=1)


def loglog_slope(x: np.ndarray, y: np.ndarray) -> float:
    """The exponent of y as a power of x: 1 is linear."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])

"""What each ingredient of turnover and of rolling-iforest is worth, and what detectors do when a stream changes.

Every setting meets the same shuffles with the same seeds, so differences are paired: most of what shuffles do to an AUC
cancels out, and a standard error says how much did not.

    experiments/run.sh ablation                           30 shuffles of the 11 sets, 15 of each changing stream
    experiments/run.sh ablation --quick                   3 shuffles of at most 6,000 rows: is anything broken?
    experiments/run.sh ablation --parts drift Shuttle  one part, some sets

Prints tables and writes them, with a figure, to experiments/results. Each run is kept there when it is finished, so
what was interrupted goes on.
"""

import argparse
import os
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas

from . import ablation_report, data, drift
from .configuration import Column, by_key, fingerprint
from .ledger import Ledger, Task, fill
from .runs import auc_or_nan, numbers

EXECUTIONS = 30
DRIFT_EXECUTIONS = 15
ALL_ROWS = sys.maxsize
QUICK_ROWS = 6_000
QUICK_SETS = ("Shuttle", "Mammography", "Annthyroid")
BLOCK = 512  # rows of the AUCs that tell when a detector has recovered
AFTER = (2_048, 5_120)  # rows after a change that have an AUC of their own
BEFORE = 5_120  # rows before it, which say what is to be recovered
CHANGING = ("Donors", "ForestCover", "fraud_partial", "Mulcross", "Shuttle")  # those with rows enough
IN_ORDER = ("insects_synth_standin", "insects_aedes_standin")  # change as they are


ROLLING = by_key("rolling-iforest")
TURNOVER = by_key("online-iforest:turnover")
WINDOW = by_key("online-iforest")


def changed(column: Column, title: str, **params: Any) -> Column:
    """The same detector with other parameters; the title says what it lacks, or has instead."""
    words = ",".join(f"{name}={value}" for name, value in params.items())
    return column._replace(key=f"{column.key}({words})", title=title, params={**column.params, **params})


# Each family is compared with its first line.
FAMILIES = {
    "detectors": (ROLLING, WINDOW, TURNOVER, *(by_key(key) for key in ("iforest-asd", "hst", "rrcf", "loda", "sdo"))),
    "turnover": (
        TURNOVER._replace(title="as it is"),
        WINDOW._replace(title="a window instead"),
        changed(WINDOW, "a window, max_leaf_samples 8", max_leaf_samples=8),
        *(changed(TURNOVER, f"max_leaf_samples {eta}", max_leaf_samples=eta) for eta in (4, 16, 32, 64)),
        *(changed(TURNOVER, f"shadow_trees {count}", shadow_trees=count) for count in (1, 2, 8)),
        *(changed(TURNOVER, f"maturity {rows}", maturity=rows) for rows in (256, 1024)),
    ),
    "rolling": (
        ROLLING._replace(title="as it is"),
        changed(ROLLING, "all trees renewed at once", renew_trees=32),
        changed(ROLLING, "no sample: the whole ring", sample_size=1024),
        changed(ROLLING, "insertion of the numbers on the path only", insertion="path"),
        changed(ROLLING, "no insertion", insertion="none"),
        changed(ROLLING, "no tournament", tournament=1),
        changed(ROLLING, "a tournament of 6", tournament=6),
        changed(ROLLING, "no depth limit", max_depth=32),
        *(changed(ROLLING, f"max_leaf_samples {eta}", max_leaf_samples=eta) for eta in (2, 4, 16, 32, 64)),
        *(changed(ROLLING, f"window_size {rows}", window_size=rows) for rows in (1024, 4096)),
    ),
}
DETECTORS = FAMILIES["detectors"]


class Plan(NamedTuple):
    results: Path
    sets: list[str]
    executions: int
    drift_executions: int
    most_rows: int
    jobs: int


def stationary_ledger(plan: Plan) -> Ledger:
    key = ("dataset", "setting", "execution", "fingerprint", "most_rows")
    return Ledger(plan.results / "ablation.csv", key, ("rows", "auc", "seconds"))


def drift_ledger(plan: Plan) -> Ledger:
    key = ("dataset", "kind", "setting", "execution", "fingerprint")
    return Ledger(plan.results / "ablation_drift.csv", key, ("before", "after", "curve"))


# ---- Sets that do not change ----


@lru_cache(maxsize=1)  # the settings of one shuffle follow one another
def shuffled(name: str, execution: int, most_rows: int) -> tuple[np.ndarray, np.ndarray]:
    rows, anomalous = data.load(name).shuffled(execution)
    return rows[:most_rows], anomalous[:most_rows]


def measure(name: str, setting: Column, execution: int, most_rows: int) -> dict[str, Any]:
    """One shuffle, row by row."""
    rows, anomalous = shuffled(name, execution, most_rows)
    detector = setting.create(execution)
    started = time.thread_time()
    scores = detector.learn_score(rows)
    seconds = time.thread_time() - started
    return {"rows": len(rows), "auc": repr(auc_or_nan(anomalous, scores)), "seconds": f"{seconds:.6f}"}


def run_stationary(plan: Plan) -> pandas.DataFrame:
    settings = {setting.key: setting for family in FAMILIES.values() for setting in family}.values()
    prints = {setting.key: fingerprint(setting) for setting in settings}
    tasks = []
    for name in plan.sets:
        rows = min(len(data.load(name).rows), plan.most_rows)
        for execution in range(plan.executions):
            for setting in settings:
                key = dict(dataset=name, setting=setting.key, execution=execution)
                key |= dict(fingerprint=prints[setting.key], most_rows=plan.most_rows)
                tasks.append(Task(key, measure, (name, setting, execution, plan.most_rows), rows * 1e-6))
    ledger = stationary_ledger(plan)
    fill(ledger, tasks, "ablation", plan.jobs)
    return planned(ledger, tasks)


def planned(ledger: Ledger, tasks: list[Task]) -> pandas.DataFrame:
    """What the ledger has of these tasks: it may also have runs of other versions and of longer plans."""
    keys = pandas.DataFrame([task.key for task in tasks])
    return ledger.read().merge(keys, on=list(ledger.key))


# ---- Streams that change ----


@lru_cache(maxsize=1)
def stream_of(name: str, kind: str, execution: int) -> drift.Stream:
    dataset = data.load(name)
    if kind == drift.AS_IT_IS:
        return drift.Stream(dataset.rows, dataset.anomalous, tuple(int(row) for row in dataset.change_points))
    return drift.build(kind, dataset.rows, dataset.anomalous, execution)


def around(change: int, stream: drift.Stream, scores: np.ndarray) -> tuple[float, list[float], list[float]]:
    """The AUC before a change, those of stretches right after it, and those of blocks until the next one."""
    start = max([row for row in stream.changes if row < change] + [0])
    end = min([row for row in stream.changes if row > change] + [len(scores)])

    def auc(first: int, last: int) -> float:
        return auc_or_nan(stream.anomalous[first:last], scores[first:last])

    after = [auc(change, min(change + rows, end)) for rows in AFTER]
    blocks = [auc(first, first + BLOCK) for first in range(change, end - BLOCK + 1, BLOCK)]
    return auc(max(start, change - BEFORE), change), after, blocks


def measure_drift(name: str, kind: str, setting: Column, execution: int) -> dict[str, Any]:
    """One run over a changing stream; what it says of each change is separated by semicolons."""
    stream = stream_of(name, kind, execution)
    scores = setting.create(execution).learn_score(stream.rows)
    before, after, curve = zip(*(around(change, stream, scores) for change in stream.changes))
    return {
        "before": numbers(before),
        "after": ";".join(map(numbers, after)),
        "curve": ";".join(map(numbers, curve)),
    }


def changing_streams(plan: Plan) -> list[tuple[str, str]]:
    made = [(name, kind) for name in CHANGING if name in plan.sets for kind in drift.KINDS]
    return made + [(name, drift.AS_IT_IS) for name in IN_ORDER if name in plan.sets]


def run_drift(plan: Plan) -> pandas.DataFrame:
    prints = {setting.key: fingerprint(setting) for setting in DETECTORS}
    tasks = []
    for name, kind in changing_streams(plan):
        rows = len(data.load(name).rows) if kind == drift.AS_IT_IS else 2 * drift.SEGMENT
        for execution in range(plan.drift_executions):
            for setting in DETECTORS:
                key = dict(dataset=name, kind=kind, setting=setting.key, execution=execution)
                key |= dict(fingerprint=prints[setting.key])
                tasks.append(Task(key, measure_drift, (name, kind, setting, execution), rows * 1e-6))
    ledger = drift_ledger(plan)
    fill(ledger, tasks, "drift", plan.jobs)
    return planned(ledger, tasks)


# ---- The command ----


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="experiments/run.sh ablation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", help="data sets; all of the paper's when none is named")
    parser.add_argument("--parts", default="ingredients,drift", help="ingredients, drift or both")
    parser.add_argument("--quick", action="store_true", help="few and short runs")
    parser.add_argument("--executions", type=int, help=f"shuffles of each set ({EXECUTIONS})")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results")
    return parser.parse_args()


def plan_of(arguments: argparse.Namespace) -> Plan:
    quick = arguments.quick
    known = data.STATIONARY + IN_ORDER
    unknown = set(arguments.sets) - set(known)
    if unknown:
        raise data.DataMissing(f"no data set {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return Plan(
        results=arguments.results / "quick" if quick else arguments.results,
        sets=arguments.sets or list(QUICK_SETS if quick else known),
        executions=arguments.executions or (3 if quick else EXECUTIONS),
        drift_executions=arguments.executions or (2 if quick else DRIFT_EXECUTIONS),
        most_rows=QUICK_ROWS if quick else ALL_ROWS,
        jobs=arguments.jobs,
    )


def main() -> None:
    arguments = parse_arguments()
    try:
        plan = plan_of(arguments)
        if "ingredients" in arguments.parts:
            sets = plan._replace(sets=[name for name in plan.sets if name not in IN_ORDER])
            ablation_report.report_ingredients(run_stationary(sets), FAMILIES, plan.results)
        if "drift" in arguments.parts:
            ablation_report.report_drift(run_drift(plan), DETECTORS, plan.results, AFTER, BLOCK)
    except data.DataMissing as missing:
        sys.exit(f"ablation: {missing}")


if __name__ == "__main__":
    main()

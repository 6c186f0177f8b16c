#!/usr/bin/env python3
"""The Python package beside its peers and the C library: ratios from one run, on Shuttle.

    build/bench-venv/bin/python benchmarks/python.py [--rows N]

All get the same rows one by one, each learned and scored, in the order usual for the package. They take turns, so that what
else the machine does slows all of them, and the best turn of each counts. The last lines hold the ratios against their
bars; the program fails when one is missed.
"""

import argparse
import collections
import ctypes
import os
import sys
import time
from pathlib import Path

import numpy as np

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CHECKOUT / "tools" / "measure"), str(CHECKOUT / "tests" / "reference")]

import authors_code  # noqa: E402
import datasets  # noqa: E402
import oif  # noqa: E402

TURNS = 7
TREES, WINDOW, LEAF = 32, 2048, 32
LIBRARY = os.environ.get("OIF_LIBRARY") or CHECKOUT / "build" / "benchmarks" / "liboif.so"


def make_ours(rows):
    forest = oif.OnlineIsolationForest()
    score_one, learn_one = forest.score_one, forest.learn_one
    return lambda: [(score_one(row), learn_one(row)) for row in rows]


def make_ours_at_once(rows):
    learn_score_one = oif.OnlineIsolationForest().learn_score_one
    return lambda: [learn_score_one(row) for row in rows]


def make_array(rows):
    forest = oif.OnlineIsolationForest()
    return lambda: forest.learn_score(rows)


def make_array_prequential(rows):
    forest = oif.OnlineIsolationForest()
    return lambda: forest.score_learn(rows)


def make_pipeline_block(rows):
    pipeline = oif.Pipeline(oif.OnlineIsolationForest())
    return lambda: pipeline.process(rows)


def make_pipeline_rows(rows):
    process_one = oif.Pipeline(oif.OnlineIsolationForest()).process_one
    return lambda: collections.deque(map(process_one, rows), maxlen=0)


def c_library():
    """The C library itself, and parameters. Its structures are only handed on, so their layout does not matter."""
    library, params = ctypes.CDLL(str(LIBRARY)), ctypes.create_string_buffer(4096)
    if library.oif_params_init(params, b"online-iforest", None):
        sys.exit("python.py: the library has no online-iforest")
    return library, params


def make_c(rows):
    library, params = c_library()
    detector = ctypes.c_void_p()
    count, columns = map(ctypes.c_size_t, rows.shape)
    scores = np.empty(len(rows))
    row_data, score_data = ctypes.c_void_p(rows.ctypes.data), ctypes.c_void_p(scores.ctypes.data)
    if library.oif_detector_new(params, columns, ctypes.byref(detector), None):
        sys.exit("python.py: the library cannot make a detector")

    def learn_score():
        library.oif_detector_learn_score_rows(detector, row_data, count, columns, score_data, None)
        return scores  # which must live as long as its address is used

    return learn_score


def make_c_pipeline(rows):
    library, params = c_library()
    options, pipeline, done = ctypes.create_string_buffer(4096), ctypes.c_void_p(), ctypes.c_size_t()
    results = ctypes.create_string_buffer(256 * len(rows))  # more than they take
    count, columns = map(ctypes.c_size_t, rows.shape)
    row_data = ctypes.c_void_p(rows.ctypes.data)
    library.oif_pipeline_options_init(options)
    if library.oif_pipeline_new(params, columns, options, ctypes.byref(pipeline), None):
        sys.exit("python.py: the library cannot make a pipeline")

    def process():
        if library.oif_pipeline_process_rows(
            pipeline, row_data, count, columns, None, None, None, results, ctypes.byref(done), None
        ):
            sys.exit("python.py: the library cannot process the rows")

    return process


def make_capymoa(rows):
    forest = authors_code.load_class()(num_trees=TREES, window_size=WINDOW, max_leaf_samples=LEAF, n_jobs=1)
    batches = [row.reshape(1, -1) for row in rows]
    return lambda: [(forest._score_batch(row), forest._learn_batch(row)) for row in batches]


def make_rcf3(rows):
    import rcf3

    forest = rcf3.OnlineIForest(len(rows[0]), TREES, WINDOW, LEAF, 0)
    return lambda: [forest.update_and_score(row) for row in rows]


def make_river(rows):
    from river import anomaly

    low, high = (
        np.min([list(row.values()) for row in rows], axis=0),
        np.max([list(row.values()) for row in rows], axis=0),
    )
    limits = {j: (float(low[j]), float(high[j])) for j in range(len(low))}
    trees = anomaly.HalfSpaceTrees(n_trees=TREES, window_size=WINDOW, limits=limits, seed=0)
    return lambda: [(trees.score_one(row), trees.learn_one(row)) for row in rows]


def small_detector(rows):
    """One that costs next to nothing, so that what is left is the call."""
    detector = oif.Loda(num_projections=1, num_bins=1)
    detector.learn(rows)
    return detector


def seconds(work):
    began = time.thread_time()
    work()
    return time.thread_time() - began


def nanoseconds_of_all(contestants, turns=TURNS):
    """The best turn of each, a row."""
    best = dict.fromkeys(contestants, float("inf"))
    for turn in range(turns):
        for name, (make, rows, most_turns) in contestants.items():
            if turn < most_turns:
                best[name] = min(best[name], seconds(make(rows)) / len(rows))
    return {name: 1e9 * value for name, value in best.items()}


def overheads(rows):
    """What a call costs besides the work, and an empty call of C for comparison: it tells how busy the machine is."""
    rows = rows[:5000]
    detector = small_detector(rows)
    named = detector.clone()
    named.column_names = range(rows.shape[1])

    def loop(call):
        return lambda single: lambda: [call(row) for row in single]

    turns = 60  # short ones: some of them are not disturbed
    best = nanoseconds_of_all(
        {
            "block": (lambda block: lambda: detector.score(block), rows, turns),
            "len": (loop(len), rows.tolist(), turns),
            "list": (loop(detector.score_one), rows.tolist(), turns),
            "array": (loop(detector.score_one), list(rows), turns),
            "dict": (loop(named.score_one), [dict(enumerate(row)) for row in rows.tolist()], turns),
        },
        turns,
    )
    alone = best.pop("block")  # a row within the library
    print(f"{'an empty call of C, len(row)':40} {best.pop('len'):12,.0f} ns")
    return {name: value - alone for name, value in best.items()}


def over_the_model():
    """What process_one of a dict of ten columns costs besides the model: the same rows in one array."""
    rows = np.random.default_rng(0).normal(size=(4000, 10))
    dicts = [{f"c{i}": value for i, value in enumerate(row)} for row in rows.tolist()]
    best = nanoseconds_of_all({"model": (make_pipeline_block, rows, 25), "dict": (make_pipeline_rows, dicts, 25)}, 25)
    print(f"{'ten columns: the model, process_one':40} {best['model']:12,.0f} ns, {best['dict']:,.0f} ns a row")
    return best["dict"] - best["model"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20000, help="of Shuttle (default 20000; CapyMOA gets a tenth)")
    options = parser.parse_args()
    rows = np.ascontiguousarray(datasets.load("Shuttle")[0], np.float64)[: options.rows]
    np.random.default_rng(0).shuffle(rows)
    lists, dicts = rows.tolist(), [dict(enumerate(row)) for row in rows.tolist()]
    few = len(rows) // 10
    best = nanoseconds_of_all(
        {
            "C library, one block": (make_c, rows, TURNS),
            "C library, pipeline, one block": (make_c_pipeline, rows, TURNS),
            "oif, one array": (make_array, rows, TURNS),
            "oif, one array, scored first": (make_array_prequential, rows, TURNS),
            "oif, pipeline, one array": (make_pipeline_block, rows, TURNS),
            "oif, pipeline, process_one of dicts": (make_pipeline_rows, dicts, TURNS),
            "oif, learn_score_one of lists": (make_ours_at_once, lists, TURNS),
            "oif, score_one and learn_one of lists": (make_ours, lists, TURNS),
            "oif, score_one and learn_one of dicts": (make_ours, dicts, TURNS),
            "CapyMOA OnlineIsolationForest": (make_capymoa, rows[:few], 1),
            "rcf3 OnlineIForest": (make_rcf3, lists, 3),
            "River HalfSpaceTrees": (make_river, dicts, 2),
        }
    )
    for name, value in best.items():
        print(f"{name:40} {value:12,.0f} ns a row")
    over = over_the_model()
    calls = overheads(rows)
    for name, value in calls.items():
        print(f"{'a call with a ' + name:40} {value:12,.0f} ns")

    ours, one_dict = best["oif, score_one and learn_one of dicts"], best["oif, pipeline, process_one of dicts"]
    bars = [
        ("times as fast as CapyMOA", best["CapyMOA OnlineIsolationForest"] / ours, ">=", 300),
        ("times as fast as rcf3", best["rcf3 OnlineIForest"] / best["oif, score_one and learn_one of lists"], ">=", 3),
        ("times as fast as River's HST", best["River HalfSpaceTrees"] / ours, ">=", 10),
        ("arrays: share of the C library's speed", best["C library, one block"] / best["oif, one array"], ">=", 0.95),
        ("arrays: score_learn, of learn_score", best["oif, one array, scored first"] / best["oif, one array"], "<=", 1.1),
        (
            "Pipeline.process: share of the C library's",
            best["C library, pipeline, one block"] / best["oif, pipeline, one array"],
            ">=",
            0.95,
        ),
        ("process_one of a dict, rows of process", one_dict / best["oif, pipeline, one array"], "<=", 1.6),
        ("process_one, 10 columns, us over the model", over / 1000, "<=", 2),
        ("call overhead, ns", max(calls.values()), "<=", 300),
    ]
    print()
    missed = 0
    for name, value, sign, bar in bars:
        met = value >= bar if sign == ">=" else value <= bar
        missed += not met
        print(f"{name:40} {value:10,.2f}   {'met' if met else 'MISSED'} ({sign} {bar})")
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())

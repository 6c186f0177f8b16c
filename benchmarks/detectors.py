"""Ours and the peers behind one shape, so that peers.py can pass them the same rows and take their scores.

Each has a function that makes a fresh detector, as a function from a chunk of rows to their scores: every row is
learned and scored once, in its package's usual order, and a higher score is more anomalous. What turns a chunk into
what the package wants to be called with (lists, dictionaries, values in [0, 1]) is `prepare`, which is not timed. Each
peer stands beside the one of ours that does the same, and both get the same parameters: those that ours have initially,
where the peer has them too; a method that ours do not have is beside the nearest one. One thread.
"""

import sys
from pathlib import Path
from typing import Callable, NamedTuple, Optional

import numpy as np

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CHECKOUT / "tools" / "measure"), str(CHECKOUT / "tests" / "reference")]

import anchors  # noqa: E402  (its folder is on the path only now)
import authors_code  # noqa: E402
import aws_forest  # noqa: E402
import oif  # noqa: E402

TREES, WINDOW, LEAF = 32, 2048, 32
SAMPLE = 256  # rows in a tree of the methods that build trees from samples
HST_WINDOW, HST_DEPTH, RIVER_DEPTH = 250, 15, 8
PROJECTIONS, BINS, LODA_WINDOW = 32, 100, 512
OBSERVERS, NEIGHBOURS = 200, 6  # of sdo
MOST_ROWS = 50_000  # of a set


class Stream(NamedTuple):
    """What may be known before the first row. The bounds are those of all rows, a favour to the methods that ask."""

    dimension: int
    low: np.ndarray
    high: np.ndarray
    seed: int


def as_they_are(stream, rows):
    return rows


def to_lists(stream, rows):
    return rows.tolist()


def to_dictionaries(stream, rows):
    return [dict(enumerate(row)) for row in rows.tolist()]


def to_unit_range(stream, rows):
    return (rows - stream.low) / np.where(stream.high > stream.low, stream.high - stream.low, 1)


def to_instances(stream, rows):
    return [anchors.Instance(row) for row in rows.tolist()]


def to_array_instances(stream, rows):
    return [anchors.Instance(row) for row in rows]


class Ours(NamedTuple):
    """One of our detectors, with the parameters that are not the initial ones."""

    kind: str
    params: tuple = ()  # of (name, value)

    def __str__(self):
        return " ".join([self.kind, *(f"{name}={value}" for name, value in self.params)])


class Detector(NamedTuple):
    name: str
    package: str  # on PyPI
    how: str  # the rows are passed
    beside: Ours  # which of ours it is compared with
    make: Optional[Callable]  # from a Stream to a function from a chunk to scores; None for bench_speed, from C
    rows: int = MOST_ROWS  # at most so many are passed; fewer to the slow ones
    chunk: int = 256  # rows between two looks at the clock; the block, where rows are passed in blocks
    prepare: Callable = as_they_are
    threads: int = 1
    least: int = 0  # rows even of a quick run: before, it learns nothing or scores nothing
    run: Optional[Callable] = None  # a program of its own: from a Stream and all rows to processor seconds and scores


def make_oif(threads):
    def make(stream):
        detector = oif.OnlineIsolationForest(seed=stream.seed)
        detector.threads = threads
        return detector.learn_score

    return make


def make_oif_single(stream):
    learn_score_one = oif.OnlineIsolationForest(seed=stream.seed).learn_score_one
    return lambda rows: [learn_score_one(row) for row in rows]


def make_authors(stream, batch_rows):
    forest = authors_code.load_class()(
        random_seed=stream.seed, num_trees=TREES, window_size=WINDOW, max_leaf_samples=LEAF, n_jobs=1
    )

    def learn_then_score(batch):
        forest._learn_batch(batch)
        return forest._score_batch(batch)

    def pass_rows(rows):
        batches = [rows[i : i + batch_rows] for i in range(0, len(rows), batch_rows)]
        return np.concatenate([learn_then_score(batch) for batch in batches])

    return pass_rows


def make_capymoa(name, file, seed="seed", **settings):
    """Another detector of CapyMOA: a file of Python, loaded without Java and torch as that of the authors."""

    def make(stream):
        detector = anchors.new_capymoa(name, file, stream.dimension, {seed: stream.seed}, **settings)

        def score_then_learn(row):
            score = detector.score_instance(row)
            detector.train(row)
            return score

        return lambda rows: [score_then_learn(row) for row in rows]

    return make


def make_rcf3(stream):
    import rcf3

    forest = rcf3.OnlineIForest(stream.dimension, TREES, WINDOW, LEAF, stream.seed)
    return lambda rows: [forest.update_and_score(row) for row in rows]


def make_rcf3_forest(stream):
    import rcf3

    forest = rcf3.Forest(stream.dimension, num_trees=TREES, capacity=SAMPLE, time_decay=1 / WINDOW, seed=stream.seed)

    def score_then_learn(row):
        score = forest.score(row)
        forest.update(row)
        return score

    return lambda rows: [score_then_learn(row) for row in rows]


def run_aws(stream, rows):
    return aws_forest.run(rows, stream.seed, TREES, SAMPLE, 1 / WINDOW, repeats=2)


# River's own depth: with 15 its 2 million nodes are objects that take 20 seconds to make.
def make_river(stream):
    from river import anomaly

    limits = {j: (float(stream.low[j]), float(stream.high[j])) for j in range(stream.dimension)}
    trees = anomaly.HalfSpaceTrees(
        n_trees=TREES, height=RIVER_DEPTH, window_size=HST_WINDOW, limits=limits, seed=stream.seed
    )

    trees.learn_one(dict(enumerate((stream.low + stream.high) / 2)))  # makes the trees, which is not to be timed

    def score_then_learn(row):
        score = trees.score_one(row)
        trees.learn_one(row)
        return score

    return lambda rows: [score_then_learn(row) for row in rows]


def make_rrcf(stream):
    import rrcf

    np.random.seed(stream.seed)
    trees = [rrcf.RCTree() for _ in range(TREES)]
    count = 0

    def insert_and_score(tree, row):
        if len(tree.leaves) >= SAMPLE:
            tree.forget_point(count - SAMPLE)
        tree.insert_point(row, index=count)
        return tree.codisp(count)

    def pass_rows(rows):
        nonlocal count
        scores = []
        for row in rows:
            scores.append(sum(insert_and_score(tree, row) for tree in trees) / TREES)
            count += 1
        return scores

    return pass_rows


def make_sklearn(stream):
    """A window is scored by the forest of the window before it; the first by its own."""
    from sklearn.ensemble import IsolationForest

    forest = None

    def pass_window(rows):
        nonlocal forest
        fresh = IsolationForest(n_estimators=TREES, max_samples=min(SAMPLE, len(rows)), random_state=stream.seed)
        fresh.fit(rows)
        scores = -(forest or fresh).score_samples(rows)
        forest = fresh
        return scores

    return pass_window


def make_pysad(name, **settings):
    def make(stream):
        from pysad import models

        bounds = (stream.low, stream.high) if name in ("HalfSpaceTrees", "RSHash") else ()
        model = getattr(models, name)(*bounds, random_state=stream.seed, **settings)
        return lambda rows: [float(np.ravel(model.fit_score_partial(row))[0]) for row in rows]

    return make


def make_dsalmon(name, seeded=True, **settings):
    def make(stream):
        from dSalmon import outlier

        more = {"seed": stream.seed} if seeded else {}
        return getattr(outlier, name)(**settings, **more).fit_predict

    return make


ONE, BLOCKS = "one by one", "blocks of 1000"

ONLINE_IFOREST, IFOREST_ASD, HST, RRCF, LODA, ROLLING_IFOREST, SDO = map(
    Ours, ("online-iforest", "iforest-asd", "hst", "rrcf", "loda", "rolling-iforest", "sdo")
)
TURNOVER = Ours("online-iforest", (("forgetting", "turnover"),))
ALL_OURS = (ONLINE_IFOREST, IFOREST_ASD, HST, RRCF, LODA, TURNOVER, ROLLING_IFOREST, SDO)
HST_AS_RIVER = Ours("hst", (("max_depth", RIVER_DEPTH),))
RRCF_OF_LAST_ROWS = Ours("rrcf", (("sample", "sliding"),))

# Through C, one by one: peers.py runs build/benchmarks/benchmarks/bench_speed for them.
OURS_FROM_C = tuple(Detector(f"oif {ours}", "oif", f"{ONE}, from C", ours, None) for ours in ALL_OURS)

OURS_FROM_PYTHON = (
    Detector("oif online-iforest", "oif", BLOCKS, ONLINE_IFOREST, make_oif(1), chunk=1000),
    Detector("oif online-iforest", "oif", f"{BLOCKS}, 2 threads", ONLINE_IFOREST, make_oif(2), chunk=1000, threads=2),
    Detector("oif online-iforest", "oif", f"{ONE}, from Python", ONLINE_IFOREST, make_oif_single),
)

PEERS = (
    Detector(
        "CapyMOA OnlineIsolationForest", "capymoa", ONE, ONLINE_IFOREST, lambda s: make_authors(s, 1),
        rows=2000, chunk=50,
    ),
    Detector(
        "CapyMOA OnlineIsolationForest", "capymoa", "batches of 100", ONLINE_IFOREST, lambda s: make_authors(s, 100),
        rows=20_000, chunk=500,
    ),
    Detector("rcf3 OnlineIForest", "rcf3", ONE, ONLINE_IFOREST, make_rcf3, prepare=to_lists),
    Detector(
        "CapyMOA AdaptiveIsolationForest", "capymoa", ONE, ROLLING_IFOREST,
        make_capymoa("AdaptiveIsolationForest", "_adaptive_isolation_forest", window_size=SAMPLE, n_trees=TREES),
        rows=10_000, prepare=to_instances,
    ),
    Detector(
        "CapyMOA StreamingIsolationForest", "capymoa", ONE, ROLLING_IFOREST,
        make_capymoa("StreamingIsolationForest", "_streaming_isolation_forest", window_size=SAMPLE, n_trees=TREES),
        rows=2000, least=2 * SAMPLE, chunk=50, prepare=to_instances,
    ),
    Detector(
        "CapyMOA StreamRHF", "capymoa", ONE, ROLLING_IFOREST,
        make_capymoa("StreamRHF", "_stream_rhf", seed="random_seed", num_trees=TREES),
        rows=100, least=30, chunk=10, prepare=to_array_instances,
    ),
    Detector(
        "CapyMOA IForestASD", "capymoa", ONE, IFOREST_ASD,
        make_capymoa("IForestASD", "_iforest_asd", seed="random_state", window_size=WINDOW, n_trees=TREES),
        rows=10_000, least=WINDOW + SAMPLE, chunk=50, prepare=to_instances,
    ),
    Detector(
        "PySAD IForestASD", "pysad", ONE, IFOREST_ASD,
        make_pysad("IForestASD", window_size=WINDOW, n_estimators=TREES), rows=4200, chunk=50,
    ),
    Detector(
        "scikit-learn IsolationForest", "scikit-learn", "retrained every 2048", IFOREST_ASD, make_sklearn, chunk=WINDOW,
    ),
    Detector(
        "PySAD HalfSpaceTrees", "pysad", ONE, HST,
        make_pysad("HalfSpaceTrees", window_size=HST_WINDOW, num_trees=TREES, max_depth=HST_DEPTH), rows=20_000,
    ),
    Detector(
        "River HalfSpaceTrees", "river", ONE, HST_AS_RIVER, make_river, rows=20_000, prepare=to_dictionaries,
    ),
    Detector(
        "dSalmon HSTrees", "dSalmon", BLOCKS, HST,
        make_dsalmon("HSTrees", window=HST_WINDOW, n_estimators=TREES, max_depth=HST_DEPTH, n_jobs=1),
        chunk=1000, prepare=to_unit_range,
    ),
    Detector(
        "PySAD xStream", "pysad", ONE, HST,
        make_pysad("xStream", n_chains=TREES, depth=HST_DEPTH, window_size=HST_WINDOW), rows=5000,
    ),
    Detector(
        "dSalmon xStream", "dSalmon", BLOCKS, HST,
        make_dsalmon("xStream", window=HST_WINDOW, n_estimators=TREES, n_projections=100, depth=HST_DEPTH, n_jobs=1),
        chunk=1000,
    ),
    Detector("AWS RandomCutForest", "randomcutforest-core", ONE, RRCF, None, run=run_aws),
    Detector("rcf3 Forest", "rcf3", ONE, RRCF, make_rcf3_forest, rows=20_000, prepare=to_lists),
    Detector(
        "CapyMOA RobustRandomCutForest", "capymoa", ONE, RRCF_OF_LAST_ROWS,
        make_capymoa(
            "RobustRandomCutForest", "_robust_random_cut_forest", seed="random_state", tree_size=SAMPLE, n_trees=TREES
        ),
        rows=500, chunk=50, prepare=to_array_instances,
    ),
    Detector("rrcf RCTree", "rrcf", ONE, RRCF_OF_LAST_ROWS, make_rrcf, rows=1500, chunk=50),
    Detector(
        "PySAD RobustRandomCutForest", "pysad", ONE, RRCF,
        make_pysad("RobustRandomCutForest", num_trees=TREES, tree_size=SAMPLE, time_decay=1 / WINDOW),
        rows=1500, chunk=50,
    ),
    Detector(
        "dSalmon SWRRCT", "dSalmon", BLOCKS, RRCF_OF_LAST_ROWS,
        make_dsalmon("SWRRCT", window=SAMPLE, n_estimators=TREES, n_jobs=1), chunk=1000,
    ),
    Detector(
        "PySAD LODA", "pysad", ONE, LODA, make_pysad("LODA", num_bins=BINS, num_random_cuts=PROJECTIONS),
        rows=20_000,
    ),
    Detector(
        "dSalmon LODA", "dSalmon", BLOCKS, LODA,
        make_dsalmon("LODA", window=LODA_WINDOW, n_projections=PROJECTIONS, n_bins=BINS, n_jobs=1),
        rows=10_000, chunk=1000,
    ),
    Detector(
        "CapyMOA Loda", "capymoa", ONE, LODA,
        make_capymoa(
            "Loda", "_loda", seed="random_state", n_projections=PROJECTIONS, window_size=LODA_WINDOW, max_bins=BINS
        ),
        rows=1000, least=LODA_WINDOW + 100, chunk=50, prepare=to_array_instances,
    ),
    Detector(
        "CapyMOA RSHash", "capymoa", ONE, LODA, make_capymoa("RSHash", "_rs_hash", m=PROJECTIONS, s=LODA_WINDOW),
        rows=2000, least=LODA_WINDOW + 100, chunk=50, prepare=to_array_instances,
    ),
    Detector(
        "PySAD RSHash", "pysad", ONE, LODA, make_pysad("RSHash", num_components=PROJECTIONS), rows=10_000,
    ),
    Detector(
        "dSalmon RSHash", "dSalmon", BLOCKS, LODA,
        make_dsalmon("RSHash", n_estimators=PROJECTIONS, window=LODA_WINDOW, cms_w=4, cms_d=10_000, n_jobs=1),
        chunk=1000, prepare=to_unit_range,
    ),
    Detector(
        "dSalmon SDOstream", "dSalmon", BLOCKS, SDO,
        make_dsalmon("SDOstream", k=OBSERVERS, T=WINDOW, x=NEIGHBOURS), chunk=1000, prepare=to_unit_range,
    ),
    Detector(
        "dSalmon SWKNN", "dSalmon", BLOCKS, SDO, make_dsalmon("SWKNN", seeded=False, window=WINDOW, k=10),
        rows=10_000, chunk=1000, prepare=to_unit_range,
    ),
)  # fmt: skip

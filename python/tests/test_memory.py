"""Nothing leaks: the process stays as large as it is, whatever is called how often."""

import os
import tracemalloc

import numpy as np
import pytest

import oif


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def refuse(call, *arguments):
    try:
        call(*arguments)
    except (ValueError, TypeError):
        return
    raise AssertionError("not refused")


ROW = [0.5, 1.5, 2.5]
DICT = dict(zip("abc", ROW))
BLOCK = np.random.default_rng(0).normal(size=(4, 3))
NARROW = BLOCK.astype(np.float32)[::2, ::-1]


def calls_of_a_detector():
    forest = oif.OnlineIsolationForest(num_trees=2, window_size=16, max_leaf_samples=2)
    forest.learn_one(DICT)
    snapshot = forest.to_bytes()
    return [
        lambda: forest.learn_one(DICT),
        lambda: forest.score_one(ROW),
        lambda: forest.learn_score_one(BLOCK[0]),
        lambda: forest.learn_score(BLOCK),
        lambda: forest.score(BLOCK, progress=lambda done, total: None),
        lambda: pytest.raises(ZeroDivisionError, forest.score, BLOCK, progress=lambda done, total: 1 / 0),
        lambda: pytest.raises(TypeError, forest.score, BLOCK, progres=True),
        lambda: forest.learn(NARROW),
        lambda: forest.score([ROW]),
        lambda: refuse(forest.learn_one, {"z": 1}),
        lambda: refuse(forest.learn_one, [1.0, float("inf"), 2.0]),
        lambda: refuse(forest.learn, "text"),
        lambda: refuse(forest.score, BLOCK.T.copy()[:, :2]),
        lambda: forest.explain(BLOCK),
        lambda: forest.clone(),
        lambda: oif.load(snapshot),
        lambda: refuse(oif.load, snapshot[:-1]),
        lambda: (forest.params, forest.describe(), forest.column_names, forest.ready, forest.check()),
        lambda: refuse(oif.OnlineIsolationForest, 0),
        lambda: oif.Loda(num_projections=1, num_bins=1, window_size=1).learn_one(DICT),
        lambda: refuse(oif.Loda().learn_one, {"a": 1.0, "b": float("inf")}),
    ]


def calls_of_a_pipeline():
    pipeline = oif.Pipeline(oif.Loda(num_projections=2, num_bins=4, window_size=8), max_keys=3)
    pipeline.process_one(DICT, "a")
    detector = oif.Loda(num_projections=2, num_bins=4, window_size=8)
    detector.process(DICT)
    return [
        lambda: pipeline.process_one(ROW, "b"),
        lambda: pipeline.process(BLOCK, list("abcd"), explain=True),
        lambda: refuse(pipeline.process, BLOCK, ["a"]),
        lambda: refuse(pipeline.process, BLOCK, ["a" * 100_000] * 4),
        lambda: pipeline.explain(),
        lambda: (setattr(pipeline, "rules", "mute reason=stuck"), pipeline.rules, pipeline.process_one(DICT, "a")),
        lambda: refuse(setattr, pipeline, "rules", "hush"),
        lambda: oif.Pipeline(oif.Loda(num_projections=2, num_bins=4, window_size=8), rules="mute key=a").rules,
        lambda: refuse(oif.Pipeline(oif.Loda(num_bins=4), rules="mute column=nothing").process_one, DICT),
        lambda: oif.load(pipeline.to_bytes()),
        lambda: pipeline.clone(),
        lambda: detector.process(BLOCK, explain=True),
        lambda: refuse(detector.process, [[1.0, 2.0]]),
        lambda: oif.Loda(num_projections=2, num_bins=4, window_size=8).process(DICT),
        lambda: detector.clone(),
    ]


def assert_flat(call, count):
    """A leak grows in every round; what the allocator keeps for later grows in some."""
    sizes = []
    for _ in range(5):
        for _ in range(count // 4):
            call()
        sizes.append(resident_bytes())
    grown = [after - before for before, after in zip(sizes, sizes[1:])]
    assert min(grown) < 1 << 15, f"{grown} bytes more after {count // 4} calls each"


@pytest.mark.parametrize("number", range(18))
def test_calls_of_a_detector_leave_nothing_behind(number, repetitions):
    assert_flat(calls_of_a_detector()[number], 12_000 * repetitions)


@pytest.mark.parametrize("number", range(15))
def test_calls_of_a_pipeline_leave_nothing_behind(number, repetitions):
    assert_flat(calls_of_a_pipeline()[number], 6000 * repetitions)


def test_a_million_calls_leave_nothing_behind():
    forest = oif.OnlineIsolationForest(num_trees=1, window_size=16, max_leaf_samples=2)
    dicts = [dict(zip("abc", row)) for row in np.random.default_rng(0).normal(size=(100, 3)).tolist()]

    def call():
        for row in dicts:
            forest.learn_score_one(row)

    assert_flat(call, 10_000)


def test_arrow_streams_leave_nothing_behind(repetitions):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"a": [1.0, None, 3.0], "b": [1, 2, 3]})
    text = pyarrow.table({"a": ["x"]})
    forest = oif.OnlineIsolationForest(num_trees=1, window_size=16, max_leaf_samples=2)
    assert_flat(lambda: (forest.learn(table), refuse(forest.learn, text)), 6000 * repetitions)


def peak_bytes(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_float64_is_read_where_it_is_and_the_rest_is_copied_in_pieces():
    trees = oif.HalfSpaceTrees(num_trees=1, window_size=16, max_depth=2)
    block = np.random.default_rng(0).normal(size=(400_000, 2))
    wide = np.repeat(block, 3, axis=1)
    trees.learn(block[:10])
    for in_place in (block, wide[::2, 1:3]):
        assert peak_bytes(lambda x=in_place: trees.learn(x)) < 20_000
    for in_pieces in (np.asfortranarray(block), block.astype(np.float32), block[::-1], wide[:, ::3]):
        assert peak_bytes(lambda x=in_pieces: trees.learn(x)) < 1_200_000 < block.nbytes


def test_a_frame_of_float64_is_not_copied_as_a_whole():
    pandas = pytest.importorskip("pandas")
    trees = oif.HalfSpaceTrees(num_trees=1, window_size=16, max_depth=2)
    frame = pandas.DataFrame(np.random.default_rng(0).normal(size=(400_000, 2)), columns=["a", "b"])
    trees.learn(frame[:10])
    assert peak_bytes(lambda: trees.learn(frame)) < 1_300_000


def test_keys_that_are_asked_copied_and_moved_leave_nothing_behind(rows, repetitions):
    pipeline = oif.Pipeline(oif.Loda(), max_keys=10, moves="off")
    pipeline.process(rows, keys=[str(i % 5) for i in range(len(rows))])
    trained = pipeline.detector("1")

    def once():
        pipeline.list_keys()
        pipeline.score(rows[:3], key="1")
        pipeline.load_key(pipeline.save_key("1"), "6")
        pipeline.drop("6")
        pipeline.process_one(rows[0], key="1")
        oif.Pipeline(trained).process_one(rows[0])
        with pytest.raises(oif.DataError):
            pipeline.drop("nobody")

    assert_flat(once, 300 * repetitions)

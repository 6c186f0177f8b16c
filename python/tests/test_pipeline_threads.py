"""Rows are processed key by key, and threads share the keys of a pipeline: neither changes anything but the time that it takes."""

import copy
import os
import pickle

import numpy as np
import oif
import pytest

KEYS = 12
ROWS = 4800
CAUSE_RANGE = "parameter_range"


def stream(seed=1):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(ROWS, 3))
    rows[random.integers(ROWS // 2, ROWS, 30)] += 8
    keys = [f"web-{key}" for key in random.integers(0, KEYS, ROWS)]
    return rows, keys, 1.7e9 + np.arange(ROWS) * 5.0


def made(threads, **options):
    budget = {} if "alerts" in options else {"alert_rate": 0.01}
    return oif.Pipeline(oif.RollingIsolationForest(window_size=256, num_trees=16, seed=3), threads=threads, **budget, **options)


def outcome(threads, explain=False, with_times=False, rows=None, cuts=(100, 1500), **options):
    """The bytes of all results, and of the snapshot afterwards. The stream comes in pieces, cut at these rows."""
    given, keys, times = stream()
    given = given if rows is None else rows(given)
    pipeline = made(threads, **options)
    results = [
        pipeline.process(given[part], keys[part], times=times[part] if with_times else None, explain=explain, output="array")
        for part in map(slice, (0, *cuts), (*cuts, ROWS))
    ]
    return b"".join(result.tobytes() for result in results), pipeline.to_bytes()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"explain": "anomalies"},
        {"explain": True},
        {"with_times": True},
        {"with_times": True, "alerts": 5.0},  # in sequence, and the same
        {"memory_limit": 4_000_000},  # packed models
        {"rules": "mute key=web-1", "keep_episodes": True},
        {"diff": [0]},
        {"rows": lambda rows: np.asfortranarray(rows.astype(np.float32))},
    ],
    ids=lambda options: "-".join(options) or "plain",
)
def test_results_and_snapshots_do_not_depend_on_threads(options):
    alone = outcome(1, **options)
    assert alone[0]
    assert outcome(1, cuts=range(50, ROWS, 50), **options) == alone
    for threads in (2, 5):
        assert outcome(threads, **options) == alone


def test_without_keys_threads_have_nothing_to_share():
    rows = stream()[0]
    assert made(3).process(rows).tobytes() == made(1).process(rows).tobytes()


def test_threads_are_an_attribute_that_copies_have():
    pipeline = made(2)
    assert pipeline.threads == 2 and oif.Pipeline().threads == 1
    pipeline.threads = 4
    pipeline.process(stream()[0])
    for same in (pipeline.clone(), copy.deepcopy(pipeline), pickle.loads(pickle.dumps(pipeline))):
        assert same.threads == 4
    assert oif.load(pipeline.to_bytes()).threads == 1


def test_a_state_file_is_resumed_with_other_threads(tmp_path):
    rows, keys, _ = stream()
    alone = made(1)
    alone.process(rows, keys)
    for threads, part in ((2, slice(0, 2000)), (3, slice(2000, ROWS))):
        with oif.Pipeline.open(
            tmp_path / "s.oif", oif.RollingIsolationForest(window_size=256, num_trees=16, seed=3), alert_rate=0.01, threads=threads
        ) as held:
            assert held.threads == threads
            held.process(rows[part], keys[part])
    assert oif.Pipeline.load(tmp_path / "s.oif").to_bytes() == alone.to_bytes()


@pytest.mark.parametrize("threads", [0, -1, 17])
def test_a_wrong_number_of_threads_is_refused(threads):
    with pytest.raises(oif.ParameterError, match=f"threads must be 1 to 16, not {threads}") as raised:
        oif.Pipeline(threads=threads)
    assert raised.value.cause == CAUSE_RANGE
    with pytest.raises(TypeError):
        oif.Pipeline(threads=1.5)


def test_an_error_leaves_the_rows_before_it_as_with_one_thread():
    rows, keys, _ = stream()
    keys[900] = "k" * 70_000
    ends = []
    for threads in (1, 3):
        pipeline = made(threads)
        with pytest.raises(oif.DataError) as raised:
            pipeline.process(rows, keys)
        ends.append((str(raised.value), pipeline.rows, pipeline.to_bytes() if pipeline.rows else b""))
    assert ends[0] == ends[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_continues():
    rows, keys, _ = stream()
    pipeline = made(3)
    pipeline.process(rows[:2000], keys[:2000])
    child = os.fork()
    if child == 0:
        try:
            pipeline.process(rows[2000:], keys[2000:])
            os._exit(0 if pipeline.rows == ROWS else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    pipeline.process(rows[2000:], keys[2000:])
    assert pipeline.rows == ROWS

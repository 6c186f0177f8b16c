import warnings

import numpy as np
import pytest
from conftest import same_bits

import oif

FIELDS = ("score", "threshold", "anomaly", "ready", "learned", "episode", "grade", "severity", "reason", "has_no_model")
FIELDS += ("rule",)


@pytest.fixture
def stream():
    random = np.random.default_rng(11)
    made = random.normal(size=(4000, 2))
    made[3000:3005] += 12
    return made


def test_a_block_gives_the_results_of_single_rows(stream, detector_class):
    block = oif.Pipeline(detector_class(), alert_rate=0.01)
    single = oif.Pipeline(detector_class(), alert_rate=0.01)
    results = block.process(stream)
    assert results.dtype.names == FIELDS
    for i, row in enumerate(stream.tolist()):
        one = single.process_one(row)
        assert same_bits(one[:2], [results[name][i] for name in FIELDS[:2]])
        assert one[2:] == tuple(results[name][i] for name in FIELDS[2:])
        assert isinstance(one.anomaly, bool) and isinstance(one.episode, oif.Episode)
        assert isinstance(one.grade, oif.Grade) and isinstance(one.severity, float)
    assert single.to_bytes() == block.to_bytes()


def test_scores_are_those_of_the_detector_when_all_is_learned(stream):
    forest = oif.OnlineIsolationForest(seed=4)
    pipeline = oif.Pipeline(oif.OnlineIsolationForest(seed=4), learn="all", moves="off")
    assert same_bits(pipeline.process(stream[:1000])["score"], forest.learn_score(stream[:1000]))


def test_anomalies_are_found_and_explained(stream):
    pipeline = oif.Pipeline(alert_rate=0.002)
    results = pipeline.process(stream, explain="anomalies")
    assert np.flatnonzero(results["episode"] == oif.Episode.BEGINS).tolist() == [3000] and results["anomaly"][3000]
    assert {oif.Episode.BEGINS, oif.Episode.LASTS, oif.Episode.ENDS} <= set(results["episode"].tolist())
    assert results["share"].shape == (4000, 2)
    assert (results["share"][~results["anomaly"]] == 0).all()
    assert (results["direction"][3000] == 1).all()
    everything = oif.Pipeline(alert_rate=0.002).process(stream, explain=True)
    assert same_bits(everything["share"][3000], results["share"][3000])


def test_one_metric_gone_bad_is_found_by_the_default():
    rows = np.random.default_rng(3).normal(size=(6000, 10))
    rows[:, 9] = 0
    rows[5000, 4], rows[5100, 9], rows[5200, 2] = 10, 1, np.nan
    results = oif.Pipeline().process(rows, explain="anomalies")
    for row, column, direction in ((5000, 4, 1), (5100, 9, 1), (5200, 2, 0)):
        assert results["anomaly"][row]
        assert results["share"][row].argmax() == column and results["direction"][row, column] == direction


def test_severity_grows_with_the_size_and_the_grade_follows(stream):
    pipeline = oif.Pipeline()
    assert pipeline.kind == "rolling-iforest"
    pipeline.process(stream)
    results = [pipeline.clone().process_one([size, 0]) for size in (6, 10, 50, 1000)]
    assert all(result.anomaly and result.severity > result.threshold for result in results)
    severities = [result.severity for result in results]
    assert severities == sorted(severities) and severities[0] < severities[-1] and results[-1].grade == oif.Grade.CRITICAL
    for severity, grade, anomaly in pipeline.process(stream)[["severity", "grade", "anomaly"]].tolist():
        limits = oif.Grade.NOTE + (severity >= 3.3) + (severity >= 4)
        assert grade == (limits if anomaly else oif.Grade.NONE)


def test_the_last_row_can_be_explained(stream):
    pipeline = oif.Pipeline()
    assert pipeline.explain() == []
    pipeline.process(stream)
    pipeline.column_names = ["flow", "heat"]
    pipeline.process_one({"heat": 9.0, "flow": 0.0})
    flow, heat = pipeline.explain()
    assert (flow.column, heat.column, heat.direction) == ("flow", "heat", 1)
    assert heat.share > flow.share


def test_every_key_has_a_model_of_its_own(stream):
    keys = [f"host {i % 3}" for i in range(len(stream))]
    together = oif.Pipeline(alert_rate=0.01)
    results = together.process(stream, keys)
    for k in range(3):
        alone = oif.Pipeline(alert_rate=0.01).process(stream[k::3])
        assert (alone == results[k::3]).all()
    assert (together.keys, together.evictions, together.rows) == (3, 0, 4000)
    again = oif.Pipeline(alert_rate=0.01)
    singles = [again.process_one(row, key).score for row, key in zip(stream.tolist(), keys)]
    assert same_bits(singles, results["score"])


def test_keys_may_be_of_many_kinds(stream):
    expected = oif.Pipeline().process(stream[:300], [str(i % 3) for i in range(300)])["score"]
    kinds = (
        [i % 3 for i in range(300)],
        np.arange(300) % 3,
        np.array([str(i % 3) for i in range(300)]),
        [str(i % 3).encode() for i in range(300)],
        (str(i % 3) for i in range(300)),
    )
    for keys in kinds:
        assert same_bits(expected, oif.Pipeline().process(stream[:300], keys)["score"])


def test_models_are_evicted_at_max_keys(stream):
    pipeline = oif.Pipeline(oif.Loda(), max_keys=2)
    with pytest.warns(oif.KeyWarning, match="3 rows of new keys got no score.*max_keys"):
        results = pipeline.process(stream[:9], list("abcabcabc"))
    assert np.isnan(results["score"]).tolist() == [key == "c" for key in "abcabcabc"]
    assert (pipeline.keys, pipeline.evictions, pipeline.unmodelled_rows, pipeline.restarts) == (2, 0, 3, 0)
    with pytest.warns(oif.KeyWarning, match="^1 row of new keys got no score"):
        oif.Pipeline(oif.Loda(), max_keys=2).process(stream[:3], list("abc"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is said once
        pipeline.process(stream[:40], ["c"] * 40)
    assert (pipeline.keys, pipeline.evictions) == (2, 1) and "c" in pipeline


def test_evicted_models_cannot_be_kept_without_a_state_file(stream):
    with pytest.raises(oif.ParameterError, match="state file"):
        oif.Pipeline(oif.Loda(), max_keys=2, evicted="keep")
    pipeline = oif.Pipeline(oif.Loda(), max_keys=2, evicted="forget")
    with pytest.warns(oif.KeyWarning):
        pipeline.process(stream[:9], list("abcabcabc"))
    assert (pipeline.evictions, pipeline.kept, pipeline.lost) == (0, 0, 0)


def test_a_shingle_puts_rows_together(stream):
    pipeline = oif.Pipeline(oif.OnlineIsolationForest(seed=1), shingle=3)
    results = pipeline.process(stream[:500])
    assert np.isnan(results["score"][:2]).all() and not np.isnan(results["score"][2:]).any()
    assert pipeline.columns == 2
    pipeline.process_one([0, 0])
    assert len(pipeline.explain()) == 2


def test_what_cannot_be_used_changes_nothing(stream):
    pipeline = oif.Pipeline()
    with pytest.raises(oif.DataError):
        pipeline.process_one([1.0, float("inf")])
    assert pipeline.columns is None
    pipeline.process(stream, ["k"] * len(stream))
    before = pipeline.to_bytes()
    bad = stream.copy()
    bad[3999, 1] = np.inf
    with pytest.raises(oif.DataError, match="row 3999, column 1"):
        pipeline.process(bad, ["k"] * len(stream))
    with pytest.raises(oif.DataError, match="too long"):
        pipeline.process(stream, ["k"] * (len(stream) - 1) + ["k" * 100_000])
    with pytest.raises(ValueError, match="a key for each"):
        pipeline.process(stream, ["k"])
    with pytest.raises(ValueError, match="a key for each"):
        pipeline.process(stream, "k" * len(stream))
    with pytest.raises(oif.DataError, match="the key is missing"):
        pipeline.process_one(stream[0], float("nan"))
    with pytest.raises(oif.DataError, match="expected rows of 2 columns"):
        pipeline.process(np.zeros((3, 3)))
    assert pipeline.to_bytes() == before
    pipeline.check()


def test_one_row_through_process_and_no_row(stream):
    pipeline = oif.Pipeline()
    pipeline.process(stream[:1])
    one = pipeline.process(stream[0])
    assert one.dtype.names == FIELDS and one.shape == ()
    assert len(pipeline.process(stream[:0])) == 0
    assert pipeline.rows == 2


def test_what_is_anomalous_need_not_be_learned(stream):
    results = oif.Pipeline(alert_rate=0.01, learn="normal").process(stream)
    assert not (results["anomaly"] & results["learned"]).any() and results["anomaly"].any()

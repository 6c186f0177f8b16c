"""A detector's process: the results of a pipeline, of what the detector itself has learned."""

import copy
import pickle
import threading

import numpy as np
import pytest
from conftest import same_bits

import oif

FIELDS = ("score", "threshold", "anomaly", "ready", "learned", "episode", "grade", "severity", "reason", "has_no_model")
FIELDS += ("rule",)


@pytest.fixture
def stream():
    made = np.random.default_rng(11).normal(size=(4000, 2))
    made[3000:3005] += 12
    return made


@pytest.mark.parametrize("learn", ["all", "normal", "decay"])
def test_the_results_are_those_of_a_pipeline(stream, detector_class, learn):
    pipeline = oif.Pipeline(detector_class(), alert_rate=0.01, learn=learn, moves="off")
    expected = pipeline.process(stream, explain="anomalies")
    detector = detector_class()
    parts = np.array_split(stream, [1, 900, 901, 3001])
    got = [detector.process(parts[0], explain="anomalies", alert_rate=0.01, learn=learn)]
    got += [detector.process(part, explain="anomalies") for part in parts[1:]]
    assert np.concatenate(got).tobytes() == expected.tobytes()
    assert expected["anomaly"].any() and expected["learned"].sum() == detector.rows_learned


def test_the_detector_learns_what_it_processes_and_alerts_of_what_it_learned(stream, detector_class):
    mixed, plain = detector_class(), detector_class()
    mixed.learn(stream[:1000])
    first = mixed.process(stream[1000:2000], learn="all")
    scores = [first["score"], mixed.learn_score(stream[2000:2500])]
    scores += [mixed.process(stream[2500:])["score"]]
    plain.learn(stream[:1000])
    assert same_bits(np.concatenate(scores), plain.learn_score(stream[1000:]))
    assert mixed.to_bytes() == plain.to_bytes()
    assert same_bits(mixed.score(stream), plain.score(stream))
    mixed.check()


COPIES = {
    **{f"pickle {n}": lambda x, n=n: pickle.loads(pickle.dumps(x, n)) for n in range(pickle.HIGHEST_PROTOCOL + 1)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "clone": lambda x: x.clone(),
}


@pytest.mark.parametrize("how", COPIES)
def test_copies_keep_what_the_judges_know(how, stream):
    detector = oif.OnlineIsolationForest()
    detector.process(stream[:2900], alert_rate=0.01)
    twin = COPIES[how](detector)
    expected = detector.clone().process(stream[2900:])
    assert twin.process(stream[2900:]).tobytes() == expected.tobytes() and expected["anomaly"].any()
    assert detector.process(stream[2900:]).tobytes() == expected.tobytes()


def test_a_snapshot_holds_what_was_learned_and_nothing_about_alerts(stream):
    detector = oif.OnlineIsolationForest()
    detector.process(stream, learn="all")
    loaded = oif.load(detector.to_bytes())
    assert type(loaded) is oif.OnlineIsolationForest and loaded.rows_learned == len(stream)
    assert not np.isfinite(loaded.process(stream[:1])["threshold"]).any()


def test_frames_are_answered_with_frames(stream):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    data = {"flow": stream[:, 0], "heat": stream[:, 1]}
    expected = oif.Loda().process(stream, explain=True)
    assert expected.dtype.names == (*FIELDS, "share", "direction")
    frame = pandas.DataFrame(data, index=np.arange(len(stream)) + 7)
    detector = oif.Loda()
    for answer in (detector.process(frame, explain=True), oif.Loda().process(polars.DataFrame(data), explain=True)):
        assert list(answer.columns) == [*FIELDS, "share_flow", "direction_flow", "share_heat", "direction_heat"]
        assert same_bits(answer["score"], expected["score"]) and same_bits(
            answer["share_heat"], expected["share"][:, 1]
        )
    assert detector.column_names == ("flow", "heat")
    assert detector.process(frame).index.equals(frame.index)
    assert isinstance(oif.Loda().process(stream, output="polars"), polars.DataFrame)


def test_one_row_and_no_row(stream):
    detector = oif.OnlineIsolationForest()
    assert detector.process({"a": 1.0, "b": 2.0}).shape == () and detector.column_names == ("a", "b")
    assert detector.process([3.0, 4.0])["score"].shape == ()
    assert detector.process(stream[:0]).shape == (0,) and detector.rows_learned == 2


def test_options_stay_what_they_were(stream):
    detector = oif.OnlineIsolationForest()
    with pytest.raises(oif.ParameterError, match="alert_rate"):
        detector.process(stream, alert_rate=3)
    with pytest.raises(oif.DataError):
        detector.process([[1.0, np.inf]], alert_rate=0.5)  # a call that fails decides nothing
    detector.process(stream, alert_rate=0.01, learn="all")
    detector.process(stream, alert_rate=0.01)
    with pytest.raises(oif.ParameterError, match="alert_rate stays .* 0.01"):
        detector.process(stream, alert_rate=0.02)
    with pytest.raises(oif.ParameterError, match="learn stays .* 'all'"):
        detector.process(stream, learn="normal")
    for wrong in ("keys", "shingle", "max_keys", "rate"):
        with pytest.raises(TypeError, match=f"'{wrong}'; see oif.Pipeline"):
            detector.process(stream, **{wrong: 2})
    assert detector.rows_learned == 2 * len(stream)


def test_what_cannot_be_used_changes_nothing(stream):
    detector = oif.OnlineIsolationForest()
    with pytest.raises(oif.DataError, match="column 'b' is infinite"):
        detector.process({"a": 1.0, "b": np.inf})
    assert detector.columns is None and detector.column_names is None
    detector.process(stream, alert_rate=0.01)
    before, history = detector.to_bytes(), detector._alerts.to_bytes()
    bad = stream.copy()
    bad[3999, 1] = np.inf
    with pytest.raises(oif.DataError, match="row 3999, column 1"):
        detector.process(bad)
    with pytest.raises(oif.DataError, match="expected rows of 2 columns"):
        detector.process(np.zeros((3, 3)))
    with pytest.raises(TypeError, match="works for a detector"):
        detector._alerts._process(stream, None, None, None, False, False, object(), None)
    assert (detector.to_bytes(), detector._alerts.to_bytes()) == (before, history)


def test_eight_threads_on_one_detector(stream):
    detector = oif.OnlineIsolationForest(window_size=256)
    errors = []

    def work(i):
        try:
            for _ in range(3):
                detector.process(stream[:500], explain="anomalies", alert_rate=0.01, learn="all")
                detector.score(stream[:100])
                detector.learn(stream[:100])
                detector.clone().process(stream[:10])
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert detector.rows_learned == 8 * 3 * 600 and detector._alerts.rows == 8 * 3 * 500
    detector.check()
    detector._alerts.check()

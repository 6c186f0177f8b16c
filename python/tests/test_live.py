"""History, then live: trained detectors in pipelines, single rows, keys that are asked, dropped and moved, state files."""

import asyncio
import gc
import pickle
import re
import sys

import numpy as np
import pytest
from conftest import DETECTORS, same_bits

import oif


@pytest.fixture
def history():
    return np.random.default_rng(4).normal(size=(4000, 3))


@pytest.mark.parametrize("cls", DETECTORS, ids=lambda cls: cls.__name__)
def test_a_pipeline_continues_with_a_trained_detector(cls, history):
    trained = cls(seed=2)
    trained.learn(history[:3000])
    before = trained.to_bytes()
    trained.column_names = "abc"
    pipeline = oif.Pipeline(trained, learn="all")
    assert pipeline.columns == 3 and pipeline.column_names == ("a", "b", "c")
    first = pipeline.process_one(history[3000])
    live = pipeline.process(history[3001:])
    trained.column_names = None
    assert trained.to_bytes() == before, "the detector itself is left as it was"
    assert not first.ready and live["ready"][-1], "the threshold needs scores first"
    assert same_bits(pipeline.detector().to_bytes() and pipeline.detector().score(history), continued(trained, history))


def continued(trained, history):
    again = trained.clone()
    again.learn(history[3000:])
    return again.score(history)


def test_what_a_trained_detector_cannot_be_used_for(history):
    trained = oif.Loda()
    trained.learn(history)
    for options in ({"shingle": 3}, {"diff": [0]}):
        with pytest.raises(oif.ParameterError, match="has learned rows"):
            oif.Pipeline(trained, **options)
    with pytest.raises(oif.ParameterError, match="begin together"):
        oif.Pipeline([trained, oif.SparseDataObservers()])


@pytest.mark.parametrize("cls", DETECTORS, ids=lambda cls: cls.__name__)
def test_process_one_is_process_row_by_row(cls, history):
    rows = history[:1200].copy()
    rows[1000] = 9
    block = cls(seed=1).process(rows, alert_rate=0.01)
    detector = cls(seed=1)
    half = detector.process(rows[:600], alert_rate=0.01)
    ones = [detector.process_one(row, alert_rate=0.01) for row in rows[600:900]]
    ones += detector.process_iter(rows[900:].tolist())
    assert half.tobytes() == block[:600].tobytes()
    for one, record in zip(ones, block[600:]):
        assert tuple(one) == tuple(record.item()), "as process has it"
    assert isinstance(ones[0], oif.Result)
    with pytest.raises(oif.DataError):
        cls().process_one([1.0, float("inf")])
    fresh = cls()
    with pytest.raises(oif.DataError):
        fresh.process_one([float("inf")])
    assert fresh.columns is None and fresh.process_one([1.0, 2.0]).ready in (True, False)


def test_the_result_of_one_row_is_a_whole_named_tuple(history):
    pipeline = oif.Pipeline(oif.Loda(seed=3))
    pipeline.process(history[:50])
    result = pipeline.process_one(history[50])
    assert type(result) is oif.Result and len(result) == len(oif.Result._fields) and not gc.is_tracked(result)
    assert result == oif.Result(*result) and hash(result) == hash(tuple(result))
    assert pickle.loads(pickle.dumps(result)) == result and result._replace(p=2.0).p == 2.0
    kinds = [float] * 3 + [bool] * 3 + [oif.Episode, oif.Grade, float, oif.Reason, bool, int]
    assert list(map(type, result)) == kinds


def test_a_row_with_and_without_key_and_time_go_the_same_way(history):
    short, long = oif.Pipeline(oif.Loda(seed=3)), oif.Pipeline(oif.Loda(seed=3))
    for row in history[:400].tolist():
        assert repr(short.process_one(row)) == repr(long._process_one(row, None, float("nan"), None))
    assert short.to_bytes() == long.to_bytes()
    wide = np.random.default_rng(1).normal(size=(300, 65))  # longer than the room for short rows
    short, long = oif.Pipeline(oif.Loda(seed=3)), oif.Pipeline(oif.Loda(seed=3))
    assert [tuple(short.process_one(row)) for row in wide][-1] == tuple(long.process(wide)[-1].item())
    with pytest.raises(TypeError, match="takes a row"):
        short._process_one(wide[0], None)


# ---- Keys ----


@pytest.fixture
def keyed(history):
    pipeline = oif.Pipeline(oif.Loda(seed=3), alert_rate=0.01)
    pipeline.process(history, keys=[f"host-{i % 4}" for i in range(len(history))], times=np.arange(len(history)) * 60.0)
    return pipeline


def test_keys_can_be_listed_asked_and_dropped(keyed):
    infos = {info.key: info for info in keyed.list_keys()}
    assert sorted(infos) == [f"host-{i}" for i in range(4)] and all(info.rows == 1000 for info in infos.values())
    assert keyed.key_info("host-2") == infos["host-2"] and infos["host-3"].last_time == 3999 * 60.0
    assert infos["host-0"].ready and infos["host-0"].memory_bytes > 1000 and not infos["host-0"].evicted
    assert infos["host-0"].to_dict()["key"] == "host-0"
    assert "host-1" in keyed and "other" not in keyed and keyed.key_info("other") is None and keyed.key_info() is None
    keyed.drop("host-1")
    assert "host-1" not in keyed and keyed.keys == 3
    with pytest.raises(oif.DataError):
        keyed.drop("host-1")
    keyed.check()
    with pytest.raises(oif.DataError, match="no row was processed"):
        oif.Pipeline().drop("x")
    assert oif.Pipeline().list_keys() == []


def test_rows_can_be_scored_by_a_key_without_learning(keyed, history):
    before = keyed.to_bytes()
    scores = keyed.score(history[:50], key="host-1")
    assert same_bits(scores, keyed.detector("host-1").score(history[:50]))
    assert keyed.score([9.0, 9.0, 9.0], key="host-1") > scores.max()
    assert keyed.to_bytes() == before
    assert isinstance(keyed.detector("host-1"), oif.Loda) and keyed.detector("host-1").rows_learned > 900
    with pytest.raises(oif.DataError, match="no model of the key 'other'"):
        keyed.score(history[:1], key="other")
    with pytest.raises(oif.DataError, match="without a key"):
        keyed.detector()
    shingled = oif.Pipeline(oif.Loda(), shingle=3)
    shingled.process(history[:, 0])
    with pytest.raises(oif.ParameterError, match="clone"):
        shingled.score([1.0])


def test_a_key_moves_to_another_pipeline(keyed, history):
    other = oif.Pipeline(oif.Loda(seed=3), alert_rate=0.01)
    snapshot = keyed.save_key("host-2")
    with pytest.raises(oif.DataError, match="process a row first"):
        other.load_key(snapshot)
    other.process_one(history[0], key="mine", time=0.0)
    other.load_key(snapshot)
    other.load_key(snapshot, "twin")
    expected = keyed.process(history[:100], keys=["host-2"] * 100)
    for key in ("host-2", "twin"):
        assert other.process(history[:100], keys=[key] * 100).tobytes() == expected.tobytes()
    with pytest.raises(oif.SnapshotError):
        other.load_key(snapshot[:-7])
    with pytest.raises(oif.DataError):
        keyed.save_key("nobody")


# ---- Options ----


def test_options_change_before_the_first_row_as_afterwards(history):
    early, late = oif.Pipeline(alert_rate=0.01), oif.Pipeline(alert_rate=0.01)
    late.process_one(history[0])
    for pipeline in (early, late):
        pipeline.change(alerts=5)
        assert pipeline.alerts == 5
        pipeline.change(alert_rate=0.02)
        assert pipeline.alert_rate == 0.02 and pipeline.alerts == 0
    assert dict(early.options) == dict(late.options)
    with pytest.raises(oif.ParameterError, match="shingle"):
        early.change(shingle=2)
    assert early.shingle == 1


# ---- State files ----


def test_evicted_models_are_kept_beside_the_state_file(history, tmp_path):
    path = tmp_path / "fleet.oif"
    keys = [f"host-{i % 5}" for i in range(len(history))]
    expected = oif.Pipeline(oif.Loda()).process(history, keys=keys)
    options = {"max_keys": 2, "evicted": "keep"}
    with pytest.raises(oif.ParameterError, match="Pipeline.open"):
        oif.Pipeline(oif.Loda(), **options)
    with oif.Pipeline.open(path, oif.Loda(), **options) as pipeline:
        first = pipeline.process(history[:2000], keys=keys[:2000])
        assert pipeline.kept == 3 and pipeline.lost == 0
        assert sum(info.evicted for info in pipeline.list_keys()) == 3
        with pytest.raises(oif.FileError):
            oif.Pipeline.open(path)
    assert pipeline.rows == 0
    with oif.Pipeline.open(path, oif.Loda(), **options) as pipeline:
        assert pipeline.rows == 2000
        second = pipeline.process(history[2000:], keys=keys[2000:])
        pipeline.save()
    assert first.tobytes() == expected[:2000].tobytes() and second.tobytes() == expected[2000:].tobytes()
    with pytest.raises(oif.ParameterError, match="contains a pipeline of loda, not sdo"):
        oif.Pipeline.open(path, "sdo")
    with pytest.raises(ValueError, match="save to a path"):
        oif.Pipeline().save()


def test_what_fails_in_a_with_block_is_not_saved(history, tmp_path):
    path = tmp_path / "state.oif"
    with oif.Pipeline.open(path, alert_rate=0.01, key="host") as pipeline:
        pipeline.column_names = ["a", "b", "c"]
        pipeline.process_one({"a": 1, "b": 2, "c": 3, "host": "x"})
    with pytest.raises(ZeroDivisionError), oif.Pipeline.open(path) as pipeline:
        pipeline.process_one({"a": 1}, key="x")
        raise ZeroDivisionError
    with oif.Pipeline.open(path, alert_rate=0.02) as pipeline:
        assert pipeline.rows == 1 and pipeline.alert_rate == 0.02 and pipeline.column_names == ("a", "b", "c")
        copy = pipeline.clone()
    assert copy.rows == 1


# ---- What is shown ----


def test_repr_says_what_became_of_it(history, keyed):
    forest = oif.Loda(seed=3)
    assert repr(forest) == "Loda(seed=3)" and "no rows yet" in forest._repr_html_()
    forest.learn(history[:10])
    assert repr(forest) == "Loda(seed=3) <10 rows of 3 columns, not ready yet>"
    forest.learn(history)
    forest.column_names = ["a", "<b>", "c"]
    assert repr(forest) == "Loda(seed=3) <4,010 rows of 3 columns, ready>"
    page = forest._repr_html_()
    assert "a, &lt;b&gt;, c" in page and "KB" in page and page.count("<tr>") == page.count("</tr>") == 4
    assert repr(keyed) == "Pipeline(Loda(seed=3), alert_rate=0.01) <4,000 rows of 3 columns, 4 keys, ready>"
    assert "4 keys" in keyed._repr_html_()


def test_progress_is_reported(history, capsys):
    many = np.tile(history, (6, 1))
    told = []
    results = oif.Pipeline(oif.Loda()).process(many, progress=lambda done, total: told.append((done, total)))
    assert told == [(8192, 24000), (16384, 24000), (24000, 24000)]
    assert results.tobytes() == oif.Pipeline(oif.Loda()).process(many).tobytes()
    oif.Loda().process(many, progress=True)
    assert re.search(r"24\.?0?k?|24,000", capsys.readouterr().err)
    with pytest.raises(ZeroDivisionError):
        oif.Loda().process(many, progress=lambda done, total: 1 / 0)


@pytest.mark.parametrize("method", ["learn", "score", "learn_score", "score_learn"])
def test_progress_of_learning_and_scoring(history, method, capsys):
    many = np.tile(history, (25, 1))
    told = []
    plain, watched = oif.Loda(), oif.Loda()
    expected = getattr(plain, method)(many)
    found = getattr(watched, method)(many, progress=lambda done, total: told.append((done, total)))
    assert told == [(43691, 100000), (87382, 100000), (100000, 100000)]
    assert same_bits(found, expected) if method != "learn" else found is expected is None
    assert watched.to_bytes() == plain.to_bytes()
    getattr(oif.Loda(), method)(many, progress=True)
    assert re.search(r"100k|100,000", capsys.readouterr().err)
    getattr(oif.Loda(), method)(many, progress=False)
    assert getattr(oif.Loda(), method)([1, 2, 3], progress=told.append) in (None, 0.0, 0.5) and len(told) == 3
    assert capsys.readouterr().err == ""


def test_progress_of_rows_without_a_length(history):
    told = []
    oif.Loda().learn((row for row in history), progress=lambda done, total: told.append((done, total)))
    assert told == [(4000, 4000)]


def test_progress_without_tqdm_is_a_line(history, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    oif.Loda().learn(history, progress=True)
    assert capsys.readouterr().err == "\r4,000 of 4,000 rows\n"


def test_progress_that_fails_or_is_misspelt(history):
    forest = oif.Loda()
    with pytest.raises(ZeroDivisionError):
        forest.score(history, progress=lambda done, total: 1 / 0)
    with pytest.raises(RuntimeError, match="already"):
        forest.learn(history, progress=lambda done, total: forest.learn(history))
    for arguments, words in [((), {}), ((history, True), {}), ((history,), {"progres": True}), ((), {"progress": True})]:
        with pytest.raises(TypeError, match=r"learn\(\) takes one argument, the rows, and the keyword progress"):
            forest.learn(*arguments, **words)


def test_progress_of_what_a_pipeline_scores(history):
    told = []
    alerts = oif.Pipeline(oif.Loda())
    alerts.process(history)
    scores = alerts.score(history, progress=lambda done, total: told.append((done, total)))
    assert told == [(4000, 4000)] and same_bits(scores, alerts.score(history))


@pytest.mark.parametrize("made", [oif.Pipeline, oif.Loda])
def test_rows_of_an_asynchronous_source(made, history):
    async def rows():
        for row in history:
            await asyncio.sleep(0)
            yield row

    async def results(model):
        return [result async for result in model.process_aiter(rows())]

    assert str(asyncio.run(results(made()))) == str(list(made().process_iter(history)))
    with pytest.raises(TypeError, match="async_generator.*; process_aiter takes"):
        getattr(made(), "process" if made is oif.Pipeline else "learn")(rows())

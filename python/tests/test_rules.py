"""Rules hold back the alerts that they describe, wherever they come from, and say how many; and what was expected of a
column is the range of those who judged it."""

import copy
import json
import math
import pickle

import numpy as np
import pytest

import oif

NAMES = ["latency", "errors", "free memory"]
LOW = "mute column=latency direction=low"
START = 1.7e9


def normal(count=3000, seed=3):
    return np.random.default_rng(seed).normal([100, 5, 50], [2, 1, 3], size=(count, 3))


def rows_by_name(numbers):
    return [dict(zip(NAMES, row)) for row in np.atleast_2d(numbers).tolist()]


def taught(**arguments):
    """A pipeline that knows rows by name."""
    pipeline = oif.Pipeline(oif.RollingIsolationForest(seed=1), moves="off", **arguments)
    pipeline.process(rows_by_name(normal()))
    return pipeline


def judge(pipeline, latency=100.0, errors=None, **how):
    """Rows of different latencies differ in all columns, or the others would be stuck."""
    errors = 5 + latency / 1e3 if errors is None else errors
    return pipeline.process_one(dict(zip(NAMES, (latency, errors, 50 + latency / 1e3))), **how)


COPIES = {
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "clone": lambda made: made.clone(),
    "snapshot": lambda made: oif.Pipeline.load(made.to_bytes()),
}


# ---- Holding back ----


def test_one_direction_is_held_back_and_counted():
    pipeline = taught(rules=LOW)
    before = pipeline.rules[0].held
    low, high = judge(pipeline, latency=20), judge(pipeline, latency=180)
    assert (low.anomaly, low.rule, low.grade, low.episode) == (False, 1, oif.Grade.NONE, oif.Episode.NONE)
    assert low.severity > low.threshold and low.learned
    assert (high.anomaly, high.rule) == (True, 0)
    assert low.to_dict()["rule"] == 1
    rule = pipeline.rules[0]
    assert (rule.text, rule.held) == (LOW, before + 1)
    assert math.isnan(rule.first) and rule.to_dict()["first"] is None


def test_times_of_held_rows_are_known():
    pipeline = oif.Pipeline(oif.RollingIsolationForest(seed=1), moves="off", rules=[LOW])
    pipeline.column_names = NAMES
    pipeline.process(normal(), times=START + np.arange(3000.0))
    before = pipeline.rules[0].held
    for i in (0, 7):
        assert judge(pipeline, latency=20, time=START + 5000 + i).rule == 1
    rule = pipeline.rules[0]
    assert rule.held == before + 2 and rule.last == START + 5007 and rule.first <= START + 5000


def test_names_that_come_with_a_table_are_known_to_its_first_row():
    numbers = np.vstack([normal(), [20, 5, 50]])
    pandas = pytest.importorskip("pandas")
    results = oif.Pipeline(moves="off", rules=LOW).process(pandas.DataFrame(numbers, columns=NAMES))
    assert results["rule"].iloc[-1] == 1 and not results["anomaly"].iloc[-1]
    plain = oif.Pipeline(moves="off").process(numbers)
    assert plain["anomaly"][-1] and not plain["rule"].any() and plain.dtype["rule"] == np.uint32
    assert results["rule"].dtype == np.uint32


def test_names_that_come_later_are_known_too():
    pipeline = oif.Pipeline(oif.RollingIsolationForest(seed=1), moves="off", rules="mute column=1 direction=low")
    pipeline.process(normal())
    assert pipeline.process_one([20, 5, 50]).rule == 1  # without names, columns are called 1, 2, ...
    pipeline.column_names = NAMES
    pipeline.rules = LOW
    assert judge(pipeline, latency=15).rule == 1
    pipeline.column_names = ["delay", "errors", "free memory"]
    assert pipeline.process_one([10, 5.1, 50.1]).rule == 0, "another column has this name"
    pipeline.rules = ["mute column=delay"]
    assert pipeline.process_one([5, 5.2, 50.2]).rule == 1


def test_ignored_rows_teach_nothing():
    pipeline = oif.Pipeline(rules="ignore from=2026-11-17T22:00:00Z until=2026-11-18T02:00:00Z")
    pipeline.process(normal(), times=START + np.arange(3000.0))
    moved = pipeline.process_one([500, 5, 50], time="2026-11-17T23:00:00Z")
    assert (moved.rule, moved.learned, moved.anomaly) == (1, False, False)
    assert pipeline.process_one([500, 5, 50], time="2026-11-18T02:00:00Z").rule == 0


def test_rules_with_times_warn_where_none_come():
    pipeline = oif.Pipeline(rules="mute time=02:00-04:00")
    with pytest.warns(oif.TimeWarning, match="rules with times have no effect"):
        pipeline.process(normal(10))
    pipeline.process(normal(10))  # once


def test_a_detector_that_has_learned_brings_its_names():
    forest = oif.RollingIsolationForest(seed=1)
    for row in rows_by_name(normal(1000)):
        forest.learn_one(row)
    pipeline = oif.Pipeline(forest, rules=LOW)
    pipeline.process(rows_by_name(normal()))
    assert judge(pipeline, latency=20).rule == 1
    with pytest.raises(oif.ParameterError, match="latenzy"):
        oif.Pipeline(forest, rules="mute column=latenzy")


# ---- Setting ----


def test_rules_are_lines_or_texts():
    text = f"# why\n\n{LOW}\nmute reason=stuck # fans\n"
    texts = [LOW, "mute reason=stuck # fans"]
    for given in (text, texts, tuple(texts), iter(texts), text.splitlines(keepends=True)):
        assert [rule.text for rule in oif.Pipeline(rules=given).rules] == texts
    other = oif.Pipeline()
    assert other.rules == []
    other.rules = oif.Pipeline(rules=text).rules
    assert [rule.text for rule in other.rules] == texts
    other.rules = ""
    assert other.rules == []


def test_a_rule_that_stays_keeps_its_counts():
    pipeline = taught(rules=[LOW])
    judge(pipeline, latency=20)
    held = pipeline.rules[0].held
    pipeline.rules = ["mute column=errors", *pipeline.rules]
    assert [rule.held for rule in pipeline.rules] == [0, held] and held > 0
    assert judge(pipeline, latency=10).rule == 2
    pipeline.rules = []
    assert judge(pipeline, latency=250).rule == 0


@pytest.mark.parametrize("made", [oif.Pipeline, taught])
def test_mistakes_have_a_cause_and_a_place(made):
    pipeline = made()
    for wrong, row, column in ((f"# x\n{LOW}\nmute colum=a", 2, 5), ([LOW, "hush"], 1, 0), ([LOW, f"{LOW}\n{LOW}"], 1, None)):
        with pytest.raises(oif.ParameterError) as caught:
            pipeline.rules = wrong
        assert (caught.value.cause, caught.value.row, caught.value.column) == ("bad_rule", row, column)
        assert pipeline.rules == []
    with pytest.raises(ValueError, match="at most"):
        pipeline.rules = [LOW] * 1001
    for wrong in (5, [5], [b"mute"]):
        with pytest.raises(TypeError):
            pipeline.rules = wrong
    with pytest.raises(oif.ParameterError) as caught:
        made(rules="mute direction=up")
    assert caught.value.cause == "bad_rule"


def test_unknown_columns_are_found_once_columns_have_names():
    pipeline = oif.Pipeline(rules=[LOW, "mute column=latenzy"])
    for _ in range(2):  # a failed call changes nothing
        with pytest.raises(oif.ParameterError, match="latenzy") as caught:
            pipeline.process(rows_by_name(normal(10)))
        assert (caught.value.cause, caught.value.row) == ("unknown_column", 1)
        assert pipeline.rows == 0 and pipeline.columns is None
    pipeline.rules = LOW
    pipeline.process(rows_by_name(normal(10)))
    with pytest.raises(oif.ParameterError, match="latenzy"):
        pipeline.rules = "mute column=latenzy"
    assert [rule.text for rule in pipeline.rules] == [LOW]


# ---- Short forms ----


def test_arguments_are_short_for_rules():
    pipeline = oif.Pipeline(
        rules="mute reason=stuck",
        only_high="latency",
        only_low=["free memory", "disk_*"],
        min_change={"latency": "20%", "errors": 5, 'a "b", c': 0.25, 2: np.float64(1e-7)},
    )
    assert [rule.text for rule in pipeline.rules] == [
        "mute reason=stuck",
        "mute column=latency direction=low",
        'mute column="free memory" direction=high',
        "mute column=disk_* direction=high",
        "mute column=latency change<20%",
        "mute column=errors change<5",
        'mute column="a ?b?? c" change<0.25',
        "mute column=3 change<1e-07",
    ]
    assert [rule.text for rule in oif.Pipeline(only_high=0).rules] == ["mute column=1 direction=low"]
    for wrong in ({"a": "big"}, {"a": 0}, {"a": -1}, {"a": math.inf}, {("a", "b"): 1}):
        with pytest.raises(oif.ParameterError):
            oif.Pipeline(min_change=wrong)


def test_short_forms_hold_back():
    pipeline = taught(only_high=["latency"], min_change={"errors": 30})
    assert judge(pipeline, errors=20).rule == 2
    assert judge(pipeline, latency=20).rule == 1
    assert judge(pipeline, errors=60).anomaly
    assert judge(pipeline, latency=250).anomaly


# ---- Copies, snapshots, state files ----


@pytest.mark.parametrize("way", COPIES)
def test_copies_have_the_rules_and_their_counts(way):
    pipeline = taught(rules=[LOW, "mute zone=CET-1CEST,M3.5.0,M10.5.0/3 key=a # backup"])
    judge(pipeline, latency=20)
    again = COPIES[way](pipeline)
    assert repr(again.rules) == repr(pipeline.rules) and again.rules[0].held > 0
    assert judge(again, latency=15) == judge(pipeline, latency=15)
    assert judge(again, latency=10).rule == 1
    if way != "snapshot":
        waiting = COPIES[way](oif.Pipeline(rules=[LOW]))
        waiting.process(rows_by_name(normal()))
        assert judge(waiting, latency=20).rule == 1


def test_renamed_columns_do_not_stop_a_pickle():
    pipeline = taught(rules=LOW)
    pipeline.column_names = ["a", "b", "c"]
    again = pickle.loads(pickle.dumps(pipeline))
    assert again.column_names == ("a", "b", "c") and repr(again.rules) == repr(pipeline.rules)


def test_a_state_file_has_rules_unless_others_are_given(tmp_path):
    path = tmp_path / "state.oif"
    with oif.Pipeline.open(path, "loda", rules=LOW) as pipeline:
        pipeline.process(rows_by_name(normal(1500)))
        judge(pipeline, latency=-500)
        held = pipeline.rules[0].held
        assert held > 0
    assert [rule.text for rule in pipeline.rules] == [LOW], "a closed pipeline keeps its rules, as its options"
    for given, expected in (
        ({}, [LOW]),
        ({"rules": None}, [LOW]),
        ({"rules": [LOW], "only_low": "errors"}, [LOW, "mute column=errors direction=high"]),
        ({"min_change": {"errors": 3}}, ["mute column=errors change<3"]),
        ({"rules": ""}, []),
    ):
        with oif.Pipeline.open(path, "loda", **given) as pipeline:
            assert [rule.text for rule in pipeline.rules] == expected
            if expected[:1] == [LOW]:
                assert pipeline.rules[0].held == held
    pipeline = oif.Pipeline.open(path, "loda")
    with pytest.raises(oif.ParameterError):
        pipeline.rules = "mute column=nothing"
    pipeline.close()


# ---- What was expected ----


def test_what_was_expected_of_columns():
    pipeline = oif.Pipeline(oif.RollingIsolationForest(seed=1), moves="off")
    assert pipeline.expected() == []
    pipeline.process(rows_by_name(normal()))
    assert judge(pipeline, latency=180).anomaly
    latency, errors, memory = pipeline.expected()
    assert (latency.column, latency.value) == ("latency", 180)
    assert 85 < latency.low < 99 and 101 < latency.high < 115
    assert errors.low < errors.value < errors.high and memory.column == "free memory"
    why = pipeline.explain()[0]
    assert (why.column, why.value, why.expected) == ("latency", 180, (latency.low, latency.high))
    assert json.loads(json.dumps(why.to_dict()))["expected"] == [latency.low, latency.high]
    assert latency.to_dict() == {"column": "latency", "value": 180, "low": latency.low, "high": latency.high, "by": latency.by}
    pipeline.process_one({"errors": 5.0})
    missing = pipeline.explain()[0]
    assert math.isnan(missing.value) and missing.expected is None and missing.to_dict()["value"] is None


def test_a_season_says_what_it_expected():
    hours = np.arange(24 * 90)
    load = 50 + 20 * np.sin(hours * 2 * np.pi / 24) + np.random.default_rng(1).normal(size=len(hours))
    load[2110:] = 68
    pipeline = oif.Pipeline(season=24, alert_rate=0.01)
    assert pipeline.process(load[:2111, None])["anomaly"][-1]
    (one,) = pipeline.expected()
    assert one.by == "season" and one.value == 68 and one.high < 60
    assert pipeline.explain()[0].expected == (one.low, one.high)


def test_columns_as_they_are_learned_have_ranges_and_names_have_none():
    random = np.random.default_rng(2)
    rows = [{"rx": 10.0 * i + random.normal(), "path": random.choice(["a", "b"])} for i in range(2000)]
    pipeline = oif.Pipeline(diff="rx", category="path")
    for row in rows:
        pipeline.process_one(row)
    by_column = {one.column: one for one in pipeline.expected()}
    assert by_column["diff(rx)"].low < 10 < by_column["diff(rx)"].high
    name = by_column["category(path)"]
    assert math.isnan(name.value) and math.isnan(name.low) and name.to_dict()["high"] is None


def test_rules_and_ranges_are_asked_in_vain_before_init():
    for method in ("_rules", "_expected"):
        with pytest.raises(RuntimeError):
            getattr(oif.Pipeline.__new__(oif.Pipeline), method)()

"""A pipeline gets more columns after its first rows."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import oif

random = np.random.default_rng(7)
NARROW = random.normal(size=(2000, 2))
WIDE = random.normal([0, 0, 100], size=(800, 3))


def grown(**options):
    pipeline = oif.Pipeline(**options)
    pipeline.process(NARROW)
    pipeline.add_columns(1)
    return pipeline


def test_rows_have_more_numbers_from_then_on():
    pipeline = grown()
    assert pipeline.columns == 3
    results = pipeline.process(WIDE)
    assert oif.Reason(results["reason"][0]) is oif.Reason.FIRST_VALUE
    assert results["anomaly"].sum() < 10
    assert pipeline.process_one([0, 0, 160]).anomaly
    assert [round(one.share, 1) for one in pipeline.explain()] == [0, 0, 1]
    with pytest.raises(oif.DataError):
        pipeline.process_one([0, 0])


def test_a_copy_resumes_bit_for_bit():
    pipeline = grown()
    copies = [pickle.loads(pickle.dumps(pipeline)), pipeline.clone(), oif.load(pipeline.to_bytes())]
    expected = pipeline.process(WIDE).tobytes()
    assert all(copy.process(WIDE).tobytes() == expected for copy in copies)


def test_columns_with_names():
    pipeline = oif.Pipeline(rate=["rx"], rules="mute column=cpu direction=low")
    pipeline.process([{"cpu": x, "rx": 5 * i} for i, x in enumerate(NARROW[:300, 0])])
    with pytest.raises(oif.DataError, match="add_columns"):
        pipeline.process_one({"cpu": 1, "rx": 1, "mem": 5})
    pipeline.add_columns(["mem", "tx"], rate=["tx"], keep_original=True)
    assert pipeline.column_names == ("cpu", "rx", "mem", "tx")
    pipeline.process_one({"cpu": 1, "rx": 1, "mem": 5, "tx": 7})
    assert [one.column for one in pipeline.explain()] == ["cpu", "rate(rx)", "mem", "tx", "rate(tx)"]
    pipeline.add_columns("disk")
    assert pipeline.column_names[-1] == "disk"
    copy = oif.load(pipeline.to_bytes())
    assert copy.column_names == pipeline.column_names


def test_a_rule_may_name_a_column_that_comes_later():
    pipeline = oif.Pipeline()
    pipeline.process([{"a": x} for x in NARROW[:, 0]])
    pipeline.add_columns(["b"])
    pipeline.rules = ["mute column=b"]
    pipeline.process([{"a": x, "b": y} for x, _, y in WIDE])
    assert not pipeline.process_one({"a": 0, "b": 900}).anomaly
    assert pipeline.process_one({"a": 90, "b": 100}).anomaly


def test_what_cannot_be_added_changes_nothing():
    pipeline = oif.Pipeline()
    with pytest.raises(ValueError, match="no row"):
        pipeline.add_columns(1)
    pipeline.process([{"a": x} for x in NARROW[:100, 0]])
    before = pipeline.to_bytes()
    for wrong in (["a"], ["b", "b"], 1, []):
        with pytest.raises(oif.ParameterError):
            pipeline.add_columns(wrong)
    with pytest.raises(ValueError):
        pipeline.add_columns(["b"], rate=["c"])
    assert pipeline.to_bytes() == before
    assert pipeline.column_names == ("a",)
    with pytest.raises(oif.ParameterError):
        grown().add_columns(["c"])
    with pytest.raises(oif.ParameterError):
        grown().add_columns(0)


def test_each_key_gets_the_columns():
    pipeline = oif.Pipeline()
    pipeline.process(NARROW, keys=["a", "b"] * 1000)
    pipeline.add_columns(1)
    assert pipeline.keys == 2
    pipeline.process(WIDE, keys=["a", "b"] * 400)
    assert pipeline.process_one([0, 0, 200], key="b").anomaly

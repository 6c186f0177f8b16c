"""Keywords of constructors, fields of results and kinds of output that came later than the tables."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import DETECTORS, same_bits

import oif

PROGRAM = Path(sys.executable).parent / "oif"
PARTS = [("a/b", "c"), ("a", "b/c"), ("a\\", "/c"), ("a", "\\/c"), ("plain", "7"), ("", "x"), ("ü/", "\\")]


def test_a_key_of_several_columns_is_the_one_of_the_tool(tmp_path):
    with open(tmp_path / "rows.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["host", "disk", "load"])
        writer.writerows([*parts, i] for i, parts in enumerate(PARTS * 3))
    state = tmp_path / "state.oif"
    command = [PROGRAM, "score", "--key", "host,disk", "--state", state, tmp_path / "rows.csv"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    pipeline = oif.Pipeline(key=["host", "disk"])
    pipeline.process([{"host": a, "disk": b, "load": i} for i, (a, b) in enumerate(PARTS)])
    ours = {info.key for info in pipeline.list_keys()}
    assert ours == {info.key for info in oif.Pipeline.load(state).list_keys()} and len(ours) == len(PARTS)
    one = oif.Pipeline(key=["host", "disk"])
    for i, (a, b) in enumerate(PARTS):
        one.process_one({"host": a, "disk": b, "load": i})
    assert {info.key for info in one.list_keys()} == ours


def test_bytes_are_parts_of_keys():
    pipeline = oif.Pipeline(key=["host", "disk"])
    pipeline.process_one({"host": b"a/\xff", "disk": "é", "load": 1})
    assert [info.key for info in pipeline.list_keys()] == [b"a\\/\xff/\xc3\xa9"]


def test_a_row_whose_key_has_no_model_says_so():
    pipeline = oif.Pipeline(max_keys=1)
    with pytest.warns(oif.KeyWarning):
        results = pipeline.process(np.ones((3, 1)), ["a", "b", "a"])
    assert results["has_no_model"].tolist() == [False, True, False] == np.isnan(results["score"]).tolist()
    assert pipeline.process_one([1.0], "b").has_no_model and not pipeline.process_one([1.0], "a").has_no_model
    assert pipeline.process_one([1.0], "b").to_dict()["has_no_model"] is True


@pytest.mark.parametrize("cls", DETECTORS)
def test_threads_and_unknown_columns_are_keywords_of_detectors(cls, rows):
    detector = cls(threads=2, ignore_unknown=True)
    assert detector.threads == 2 and detector.ignore_unknown
    assert same_bits(detector.learn_score(rows), cls().learn_score(rows))
    named = cls(ignore_unknown=True)
    named.learn_one({"a": 1.0})
    named.learn_one({"a": 1.0, "b": 2.0})
    with pytest.raises(ValueError):
        cls(threads=0)


def test_unknown_columns_are_a_keyword_of_pipelines():
    pipeline = oif.Pipeline(ignore_unknown=True)
    pipeline.process_one({"a": 1.0})
    pipeline.process_one({"a": 1.0, "b": 2.0})
    assert pipeline.column_names == ("a",) and pipeline.clone().ignore_unknown


def test_results_of_arrow_are_arrow(rows):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"a": rows[:, 0], "b": rows[:, 1]})
    expected = oif.Loda().process(rows[:, :2], explain="anomalies")
    for made in (table, table.to_batches()[0]):
        results = oif.Loda().process(made, explain="anomalies")
        assert isinstance(results, pyarrow.Table) and results.num_rows == len(rows)
        assert same_bits(results["score"].to_numpy(), expected["score"])
        assert {"share_a", "direction_b", "has_no_model"} <= set(results.column_names)
    assert isinstance(oif.Pipeline().process(rows, output="arrow"), pyarrow.Table)
    assert isinstance(oif.Pipeline().process(table, output="array"), np.ndarray)


@pytest.mark.parametrize("name", ["é" * 400, "a" + "é" * 400, "日" * 400, "a日" * 200])
def test_a_long_name_of_long_characters_is_quoted_in_the_error(name):
    with pytest.raises(oif.ParameterError, match="there is no detector 'a?[é日]"):
        oif.Pipeline(name)

"""Columns by name: key, time, exclude; rows as they come."""

import collections
import json
import math
import sys
from datetime import datetime

import numpy as np
import pytest
from conftest import same_bits

import oif
from oif import _arrays

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

COUNT = 2400


@pytest.fixture
def columns():
    random = np.random.default_rng(8)
    return {
        "ts": np.datetime64("2026-11-15T00:00:00", "ms") + np.arange(COUNT) * np.timedelta64(60, "s"),
        "host": [f"web-{i % 3}" for i in range(COUNT)],
        "load": random.normal(size=COUNT),
        "heat": random.normal(size=COUNT),
        "row": np.arange(COUNT),
    }


def dicts(columns):
    return [dict(zip(columns, values)) for values in zip(*(np.asarray(c).tolist() for c in columns.values()))]


def structured(columns):
    kinds = {"ts": "M8[s]", "host": "U8", "load": "f8", "heat": "f8", "row": "i8"}
    records = np.zeros(COUNT, dtype=list(kinds.items()))
    for name, column in columns.items():
        records[name] = column
    return records


TABLES = {
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "arrow": lambda c: pyarrow.table({k: pyarrow.array(v) for k, v in c.items()}),
    "arrow batch": lambda c: pyarrow.record_batch({k: pyarrow.array(v) for k, v in c.items()}),
    "dicts": dicts,
    "generator": lambda c: (row for row in dicts(c)),
    "structured": structured,
}


def expected_of(columns, **options):
    pipeline = oif.Pipeline(oif.Loda(), **options)
    rows = np.stack([columns["load"], columns["heat"]], axis=1)
    return pipeline.process(rows, keys=columns["host"], times=columns["ts"])


@pytest.mark.parametrize("kind", TABLES)
def test_columns_have_roles_in_every_table(kind, columns):
    pipeline = oif.Pipeline(oif.Loda(), key="host", time="ts", exclude=["row"])
    results = pipeline.process(TABLES[kind](columns), output="array")
    assert pipeline.column_names == ("load", "heat") and pipeline.keys == 3
    assert same_bits(results["score"], expected_of(columns)["score"])
    assert pipeline.key_info("web-1").last_time == columns["ts"][COUNT - 2].astype("M8[s]").astype(float)


def test_columns_may_be_named_in_the_call(columns):
    frame = pandas.DataFrame(columns).drop(columns=["row"])
    pipeline = oif.Pipeline(oif.Loda())
    results = pipeline.process(frame, keys="host", times="ts")
    assert same_bits(results["score"], expected_of(columns)["score"]) and results.index.equals(frame.index)
    with pytest.raises(oif.DataError, match=r"there is no column 'hosts'; the columns are \('ts', 'host'"):
        oif.Pipeline().process(frame, keys="hosts")
    with pytest.raises(oif.DataError, match="so rows need names"):
        oif.Pipeline(key="host").process(np.zeros((3, 2)))
    with pytest.raises(oif.DataError, match="column 'a' has two roles"):
        oif.Pipeline(key="a", time="a")


def test_rows_one_by_one_have_the_same_roles(columns):
    rows = dicts(columns)
    pipeline = oif.Pipeline(oif.Loda(), key="host", time="ts", exclude="row")
    expected = expected_of(columns)["score"]
    assert same_bits([pipeline.process_one(row).score for row in rows], expected)
    pipeline = oif.Pipeline(oif.Loda(), key="host", time="ts", exclude="row")
    assert same_bits([result.score for result in pipeline.process_iter(row for row in rows)], expected)
    frame = pandas.DataFrame(columns)
    pipeline = oif.Pipeline(oif.Loda(), key="host", time="ts", exclude="row")
    assert same_bits([result.score for result in pipeline.process_iter(frame.itertuples(index=False))], expected)
    lines = [json.dumps({**row, "ts": row["ts"].isoformat()}) for row in rows]
    pipeline = oif.Pipeline(oif.Loda(), key="host", time="ts", exclude="row")
    assert same_bits([result.score for result in pipeline.process_iter(map(json.loads, lines))], expected)
    with pytest.raises(oif.DataError, match="the row has no column 'host'"):
        pipeline.process_one({"load": 1.0})
    with pytest.raises(oif.DataError, match="so a row needs names"):
        pipeline.process_one([1.0, 2.0])


def test_several_columns_are_one_key(columns):
    pipeline = oif.Pipeline(oif.Loda(), key=["host", "row"], exclude="ts")
    frame = pandas.DataFrame(columns).assign(row=lambda x: x["row"] % 2)
    pipeline.process(frame)
    assert "web-0/1" in pipeline and pipeline.keys == 6
    pipeline.process_one({"host": "web-0", "row": 1, "load": 0.0, "heat": 0.0})
    assert pipeline.keys == 6


def test_roles_are_in_copies(columns):
    import pickle

    pipeline = oif.Pipeline(oif.Loda(), key="host", time="ts", exclude="row")
    frame = pandas.DataFrame(columns)
    pipeline.process(frame)
    for copy in (pipeline.clone(), pickle.loads(pickle.dumps(pipeline))):
        assert copy.process(frame, output="array").tobytes() == pipeline.clone().process(frame, output="array").tobytes()


def test_times_may_be_text():
    pipeline = oif.Pipeline(time="at")
    pipeline.process([{"at": "2026-11-15T10:00:00Z", "x": 1}, {"at": "2026-11-15T12:00:00+02:00", "x": 2}])
    assert pipeline.key_info().last_time == 1794736800.0
    with pytest.raises(oif.DataError, match="'noon' is not a time"):
        pipeline.process([{"at": "noon", "x": 1}])


def test_named_tuples_are_rows_with_names():
    Point = collections.namedtuple("Point", "x y")
    forest = oif.Loda()
    assert len(list(forest.process_iter(Point(i, -i) for i in range(5)))) == 5
    assert forest.column_names == ("x", "y") and forest.rows_learned == 5


@pytest.mark.parametrize("kind", TABLES)
def test_values_that_were_never_seen_are_found(kind, columns):
    columns = {**columns, "path": ["/home", "/login", "/search"] * (COUNT // 3)}
    columns["path"][2390] = "/etc/passwd"
    table = structured_with_path(columns) if kind == "structured" else TABLES[kind](columns)
    pipeline = oif.Pipeline(oif.RollingIsolationForest(), alert_rate=0.01, category="path", exclude=["row", "ts", "host"])
    results = pipeline.process(table, output="array")
    assert results["anomaly"][2390] and oif.Reason(results["reason"][2390]) is oif.Reason.NEW_VALUE
    assert pipeline.column_names == ("load", "heat", "path")
    for path, anomaly in (("/home", False), ("/root", True)):
        result = pipeline.process_one({"load": 0.0, "heat": 0.0, "path": path})
        assert result.anomaly == anomaly and (result.reason is oif.Reason.NEW_VALUE) == anomaly
    assert {why.column for why in pipeline.explain()} == {"load", "heat", "category(path)"}


def structured_with_path(columns):
    kinds = {"ts": "M8[s]", "host": "U8", "load": "f8", "heat": "f8", "row": "i8", "path": "U16"}
    records = np.zeros(COUNT, dtype=list(kinds.items()))
    for name, column in columns.items():
        records[name] = column
    return records


def test_categories_are_those_of_the_tool(program, tmp_path):
    import subprocess

    frame = pandas.DataFrame({"load": np.random.default_rng(1).normal(size=3000), "path": ["/a", "/b", "/c"] * 1000})
    frame.loc[2900, "path"] = "/new"
    frame.to_csv(tmp_path / "log.csv", index=False)
    command = [program, "score", "--category", "path", "--output", "ndjson", str(tmp_path / "log.csv")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    scores = [json.loads(line)["oif"]["score"] for line in done.stdout.splitlines()]
    ours = oif.Pipeline(category="path").process(frame)["score"]
    assert np.allclose(scores, ours, atol=1e-4)


ISO_TIMES = ["2026-11-15", "2026-11-15T22", "2026-11-15 22:01", "20261115T220102Z", "2026-11-15T22:01:02.5+01:00",
             "2026-11-15T22:01:02,1234567-0130", "2026-11-15T22:01:02.123456+05", "2026-11-15T22:01Z"]  # fmt: skip


@pytest.mark.parametrize("text", ISO_TIMES)
def test_python_3_9_reads_the_times_that_later_ones_read(text):
    plain = datetime.fromisoformat(_arrays._old_iso(text))
    if sys.version_info >= (3, 11):
        assert plain == datetime.fromisoformat(text)
    assert plain.utcoffset() is None or plain.year == 2026
    assert _arrays.seconds_of([text])[0] == _arrays._seconds_of_one(plain)


def test_numbers_have_the_units_that_the_library_gives_them():
    below = [math.nextafter(limit, 0) for limit in (1e11, 1e20)]
    expected = {0.0: 0.0, 1.7e9: 1.7e9, below[0]: below[0], 1e11: 1e8, 1.7e12: 1.7e9, 1e14: 1e8, 1.7e15: 1.7e9, 1e17: 1e8,
                1.7e18: 1.7e9, below[1]: below[1] / 1e9, 1e20: 1e20, np.inf: np.inf}  # fmt: skip
    for time, seconds in expected.items():
        assert _arrays.seconds_of([time])[0] == seconds == -_arrays.seconds_of([-time])[0]
    assert _arrays.seconds_of(list(expected)).tolist() == list(expected.values())
    assert np.isnan(_arrays.seconds_of([np.nan, 1.7e12])).tolist() == [True, False]
    assert _arrays.seconds_of([1_700_000_000_123_456_789])[0] == 1_700_000_000.1234567


@pytest.mark.parametrize("text", ["yesterday", "2026-11-15T22:01:02.", "2026-11-15Z", "2026-13-15", ""])
def test_what_is_not_a_time_is_refused_by_every_version(text):
    with pytest.raises(ValueError):
        datetime.fromisoformat(_arrays._old_iso(text))

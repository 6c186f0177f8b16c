"""DataFrames and tables: without a copy of their packages' ideas, and with the names of their columns."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from conftest import same_bits

import oif

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

NAMES = ["flow", "heat", "load"]


def frames(rows):
    columns = {name: rows[:, i] for i, name in enumerate(NAMES)}
    nullable = pandas.DataFrame(columns).convert_dtypes()
    with_nulls = [[None if x != x else x for x in column] for column in rows.T.tolist()]
    table = pyarrow.table([pyarrow.array(column, pyarrow.float64()) for column in with_nulls], names=NAMES)
    return {
        "pandas": pandas.DataFrame(columns),
        "pandas nullable": nullable,
        "pandas objects": pandas.DataFrame(columns).astype(object),
        "polars": polars.DataFrame(columns),
        "polars nulls": polars.DataFrame(columns).fill_nan(None),
        "polars chunks": polars.concat([polars.DataFrame(columns)[:77], polars.DataFrame(columns)[77:]], rechunk=False),
        "arrow": table,
        "arrow sliced": pyarrow.concat_tables([table, table]).slice(500, 500),
        "arrow batches": pyarrow.Table.from_batches(table.to_batches(max_chunksize=13)),
        "arrow batch": table.combine_chunks().to_batches()[0],
        "arrow reader": pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=100)),
    }


@pytest.mark.parametrize("kind", ["pandas", "pandas nullable", "pandas objects", "polars", "polars nulls", "polars chunks",
                                  "arrow", "arrow sliced", "arrow batches", "arrow batch", "arrow reader"])  # fmt: skip
def test_a_table_scores_as_its_numbers_and_names_the_columns(kind, rows):
    forest = oif.OnlineIsolationForest()
    assert same_bits(forest.learn_score(frames(rows)[kind]), oif.OnlineIsolationForest().learn_score(rows))
    assert forest.column_names == tuple(NAMES)


@pytest.mark.parametrize(
    "type_name", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "bool_"]
)
def test_arrow_columns_of_every_type_of_number(type_name):
    values = [1, 0, None, 1, 0, 0, 1, None, 1, 1, 1]
    values = [None if value is None else bool(value) for value in values] if type_name == "bool_" else values
    column = pyarrow.array(values, getattr(pyarrow, type_name)()).slice(1)
    expected = np.array([[np.nan if value is None else value] for value in values[1:]], np.float64)
    array, names, _ = oif._core.arrow_rows(pyarrow.table([column], names=["x"]).__arrow_c_stream__())
    assert names == ("x",)
    np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize(
    "column, told",
    [
        (["x", "y"], "text|str|object|string"),
        (pandas.to_datetime(["2020-01-01", "2021-01-01"]), "dates|datetime64"),
        (pandas.to_timedelta([1, 2]), "dates or times|timedelta64"),
        (pandas.Categorical(["u", "v"]), "categories|category"),
        (["1", "2"], "text|str|object|string"),
    ],
    ids=["text", "dates", "durations", "categories", "digits"],
)
def test_columns_that_hold_no_numbers_are_left_out_by_name(column, told):
    frame = pandas.DataFrame({"a": [1.0, 2.0], "host": pandas.Series(column)})
    typed = frame.astype({"host": "string"}) if frame["host"].dtype == object else frame
    for table in (frame, typed, pyarrow.Table.from_pandas(frame), polars.from_pandas(frame)):
        forest = oif.OnlineIsolationForest()
        with pytest.warns(oif.ColumnWarning, match=rf"left out: 'host' \(.*({told}).*\)") as caught:
            forest.learn(table)
        assert caught[0].filename == __file__, "the line of the caller"
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # it is said once
            forest.learn(table)
        assert forest.column_names == ("a",) and forest.rows_learned == 4
        without = frame[["host"]] if table is frame else pyarrow.Table.from_pandas(frame[["host"]])
        with pytest.raises(TypeError, match=f"column 'host' contains .*({told}).*, not numbers; drop it") as caught:
            oif.OnlineIsolationForest().learn(without)
        assert isinstance(caught.value, oif.ColumnTypeError) and caught.value.column == 0


TO_NUMERIC = r"convert it with pd\.to_numeric\(\.\.\.\)$"
FLOAT = r"convert it with float\(\.\.\.\)$"


def test_numbers_as_text_are_answered_with_what_converts_them():
    digits = pandas.DataFrame({"a": ["1", "2.5"]})
    for frame in (digits, digits.astype(object), digits.astype("string")):
        with pytest.raises(oif.ColumnTypeError, match=f"not numbers; drop it, or {TO_NUMERIC}"):
            oif.OnlineIsolationForest().learn(frame)
        with pytest.warns(oif.ColumnWarning, match=r"; convert 'a' with pd\.to_numeric\(\.\.\.\) to learn it; "):
            oif.OnlineIsolationForest().learn(frame.assign(b=[1.0, 2.0], host=["x", "y"]))
    with pytest.raises(oif.DataError, match=r"'2' is not a number \(row 1, column 'a'\); " + TO_NUMERIC):
        oif.OnlineIsolationForest().learn(pandas.DataFrame({"a": pandas.Series([1, "2"], dtype=object)}))
    for series in (digits["a"], digits["a"].astype(object)):
        with pytest.raises(oif.DataError, match=r"'1' is not a number \(row 0, column 0\); " + TO_NUMERIC):
            oif.OnlineIsolationForest().learn(series)


@pytest.mark.parametrize(
    "rows",
    [[[1, "2"]], np.array([["0", "2"]]), np.array([[0, "2"]], dtype=object), [{"a": "2", "b": 1}, {"a": 3, "b": 1}]],
    ids=repr,
)
def test_numbers_as_text_outside_of_pandas_are_answered_with_float(rows):
    with pytest.raises(oif.DataError, match=r"'[02]' is not a number \(row 0, column .*\); " + FLOAT):
        oif.OnlineIsolationForest().learn(rows)


def test_one_row_of_numbers_as_text_is_answered_with_float():
    for row, place in (([1, "2"], "1"), ({"a": "2"}, "'a'")):
        with pytest.raises(oif.DataError, match=f"^'2' is not a number in column {place}; {FLOAT}"):
            oif.OnlineIsolationForest().learn_one(row)
    with pytest.raises(oif.DataError, match="^'x' is not a number in column 1$"):
        oif.OnlineIsolationForest().learn_one([1, "x"])
    with pytest.raises(oif.ColumnTypeError, match=f"contains text, not numbers; drop it, or {FLOAT}"):
        oif.OnlineIsolationForest().learn([{"a": "2"}])
    with pytest.raises(oif.ColumnTypeError, match=f"not numbers; drop it, or {FLOAT}"):
        oif.OnlineIsolationForest().learn(np.array([("2",)], dtype=[("a", "U3")]))


def test_a_known_column_that_is_text_now_is_refused():
    forest = oif.OnlineIsolationForest()
    forest.learn(pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}))
    for table in (pandas.DataFrame({"a": [1.0], "b": ["x"]}), pyarrow.table({"a": [1.0], "b": ["x"]})):
        with pytest.raises(oif.ColumnTypeError, match="column 'b'") as caught:
            forest.learn(table)
        assert caught.value.column == 1
    with pytest.raises(oif.DataError, match=r"'x' is not a number \(row 1, column 'b'\)"):
        forest.learn(pandas.DataFrame({"a": [1.0, 2.0], "b": pandas.Series([1.0, "x"], dtype=object)}))
    assert forest.rows_learned == 2


@pytest.mark.parametrize(
    "column, told",
    [([1 + 2j, 3], "complex128"), ([[1], [2]], "'host'")],
    ids=["complex", "lists"],
)
def test_what_only_pandas_holds(column, told):
    with pytest.warns(oif.ColumnWarning, match=told):
        oif.OnlineIsolationForest().learn(pandas.DataFrame({"a": [1.0, 2.0], "host": column}))


def test_what_is_no_table_yet_says_so():
    with pytest.raises(TypeError, match="LazyFrame.*collect"):
        oif.OnlineIsolationForest().learn(polars.LazyFrame({"a": [1.0]}))


def test_nulls_of_every_kind_are_missing():
    expected = oif.OnlineIsolationForest()
    expected.learn([[1, np.nan], [np.nan, 1], [3, 0]])
    for frame in (
        pandas.DataFrame({"a": pandas.array([1, None, 3], "Int64"), "b": pandas.array([None, True, False], "boolean")}),
        pandas.DataFrame({"a": [1, None, 3], "b": [None, True, False]}),
        pandas.DataFrame({"a": [1, pandas.NA, 3], "b": [pandas.NA, True, False]}, dtype=object),
        pandas.DataFrame({"a": [1, None, 3], "b": [None, 1, 0]}, dtype="float64[pyarrow]"),
        pandas.DataFrame({"a": [1, None, 3], "b": [None, 1, 0]}).astype("Sparse[float64]"),
        polars.DataFrame({"a": [1, None, 3], "b": [None, True, False]}),
        pyarrow.table({"a": pyarrow.chunked_array([[1], [None, 3]]), "b": pyarrow.array([None, 1.0, 0.0])}),
    ):
        forest = oif.OnlineIsolationForest()
        forest.learn(frame)
        forest.column_names = None
        assert forest.to_bytes() == expected.to_bytes()


def test_half_precision_from_arrow_is_exact():
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    array, _, _ = oif._core.arrow_rows(pyarrow.table({"x": pyarrow.array(halves)}).__arrow_c_stream__())
    np.testing.assert_array_equal(array[:, 0], halves.astype(np.float64))


def test_columns_in_another_order_find_their_place(rows):
    for make in (pandas.DataFrame, polars.DataFrame, pyarrow.table):
        frame = make({name: rows[:, i] for i, name in enumerate(NAMES)})
        shuffled = make({name: rows[:, i] for i, name in reversed(list(enumerate(NAMES)))})
        fewer = make({NAMES[1]: rows[:, 1]})
        more = make({**{name: rows[:, i] for i, name in enumerate(NAMES)}, "extra": rows[:, 0]})
        forest = oif.OnlineIsolationForest()
        forest.learn(frame)
        expected = forest.score(rows)
        assert same_bits(expected, forest.score(shuffled))
        missing = rows.copy()
        missing[:, [0, 2]] = np.nan
        assert same_bits(forest.score(missing), forest.score(fewer))
        with pytest.raises(oif.DataError, match="no column 'extra'"):
            forest.score(more)
        forest.ignore_unknown = True
        assert same_bits(expected, forest.score(more))


def test_rows_of_a_table_one_by_one(rows):
    frame = pandas.DataFrame(rows, columns=NAMES)
    expected = oif.OnlineIsolationForest().learn_score(rows)
    forest = oif.OnlineIsolationForest()
    assert same_bits(expected, [forest.learn_score_one(row) for _, row in frame.iterrows()])
    assert forest.column_names == tuple(NAMES)
    forest = oif.OnlineIsolationForest()
    assert same_bits(expected, [forest.learn_score_one(row) for row in polars.DataFrame(frame).iter_rows(named=True)])
    forest = oif.OnlineIsolationForest()
    assert same_bits(expected, [forest.learn_score_one(polars.Series(row)) for row in rows])


def test_columns_of_the_same_name_are_refused(rows):
    with pytest.raises(oif.DataError, match="same name"):
        oif.OnlineIsolationForest().learn(pandas.DataFrame(rows, columns=["a", "a", "b"]))


def test_process_answers_in_kind(rows):
    data = {name: rows[:, i] for i, name in enumerate(NAMES)}
    expected = oif.Pipeline().process(rows)
    frame = pandas.DataFrame(data, index=np.arange(1000, 1500))
    answer = oif.Pipeline().process(frame, explain=True)
    assert isinstance(answer, pandas.DataFrame) and answer.index.equals(frame.index)
    assert same_bits(answer["score"], expected["score"]) and "share_heat" in answer and "direction_load" in answer
    answer = oif.Pipeline().process(polars.DataFrame(data))
    assert isinstance(answer, polars.DataFrame) and same_bits(answer["score"], expected["score"])
    assert isinstance(oif.Pipeline().process(frame, output="array"), np.ndarray)
    assert isinstance(oif.Pipeline().process(rows, output="pandas"), pandas.DataFrame)
    keys = oif.Pipeline().process(frame, keys=pandas.Series(["a", "b"] * 250))
    same = oif.Pipeline().process(polars.DataFrame(data), keys=polars.Series(["a", "b"] * 250))
    assert same_bits(keys["score"], same["score"])


def test_a_datetime_index_has_the_times_of_rows():
    rows = np.random.default_rng(3).normal(size=(600, 2))
    index = pandas.date_range("2026-11-17", periods=600, freq="min", tz="Europe/Berlin")
    frame = pandas.DataFrame(rows, columns=["a", "b"], index=index)

    def state(x, **times):
        pipeline = oif.Pipeline(silence=600)
        pipeline.process(x, **times)
        return pipeline.to_bytes()

    with warnings.catch_warnings():
        warnings.simplefilter("error", oif.TimeWarning)
        taken, series = state(frame), state(frame["a"])
    plain = frame.reset_index(drop=True)
    assert taken == state(plain, times=index) and series == state(plain["a"], times=index)
    assert state(frame, times=np.arange(600) * 60.0) == state(plain, times=np.arange(600) * 60.0) != taken
    with pytest.warns(oif.TimeWarning):
        assert state(plain) != taken


def test_none_of_their_packages_is_imported():
    code = "import sys, oif, numpy; oif.OnlineIsolationForest().learn(numpy.zeros((3, 2)).astype(int)); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    packages = {"pandas", "polars", "pyarrow", "river", "sklearn", "matplotlib", "scipy", "pysad", "capymoa"}
    assert not packages & set(loaded)

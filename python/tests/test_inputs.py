"""Rows as people have them: series, masked and structured arrays, decimals, lists of dicts, generators."""

import collections
import decimal

import numpy as np
import pytest
from conftest import same_bits

import oif

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

SERIES = {
    "pandas": pandas.Series,
    "pandas with dates": lambda x: pandas.Series(x, index=pandas.date_range("2026-01-01", periods=len(x))),
    "polars": polars.Series,
    "arrow": pyarrow.array,
    "arrow chunks": lambda x: pyarrow.chunked_array([x[:100], x[100:]]),
}


@pytest.mark.parametrize("make", SERIES.values(), ids=SERIES)
def test_a_series_is_rows_of_one_number(make, rows):
    numbers = np.nan_to_num(rows[:, 0])
    expected = oif.Loda().learn_score(numbers[:, None])
    forest = oif.Loda()
    assert same_bits(forest.learn_score(make(numbers)), expected) and forest.columns == 1
    assert forest.score(make(numbers[:1])).shape == (1,)
    shingled = oif.Pipeline(shingle=24).process(numbers[:, None])
    for x in (make(numbers), numbers, numbers.tolist(), np.repeat(numbers, 2)[::2]):
        pipeline = oif.Pipeline(shingle=24)
        assert same_bits(np.asarray(pipeline.process(x, output="array")["score"]), shingled["score"])
        assert pipeline.columns == 1 and pipeline.rows == len(numbers)


def test_the_name_of_a_series_is_the_name_of_the_column(rows):
    forest = oif.Loda()
    forest.learn(pandas.Series(rows[:, 0], name="load"))
    assert forest.column_names == ("load",)
    forest.learn(pandas.Series(rows[:, 0]))
    forest.learn(pandas.DataFrame({"load": rows[:, 0]}))
    assert forest.rows_learned == 3 * len(rows)


def test_an_array_of_one_dimension_is_refused_where_it_may_be_a_row(rows):
    for call in ("learn", "score", "learn_score"):
        forest = oif.Loda()
        with pytest.raises(oif.DataError, match=r"reshape\(-1, 1\).*reshape\(1, -1\).*learn_one"):
            getattr(forest, call)(rows[0])
        assert forest.columns is None
    forest.learn_one(rows[0])
    assert forest.score(rows[1]) == forest.score_one(rows[1])
    assert forest.score(pandas.Series(rows[1])) == forest.score_one(rows[1])
    with pytest.raises(oif.DataError, match="expected rows of 3 columns, not 2"):
        forest.score(rows[1, :2])
    single = oif.Loda()
    single.learn(rows[:, :1])
    assert same_bits(single.score(rows[:, 0]), single.score(rows[:, :1]))
    assert isinstance(single.score(np.zeros(1)), float) and isinstance(single.score([3.0]), float)


def test_process_takes_one_row_only_if_it_has_as_many_numbers_as_columns(rows):
    for made in (oif.Pipeline(), oif.Loda()):
        made.process(rows)
        assert made.process(rows[0]).shape == ()
        with pytest.raises(oif.DataError, match="expected rows of 3 columns, not 4"):
            made.process([1.0, 2.0, 3.0, 4.0])
    named = oif.Pipeline()
    named.column_names = ["load"]
    assert len(named.process(rows[:, 0])) == len(rows)


def test_what_is_masked_is_missing(rows):
    forest = oif.Loda()
    forest.learn(np.nan_to_num(rows))
    for kind in (np.float64, np.float32, np.int64, object):
        masked = np.ma.masked_array([[3, 99999, 1]], mask=[[0, 1, 0]], dtype=kind)
        assert same_bits(forest.score(masked), forest.score([[3, np.nan, 1]]))
        assert forest.score_one(masked[0]) == forest.score_one([3, None, 1])


def test_decimals_of_every_width():
    duckdb = pytest.importorskip("duckdb")
    values = ["1.50", "-2.25", None, "99999999999999.01", "0"]
    exact = [None if value is None else decimal.Decimal(value) for value in values]
    expected = np.array([[np.nan if value is None else float(value)] for value in values])
    for kind in (pyarrow.decimal128(18, 2), pyarrow.decimal256(50, 2), pyarrow.decimal64(18, 2)):
        table = pyarrow.table({"x": pyarrow.array(exact, kind)})
        array, names, left_out = oif._core.arrow_rows(table.__arrow_c_stream__())
        assert names == ("x",) and left_out == []
        np.testing.assert_array_equal(array, expected)
    small = pyarrow.table({"x": pyarrow.array([decimal.Decimal("-1.5"), None], pyarrow.decimal32(5, 1))})
    np.testing.assert_array_equal(oif._core.arrow_rows(small.__arrow_c_stream__())[0], [[-1.5], [np.nan]])
    forest = oif.Loda()
    forest.learn(duckdb.sql("select 1.5 as a, sum(i) as b from range(10) t(i)"))
    assert forest.column_names == ("a", "b") and forest.rows_learned == 1
    forest.learn(polars.DataFrame({"a": exact[:2], "b": [1, 2]}))
    forest.learn(pandas.DataFrame({"a": exact[:2], "b": [1, 2]}))
    typed = pandas.DataFrame({"a": pandas.Series(exact[:2], dtype=pandas.ArrowDtype(pyarrow.decimal128(18, 2))), "b": 1})
    forest.learn(typed)
    assert forest.rows_learned == 7


def test_a_list_of_dicts_is_rows(rows):
    names = ("a", "b", "c")
    dicts = [dict(zip(names, row)) for row in rows.tolist()]
    expected = oif.Loda().learn_score(rows)
    for make in (list, tuple, collections.deque, iter, lambda x: (row for row in x)):
        forest = oif.Loda()
        assert same_bits(forest.learn_score(make(dicts)), expected) and forest.column_names == names
    late = oif.Loda()
    late.learn([{"a": 1}, {"b": 2, "a": 3}])
    assert late.column_names == ("a", "b")
    assert same_bits(late.score([{"b": 2}]), late.score([[None, 2]]))
    with pytest.raises(oif.DataError, match="no column 'c'"):
        late.learn([{"c": 1}])
    with pytest.raises(oif.DataError, match="row 1 is not a dict") as caught:
        late.learn([{"a": 1}, [2, 3]])
    assert caught.value.row == 1
    with pytest.warns(oif.ColumnWarning, match=r"'host' \(text\)"):
        oif.Loda().learn([{"a": 1, "host": "x"}, {"a": 2, "host": "y"}])
    assert same_bits(oif.Pipeline().process(dicts)["score"], oif.Pipeline().process(rows)["score"])


def test_structured_arrays_have_names(rows):
    kind = [("a", "f8"), ("b", "f4"), ("c", "i2"), ("host", "U8"), ("time", "M8[s]")]
    records = np.zeros(len(rows), dtype=kind)
    for i, name in enumerate("abc"):
        records[name] = np.nan_to_num(rows[:, i]) * 10
    plain = np.stack([records[name].astype(float) for name in "abc"], axis=1)
    forest = oif.Loda()
    with pytest.warns(oif.ColumnWarning, match="'host'.*'time'"):
        scores = forest.learn_score(records)
    assert same_bits(scores, oif.Loda().learn_score(plain)) and forest.column_names == ("a", "b", "c")
    assert forest.score_one(records[["a", "b", "c"]][0]) == forest.score_one(plain[0])
    assert same_bits(forest.score(records.view(np.recarray)), forest.score(plain))


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_matrix", "coo_matrix"])
def test_sparse_matrices_are_read_as_their_rows(kind):
    sparse = pytest.importorskip("scipy.sparse")
    random = np.random.default_rng(1)
    rows = np.where(random.random((700, 4)) < 0.3, random.normal(size=(700, 4)), 0.0)
    matrix = getattr(sparse, kind)(rows)
    plain, taken = oif.Loda(), oif.Loda()
    plain.learn(rows)
    taken.learn(matrix)
    assert taken.to_bytes() == plain.to_bytes() and same_bits(taken.score(matrix), plain.score(rows))
    assert same_bits(oif.Pipeline().process(matrix)["score"], oif.Pipeline().process(rows)["score"])
    assert same_bits(oif.Loda().process(matrix)["score"], oif.Loda().process(rows)["score"])

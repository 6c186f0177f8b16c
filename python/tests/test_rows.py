"""Rows of every shape, type and layout give the scores that the same numbers give as plain float64."""

import array
import collections
import decimal
import types

import numpy as np
import pytest
from conftest import same_bits
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import oif


def scores_of(rows):
    return oif.OnlineIsolationForest(num_trees=4, window_size=64, max_leaf_samples=4).learn_score(rows)


def layouts(rows):
    """The same numbers, lying differently in memory."""
    count, width = rows.shape
    wide = np.full((count, width + 3), np.inf)
    wide[:, 1 : width + 1] = rows
    yield "a part of wider rows", wide[:, 1 : width + 1]
    yield "columns first", np.asfortranarray(rows)
    yield "backwards", rows[::-1, ::-1].copy()[::-1, ::-1]
    every_third = np.full((3 * count, 2 * width), np.inf)
    every_third[::3, ::2] = rows
    yield "every third", every_third[::3, ::2]
    odd = np.frombuffer(bytearray(1) + rows.tobytes(), np.uint8)[1:]
    yield "not aligned", odd.view(np.float64).reshape(rows.shape)
    yield "other byte order", rows.astype(">f8")
    read_only = rows.copy()
    read_only.flags.writeable = False
    yield "read only", read_only
    yield "lists", rows.tolist()
    yield "tuples", [tuple(row) for row in rows.tolist()]
    yield "objects", rows.astype(object)
    yield "memoryview", memoryview(np.ascontiguousarray(rows))
    yield "matrix in Fortran order within another", np.asfortranarray(wide)[:, 1 : width + 1]


@pytest.mark.parametrize("layout", range(12))
def test_the_layout_does_not_matter(layout, rows, detector_class):
    name, laid_out = list(layouts(rows))[layout]
    detector, other = detector_class(), detector_class()
    assert same_bits(detector.learn_score(rows), other.learn_score(laid_out)), name
    assert same_bits(detector.score(rows), other.score(laid_out)), name
    detector.learn(rows)
    other.learn(laid_out)
    assert detector.to_bytes() == other.to_bytes(), name


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?", ">i4", ">f4"])
def test_other_types_are_the_numbers_they_hold(dtype):
    rows = np.random.default_rng(1).integers(0, 100, size=(300, 3)).astype(dtype)
    assert same_bits(scores_of(rows), scores_of(rows.astype(np.float64)))
    strided = np.repeat(np.repeat(rows, 2, axis=0), 2, axis=1)[::2, ::2]
    assert same_bits(scores_of(strided), scores_of(rows.astype(np.float64)))


def test_rows_one_by_one_give_the_same_bits_as_arrays(rows, detector_class):
    whole = detector_class().learn_score(rows)
    kinds = {
        "array": list(rows),
        "list": rows.tolist(),
        "tuple": [tuple(row) for row in rows.tolist()],
        "dict": [dict(zip("abc", row)) for row in rows.tolist()],
        "None for NaN": [[None if x != x else x for x in row] for row in rows.tolist()],
        "key left out for NaN": [{k: x for k, x in zip("abc", row) if x == x} for row in rows.tolist()],
        "other mapping": [types.MappingProxyType(dict(zip("abc", row))) for row in rows.tolist()],
        "array.array": [array.array("d", row) for row in rows.tolist()],
        "strided": [np.repeat(row, 2)[::2] for row in rows],
        "float32 row": [row.astype(np.float32) for row in rows.astype(np.float32)],
    }
    for name, single in kinds.items():
        expected = detector_class().learn_score(rows.astype(np.float32)) if name == "float32 row" else whole
        detector = detector_class()
        if name == "key left out for NaN":
            detector.column_names = "abc"
        assert same_bits(expected, [detector.learn_score_one(row) for row in single]), name


@pytest.mark.parametrize("dtype", ["f8", "f4", ">f8", np.dtype("f8", metadata={"unit": "bar"})], ids=str)
def test_arrays_are_read_alike_from_their_fields_and_from_their_description(dtype, rows):
    """A class of its own is read from __array_struct__, a plain array of float64 from its fields."""

    class Described(np.ndarray):
        pass

    forest = oif.OnlineIsolationForest()
    forest.learn(rows)
    wide = np.zeros((2 * len(rows), 3 * rows.shape[1]), dtype)
    for block in (wide[::2, ::3], wide[::-2, ::-3], wide[:, : rows.shape[1]][::2], np.asfortranarray(wide)[::2, 1::3]):
        block[...] = rows
        assert same_bits(forest.score(block), forest.score(block.view(Described)))
        assert forest.score_one(block[7]) == forest.score_one(block[7].view(Described)) == forest.score_one(list(block[7]))


def test_score_one_changes_nothing_and_learn_one_does(rows, detector_class):
    one, two = detector_class(), detector_class()
    for row in rows.tolist():
        one.learn_one(row)
        assert one.learn_one(row) is None
        one.score_one(row)
        two.learn(row)
        two.learn(np.array([row]))
    assert one.to_bytes() == two.to_bytes()
    assert one.rows_learned == 2 * len(rows)


def test_rows_longer_than_the_room_for_short_ones():
    rows = np.random.default_rng(5).normal(size=(50, 200))
    whole = scores_of(rows)
    forest = oif.OnlineIsolationForest(num_trees=4, window_size=64, max_leaf_samples=4)
    assert same_bits(whole, [forest.learn_score_one(row) for row in rows.tolist()])
    narrow = rows.astype(np.float32)
    forest = oif.OnlineIsolationForest(num_trees=4, window_size=64, max_leaf_samples=4)
    assert same_bits(scores_of(narrow.astype(np.float64)), [forest.learn_score_one(row) for row in narrow])


def test_blocks_of_many_chunks_are_the_same_as_one(rows):
    many = np.tile(rows, (300, 1))  # 150,000 rows: more than one chunk
    forest, other = oif.Loda(num_projections=2), oif.Loda(num_projections=2)
    expected = np.concatenate([forest.learn_score(part) for part in np.array_split(many, 7)])
    assert same_bits(expected, other.learn_score(many))
    fortran = oif.Loda(num_projections=2)
    assert same_bits(expected, fortran.learn_score(np.asfortranarray(many)))


def test_an_infinity_far_back_leaves_everything_as_it_was(rows):
    many = np.tile(rows, (300, 1))
    for layout in (many, np.asfortranarray(many), many.astype(np.float32)):
        layout[140_000, 1] = -np.inf
        forest = oif.Loda(num_projections=2)
        forest.learn(rows)
        before = forest.to_bytes()
        for call in (forest.learn, forest.score, forest.learn_score):
            with pytest.raises(oif.DataError, match="row 140000, column 1 is infinite") as caught:
                call(layout)
            assert (caught.value.row, caught.value.column) == (140_000, 1)
        assert forest.to_bytes() == before


@pytest.mark.parametrize("place", [0, 1, 6, 7, 4093, 4094, 4095, 4096, 99_999, 135_167, 135_168, 135_169, 139_999])
def test_an_infinity_anywhere_in_many_rows_is_found(place):
    rows = np.random.default_rng(2).normal(size=(20_000, 7))
    rows.ravel()[:: 1 + place // 3] = np.nan
    rows.ravel()[place] = -np.inf if place % 2 else np.inf
    for x in (rows, np.asfortranarray(rows)):
        detector = oif.Loda(num_projections=1, num_bins=1)
        with pytest.raises(oif.DataError) as caught:
            detector.learn(x)
        assert (caught.value.row, caught.value.column) == divmod(place, 7) and detector.rows_learned == 0


@pytest.mark.parametrize("bad", [float("inf"), float("-inf")])
def test_an_infinity_is_refused_with_its_place(bad, rows, detector_class):
    detector = detector_class()
    detector.learn(rows)
    before = detector.to_bytes()
    rows[17, 2] = bad
    with pytest.raises(oif.DataError, match="row 17, column 2") as caught:
        detector.learn_score(rows)
    assert (caught.value.row, caught.value.column) == (17, 2)
    with pytest.raises(oif.DataError, match="column 2 is infinite"):
        detector.learn_one(rows[17].tolist())
    with pytest.raises(ValueError, match="column 'c' is infinite"):
        named = detector.clone()
        named.column_names = "abc"
        named.score_one({"a": 1, "b": 2, "c": bad})
    assert detector.to_bytes() == before


def test_after_a_failed_first_row_the_width_is_free_again(detector_class):
    detector = detector_class()
    with pytest.raises(oif.DataError):
        detector.learn_one({"a": 1.0, "b": float("inf")})
    assert detector.columns is None and detector.column_names is None
    detector.learn_one({"x": 1.0, "y": 2.0, "z": 3.0})
    assert detector.columns == 3 and detector.column_names == ("x", "y", "z")


@pytest.mark.parametrize(
    "x",
    [
        np.zeros((2, 2, 2)),
        np.float64(3),
        3.0,
        "text",
        b"bytes",
        None,
        object(),
        {1, 2},
        [],
        {},
        np.zeros((3, 0)),
        np.zeros(0),
        [["a", "b"]],
        ["a", "b"],
        [[1, 2], [3]],
        [1, "2"],
        [1, [2]],
        {"a": "b"},
        np.array([["1", "2"]]),
        np.array([[1j, 2]]),
        np.array([["2020-01-01"]], dtype="M8[D]"),
        np.array([[1, object()]], dtype=object),
    ],
    ids=repr,
)
def test_what_is_no_row_is_refused_and_changes_nothing(x):
    forest = oif.OnlineIsolationForest()
    for call in (forest.learn, forest.score, forest.learn_score, forest.learn_one, forest.explain):
        with pytest.raises((ValueError, TypeError)):
            call(x)
    assert forest.columns is None and forest.rows_learned == 0


def test_places_of_what_is_no_number_are_told():
    forest = oif.OnlineIsolationForest()
    with pytest.raises(oif.DataError, match="'x' is not a number") as caught:
        forest.learn(np.array([[1, 2], [3, "x"]], dtype=object))
    assert (caught.value.row, caught.value.column) == (1, 1)
    with pytest.raises(oif.DataError, match="column 'b'"):
        forest.learn_one({"a": 1, "b": "x"})


def test_no_rows_are_fine(detector_class):
    detector = detector_class()
    assert detector.learn(np.zeros((0, 3))) is None
    assert detector.learn_score(np.zeros((0, 3))).shape == (0,)
    assert detector.score(np.zeros((0, 3))).shape == (0,)
    assert detector.columns is None


def test_the_width_is_that_of_the_first_row():
    forest = oif.OnlineIsolationForest()
    forest.learn([1, 2, 3])
    with pytest.raises(oif.DataError, match="expected rows of 3 columns, not 2"):
        forest.learn([1, 2])
    with pytest.raises(oif.DataError, match="expected rows of 3 columns, not 4"):
        forest.score(np.zeros((5, 4)))
    single = oif.OnlineIsolationForest()
    single.learn([[1], [2], [3]])
    assert same_bits(single.score(np.zeros(5)), single.score(np.zeros((5, 1))))
    with pytest.raises(oif.DataError, match="a single row"):
        single.score_one(np.zeros((5, 1)))


def test_a_width_that_no_machine_can_hold_is_refused():
    huge = np.lib.stride_tricks.as_strided(np.zeros(1), shape=(1, 1 << 40), strides=(8, 0))
    with pytest.raises((MemoryError, oif.ParameterError)):
        oif.OnlineIsolationForest(window_size=1 << 24, max_leaf_samples=1 << 16).learn(huge)


def test_an_array_that_repeats_one_row_by_a_stride_of_zero():
    row = np.array([[1.0, 2.0, 3.0]])
    assert same_bits(scores_of(np.broadcast_to(row, (100, 3))), scores_of(np.repeat(row, 100, axis=0)))


def test_unknown_columns_are_refused_or_left_out():
    forest = oif.OnlineIsolationForest()
    forest.learn_one({"a": 1, "b": 2})
    with pytest.raises(oif.DataError, match=r"no column 'c'; the columns are \('a', 'b'\)"):
        forest.learn_one({"a": 1, "c": 2})
    forest.ignore_unknown = True
    forest.learn_one({"a": 1, "b": 2, "c": 3})
    assert forest.score_one({"b": 2, "a": 1}) == forest.score_one({"a": 1, "b": 2, "c": 3}) == forest.score([1, 2])


def test_any_keys_and_numbers_that_float_understands():
    class Strange(dict):
        pass

    forest = oif.OnlineIsolationForest()
    forest.learn_one(collections.OrderedDict({1: np.float32(1), ("x", 2): decimal.Decimal("2"), None: True}))
    assert forest.column_names == (1, ("x", 2), None)
    forest.learn_one(Strange({1: 5}))


def test_dicts_are_read_by_name_whatever_their_order_and_numbers(rows):
    names = ["a", "b", "c"]
    plain, named = oif.Loda(window_size=64), oif.Loda(window_size=64)
    named.column_names = names
    plain.learn(rows)
    named.learn(rows)
    for x, y, z in np.nan_to_num(rows[:60]).tolist():
        in_order = {"a": x, "b": y, "c": z}
        same = [
            in_order,
            {"c": z, "b": y, "a": x},
            {"a": x, "c": z, "b": y},
            {"".join(["a"]): x, "".join(["b"]): y, "".join(["c"]): z},  # equal keys, not the same objects
            {"a": np.float64(x), "b": decimal.Decimal(y), "c": z},
        ]
        assert {named.score_one(row) for row in same} == {plain.score_one([x, y, z])}
        assert named.score_one({"a": 3, "b": y, "c": -1}) == plain.score_one([3.0, y, -1.0])
        assert same_bits(named.score_one({"a": x, "c": z}), plain.score_one([x, np.nan, z]))
        assert same_bits(named.score_one({"a": x, "b": None, "c": z}), plain.score_one([x, None, z]))
    for wrong in ({"a": 1.0, "b": 2.0, "d": 3.0}, {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}):
        with pytest.raises(oif.DataError, match="no column 'd'"):
            named.score_one(wrong)
    with pytest.raises(oif.DataError, match="'two' is not a number in column 'b'"):
        named.score_one({"a": 1.0, "b": "two", "c": 3.0})
    with pytest.raises(oif.DataError, match="too large for a float"):
        named.score_one({"a": 1.0, "b": 10**400, "c": 3.0})


def test_a_number_that_changes_its_row_while_it_is_read_does_no_harm():
    row = []

    class Clearing:
        def __index__(self):
            row.clear()
            return 3

    row.extend([1.0, Clearing(), 2.0, 3.0])
    with pytest.raises((IndexError, ValueError)):
        oif.OnlineIsolationForest().learn(row)


def test_names_must_be_as_many_as_numbers(rows):
    forest = oif.OnlineIsolationForest()
    forest.learn(rows)
    with pytest.raises(ValueError, match="2 names for rows of 3 numbers"):
        forest.column_names = "ab"
    forest.column_names = "abc"
    assert forest.score_one({"c": 3, "a": 1, "b": 2}) == forest.score([1, 2, 3])
    forest.column_names = None
    assert forest.column_names is None


@pytest.mark.parametrize("make", [oif.OnlineIsolationForest, oif.Pipeline], ids=["detector", "pipeline"])
def test_names_that_came_before_the_first_row_must_be_as_many_as_well(make, rows):
    made = make()
    take = made.learn if isinstance(made, oif.Detector) else made.process
    made.column_names = "ab"
    with pytest.raises(oif.DataError, match="2 names for rows of 3 numbers"):
        take(rows)
    made.column_names = "abc"
    take(rows)
    assert oif.load(made.to_bytes()).column_names == ("a", "b", "c")


def test_a_number_that_takes_the_names_away_while_it_is_read_does_no_harm():
    forest = oif.OnlineIsolationForest()
    names = [f"column {i}" for i in range(40)]
    forest.learn_one(dict.fromkeys(names, 1.0))
    taken = []

    class Forgetting:
        def __float__(self):
            forest.column_names = None
            taken.extend(tuple(object() for _ in range(40)) for _ in range(50))
            return 1.0

    forest.learn_one({f"column {i}": Forgetting() if i == 0 else 1.0 for i in range(40)})
    assert forest.rows_learned == 2 and forest.column_names is None


finite_or_missing = st.floats(allow_infinity=False, width=64)


@given(
    hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=20), elements=finite_or_missing),
    st.sampled_from(["C", "F"]),
    st.sampled_from([1, -1, 2]),
    st.sampled_from([1, -1, 2]),
)
def test_any_array_scores_as_its_copy(rows, order, row_step, column_step):
    view = np.asarray(rows, order=order)[::row_step, ::column_step]
    assert same_bits(scores_of(view), scores_of(view.tolist()))


@given(hnp.arrays(hnp.scalar_dtypes(), hnp.array_shapes(max_dims=4, max_side=4)))
def test_an_array_of_any_type_and_shape_is_scored_or_refused(x):
    forest = oif.OnlineIsolationForest(num_trees=2, window_size=16, max_leaf_samples=2)
    try:
        forest.learn_score(x)
    except (ValueError, TypeError):
        assert forest.rows_learned == 0
    else:
        assert forest.rows_learned == (x.shape[0] if x.ndim == 2 else 1)
        forest.check()


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=4),
    max_leaves=8,
)


@given(st.lists(anything, min_size=1, max_size=5))
def test_whatever_comes_is_scored_or_refused(values):
    forest = oif.OnlineIsolationForest(num_trees=2, window_size=16, max_leaf_samples=2)
    for value in values:
        before = forest.to_bytes() if forest.columns else None
        try:
            forest.learn_score(value)
        except (ValueError, TypeError, OverflowError):
            assert before == (forest.to_bytes() if forest.columns else None)
    forest.check()


def test_shares_add_up_to_one(rows, detector_class):
    detector = detector_class()
    detector.learn(np.tile(rows, (10, 1)))
    shares = detector.explain(rows[:20])
    assert shares.shape == (20, 3)
    sums = shares.sum(axis=1)
    assert np.all(np.isclose(sums, 1) | (sums == 0)) and (shares >= 0).all()
    assert same_bits(shares[4], detector.explain(rows[4]))
    assert set(detector.explain(rows[:20], columns=1).ravel()) <= {0, 1}


def test_explain_wants_columns_that_divide_the_row(rows):
    forest = oif.OnlineIsolationForest()
    with pytest.raises(oif.DataError, match="nothing was learned"):
        forest.explain(rows)
    forest.learn(rows)
    for columns in (0, 2, -3, 4):
        with pytest.raises(ValueError, match="columns must divide"):
            forest.explain(rows, columns=columns)
    rows[3, 1] = np.inf
    with pytest.raises(oif.DataError, match="row 3, column 1"):
        forest.explain(rows)


def test_figures_before_and_after_the_first_row(rows, detector_class):
    detector = detector_class()
    figures = (detector.columns, detector.rows_learned, detector.memory_bytes, detector.ready, detector.describe())
    assert figures == (None, 0, 0, False, {})
    detector.learn(np.tile(rows, (10, 1)))
    assert (detector.columns, detector.rows_learned, detector.ready) == (3, 5000, True)
    assert detector.memory_bytes == detector.estimate_bytes(3) > 0
    assert all(isinstance(value, float) for value in detector.describe().values()) and detector.describe()
    detector.check()


def test_score_learn_scores_before_it_learns(detector_class, rows):
    one, two, three = detector_class(seed=2), detector_class(seed=2), detector_class(seed=2)
    expected = []
    for row in rows:
        expected.append(one.score_one(row))
        one.learn_one(row)
    assert same_bits(two.score_learn(rows), expected)
    assert same_bits([three.score_learn_one(row) for row in rows], expected)
    assert one.to_bytes() == two.to_bytes() == three.to_bytes()
    with pytest.raises(oif.DataError):
        two.score_learn([1.0, float("inf"), 2.0])
    two.reset()
    assert two.rows_learned == 0 and two.columns == 3
    assert same_bits(two.score_learn(rows), expected)
    detector_class().reset()

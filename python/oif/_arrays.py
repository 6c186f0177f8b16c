"""What is not a dict, a list of numbers or a buffer of floats becomes an array here, for the extension.

DataFrames and tables are known by what they can do, not by their class, so that none of their packages is imported:
`__arrow_c_stream__` (polars, Arrow, DuckDB ...), else `__array__` with `columns` (pandas).
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timezone
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import DataError, because, from_column, from_place

Floats = npt.NDArray[np.float64]
Names = tuple[Any, ...]


class ColumnWarning(UserWarning):
    """Columns of a table contain no numbers, and are left out."""


class KeyWarning(UserWarning):
    """Rows of new keys get no score, because there is no room for their models."""


class TimeWarning(UserWarning):
    """Options that need the times of rows have no effect, because rows have no times."""


class LeftOut(NamedTuple):
    """A column without numbers; `converter` makes numbers of its texts, "" if they are none."""

    place: int
    name: Any
    holds: str
    converter: str = ""


class Others(NamedTuple):
    """What a column contains instead of numbers, and the first of them."""

    holds: str
    first: Any = None


class Table(NamedTuple):
    """The columns of numbers, and the others."""

    array: Floats
    names: Names
    left_out: Sequence[LeftOut] = ()


def rows_of(x: Any, names: Names | None, ignore_unknown: bool, columns: int, one: bool) -> tuple[Any, Names | None]:
    """An array of float64 (or a dict) and the names of its columns, which are in the order of `names` if given.

    `columns` is 0 while their number is unknown; with `one`, a single row is wanted.
    """
    x = dense(x)
    if isinstance(x, Mapping):
        return dict(x), None
    if isinstance(x, np.void) and x.dtype.names:
        return dict(zip(x.dtype.names, x.tolist())), None
    if _is_labelled_row(x):
        return dict(zip(x.index, _floats(x))), None
    if isinstance(x, Iterator) and not hasattr(x, "__arrow_c_stream__"):
        x = list(x)
    table = _table_of(x)
    if table is not None:
        return _by_name(table, names, ignore_unknown)
    if not one and _is_series(x):
        return _series(x, names, columns)
    return _floats(x), None


def dense(x: Any) -> Any:
    """A sparse matrix of SciPy with all of its zeros, as detectors read every number of a row; others as they are."""
    return x.toarray() if hasattr(x, "tocsr") and hasattr(x, "toarray") else x


# ---- Tables ----


def _table_of(x: Any) -> Table | None:
    """The columns of what has columns with names; None for others."""
    if _is_pandas_like(x):
        return _pandas_table(x)
    if isinstance(x, np.ndarray):
        return _structured_table(x) if x.dtype.names else None
    if hasattr(x, "__arrow_c_stream__") and not _is_series(x):
        array, came, left_out = _core.arrow_rows(x.__arrow_c_stream__(None))
        return Table(array, came, [LeftOut(*three) for three in left_out])
    if isinstance(x, Sequence) and not isinstance(x, (str, bytes)) and len(x) > 0 and isinstance(x[0], Mapping):
        return _table_of_dicts(x)
    return None


def _is_pandas_like(x: Any) -> bool:
    return hasattr(x, "iloc") and hasattr(x, "columns") and hasattr(x, "to_numpy")


def _pandas_table(frame: Any) -> Table:
    """The numbers of a DataFrame; pandas itself would take dates and text with digits for numbers, too."""
    kinds = [getattr(dtype, "kind", "") for dtype in frame.dtypes]
    if all(kind in "biuf" for kind in kinds):
        return Table(np.asarray(frame.to_numpy(dtype=np.float64, na_value=np.nan)), tuple(frame.columns))
    columns = []
    for place, (kind, dtype) in enumerate(zip(kinds, frame.dtypes)):
        column = frame.iloc[:, place]
        if kind in "biuf":
            columns.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
        elif dtype == np.dtype(object) or "decimal" in str(dtype):
            columns.append(column.to_numpy(dtype=object))
        else:
            columns.append(Others(str(dtype), *column.head(100).dropna().head(1)))
    return _table_of_columns(columns, tuple(frame.columns), len(frame), "pd.to_numeric(...)")


def _structured_table(x: npt.NDArray[np.void]) -> Table:
    names: Names = x.dtype.names or ()
    rows = x.reshape(-1)
    columns: list[Any] = []
    for name in names:
        column = rows[name]
        simple = column.ndim == 1 and column.dtype.kind in "biufO"
        columns.append(column.astype(object) if simple and column.dtype.kind == "O" else column)
        if not simple:
            columns[-1] = Others(str(column.dtype), *column[:1].tolist()) if column.ndim == 1 else Others("lists")
        elif column.dtype.kind != "O":
            columns[-1] = _unmasked(column)
    return _table_of_columns(columns, names, len(rows))


def _table_of_dicts(rows: Sequence[Mapping[Any, Any]]) -> Table:
    """The columns are those of all the rows together, in the order in which they come up."""
    names: dict[Any, int] = {}
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise from_place(f"row {place} is not a dict as those before it", place, -1)
        for name in row:
            names.setdefault(name, len(names))
    columns = []
    for name in names:
        column = np.empty(len(rows), dtype=object)
        column[:] = [row.get(name) for row in rows]
        columns.append(column)
    return _table_of_columns(columns, tuple(names), len(rows))


def _table_of_columns(columns: Sequence[Any], names: Names, count: int, converter: str = "float(...)") -> Table:
    """From columns that are floats, objects, or others."""
    kept, left_out = [], []
    for place, (name, column) in enumerate(zip(names, columns)):
        others = column if isinstance(column, Others) else _what_is_there_instead_of_numbers(column)
        if others:
            left_out.append(LeftOut(place, name, others.holds, converter if _is_number_as_text(others.first) else ""))
        elif column.dtype.kind == "O":
            kept.append((name, _objects_of_column(column, place, name, converter)))
        else:
            kept.append((name, column))
    array = np.empty((count, len(kept)))
    for i, (_, column) in enumerate(kept):
        array[:, i] = column
    return Table(array, tuple(name for name, _ in kept), left_out)


def _what_is_there_instead_of_numbers(column: npt.NDArray[Any]) -> Others | None:
    """For a column of objects that contains something, but not a single number."""
    if column.dtype.kind != "O":
        return None
    found = None
    for value in column:
        if value is None or _is_null(value):
            continue
        if _as_float(value) is not None:
            return None
        found = found or Others("text" if isinstance(value, str) else type(value).__name__, value)
    return found


def _is_number_as_text(value: Any) -> bool:
    try:
        return isinstance(value, str) and float(value) is not None
    except ValueError:
        return False


def _no_number(value: Any, row: int, column: int, name: Any, converter: str) -> DataError:
    """The error about a value that is not a number, with what would make it one."""
    advice = f"; convert it with {converter}" if _is_number_as_text(value) else ""
    return from_place(f"{value!r} is not a number (row {row}, column {name!r}){advice}", row, column, "not_a_number")


def _objects_of_column(column: npt.NDArray[Any], place: int, name: Any, converter: str) -> Floats:
    floats = np.empty(len(column))
    for row, value in enumerate(column):
        number = np.nan if value is None or _is_null(value) else _as_float(value)
        if number is None:
            raise _no_number(value, row, place, name, converter)
        floats[row] = number
    return floats


def _by_name(table: Table, names: Names | None, ignore_unknown: bool) -> tuple[Floats, Names | None]:
    """The columns as the detector has them: in its order, NaN for those that did not come."""
    array, came, left_out = table
    if len(set(came)) != len(came):
        raise DataError(f"columns have the same name: {came}")
    if left_out:
        _mind_left_out(left_out, came, names)
    if names is None or came == names:
        return array, came
    unknown = [name for name in came if name not in names]
    if unknown and not ignore_unknown:
        message = f"there is no column {unknown[0]!r}; the columns are {names!r}; ignore_unknown=True leaves others out, add_columns of a" \
                  " Pipeline adds them"  # fmt: skip
        raise because("unknown_column", DataError(message))
    ordered = np.full((len(array), len(names)), np.nan)
    for i, name in enumerate(names):
        if name in came:
            ordered[:, i] = array[:, came.index(name)]
    return ordered, names


def _mind_left_out(left_out: Sequence[LeftOut], came: Names, names: Names | None) -> None:
    """Columns without numbers are reported once, when the columns become known; a known one is an error."""
    wanted = [column for column in left_out if names is not None and column.name in names]
    wanted = wanted or (list(left_out) if not came else [])
    if wanted:
        place, name, holds, converter = wanted[0]
        advice = f", or convert it with {converter}" if converter else ""
        raise from_column(f"column {name!r} contains {holds}, not numbers; drop it{advice}", place)
    if names is None:
        listed = ", ".join(f"{column.name!r} ({column.holds})" for column in left_out)
        texts = [column for column in left_out if column.converter]
        advice = "".join(f"; convert {name!r} with {converter} to learn it" for _, name, _, converter in texts)
        warn(f"columns without numbers are left out: {listed}{advice}; oif.Pipeline takes such columns as key=, time= or category=,"
             " and exclude= ends this warning", ColumnWarning)  # fmt: skip


_PACKAGE = os.path.dirname(__file__) + os.sep


def warn(message: str, category: type[Warning]) -> None:
    """Warns about the line that called the package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


# ---- Series and arrays ----


def _is_labelled_row(x: Any) -> bool:
    """A row of a DataFrame by its labels, as iterrows gives: a Series whose index holds names."""
    return hasattr(x, "iloc") and getattr(x, "ndim", 0) == 1 and len(x) > 0 and all(isinstance(k, str) for k in x.index)


def _is_series(x: Any) -> bool:
    """One column: a Series of pandas or polars, or an array of Arrow."""
    if isinstance(x, np.ndarray) or not hasattr(x, "__array__"):
        return False
    is_column = hasattr(x, "iloc") or hasattr(x, "to_frame") or (hasattr(x, "to_pylist") and hasattr(x, "type"))
    return is_column and getattr(x, "ndim", 1) == 1 and not hasattr(x, "columns")


def _series(x: Any, names: Names | None, columns: int) -> tuple[Floats, Names | None]:
    """Rows of one number, or a row if there are as many numbers as columns."""
    array = _floats(x)
    if columns > 1 and len(array) == columns:
        return array, None
    name = getattr(x, "name", None)
    return array.reshape(-1, 1), (name,) if names is None and isinstance(name, str) and name else None


def _unmasked(array: npt.NDArray[Any]) -> Floats:
    """What is masked is missing."""
    if isinstance(array, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(array), np.nan, np.asarray(array, dtype=np.float64))
    return np.asarray(array, dtype=np.float64)


def _floats(x: Any) -> Floats:
    array = x if isinstance(x, np.ma.MaskedArray) else _array_of(x)
    if array.dtype.kind in "biuf":
        return _unmasked(array)
    if array.size == 0:
        return np.zeros(array.shape)
    if array.dtype.kind in "OU":
        objects = np.array(x if array.dtype.kind == "U" else array, dtype=object, subok=False)
        objects[np.ma.getmaskarray(array)] = None
        return _from_objects(objects, "pd.to_numeric(...)" if hasattr(x, "iloc") else "float(...)")
    raise DataError(f"an array of {array.dtype} does not contain numbers")


def _array_of(x: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(x)
    except ValueError:
        lengths = [len(row) if hasattr(row, "__len__") else -1 for row in x] if isinstance(x, Sequence) else []
        for row, length in enumerate(lengths):
            if length != lengths[0]:
                cause = "too_few_fields" if length < lengths[0] else "too_many_fields"
                message = f"row {row} has {max(length, 0)} numbers, row 0 has {max(lengths[0], 0)}"
                raise from_place(message, row, -1, cause) from None
        raise


def _is_null(value: Any) -> bool:
    return type(value).__name__ in ("NAType", "NaTType")


def _as_float(value: Any) -> float | None:
    try:
        return None if isinstance(value, (str, bytes)) else float(value)
    except OverflowError:  # an int; the extension refuses infinities with their place
        return np.inf if value > 0 else -np.inf
    except (TypeError, ValueError):
        return None


def _from_objects(array: npt.NDArray[np.object_], converter: str) -> Floats:
    """Numbers, and None or a null for what is missing; anything else is refused with its place."""
    if array.ndim == 0:
        hints = {"collect": "; collect() it first", "__aiter__": "; process_aiter takes an asynchronous source"}
        hint = next((text for name, text in hints.items() if hasattr(array[()], name)), "")
        raise TypeError(f"{type(array[()])!r} cannot be read as rows of numbers{hint}")
    floats = np.empty(array.shape)
    for place, value in np.ndenumerate(array):
        number = np.nan if value is None or _is_null(value) else _as_float(value)
        if number is None:
            row, column = ((0,) + place)[-2:]
            raise _no_number(value, row, column, column, converter)
        floats[place] = number
    return floats


# ---- Keys and times ----


def key_of(key: Any, row: int = -1) -> str | bytes:
    """A key as the extension wants it; what is neither str nor bytes is written as text."""
    if isinstance(key, (str, bytes)):
        return key
    if key is None or _is_null(key) or key != key:
        place = f"the key of row {row}" if row >= 0 else "the key"
        raise from_place(f"{place} is missing ({key!r}); give such rows a key of their own, such as ''", row, -1)
    return str(key)


def keys_of(keys: Any) -> tuple[str | bytes, ...]:
    """The keys of rows as the extension wants them."""
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(keys, method):
            keys = getattr(keys, method)()
            break
    if isinstance(keys, (str, bytes)) or not isinstance(keys, Iterable):
        raise DataError("there must be a key for each row")
    return tuple(key if isinstance(key, (str, bytes)) else key_of(key, row) for row, key in enumerate(keys))


def seconds_of(times: Any) -> Floats:
    """The times of rows in seconds since 1970: from datetimes, taken as UTC without a zone, or from numbers since 1970."""
    array = np.asarray(times)
    if array.ndim != 1:
        raise DataError("there must be a time for each row")
    if array.dtype.kind in "iuf":
        return _seconds_of_numbers(array)
    if array.dtype.kind in "OUT":
        return np.array([_seconds_of_one(time) for time in array.tolist()], dtype=np.float64)
    if array.dtype.kind != "M":
        raise DataError(f"an array of {array.dtype} does not contain times")
    whole, rest = np.divmod(array.astype("datetime64[ns]").astype(np.int64), 1_000_000_000)
    return np.where(np.isnat(array), np.nan, whole + rest / 1e9)


def seconds_of_index(x: Any, columns: int) -> Floats | None:
    """The times in the index of a DataFrame of pandas, or of a Series that is one column; None if it has other labels."""
    index = getattr(x, "index", None)
    has_times = type(index).__name__ == "DatetimeIndex" and (hasattr(x, "columns") or columns <= 1)
    return seconds_of(index) if has_times else None


def _seconds_of_numbers(array: npt.NDArray[Any]) -> Floats:
    """From seconds, milliseconds, microseconds or nanoseconds: by their size, as the command line reads them."""
    numbers = array.astype(np.float64)
    size = np.abs(numbers)
    units = _units_of(size)
    seconds = numbers / units
    if array.dtype.kind in "iu":  # a whole number of nanoseconds has more digits than a double
        large = size >= 2.0**53
        divisor, whole = units[large].astype(np.uint64), np.abs(array[large]).astype(np.uint64)
        seconds[large] = np.sign(numbers[large]) * (whole // divisor + whole % divisor / units[large])
    return np.asarray(seconds, dtype=np.float64)


def _units_of(size: Floats) -> Floats:
    """The units per second of each number; mostly it is the same for all, as it is for the least and the greatest."""
    some = size[size > 0]
    ends = [_core.time_units(end) for end in (some.min(), some.max())] if some.size > 0 else [1.0]
    units = np.full(size.shape, ends[0]) if ends[0] == ends[-1] else np.vectorize(_core.time_units, otypes="d")(size)
    return np.where(units > 0, units, 1.0)


_ISO = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?(Z|[+-]\d\d(?::?\d\d)?)?)?"
)


def _old_iso(text: str) -> str:
    """A time of ISO 8601 as Python writes it itself; before 3.11 it reads no other form."""
    match = _ISO.fullmatch(text)
    if match is None:
        raise ValueError(text)
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    zone = "+00:00" if zone == "Z" else "" if zone is None else f"{zone[:3]}:{zone[3:].lstrip(':') or '00'}"
    return f"{year}-{month}-{day}T{hour or '00'}:{minute or '00'}:{second or '00'}.{(fraction or '').ljust(6, '0')[:6]}{zone}"


def _seconds_of_one(time: Any) -> float:
    if time is None or time != time:  # NaN, NaT
        return np.nan
    if isinstance(time, datetime):
        return (time if time.tzinfo else time.replace(tzinfo=timezone.utc)).timestamp()
    if isinstance(time, date):
        return datetime(time.year, time.month, time.day, tzinfo=timezone.utc).timestamp()
    if isinstance(time, (int, float)):
        return float(_seconds_of_numbers(np.array([time]))[0])
    try:
        return _seconds_of_one(datetime.fromisoformat(time if sys.version_info >= (3, 11) else _old_iso(time)))
    except (TypeError, ValueError):
        message = f"{time!r} is not a time; ISO 8601, such as '2026-11-15T22:00:00Z', or a number of seconds since 1970"
        raise because("not_a_time", DataError(message)) from None

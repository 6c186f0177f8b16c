"""What is not a dict, a list of numbers or a buffer of floats becomes an array here, for the extension.

DataFrames and tables are known by what they can do, not by their class, so that none of their packages is imported:
`__arrow_c_stream__` (polars, Arrow, DuckDB ...), else `__array__` with `columns` (pandas).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import DataError, from_column, from_place

Floats = npt.NDArray[np.float64]
Names = tuple[Any, ...]


def rows_of(x: Any, names: Names | None, ignore_unknown: bool) -> tuple[Any, Names | None]:
    """An array of float64 (or a dict) and the names of its columns, which are in the order of `names` if given."""
    if isinstance(x, Mapping):
        return dict(x), None
    if not hasattr(x, "__array__") and not hasattr(x, "__arrow_c_stream__"):
        return _floats(x), None
    if _is_pandas_like(x):
        return _by_name(_floats_of_pandas(x), tuple(x.columns), names, ignore_unknown)
    if _is_labelled_row(x):
        return dict(zip(x.index, _floats(x))), None
    if hasattr(x, "__arrow_c_stream__") and getattr(x, "ndim", 2) != 1 and not hasattr(x, "to_frame"):
        array, came = _core.arrow_rows(x.__arrow_c_stream__(None))
        return _by_name(array, came, names, ignore_unknown)
    return _floats(x), None


def _is_pandas_like(x: Any) -> bool:
    return hasattr(x, "columns") and hasattr(x, "iloc") and hasattr(x, "to_numpy")


def _floats_of_pandas(frame: Any) -> Floats:
    """The numbers of a DataFrame; pandas itself would take dates and text with digits for numbers, too."""
    plain = True
    for place, (name, dtype) in enumerate(zip(frame.columns, frame.dtypes)):
        kind = getattr(dtype, "kind", "")
        plain = plain and kind in "biuf"
        if kind not in "biuf" and dtype != np.dtype(object):
            raise from_column(f"column {name!r} contains {dtype}, not numbers; drop it", place)
    if plain:
        return np.asarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))
    return _from_objects(frame.to_numpy(dtype=object), tuple(frame.columns))


def _is_labelled_row(x: Any) -> bool:
    """A row of a DataFrame by its labels, as iterrows gives: a Series whose index holds names."""
    return hasattr(x, "iloc") and getattr(x, "ndim", 0) == 1 and len(x) > 0 and all(isinstance(k, str) for k in x.index)


def _floats(x: Any) -> Floats:
    array = np.asarray(x)
    if array.dtype.kind in "biuf":
        return np.asarray(array, dtype=np.float64)
    if array.size == 0:
        return np.zeros(array.shape)
    if array.dtype.kind == "O":
        return _from_objects(array)
    raise DataError(f"an array of {array.dtype} does not contain numbers")


def _from_objects(array: npt.NDArray[np.object_], names: Names | None = None) -> Floats:
    """Numbers, and None or a null for what is missing; anything else is refused with its place."""
    if array.ndim == 0:
        hint = "; collect() it first" if hasattr(array[()], "collect") else ""
        raise TypeError(f"{type(array[()])!r} cannot be read as rows of numbers{hint}")
    floats = np.empty(array.shape)
    for place, value in np.ndenumerate(array):
        try:
            if isinstance(value, (str, bytes)):
                raise TypeError
            floats[place] = np.nan if value is None else float(value)
        except (TypeError, ValueError):
            if type(value).__name__ in ("NAType", "NaTType"):
                floats[place] = np.nan
                continue
            row, column = ((0,) + place)[-2:]
            name = repr(names[column]) if names else column
            raise from_place(f"{value!r} is not a number (row {row}, column {name})", row, column) from None
    return floats


def _by_name(array: Floats, came: Names, names: Names | None, ignore_unknown: bool) -> tuple[Floats, Names | None]:
    """The columns as the detector has them: in its order, NaN for those that did not come."""
    if len(set(came)) != len(came):
        raise DataError(f"columns have the same name: {came}")
    if names is None or came == names:
        return array, came
    unknown = [name for name in came if name not in names]
    if unknown and not ignore_unknown:
        raise DataError(f"there is no column {unknown[0]!r}; the columns are {names!r}")
    ordered = np.full((len(array), len(names)), np.nan)
    for i, name in enumerate(names):
        if name in came:
            ordered[:, i] = array[:, came.index(name)]
    return ordered, names


def keys_of(keys: Any) -> tuple[str | bytes, ...]:
    """The keys of rows as the extension wants them; what is neither str nor bytes is written as text."""
    if hasattr(keys, "tolist"):
        keys = keys.tolist()
    elif hasattr(keys, "to_list"):
        keys = keys.to_list()
    elif hasattr(keys, "to_pylist"):
        keys = keys.to_pylist()
    if isinstance(keys, (str, bytes)) or not isinstance(keys, Iterable):
        raise DataError("there must be a key for each row")
    return tuple(key if isinstance(key, (str, bytes)) else str(key) for key in keys)


def seconds_of(times: Any) -> Floats:
    """The times of rows in seconds since 1970: from datetimes, taken as UTC without a zone, or from such seconds."""
    array = np.asarray(times)
    if array.ndim != 1:
        raise DataError("there must be a time for each row")
    if array.dtype.kind in "iuf":
        return np.ascontiguousarray(array, dtype=np.float64)
    if array.dtype.kind == "O":
        return np.array([_seconds_of_one(time) for time in array], dtype=np.float64)
    if array.dtype.kind != "M":
        raise DataError(f"an array of {array.dtype} does not contain times")
    whole, rest = np.divmod(array.astype("datetime64[ns]").astype(np.int64), 1_000_000_000)
    return np.where(np.isnat(array), np.nan, whole + rest / 1e9)


def _seconds_of_one(time: Any) -> float:
    if time is None or time != time:  # NaN, NaT
        return np.nan
    if isinstance(time, datetime):
        return (time if time.tzinfo else time.replace(tzinfo=timezone.utc)).timestamp()
    if isinstance(time, (int, float)):
        return float(time)
    raise DataError(f"{time!r} is not a time")

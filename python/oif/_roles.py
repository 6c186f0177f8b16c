"""Columns that are not learned, by name: the key, the time, what is excluded; and text that is learned as categories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, AnyStr, NamedTuple

import numpy as np

from . import _core
from ._arrays import keys_of, seconds_of
from ._errors import DataError, because, from_place


class Roles(NamedTuple):
    """Which columns have another part to play than to be learned."""

    key: tuple[Any, ...] = ()
    time: Any = None
    exclude: tuple[Any, ...] = ()
    category: tuple[Any, ...] = ()

    def names(self) -> set[Any]:
        return {*self.key, *self.exclude, *(() if self.time is None else (self.time,))}


class Split(NamedTuple):
    """Rows without these columns, and what was in them."""

    rows: Any
    keys: tuple[str | bytes, ...] | None
    times: Any


def columns_of(names: Any) -> tuple[Any, ...]:
    """A single name is one column, not its letters."""
    return (names,) if isinstance(names, (str, int)) else tuple(names)


def roles_of(key: Any, time: Any, exclude: Any, category: Any = ()) -> Roles | None:
    names = tuple(name for name in columns_of(category) if not isinstance(name, int))  # numbers of an array are codes already
    roles = Roles(() if key is None else columns_of(key), time, columns_of(exclude), names)
    used = [*roles.key, *roles.exclude, *roles.category, *([] if time is None else [time])]
    twice = {name for name in used if used.count(name) > 1}
    if twice:
        raise DataError(f"column {min(twice, key=str)!r} has two roles")
    return roles if used else None


def split_one(row: Any, roles: Roles) -> tuple[dict[Any, Any], Any, Any]:
    """A row without these columns, its key and its time."""
    if hasattr(row, "_asdict"):
        row = row._asdict()
    elif isinstance(row, np.void) and row.dtype.names:
        row = {name: row[name] for name in row.dtype.names}
    elif hasattr(row, "iloc") and hasattr(row, "to_dict"):
        row = row.to_dict()
    if not isinstance(row, Mapping):
        raise DataError(f"columns have roles ({_listed(roles)}), so a row needs names: a dict, not {type(row).__name__}")
    left_out = roles.names()
    for name in (*roles.key, *(() if roles.time is None else (roles.time,))):
        if name not in row:
            raise because("unknown_column", DataError(f"the row has no column {name!r}; its columns are {tuple(row)!r}"))
    parts = [row[name] for name in roles.key]
    rest = {name: value for name, value in row.items() if name not in left_out}
    for name in roles.category:
        if name in rest:
            rest[name] = code_of(rest[name])
    return rest, _joined(parts), row.get(roles.time)


def code_of(value: Any) -> float:
    """The number that stands for a category; what is not text is written as text."""
    if value is None or value != value:
        return np.nan
    return _core.category(value if isinstance(value, str) else str(value))


def _with_codes(x: Any, categories: Iterable[Any]) -> Any:
    """The table with numbers instead of the text of categories."""
    for name in categories:
        codes = np.array([code_of(value) for value in _values(_column(x, name))], dtype=np.float64)
        if isinstance(x, np.ndarray):
            kinds = [(own, np.float64 if own == name else x.dtype[own]) for own in x.dtype.names or ()]
            records = np.zeros(len(x), dtype=kinds)
            for own in x.dtype.names or ():
                records[own] = codes if own == name else x[own]
            x = records
        elif isinstance(x, Sequence):
            x = [{**row, name: code} if name in row else row for row, code in zip(x, codes.tolist())]
        elif hasattr(x, "iloc"):
            x = x.assign(**{name: codes})
        elif hasattr(x, "with_columns"):
            x = x.with_columns(type(x[name])(name, codes))
        else:
            import pyarrow

            x = x.set_column(x.column_names.index(name), name, pyarrow.array(codes))
    return x


def split(x: Any, roles: Roles) -> Split:
    """Rows of a table without these columns, the keys and the times."""
    if isinstance(x, Mapping):
        row, key, time = split_one(x, roles)
        return Split(row, None if key is None else keys_of([key]), None if time is None else seconds_of([time]))
    x = _table(x)
    names = _names_of(x)
    if names is None:
        raise DataError(f"columns have roles ({_listed(roles)}), so rows need names: a DataFrame or dicts, not {type(x).__name__}")
    for name in (*roles.key, *roles.category, *(() if roles.time is None else (roles.time,))):
        if name not in names:
            raise because("unknown_column", DataError(f"there is no column {name!r}; the columns are {tuple(names)!r}"))
    keys = None
    if len(roles.key) == 1:
        keys = keys_of(_column(x, roles.key[0]))
    elif roles.key:
        keys = keys_of([_joined(parts) for parts in zip(*(_values(_column(x, name)) for name in roles.key))])
    times = None if roles.time is None else seconds_of(_column(x, roles.time))
    rest = _without(x, [name for name in names if name in roles.names()], names)
    return Split(_with_codes(rest, roles.category), keys, times)


def _listed(roles: Roles) -> str:
    return ", ".join(sorted(map(repr, roles.names() | set(roles.category))))


def _joined(parts: Sequence[Any]) -> Any:
    """Several columns are one key, as the command line joins them."""
    if len(parts) < 2:
        return parts[0] if parts else None
    for part in parts:
        if part is None or part != part:
            raise from_place(f"a part of the key is missing: {tuple(parts)!r}", -1, -1)
    if any(isinstance(part, bytes) for part in parts):
        return b"/".join(_escaped(part if isinstance(part, bytes) else str(part).encode(), b"\\", b"/") for part in parts)
    return "/".join(_escaped(str(part), "\\", "/") for part in parts)


def _escaped(part: AnyStr, escape: AnyStr, separator: AnyStr) -> AnyStr:
    """So that other values never make the same key."""
    return part.replace(escape, escape + escape).replace(separator, escape + separator)


def _table(x: Any) -> Any:
    """Something whose columns can be taken and dropped."""
    if isinstance(x, Iterator) and not hasattr(x, "__arrow_c_stream__"):
        x = list(x)
    known = hasattr(x, "iloc") or hasattr(x, "get_column") or isinstance(x, (np.ndarray, Sequence))
    if known or hasattr(x, "drop_columns") or not hasattr(x, "__arrow_c_stream__"):
        return x
    import pyarrow

    return pyarrow.table(x)


def _names_of(x: Any) -> Sequence[Any] | None:
    if isinstance(x, np.ndarray):
        return None if x.dtype.names is None else list(x.dtype.names)
    if hasattr(x, "column_names"):
        names: Sequence[Any] = x.column_names
        return names
    if hasattr(x, "columns"):
        return list(x.columns)
    if isinstance(x, Sequence) and len(x) > 0 and all(isinstance(row, Mapping) for row in x):
        return list(dict.fromkeys(name for row in x for name in row))
    return None


def _column(x: Any, name: Any) -> Any:
    if isinstance(x, Sequence):
        return [row.get(name) for row in x]
    return x[name]


def _values(column: Any) -> Iterable[Any]:
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(column, method):
            values: Iterable[Any] = getattr(column, method)()
            return values
    return list(column)


def _without(x: Any, left_out: Sequence[Any], names: Sequence[Any]) -> Any:
    if isinstance(x, np.ndarray):
        return x[[name for name in names if name not in left_out]]
    if isinstance(x, Sequence):
        return [{name: value for name, value in row.items() if name not in left_out} for row in x]
    if hasattr(x, "drop_columns"):
        return x.drop_columns(list(left_out))
    return x.drop(columns=list(left_out)) if hasattr(x, "iloc") else x.drop(list(left_out))

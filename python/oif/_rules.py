"""Rules that mute alerts: as texts, and the arguments of Pipeline that are short for some of them."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping
from typing import Any, Union

from ._errors import ParameterError, because
from ._results import Rule
from ._roles import columns_of

Rules = Union[str, Iterable[Union[str, Rule]]]

_TIMED = re.compile(r"\s(?:time=|days=|from=|until=)")


def text_of(rules: Rules) -> bytes:
    """Rules as the library reads them: one on each line, so the number of a line is the number of its rule."""
    text = rules if isinstance(rules, str) else "\n".join(_line_of(rule, i) for i, rule in enumerate(rules))
    return text.encode("utf-8", "surrogateescape")


def _line_of(rule: object, number: int) -> str:
    text = rule.text if isinstance(rule, Rule) else rule
    if not isinstance(text, str):
        raise TypeError(f"a rule is a text, such as 'mute column=latency direction=low', not {rule!r}")
    line = text.rstrip("\r\n")  # those of a file have their ends
    if "\n" in line:
        error = because("bad_rule", ParameterError(f"one rule is one line, not {rule!r}; give lines as a single text"))
        error.row = number
        raise error
    return line


def all_of(
    rules: Rules | None = None, only_high: Any = (), only_low: Any = (), min_change: Mapping[Any, Any] | None = None
) -> bytes:
    """The rules that were given, then those that the other arguments are short for."""
    short = [
        *(f"mute column={_pattern(column)} direction=low" for column in columns_of(only_high)),
        *(f"mute column={_pattern(column)} direction=high" for column in columns_of(only_low)),
        *(f"mute column={_pattern(column)} change<{_size(size)}" for column, size in (min_change or {}).items()),
    ]
    return b"\n".join([text_of(rules or ()), *([text_of(short)] if short else [])])


def need_times(rules: Iterable[Rule]) -> bool:
    """Whether some of them mute nothing where rows have no times."""
    return any(_TIMED.search(rule.text.partition("#")[0]) for rule in rules)


def _pattern(column: Any) -> str:
    """A column as rules name it. They count columns without names from 1. A few characters cannot be part of a pattern; ?
    matches these."""
    if not isinstance(column, str):
        try:
            return str(operator.index(column) + 1)
        except TypeError:
            raise ParameterError(f"rules find columns by text or by number, not by {column!r}") from None
    text = re.sub(r'["\n\r,]', "?", column)
    return f'"{text}"' if re.search(r"[\s#]", text) or not text else text


def _size(size: Any) -> str:
    if isinstance(size, str):
        return size
    number = repr(float(size))
    return number[:-2] if number.endswith(".0") else number

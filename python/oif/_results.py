"""What is known about rows, as structured arrays and DataFrames: for the process of pipelines and of detectors."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sized
from enum import IntEnum
from typing import Any, Literal, NamedTuple, TypedDict, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import dense
from ._copies import Copied
from ._errors import ParameterError
from ._progress import Progress, progress_of
from ._types import Row, Rows


class Episode(IntEnum):
    """Anomalies that follow each other closely are one episode."""

    NONE = 0
    BEGINS = 1
    LASTS = 2
    ENDS = 3


class Grade(IntEnum):
    """How bad an anomaly is, by its severity: page on one, log the others."""

    NONE = 0  # not an anomaly
    NOTE = 1  # severity above 2.8
    WARNING = 2  # 3.3 or more
    CRITICAL = 3  # 4 or more


class Reason(IntEnum):
    """What is unusual about a row, or a column of it."""

    VALUES = 0  # its values: a detector gives it a high score
    JUMP = 1  # a column has changed unusually much since the rows before
    LEVEL = 2  # a column has left its level, for some time
    SPREAD = 3  # the last rows are unusually far from their levels
    STUCK = 4  # a column repeats one value for longer than it usually does
    MISSING = 5  # a column has no value for longer than it usually has none
    SEASON = 6  # a value is unlike those that the same time of earlier periods had
    PARTNER = 7  # a column no longer follows another one as it did
    SILENCE = 8  # the row came after a pause longer than any before
    NEW_VALUE = 9  # a category has a value that is not known
    RARE_VALUE = 10  # a category has a value that is rarer than others
    FIRST_VALUE = 11  # a column that was always missing has a value


class Result(NamedTuple):
    """The result of a row.

    score: what the detector says: the higher, the more anomalous; NaN while a shingle has too few rows; of several
        detectors, whose scores have no common scale, the severity
    threshold: higher severities are anomalous; infinite until ready
    ready: 48 rows of the key came before; until then nothing is anomalous
    learned: the row is now part of what is normal
    grade: how bad an anomaly is, by its severity
    severity: how rare such evidence is: one unit more is about a tenth as frequent; 0 until ready
    reason: what the severity is due to
    has_no_model: there was no room for a model of the row's key, so the score is NaN
    rule: the rule that muted the alert, or the row: 1 is the first of Pipeline.rules; 0: none did
    """

    score: float
    threshold: float
    anomaly: bool
    ready: bool
    learned: bool
    episode: Episode
    grade: Grade
    severity: float
    reason: Reason
    has_no_model: bool = False
    rule: int = 0

    def to_dict(self) -> dict[str, Any]:
        """By name, for JSON: the episode, the grade and the reason as words, None for what is not known yet: the threshold
        while it is infinite, the score while it is NaN."""
        return _json(self._asdict())


def _json(fields: dict[str, Any]) -> dict[str, Any]:
    for name, value in fields.items():
        if isinstance(value, IntEnum):
            fields[name] = value.name.lower()
        elif isinstance(value, float) and not math.isfinite(value):
            fields[name] = None
    return fields


class EpisodeInfo(NamedTuple):
    """An episode of anomalies of one key. Times are seconds since 1970, NaN where they are unknown.

    number: among the episodes of the key, from 1
    first_row: among the rows of the key, from 1
    rows: from the first to the last so far, calm ones included
    anomalies: how many of these are anomalous
    peak_row, peak_grade, peak_score, peak_severity: of the worst row
    column: the first reason of the worst row, if it was explained while it was the last one; else None
    direction, value: whether its value was low (-1) or high (1), and which it was; NaN: it was missing
    reason: what is unusual about the worst row
    size, usual: as in Attribution
    """

    number: int
    first_row: int
    first_time: float
    last_time: float
    rows: int
    anomalies: int
    is_over: bool
    peak_grade: Grade
    peak_row: int
    peak_score: float
    peak_severity: float
    column: Any
    direction: int
    value: float
    reason: Reason
    size: float
    usual: float

    def to_dict(self) -> dict[str, Any]:
        """By name, for JSON: the grade and the reason as words, what is unknown as None."""
        return _json(self._asdict())


class Season(NamedTuple):
    """A season of a key: after how long the stream repeats itself.

    rows: its period in rows; 0 if it is in seconds
    seconds: its period in seconds; 0 if it is in rows
    was_found: the pipeline found it; otherwise an option gave it
    strength: 0 to 1, in the column where it is strongest; 0 while unknown
    column: that column; None while unknown
    """

    rows: int
    seconds: float
    was_found: bool
    strength: float
    column: Any

    def to_dict(self) -> dict[str, Any]:
        """By name, for JSON."""
        return _json(self._asdict())


class Silence(NamedTuple):
    """A key that has been silent for too long.

    key: None without keys
    since: the time of its last row, in seconds since 1970
    allowed: the longest pause allowed, in seconds
    """

    key: str | bytes | None
    since: float
    allowed: float

    def to_dict(self) -> dict[str, Any]:
        """By name, for JSON."""
        return _json(self._asdict())


class KeyInfo(NamedTuple):
    """A key of a pipeline.

    key: None for the rows without a key
    rows: of this key that were processed
    last_time: the latest time of a row, in seconds since 1970; NaN if no row had one
    memory_bytes: of its model
    ready: it had 48 rows; before that no row is anomalous
    in_episode: its last rows are an episode
    silent: Pipeline.silent has reported its current pause
    evicted: its model is on disk, and all of the above is unknown
    """

    key: str | bytes | None
    rows: int
    last_time: float
    memory_bytes: int
    ready: bool
    in_episode: bool
    silent: bool
    evicted: bool

    def to_dict(self) -> dict[str, Any]:
        """By name, for JSON."""
        return _json(self._asdict())


class PastEpisode(NamedTuple):
    """A past episode. Its column and reason are those of its first row.

    key: None for rows without keys
    number: among the episodes of its key, from 1
    column: the learned column with the highest share; None if unknown
    change: how far its value was outside what was expected, and change_share as a fraction of that; NaN if unknown
    is_key_cut: the key is long, and only its first bytes are kept
    """

    key: str | bytes | None
    number: int
    first_row: int
    first_seconds: float
    severity: float
    column: Any
    direction: int
    change: float
    change_share: float
    reason: Reason
    is_key_cut: bool


class TableInfo(NamedTuple):
    """How a table was judged: its rows, how many of them are anomalies, and the share of rows that would look like one by
    chance, at most: in a table without anomalies."""

    rows: int
    anomalies: int
    chance: float


class Rule(NamedTuple):
    """A rule that mutes alerts.

    text: as it was given; a named time zone is replaced by its POSIX text
    held: rows whose alert it muted, or which it ignored
    first, last: the times of the first and the last of these, in seconds since 1970; NaN while unknown
    """

    text: str
    held: int = 0
    first: float = math.nan
    last: float = math.nan

    def to_dict(self) -> dict[str, Any]:
        """By name, for JSON: what is unknown as None."""
        return _json(self._asdict())


class Expected(NamedTuple):
    """What was expected of a column.

    value: the number as it was learned; NaN: it is missing, or a name
    low, high: the range that was expected; NaN while unknown
    by: what the range is based on: "values" of recent rows, of which about 97 in 100 are within; the "season", at this time of
        earlier periods; its "partner"; the row before ("jump"); or its "level", also for a "spread"
    """

    column: Any
    value: float
    low: float
    high: float
    by: Literal["values", "season", "partner", "jump", "level", "spread"]

    def to_dict(self) -> dict[str, Any]:
        """By name, for JSON: what is unknown as None."""
        return _json(self._asdict())


class Attribution(NamedTuple):
    """How much of a score is due to a column.

    direction: whether its number is low (-1), high (1) or neither (0), as one that is missing
    reason: what is unusual about it
    partner: the column that it no longer follows, for Reason.PARTNER; else None
    value: the number as it was learned; NaN: it is missing, or a name
    expected: the range that was expected of it, (low, high); None: it is unknown, or the reason is not the size of the number
    size: of a jump, how much the value changed; of a level, how far it is from its level; of a spread, standard deviations; of
        what is stuck or missing, rows; else NaN
    usual: the usual most of that; else NaN
    """

    column: Any
    share: float
    direction: int
    reason: Reason = Reason.VALUES
    partner: Any = None
    value: float = math.nan
    expected: tuple[float, float] | None = None
    size: float = math.nan
    usual: float = math.nan

    def to_dict(self) -> dict[str, Any]:
        """By name, for JSON: the reason as a word, what is unknown as None."""
        return _json(self._asdict())


_core._set_result_type(Result, tuple(Episode), tuple(Grade), tuple(Reason))

# As `record` in pipeline_rows.c.
RESULT = np.dtype(
    [
        ("score", np.float64),
        ("threshold", np.float64),
        ("anomaly", np.bool_),
        ("ready", np.bool_),
        ("learned", np.bool_),
        ("episode", np.uint8),
        ("grade", np.uint8),
        ("severity", np.float64),
        ("reason", np.int8),
        ("has_no_model", np.bool_),
        ("rule", np.uint32),
    ],
    align=True,
)

Explain = Union[bool, Literal["anomalies"]]
Output = Literal["auto", "array", "pandas", "polars", "arrow"]
Switch = Union[bool, Literal["off", "on"]]

MOVES = ("jump(*)", "flutter(*)", "drift(*)")  # how the values of a row moved: columns of detectors beside its own


class AlertOptions(TypedDict, total=False):
    """The options of oif.Pipeline that suit a single series."""

    alert_rate: float
    learn: Literal["all", "normal", "decay", "none"]
    season_rows: int
    find_season: Switch


def as_words(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as the library has them: what is switched on or off is a word there."""
    words = {False: "off", True: "on"}
    return {name: words[value] if isinstance(value, bool) else value for name, value in options.items()}


class Alerting(Copied, _core.Pipeline):
    """A pipeline of the extension whose results are arrays or DataFrames."""

    _native = _core.Pipeline
    table: TableInfo | None = None
    _threads = 1

    def _has_rows(self) -> bool:
        return self.columns is not None

    def _arguments(self) -> tuple[Any, ...]:
        return self.kind, dict(self.params), dict(self.options)

    def _memory_bytes(self) -> int:
        return self.memory_bytes

    def _learned_names(self, names: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        """The names of the columns that are learned: load, rate(rx_bytes)."""
        learned = self._learned()
        if learned is None or not any(kind for _, kind in learned):
            return names
        return tuple(
            f"{kind}({names[column] if names else column})" if kind else (names[column] if names else column)
            for column, kind in learned
        )

    def _results(
        self,
        x: Rows | Row,
        keys: tuple[str | bytes, ...] | None,
        explain: Explain,
        output: Output,
        detector: _core.Detector | None = None,
        times: npt.NDArray[np.float64] | None = None,
        progress: Progress = False,
        is_table: bool = False,
    ) -> Any:
        """The results of rows, which are taken for a detector if one is given."""
        _check_words(explain, output)
        x = dense(x)
        with progress_of(progress, len(x) if isinstance(x, Sized) else 0, "rows") as bar:
            (raw, shares, directions), single, table = self._process(
                x,
                keys,
                times,
                _make_room(explain),
                bool(explain),
                explain == "anomalies",
                detector,
                bar.update if progress else None,
                is_table,
                self._threads,
            )
        records = raw.view(RESULT)
        if table is not None:
            self.table = TableInfo(len(records), *table)
        package = _package_of(x) if output == "auto" else output
        if package in ("pandas", "polars", "arrow"):
            names = self._learned_names((detector or self).column_names)
            return _frame(package, x, names, records, shares, directions)
        results = _with_attributions(records, shares, directions) if explain else records
        return results[0] if single else results


def _check_words(explain: object, output: object) -> None:
    if not (isinstance(explain, (bool, np.bool_)) or explain == "anomalies"):
        raise ParameterError(f"explain is True, False or 'anomalies', not {explain!r}")
    if output not in ("auto", "array", "pandas", "polars", "arrow"):
        raise ParameterError(f"output is 'auto', 'array', 'pandas', 'polars' or 'arrow', not {output!r}")


def _make_room(explain: object) -> Any:
    def make(count: int, width: int) -> tuple[Any, Any, Any]:
        # as bytes: of a structured array, NumPy would describe the fields to the extension, for 9 us
        records = np.zeros(count * RESULT.itemsize, np.uint8)
        if not explain:
            return records, None, None
        return records, np.zeros((count, width)), np.zeros((count, width), np.int8)

    return make


def _with_attributions(records: Any, shares: Any, directions: Any) -> npt.NDArray[np.void]:
    width = shares.shape[1]
    fields = [(name, RESULT[name]) for name in RESULT.names or ()]
    results = np.empty(len(records), [*fields, ("share", np.float64, (width,)), ("direction", np.int8, (width,))])
    for name in RESULT.names or ():
        results[name] = records[name]
    results["share"], results["direction"] = shares, directions
    return results


def _package_of(x: object) -> str:
    """The package of a DataFrame; no other value has one that matters."""
    if type(x).__module__.startswith("pyarrow.") and type(x).__name__ in ("Table", "RecordBatch"):
        return "arrow"
    return type(x).__module__.partition(".")[0] if type(x).__name__ == "DataFrame" else ""


def _frame(package: str, x: Any, names: tuple[Any, ...] | None, records: Any, shares: Any, directions: Any) -> Any:
    data = {name: records[name] for name in RESULT.names or ()}
    if shares is not None:
        for i, name in enumerate(names or range(shares.shape[1])):
            data[f"share_{name}"] = shares[:, i]
            data[f"direction_{name}"] = directions[:, i]
    if package == "arrow":
        import pyarrow

        return pyarrow.table(data)
    frames = sys.modules.get(package) or __import__(package)
    index = {"index": x.index} if package == "pandas" and _package_of(x) == "pandas" else {}
    return frames.DataFrame(data, **index)

"""From rows to alerts: shingles, thresholds, episodes, and a model for each key."""

from __future__ import annotations

import datetime
import math
import operator
import os
import re
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union, overload

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import KeyWarning, TimeWarning, key_of, keys_of, rows_of, seconds_of, seconds_of_index, warn
from ._copies import SupportsWrite, counted, memory_text, names_text
from ._detectors import DETECTORS, Detector, _changed
from ._errors import DataError, ParameterError, because
from ._parameters import Option
from ._progress import Progress
from ._results import (
    MOVES,
    Alerting,
    Attribution,
    EpisodeInfo,
    Expected,
    Explain,
    Grade,
    KeyInfo,
    Output,
    PastEpisode,
    Reason,
    Result,
    Rule,
    Season,
    Silence,
    Switch,
    as_words,
)
from ._roles import Roles, columns_of, roles_of, split, split_one
from ._rules import Rules, all_of, need_times, text_of
from ._types import MOST_THREADS, Frame, Row, Rows

if TYPE_CHECKING:
    import pandas
    import polars
    from typing_extensions import Self

_Detector = Union[Detector, type[Detector], str]
_GRADES = tuple(Grade)
_REASONS = tuple(Reason)
_BASES: dict[int, Literal["values", "season", "partner", "jump", "level", "spread"]] = {
    Reason.VALUES: "values",
    Reason.SEASON: "season",
    Reason.PARTNER: "partner",
    Reason.JUMP: "jump",
    Reason.LEVEL: "level",
    Reason.SPREAD: "spread",
}
_Season = Union[int, str, datetime.timedelta]

FEWEST_ROWS = 40  # of a table; fewer say too little
MOST_ROWS = 2000  # later a stream is as good, and it follows changes


class Pipeline(Alerting):
    """Turns rows into alerts: scores them, and reports how severe each one is and which are anomalous, per key.

    Args:
        detector: a detector, its class or its name; every key gets one like it; a RollingIsolationForest if not given.
            Several judge together: a list of them, or "rolling-iforest+sdo". What a detector has learned is copied: it
            scores the rows without a key, and its window is the first history
        alert_rate: the most episodes of anomalies that a healthy stream may cost, per row: a cap, not a quota; 0.001 is one in
            1,000 rows; each key has a cap of its own
        learn: which rows are learned: all; only those that are not anomalous (normal); also the first four anomalies of an
            episode, and all once 64 of them have come (decay); or none, to compare rows with what was learned
        shingle: rows of a series that are scored as one
        max_keys: keys that have a model at the same time; beyond that a new key waits until another is no longer seen
        memory_limit: bytes that all models may use, enforced in the same way; 0: no limit
        season_rows: rows after which the stream repeats itself, so a number may be unusual for its time; 0: none
        season_seconds: seconds after which it repeats itself, by the times of the rows; 0: none
        other_season_seconds: a second season in seconds, such as a week beside a day; 0: none
        find_season: whether to search for a season while rows arrive, which takes a few periods; a given season
            switches the search off
        moves: whether detectors also get how the values of a row moved; not with a shingle, a detector that has learned rows, or
            one that minds constant columns (IForestASD, HalfSpaceTrees, Loda, and lists with one of them)
        alerts: the most episodes per day that all keys together may cost, a cap instead of alert_rate; 0: none
        silence: alert after this many seconds without a row; 0: after more than twice the longest pause of the last weeks; -1:
            never; these two need the times of rows
        season: seasons in short: 96 rows, "1d", a timedelta, or several, such as ["1d", "1w"]; "auto", the default, searches
            for one; "off": none
        diff: columns, by name or number; the difference from the previous row is learned instead
        rate: counters; the increase per second of the times is learned, or per row without times; a counter that
            falls began at 0 again
        log: columns whose logarithm is learned; 0 and below is then missing
        keep_original: also learn the original columns of diff, rate and log
        evicted: what happens to the model of a key that loses it: "forget", or "keep" beside the state file that
            Pipeline.open holds
        key: the column, by name, whose value says which model a row belongs to; several columns are one key
        time: the column with the times of rows: datetimes, dates, ISO 8601, or numbers since 1970, of seconds, milliseconds,
            microseconds or nanoseconds by their size
        exclude: columns to leave out
        category: columns of names, by name: a value that is new or unusually rare is an anomaly
        ignore_unknown: whether columns that the first dict or DataFrame did not have are ignored
        rules: rules that mute alerts, as lines of one text or one text each: "mute column=latency direction=low". "mute"
            mutes alerts, "ignore" also keeps rows from being learned. All conditions of a rule must hold: column=
            (those without names are called 1, 2, ...), direction=, change<, reason=, key=, time=, days=, zone=, from=, until=
        only_high: columns where only high values are alerts: by name or pattern ("disk_*"), or by number from 0 where they
            have no names; short for the rule "mute column=... direction=low"
        only_low: columns where only low values are alerts: "mute column=... direction=high"
        min_change: how far values must be outside what was expected to be alerts, by column: {"latency": "20%", "errors": 5}
            is short for the rules "mute column=latency change<20%" and "mute column=errors change<5"
        keep_episodes: keep the last 256 episodes, so rules can be proposed (past_episodes, propose); also an attribute that can
            be set
        threads: threads, 1 to 16, that share the keys of a block of rows; results do not depend on it. Rows of new keys, of keys
            with packed models and all rows with `alerts` are processed in sequence; also an attribute that can be set

    >>> import numpy as np, oif
    >>> rows = np.random.default_rng(1).normal(size=(5000, 2))
    >>> rows[4321] = 9
    >>> alerts = oif.Pipeline(oif.RollingIsolationForest(seed=1), alert_rate=0.001)
    >>> results = alerts.process(rows, explain="anomalies")
    >>> results["anomaly"][4321], results["severity"][4321] > 4, results["direction"][4321]
    (np.True_, np.True_, array([1, 1], dtype=int8))
    >>> oif.Grade(results["grade"][4321])
    <Grade.CRITICAL: 3>
    >>> alerts.process_one([0.1, -0.2]).anomaly
    False
    >>> [attribution.column for attribution in alerts.explain()]
    [0, 1]
    """

    _roles: Roles | None = None
    _holds_file = False
    _told_of_room = False
    _told_of_times = False

    alert_rate = Option(float)
    learn = Option(str)
    shingle = Option(int)
    max_keys = Option(int)
    memory_limit = Option(int)
    evicted = Option(str)
    season_rows = Option(int)
    season_seconds = Option(float)
    other_season_seconds = Option(float)
    find_season = Option(str)
    moves = Option(str)
    alerts = Option(float)
    silence = Option(float)

    def __init__(
        self,
        detector: _Detector | Sequence[_Detector] = _core.default_detector,
        *,
        alert_rate: float = 0.001,
        learn: Literal["all", "normal", "decay", "none"] = "decay",
        shingle: int = 1,
        max_keys: int = 100000,
        memory_limit: int = 0,
        evicted: Literal["forget", "keep"] = "forget",
        season_rows: int = 0,
        season_seconds: float = 0.0,
        other_season_seconds: float = 0.0,
        find_season: Switch = "on",
        moves: Switch = "on",
        alerts: float = 0.0,
        silence: float = 0.0,
        season: _Season | Iterable[_Season] = (),
        diff: Iterable[Any] = (),
        rate: Iterable[Any] = (),
        log: Iterable[Any] = (),
        keep_original: bool = False,
        key: Any = None,
        time: Any = None,
        exclude: Any = (),
        category: Any = (),
        ignore_unknown: bool = False,
        rules: Rules | None = None,
        only_high: Any = (),
        only_low: Any = (),
        min_change: Mapping[Any, float | str] | None = None,
        keep_episodes: bool = False,
        threads: int = 1,
    ) -> None:
        kind, params = _detectors_of(detector)
        if evicted == "keep" and not self._holds_file:
            raise ParameterError('evicted="keep" needs a state file: oif.Pipeline.open("alerts.oif", ..., evicted="keep")')
        trained = detector if isinstance(detector, Detector) and detector.rows_learned > 0 else None
        if trained is not None and (shingle > 1 or diff or rate or log or category):
            raise ParameterError("a detector that has learned rows cannot be used with shingle, diff, rate, log or category")
        self._roles = roles_of(key, time, exclude, category)
        options: dict[str, Any] = dict(alert_rate=alert_rate, learn=learn, shingle=shingle, max_keys=max_keys)
        options |= dict(memory_limit=memory_limit, evicted=evicted, season_rows=season_rows)
        options |= dict(season_seconds=season_seconds, other_season_seconds=other_season_seconds, find_season=find_season)
        options |= dict(moves=moves if trained is None else "off", alerts=alerts, silence=silence)
        self._derive = tuple(
            (column, kind_of_column, keep_original and kind_of_column != 4)
            for kind_of_column, columns in ((1, diff), (2, rate), (3, log), (4, category))  # as oif_derive
            for column in columns_of(columns)
        )
        options = as_words(options)
        _set_seasons(options, season)
        held_back = all_of(rules, only_high, only_low, min_change)
        super().__init__(kind, params, options, self._derive, held_back, keep_episodes)
        self.ignore_unknown = ignore_unknown
        self.threads = threads
        if trained is not None:
            self._adopt(trained)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *arguments: Any, **options: Any) -> Self:
        """Hold a state file while rows arrive: continue its pipeline, or begin one.

        Arguments are those of the constructor; those that differ from what the file contains are changed where that is
        possible, and rules that are given replace those of the file. save() without a path saves to the file; in a `with`
        block that happens at the end. With evicted="keep", evicted models are kept beside the file and return with their
        keys. Meanwhile no other program can hold the file.
        """
        pipeline = cls.__new__(cls)
        found = pipeline._hold(path)
        pipeline._holds_file = True
        if found:
            pipeline._resume(*arguments, **options)
        else:
            pipeline.__init__(*arguments, **options)  # type: ignore[misc]
        return pipeline

    def _resume(self, detector: Any = None, **options: Any) -> None:
        if detector is not None and _detectors_of(detector)[0] != self.kind:
            raise ParameterError(f"the state file contains a pipeline of {self.kind}, not {_detectors_of(detector)[0]}")
        rules = {name: options.pop(name) for name in ("rules", "only_high", "only_low", "min_change") if name in options}
        roles = {name: options.pop(name) for name in ("key", "time", "exclude", "category") if name in options}
        self._roles = roles_of(roles.get("key"), roles.get("time"), roles.get("exclude", ()), roles.get("category", ()))
        known = {name: value for name, value in as_words(options).items() if name in self.options}
        changed = {name: value for name, value in known.items() if self.options[name] != value}
        if changed:
            self.change(**changed)
        if "keep_episodes" in options:
            self.keep_episodes = options["keep_episodes"]
        self.threads = options.get("threads", 1)
        given = {name: value for name, value in rules.items() if value is not None}
        if given:
            self._set_rules(all_of(**given))

    @property
    def threads(self) -> int:
        """The threads, 1 to 16, that share the keys of a block of rows. Results do not depend on it."""
        return self._threads

    @threads.setter
    def threads(self, threads: int) -> None:
        threads = operator.index(threads)
        if not 1 <= threads <= MOST_THREADS:
            raise because("parameter_range", ParameterError(f"threads must be 1 to {MOST_THREADS}, not {threads}"))
        self._threads = threads

    def save(self, path: str | os.PathLike[str] | SupportsWrite | None = None, /) -> None:
        """Write a snapshot to a file, atomically: after a crash the file holds the old one or the new one.

        An open binary file, or anything else with a method write, gets all bytes at once. Without a path, it is the state
        file that Pipeline.open holds.
        """
        if path is None:
            self._save_held()
        else:
            super().save(path)

    def close(self) -> None:
        """Release the state file without saving; the pipeline is then empty. Does nothing without a file."""
        rules = self.rules
        self._release()
        if self._holds_file:
            self.rules = rules
        self._holds_file = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if self._holds_file:
            if kind is None:
                self._save_held()
            self.close()

    def _own(self) -> dict[str, Any]:
        return {name: value for name, value in super()._own().items() if not name.startswith(("_holds_", "_told_"))}

    def _arguments(self) -> tuple[Any, ...]:
        return *super()._arguments(), getattr(self, "_derive", ()), text_of(self.rules), self.keep_episodes

    def process_one(self, x: Row | Mapping[Any, Any], key: str | bytes | int | None = None, time: Any = None) -> Result:
        """Take one row: a dict, a sequence or an array of one dimension. Each key has a model of its own.

        The time is as in process. If columns have the roles of key and time, both are taken from the row.
        """
        if key is None and time is None and self._roles is None:
            if not self._told_of_times:
                self._mind_times()
            return self._process_one(x)
        if self._roles is not None:
            x, own_key, own_time = split_one(x, self._roles)
            key = own_key if key is None else key
            time = own_time if time is None else time
        if key is not None and not isinstance(key, (str, bytes)):
            key = key_of(key)
        if time is None and not self._told_of_times:
            self._mind_times()
        seconds = math.nan if time is None else _seconds(time)
        return self._process_one(x, key, seconds, None)

    def _mind_times(self) -> None:
        """Warns once where options wait for times that do not come."""
        self._told_of_times = True
        names = ("season_seconds", "other_season_seconds", "alerts", "silence")
        idle = dict.fromkeys("season" if "season" in name else name for name in names if self.options.get(name, 0) > 0)
        has = "has" if len(idle) == 1 else "have"
        if need_times(self.rules):
            idle["rules with times"] = None
            has = "have"
        if idle:
            warn(f"{', '.join(idle)} {has} no effect without the times of rows; name their column with time=, or give them with"
                 " times=, such as times=frame.index", TimeWarning)  # fmt: skip

    def process_iter(self, rows: Iterable[Any]) -> Iterator[Result]:
        """Take rows as they arrive, from a generator, a consumer or a file, and yield the result of each.

        >>> import oif
        >>> pipeline = oif.Pipeline(key="host")
        >>> lines = ({"host": f"web-{i % 2}", "load": i % 7} for i in range(1000))
        >>> sum(result.anomaly for result in pipeline.process_iter(lines)), pipeline.keys
        (0, 2)
        """
        for row in rows:
            yield self.process_one(row._asdict() if hasattr(row, "_asdict") else row)

    async def process_aiter(self, rows: AsyncIterable[Any]) -> AsyncIterator[Result]:
        """Take rows as they arrive from an asynchronous source, such as a websocket, and yield the result of each.

        >>> import asyncio, oif
        >>> from collections.abc import AsyncIterator
        >>> async def readings() -> AsyncIterator[dict[str, object]]:
        ...     for i in range(1000):
        ...         yield {"host": f"web-{i % 2}", "load": i % 7}
        >>> async def watch(pipeline: oif.Pipeline) -> list[bool]:
        ...     return [result.anomaly async for result in pipeline.process_aiter(readings())]
        >>> sum(asyncio.run(watch(oif.Pipeline(key="host"))))
        0
        """
        async for row in rows:
            yield self.process_one(row._asdict() if hasattr(row, "_asdict") else row)

    @overload
    def process(
        self, x: Rows | Row, keys: Any = ..., *, times: Any = ..., explain: Explain = ...,
        output: Literal["array"], progress: Progress = ...
    ) -> npt.NDArray[np.void]: ...
    @overload
    def process(
        self, x: Rows | Row, keys: Any = ..., *, times: Any = ..., explain: Explain = ...,
        output: Literal["pandas"], progress: Progress = ...
    ) -> pandas.DataFrame: ...
    @overload
    def process(
        self, x: Rows | Row, keys: Any = ..., *, times: Any = ..., explain: Explain = ...,
        output: Literal["polars"], progress: Progress = ...
    ) -> polars.DataFrame: ...
    @overload
    def process(
        self, x: Rows | Row, keys: Any = ..., *, times: Any = ..., explain: Explain = ...,
        output: Literal["arrow"], progress: Progress = ...
    ) -> Any: ...  # pyarrow has no types
    @overload
    def process(
        self, x: Mapping[Any, Any], keys: Any = ..., *, times: Any = ..., explain: Explain = ...,
        output: Literal["auto"] = ..., progress: Progress = ...
    ) -> np.void: ...
    @overload
    def process(
        self, x: Frame, keys: Any = ..., *, times: Any = ..., explain: Explain = ...,
        output: Literal["auto"] = ..., progress: Progress = ...
    ) -> Frame: ...
    @overload
    def process(
        self, x: Rows | Row, keys: Any = ..., *, times: Any = ..., explain: Explain = ...,
        output: Literal["auto"] = ..., progress: Progress = ...
    ) -> npt.NDArray[np.void]: ...
    def process(
        self,
        x: Any,
        keys: Any = None,
        *,
        times: Any = None,
        explain: Explain = False,
        output: Output = "auto",
        progress: Progress = False,
    ) -> Any:
        """Take rows one after another, with a key for each if models are kept by key, and a time for each.

        Times are datetimes or dates, taken as UTC where they have no zone, or numbers since 1970: seconds, milliseconds,
        microseconds or nanoseconds, by their size. NaN and NaT are unknown. Both may be names of columns instead. If none
        are given, the DatetimeIndex of a DataFrame is used.

        Returns a structured array with the fields of Result, or a DataFrame or Arrow table if one was
        given. With explain, there
        is also the share of every column and its direction; "anomalies" explains only those, which is quicker.
        Infinities and keys that are too long are found before the first row is processed. With progress, a bar (tqdm's, if it is
        installed) shows the progress, or a function is called with the numbers of rows done and in all.
        """
        x, taken, seconds = self._parts(x, keys, times)
        if seconds is None and not self._told_of_times:
            self._mind_times()
        before = self.unmodelled_rows
        results = self._results(x, taken, explain, output, times=seconds, progress=progress)
        unscored = self.unmodelled_rows - before
        if unscored > 0 and not self._told_of_room:
            self._told_of_room = True
            count = "1 row" if unscored == 1 else f"{unscored:,} rows"
            warn(f"{count} of new keys got no score: there is no room for more models; raise"
                 " max_keys or memory_limit, or keep models on disk: Pipeline.open(..., evicted='keep')", KeyWarning)  # fmt: skip
        return results

    def _parts(self, x: Any, keys: Any, times: Any) -> tuple[Any, tuple[str | bytes, ...] | None, npt.NDArray[np.float64] | None]:
        """The columns to learn, the keys and the times of rows."""
        roles = self._roles
        has_names = not isinstance(x, np.ndarray) or x.dtype.names is not None
        if has_names and (isinstance(keys, str) or isinstance(times, str)):
            named = roles_of(keys if isinstance(keys, str) else None, times if isinstance(times, str) else None, ())
            roles = _merged(roles, named or Roles())
            keys, times = (None if isinstance(given, str) else given for given in (keys, times))
        taken = None if keys is None else keys_of(keys)
        seconds = None if times is None else seconds_of(times)
        dated = None if seconds is not None else seconds_of_index(x, self.columns or 0)
        if roles is not None:
            x, own_keys, own_times = split(x, roles)
            taken = own_keys if taken is None else taken
            seconds = own_times if seconds is None else seconds
        return x, taken, dated if seconds is None else seconds

    def process_table(
        self, x: Any, *, times: Any = None, explain: Explain = False, output: Output = "auto", progress: Progress = False
    ) -> Any:
        """Take the rows of a finished table: each is compared with all others, those before and those after it.

        For tables of 40 to some 2,000 rows: a stream raises no alert before row 49, and knows little at first. The results are those
        of `oif score` for the same file. Arguments and results are those of process; keys, categories and the option
        alerts are for streams. Afterwards `table` says how sure the answer is. The pipeline must be new; rows that follow
        continue the stream.

        >>> import numpy as np, oif
        >>> rows = np.random.default_rng(1).normal(size=(200, 3))
        >>> rows[60, 1] = 20
        >>> pipeline = oif.Pipeline()
        >>> results = pipeline.process_table(rows)
        >>> np.flatnonzero(results["episode"] == oif.Episode.BEGINS), pipeline.table
        (array([60]), TableInfo(rows=200, anomalies=..., chance=0.00831...))
        """
        x, taken, seconds = self._parts(x, None, times)
        if taken is not None or any(kind == 4 for _, kind, _ in getattr(self, "_derive", ())):
            raise ParameterError("a table has no keys and no categories; process takes rows as a stream")
        return self._results(x, None, explain, output, times=seconds, progress=progress, is_table=True)

    def add_columns(
        self, columns: int | str | Iterable[Any], *, diff: Any = (), rate: Any = (), log: Any = (), keep_original: bool = False
    ) -> None:
        """Add columns that rows have from now on, after the others: their names, or their number if columns have no names.

        Every model continues as if they had been missing in all rows so far. The first value is reported once, as a note; after
        48 to some hundred rows the new columns are judged as others are. Detectors other than RollingIsolationForest learn from the
        start again. diff, rate, log and keep_original say what is learned of the new columns, as in the constructor.

        >>> import numpy as np, oif
        >>> random = np.random.default_rng(1)
        >>> pipeline = oif.Pipeline()
        >>> results = pipeline.process(random.normal(size=(2000, 2)))
        >>> pipeline.add_columns(1)
        >>> results = pipeline.process(random.normal([0, 0, 100], size=(1000, 3)))
        >>> pipeline.columns, pipeline.process_one([0, 0, 200]).anomaly
        (3, True)
        """
        names = None if isinstance(columns, int) else columns_of(columns)
        count = columns if isinstance(columns, int) else len(names or ())
        if (names is None) != (self.column_names is None):
            what = "need names too" if names is None else "are added by their number"
            raise ParameterError(f"columns have {'' if names is None else 'no '}names here, so new ones {what}")
        taken = [name for name in names or () if name in (self.column_names or ()) or (names or ()).count(name) > 1]
        if taken or count < 1:
            raise ParameterError(f"there is a column {taken[0]!r} already" if taken else "a number of columns is at least 1")
        derive = tuple(
            (column, kind, keep_original) for kind, given in ((1, diff), (2, rate), (3, log)) for column in columns_of(given)
        )
        self._add_columns(count, names, derive)
        self._derive = (*getattr(self, "_derive", ()), *derive)

    def explain(self) -> list[Attribution]:
        """Explain the row that was processed last: every column with its share of the score, its direction, and what is
        unusual about it."""
        attributions = self._explain()
        expected = self.expected()
        return [
            Attribution(
                one.column,
                share,
                direction,
                _REASONS[reason],
                None if partner is None else expected[partner].column,
                one.value,
                (one.low, one.high) if reason in _BASES and one.value == one.value and one.low <= one.high else None,
                size,
                usual,
            )
            for one, (share, direction, reason, partner, size, usual) in zip(expected, attributions)
        ]

    def expected(self) -> list[Expected]:
        """What was expected of every column in the row that was processed last, and the value that came.

        If a season, a partner, a jump, a level or a spread is the reason for the severity of the row, its column has the range
        that these expected; else it is the range of recent rows.

        >>> import numpy as np, oif
        >>> rows = np.random.default_rng(1).normal([100, 5], size=(3000, 2))
        >>> pipeline = oif.Pipeline(oif.RollingIsolationForest(seed=1))
        >>> results = pipeline.process(rows)
        >>> pipeline.process_one([140, 5]).anomaly
        True
        >>> [(one.column, one.value, round(one.low), round(one.high), one.by) for one in pipeline.expected()]
        [(0, 140.0, 97, 104, 'jump'), (1, 5.0, 3, 7, 'values')]
        """
        ranges = self._expected()
        names = self._learned_names(self.column_names) or range(len(ranges))
        is_name = [kind == "category" for _, kind in self._learned() or []]
        return [
            Expected(name, *(math.nan,) * 3, "values") if coded else Expected(name, value, low, high, _BASES[basis])
            for name, coded, (value, low, high, basis) in zip(names, is_name, ranges)
        ]

    @property
    def rules(self) -> list[Rule]:
        """The rules that mute alerts, as a list of Rule; setting it replaces all, and rules that stay keep their counts."""
        return [
            Rule(text.decode("utf-8", "surrogateescape"), held, first, last) for text, held, first, last in self._rules()
        ]

    @rules.setter
    def rules(self, rules: Rules) -> None:
        self._set_rules(text_of(rules))
        self._told_of_times = False

    def add_rules(self, rules: Rules) -> None:
        """Add rules after the existing ones, such as one that propose() gives."""
        before = self.rules
        try:
            self._set_rules(b"\n".join([*([text_of(before)] if before else []), text_of(rules)]))
        except ParameterError as error:
            if error.row is not None:
                error.row -= len(before)  # counts the lines that were given
            raise
        self._told_of_times = False

    def past_episodes(self) -> list[PastEpisode]:
        """The last episodes of all keys, the oldest first; none unless keep_episodes is set.

        >>> import numpy as np, oif
        >>> rows = np.random.default_rng(1).normal([100, 5], size=(5000, 2))
        >>> rows[2000::500, 0] = 40
        >>> pipeline = oif.Pipeline(oif.RollingIsolationForest(seed=1), keep_episodes=True, moves="off")
        >>> results = pipeline.process(rows)
        >>> low = [one for one in pipeline.past_episodes() if one.column == 0 and one.direction < 0]
        >>> rule = pipeline.propose(max(low, key=lambda one: one.change).number)
        >>> pipeline.add_rules(rule or [])  # None: no rule describes it
        >>> [rule.text.split()[1:3] for rule in pipeline.rules]
        [['column=1', 'direction=low']]
        """
        names = self._learned_names(self.column_names)

        def made(key: bytes, *fields: Any) -> PastEpisode:
            number, row, seconds, severity, column, direction, change, share, reason, is_cut = fields
            name = column if column is None or not names else names[column]
            place = (_key(key) or None, number, row, seconds, severity, name, direction)
            return PastEpisode(*place, change, share, _REASONS[reason], is_cut)

        return [made(*fields) for fields in self._past_episodes()]

    def propose(self, number: int, key: str | bytes | int | None = None) -> str | None:
        """A rule that mutes past episodes like the one of this key with this number, and nothing wider; None if no rule does.

        The pipeline does not change; add_rules() accepts the rule.
        """
        rule = self._propose(key if key is None else key_of(key), operator.index(number))
        return rule.decode("utf-8", "surrogateescape") or None

    def episode(self, key: str | bytes | int | None = None) -> EpisodeInfo | None:
        """The current episode of a key, or else its last one; None if it has had none.

        Its column is known if the worst row was explained: by explain() when it was the last row, or by process() with
        explain.
        """
        found = self._episode(key if key is None else key_of(key))
        if found is None:
            return None
        info = EpisodeInfo(*found)
        names = self._learned_names(self.column_names)
        column = info.column if info.column is None or not names else names[info.column]
        return info._replace(peak_grade=_GRADES[info.peak_grade], column=column, reason=_REASONS[info.reason])

    def season(self, key: str | bytes | int | None = None) -> list[Season]:
        """The seasons of a key: those that were given, or the one that was found; none while none is found.

        >>> import numpy as np, oif
        >>> hours = np.arange(24 * 60)
        >>> load = 50 + 20 * np.sin(hours * 2 * np.pi / 24) + np.random.default_rng(1).normal(size=len(hours))
        >>> pipeline = oif.Pipeline()
        >>> results = pipeline.process(load[:, None])
        >>> [(season.rows, season.was_found, round(season.strength, 1)) for season in pipeline.season()]
        [(24, True, 0.9)]
        """
        names = self._learned_names(self.column_names)
        return [
            Season(int(rows), seconds, was_found, strength, column if column is None or not names else names[column])
            for rows, seconds, was_found, strength, column in self._season(key if key is None else key_of(key))
        ]

    def list_keys(self) -> list[KeyInfo]:
        """All keys: those with a model in memory, then those that were evicted and kept."""
        return [_key_info(fields) for fields in self._key_infos()]

    def key_info(self, key: str | bytes | int | None = None) -> KeyInfo | None:
        """What is known about a key, or about the rows without a key; None if there is no model of it."""
        found = self._key_info(key if key is None else key_of(key))
        return None if found is None else _key_info(found)

    def __contains__(self, key: object) -> bool:
        return self._key_info(key_of(key)) is not None

    def drop(self, key: str | bytes | int | None = None) -> None:
        """Forget a key and free its model. Its next row begins a new one."""
        self._remove_key(key if key is None else key_of(key))

    def save_key(self, key: str | bytes | int | None = None) -> bytes:
        """A snapshot of one key's model, for load_key of another pipeline with the same detector and options."""
        return self._save_key(key if key is None else key_of(key))

    def load_key(self, snapshot: bytes, key: str | bytes | int | None = None) -> None:
        """Add a key that save_key saved, or replace its model; under another name if one is given."""
        self._load_key(snapshot, key if key is None else key_of(key))

    def detector(self, key: str | bytes | int | None = None) -> Detector:
        """A copy of the detector of a key, or of the rows without a key: to score, explain or save.

        With moves it has three columns more, jump(*), flutter(*) and drift(*), which are near 1 for a row that moves as usual.
        """
        cls = DETECTORS.get(self.kind, Detector)
        copy = cls.__new__(cls)
        if not self._detector_of(key if key is None else key_of(key), copy):
            message = f"there is no model of the key {key!r}" if key is not None else "no row without a key was processed"
            raise because("unknown_key", DataError(message))
        learned = self._learned() or []
        if self.options["shingle"] == 1 and self.column_names and len(learned) == len(self.column_names):
            names = self._learned_names(self.column_names) or ()
            copy.column_names = (*names, *MOVES) if self._has_moves(copy) else names
        copy.ignore_unknown = self.ignore_unknown
        return copy

    def score(self, x: Rows | Row, key: str | bytes | int | None = None, *, progress: Progress = False) -> Any:
        """Score rows with the model of a key, without learning: what if such a row arrived?

        These are scores of the detector, without the other judges, which look at earlier rows. With moves
        a row is scored with the number 1 for each move. That is nearly what a pipeline with learn="none" judges, the usual
        numbers of the key.
        Progress is shown as in process.
        """
        if self.options["shingle"] > 1 or any(kind for _, kind in self._learned() or []):
            raise ParameterError("score without learning needs rows as they are learned; with shingle, diff, rate or log use"
                                 " process of a clone()")  # fmt: skip
        detector = self.detector(key)
        return detector.score(self._moving_as_usual(x) if self._has_moves(detector) else x, progress=progress)

    def _has_moves(self, detector: Detector) -> bool:
        """Whether the detector of a key has the columns of moves; some kinds have none."""
        learned = len(self._learned() or [])
        return self.options["shingle"] == 1 and detector.columns == learned + len(MOVES)

    def _moving_as_usual(self, x: Any) -> Any:
        """Rows as a detector gets them: with the columns of moves."""
        columns: int = self.columns or 0
        rows, _ = rows_of(x, self.column_names, self.ignore_unknown, columns, False)
        if isinstance(rows, dict):
            return {**rows, **dict.fromkeys(MOVES, 1.0)}
        if rows.ndim == 1 and columns == 1 and len(rows) > 1:  # a series
            rows = rows.reshape(-1, 1)
        if rows.ndim == 0 or rows.shape[-1] != columns:
            given = rows.shape[-1] if rows.ndim else 1
            cause = "too_few_fields" if given < columns else "too_many_fields"
            raise because(cause, DataError(f"expected rows of {columns} columns, not {given}"))
        return np.concatenate([rows, np.ones((*rows.shape[:-1], len(MOVES)))], axis=-1)

    def silent(self, time: Any) -> list[Silence]:
        """The keys that have become silent by this time, each once per silence; see the option silence."""
        return [Silence(_key(key), since, allowed) for key, since, allowed in self._silent(_seconds(time))]

    def change(self, **options: Any) -> None:
        """Change options that decide about alerts or learning from now on: alert_rate, alerts, silence, learn. Of the first
        two, the last one given counts."""
        self._change(as_words(options))
        self._told_of_times = False

    def _state(self) -> dict[str, str]:
        if self.columns is None:
            return {}
        infos = self.list_keys()
        ready = sum(info.ready for info in infos)
        rules = self.rules
        return {
            "rows": f"{counted(self.rows, 'row')} of {counted(self.columns, 'column')}",
            "keys": "" if len(infos) == 1 and infos[0].key is None else counted(len(infos), "key"),
            "readiness": "ready" if ready == len(infos) else f"{ready:,} of {len(infos):,} ready" if ready else "not ready yet",
            "memory": memory_text(self.memory_bytes),
            "columns": names_text(self.column_names),
            "rules": counted(len(rules), "rule") if rules else "",
        }

    def _made_with(self) -> str:
        initial = {param["name"]: param["initial"] for param in _core.pipeline_info()["params"]}
        options = {name: value for name, value in self.options.items() if hasattr(type(self), name)}
        detectors = [_repr_of(kind, self.params) for kind in self.kind.split("+")]
        detector = detectors[0] if len(detectors) == 1 else f"[{', '.join(detectors)}]"
        return f"{type(self).__name__}({', '.join([detector, *_changed(self.options, initial)])})"


_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}


def _season_seconds(season: str | datetime.timedelta) -> float:
    """As the command line reads times: "1d", "90m"."""
    if isinstance(season, datetime.timedelta):
        return season.total_seconds()
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([a-z]+)", season)
    if match is None or match[2] not in _UNITS:
        raise ParameterError(f"a season is a number of rows, a time such as '24h', '1d' or '1w', 'auto' or 'off', not {season!r}")
    return float(match[1]) * _UNITS[match[2]]


def _set_search(options: dict[str, Any], word: str, is_alone: bool) -> None:
    names = [name for name in ("season_rows", "season_seconds", "other_season_seconds") if options[name] != 0]
    if not is_alone or names:
        raise ParameterError(f"season={word!r} contradicts {names[0] if names else 'another season'}; leave one of them out")
    if word == "auto" and options["find_season"] == "off":
        raise ParameterError("season='auto' contradicts find_season=False; leave one of them out")
    options["find_season"] = "on" if word == "auto" else "off"


def _set_seasons(options: dict[str, Any], season: _Season | Iterable[_Season]) -> None:
    seasons = (season,) if isinstance(season, (int, str, datetime.timedelta)) else tuple(season)
    words = [one for one in seasons if isinstance(one, str) and one in ("auto", "off")]
    if words:
        _set_search(options, words[0], len(seasons) == 1)
        return
    for one in seasons:
        if isinstance(one, int) and not isinstance(one, bool):
            names, value = ["season_rows"], float(one)
        elif isinstance(one, (str, datetime.timedelta)):
            names, value = ["season_seconds", "other_season_seconds"], _season_seconds(one)
        else:
            raise TypeError(f"a season is a number of rows or a time, not {one!r}")
        if value < 2:
            raise ParameterError(f"a season needs at least 2 rows, or 2 seconds, not {one!r}")
        free = [name for name in names if options[name] == 0]
        if not free:
            raise ParameterError(f"there may be one season in rows and two in times; {one!r} is too many")
        options[free[0]] = value


def _seconds(time: Any) -> float:
    if isinstance(time, (int, float)) and _core.time_units(abs(time)) == 1:
        return float(time)
    return float(seconds_of([time])[0])


def _key(key: bytes | None) -> str | bytes | None:
    try:
        return None if key is None else key.decode()
    except UnicodeDecodeError:
        return key


def _key_info(fields: tuple[Any, ...]) -> KeyInfo:
    return KeyInfo(_key(fields[0]), *fields[1:])


def _merged(one: Roles | None, other: Roles) -> Roles:
    one = one or Roles()
    return Roles(other.key or one.key, one.time if other.time is None else other.time, one.exclude, one.category)


def _name_in_list(kind: str, name: str, params: Mapping[str, Any]) -> str:
    """What a parameter of a detector is called in a list: a name that is taken has the detector's in front."""
    own = f"{kind.replace('-', '_')}_{name}"
    return own if own in params else name


def _repr_of(kind: str, params: Mapping[str, Any]) -> str:
    initial = _core.detector_params(kind)
    own = {name: params[_name_in_list(kind, name, params)] for name in initial}
    return f"{DETECTORS[kind].__name__}({', '.join(_changed(own, initial))})"


def _detectors_of(detector: _Detector | Sequence[_Detector]) -> tuple[str, dict[str, Any]]:
    if isinstance(detector, str) or not isinstance(detector, Sequence):
        return _detector_of(detector)
    if not detector:
        raise ParameterError("a pipeline needs a detector")
    if any(isinstance(part, Detector) and part.rows_learned > 0 for part in detector):
        raise ParameterError("detectors that judge together begin together; give those that have learned nothing yet")
    parts = [_detector_of(part) for part in detector]
    kinds = "+".join(kind for kind, _ in parts)
    params: dict[str, Any] = {}
    names = _core.detector_params(kinds)
    for kind, values in parts:
        for name, value in values.items():
            name = _name_in_list(kind, name, names)
            if params.setdefault(name, value) != value:
                raise ParameterError(f"{kinds} has one {name}, which cannot be both {params[name]!r} and {value!r}")
    return kinds, params


def _detector_of(detector: _Detector) -> tuple[str, dict[str, Any]]:
    if isinstance(detector, str):
        return detector, {}
    if isinstance(detector, type):
        make: Callable[[], Detector] = detector  # every class but Detector itself has only keywords with defaults
        detector = make()
    if not isinstance(detector, Detector):
        raise TypeError(f"expected a detector, its class or its name, got {detector!r}")
    return detector.kind, dict(detector.params)

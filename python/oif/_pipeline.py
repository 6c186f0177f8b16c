"""From rows to alerts: shingles, thresholds, episodes, and a model for each key."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Union

from . import _core
from ._arrays import key_of, keys_of, seconds_of
from ._detectors import DETECTORS, Detector, _changed
from ._errors import ParameterError
from ._parameters import Option
from ._results import (
    Alerting,
    Attribution,
    Episode,
    EpisodeInfo,
    Explain,
    Grade,
    Output,
    Reason,
    Result,
    Silence,
    Switch,
    as_words,
)
from ._types import Row, Rows

_Detector = Union[Detector, type[Detector], str]
_EPISODES = tuple(Episode)
_GRADES = tuple(Grade)
_REASONS = tuple(Reason)
_Season = Union[int, str, datetime.timedelta]


class Pipeline(Alerting):
    """Turns rows into alerts: scores them, tells how rare a score is and which are anomalous, for each key by itself.

    Args:
        detector: a detector that has learned nothing yet, its class or its name; every key gets one like it; a
            RollingIsolationForest if not given. Several judge together: a list of them, or "rolling-iforest+sdo"
        alert_rate: share of the rows that is to be anomalous
        threshold: if not 0: rows with a higher score are anomalous, whatever their share
        memory: past scores that alert_rate is measured on; 0: 16 / alert_rate, but at least 8192
        learn: rows that are learned: all; those that are not anomalous (normal); or anomalies as well once patience of
            them have come (decay); or none, to compare rows with what is known
        patience: anomalies after which what lasts is the new normal; for learn="decay"
        calm: rows without an anomaly that end an episode of anomalies
        shingle: rows of a series that are scored as one
        max_keys: keys that have a model; more, and the one not seen for longest loses its own
        memory_limit: bytes that all models may take, with the same consequence; 0: any
        persistence: rows whose evidence adds up, so a lasting anomaly is found sooner; 1: none
        stuck: whether a column that repeats one value for longer than it ever did is an anomaly
        partner: whether a column that no longer follows another one is an anomaly
        season_rows: rows after which the stream repeats itself, so a number may be unusual for its time; 0: none
        season_seconds: seconds after which it does, by the times of the rows; 0: none
        other_season_seconds: a second season in seconds, such as a week beside a day; 0: none
        alerts: episodes per day that all keys together are to have, instead of alert_rate; 0: any
        cooldown: seconds after an episode in which anomalies continue it instead of beginning another
        silence: seconds without a row that are an alert; 0: more than twice the longest pause of the last weeks; -1:
            never; these three need the times of rows
        season: these three in short: 96 rows, "1d", a timedelta, or several, such as ["1d", "1w"]
        diff: columns, by name or number, of which the difference from the row before is learned instead
        rate: counters, of which the increase per second of the times is learned, or per row without times; a counter
            that falls began at 0 again
        log: columns of which the logarithm is learned; 0 and less is then missing
        keep_original: learn the columns of diff, rate and log themselves as well
        evicted: what happens to the model of a key that loses it; only "forget" for now: to "keep" it takes a state
            file that is held while rows come, as `oif score --state FILE --evicted keep` does

    >>> import numpy as np, oif
    >>> rows = np.random.default_rng(1).normal(size=(5000, 2))
    >>> rows[4321] = 9
    >>> alerts = oif.Pipeline(oif.RollingIsolationForest(seed=1), alert_rate=0.001)
    >>> results = alerts.process(rows, explain="anomalies")
    >>> results["anomaly"][4321], results["p"][4321] < 0.002, results["direction"][4321]
    (np.True_, np.True_, array([1, 1], dtype=int8))
    >>> oif.Grade(results["grade"][4321])
    <Grade.CRITICAL: 3>
    >>> alerts.process_one([0.1, -0.2]).anomaly
    False
    >>> [attribution.column for attribution in alerts.explain()]
    [0, 1]
    """

    alert_rate = Option(float)
    threshold = Option(float)
    memory = Option(int)
    learn = Option(str)
    patience = Option(int)
    calm = Option(int)
    shingle = Option(int)
    max_keys = Option(int)
    memory_limit = Option(int)
    evicted = Option(str)
    persistence = Option(int)
    stuck = Option(str)
    partner = Option(str)
    season_rows = Option(int)
    season_seconds = Option(float)
    other_season_seconds = Option(float)
    alerts = Option(float)
    cooldown = Option(float)
    silence = Option(float)

    def __init__(
        self,
        detector: _Detector | Sequence[_Detector] = _core.default_detector,
        *,
        alert_rate: float = 0.001,
        threshold: float = 0.0,
        memory: int = 0,
        learn: Literal["all", "normal", "decay", "none"] = "decay",
        patience: int = 256,
        calm: int = 16,
        shingle: int = 1,
        max_keys: int = 100000,
        memory_limit: int = 0,
        evicted: Literal["forget", "keep"] = "forget",
        persistence: int = 3,
        stuck: Switch = "on",
        partner: Switch = "on",
        season_rows: int = 0,
        season_seconds: float = 0.0,
        other_season_seconds: float = 0.0,
        alerts: float = 0.0,
        cooldown: float = 0.0,
        silence: float = 0.0,
        season: _Season | Iterable[_Season] = (),
        diff: Iterable[Any] = (),
        rate: Iterable[Any] = (),
        log: Iterable[Any] = (),
        keep_original: bool = False,
    ) -> None:
        kind, params = _detectors_of(detector)
        if evicted == "keep":
            raise ParameterError('evicted="keep" needs a state file that is held while rows come, as oif score does')
        options: dict[str, Any] = dict(alert_rate=alert_rate, threshold=threshold, memory=memory, learn=learn)
        options |= dict(patience=patience, calm=calm, shingle=shingle, max_keys=max_keys)
        options |= dict(memory_limit=memory_limit, evicted=evicted)
        options |= dict(persistence=persistence, stuck=stuck, partner=partner, season_rows=season_rows)
        options |= dict(season_seconds=season_seconds, other_season_seconds=other_season_seconds)
        options |= dict(alerts=alerts, cooldown=cooldown, silence=silence)
        self._derive = tuple(
            (column, kind_of_column, keep_original)
            for kind_of_column, columns in ((1, diff), (2, rate), (3, log))  # as oif_derive
            for column in _columns(columns)
        )
        _set_seasons(options, season)
        super().__init__(kind, params, as_words(options), self._derive)

    def _arguments(self) -> tuple[Any, ...]:
        return *super()._arguments(), getattr(self, "_derive", ())

    def process_one(self, x: Row, key: str | bytes | int | None = None, time: Any = None) -> Result:
        """Take one row: a dict, a sequence or an array of one dimension. Each key has a model of its own.

        The time is a datetime, taken as UTC where it has no zone, or seconds since 1970.
        """
        if key is not None and not isinstance(key, (str, bytes)):
            key = key_of(key)
        seconds = math.nan if time is None else _seconds(time)
        score, p, threshold, anomaly, ready, learned, episode, grade, severity, reason = self._process_one(
            x, key, seconds
        )
        return Result(
            score, p, threshold, anomaly, ready, learned, _EPISODES[episode], _GRADES[grade], severity, _REASONS[reason]
        )

    def process(
        self,
        x: Rows | Row,
        keys: Any = None,
        *,
        times: Any = None,
        explain: Explain = False,
        output: Output = "auto",
    ) -> Any:
        """Take rows one after another, with a key for each if models are kept by key, and a time for each.

        Times are datetimes, taken as UTC where they have no zone, or seconds since 1970; NaN and NaT are unknown.

        Returns a structured array with the fields of Result, or a DataFrame of the kind that came. With explain, there
        is also the share of every column and its direction; "anomalies" explains only those, which is quicker.
        Infinities and keys that are too long are found before the first row is taken.
        """
        taken = None if keys is None else keys_of(keys)
        return self._results(x, taken, explain, output, times=None if times is None else seconds_of(times))

    def explain(self) -> list[Attribution]:
        """Explain the row that was processed last: every column with its share of the score, its direction, and what is
        unusual about it."""
        attributions = self._explain()
        names = self._learned_names(self.column_names) or range(len(attributions))
        return [
            Attribution(name, share, direction, _REASONS[reason], None if partner is None else names[partner])
            for name, (share, direction, reason, partner) in zip(names, attributions)
        ]

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

    def silent(self, time: Any) -> list[Silence]:
        """The keys that have become silent by this time, each once per silence; see the option silence."""
        return [Silence(_key(key), since, allowed) for key, since, allowed in self._silent(_seconds(time))]

    def change(self, **options: Any) -> None:
        """Change options that decide about alerts or learning from now on: alert_rate, threshold, alerts, calm,
        cooldown, silence, learn. Of the first three, the last one given rules."""
        self._change(as_words(options))

    def __repr__(self) -> str:
        initial = {param["name"]: param["initial"] for param in _core.pipeline_info()["params"]}
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
        raise ParameterError(f"a season is a number of rows, or a time such as '24h', '1d' or '1w', not {season!r}")
    return float(match[1]) * _UNITS[match[2]]


def _set_seasons(options: dict[str, Any], season: _Season | Iterable[_Season]) -> None:
    seasons = (season,) if isinstance(season, (int, str, datetime.timedelta)) else season
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
    return float(time) if isinstance(time, (int, float)) else float(seconds_of([time])[0])


def _key(key: bytes | None) -> str | bytes | None:
    try:
        return None if key is None else key.decode()
    except UnicodeDecodeError:
        return key


def _columns(columns: Iterable[Any]) -> Iterable[Any]:
    """A single name is one column, not its letters."""
    return (columns,) if isinstance(columns, (str, int)) else columns


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
    if detector.rows_learned > 0:
        raise ParameterError("a pipeline makes detectors of its own; give it one that has learned nothing yet")
    return detector.kind, dict(detector.params)

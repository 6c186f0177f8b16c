"""Episodes with their facts, times, silence, frozen pipelines and options that change."""

import datetime
import json
import math
import warnings

import numpy as np
import pytest

import oif

START = 1794700000


def healthy(count, seed=1):
    return np.random.default_rng(seed).normal(size=(count, 3))


def pipeline(**options):
    made = oif.Pipeline(oif.RollingIsolationForest(seed=1), **({"alert_rate": 0.0005} | options))
    rows = healthy(3000)
    made.process(rows, times=START + 60.0 * np.arange(len(rows)))
    return made


def test_an_episode_tells_its_start_its_rows_and_its_worst_row():
    alerts = pipeline()
    rows = healthy(200, seed=2)
    rows[10, 1], rows[12, 1] = 50, -900
    results = alerts.process(rows, times=START + 60.0 * (3000 + np.arange(200)), explain="anomalies")
    episode = alerts.episode()
    assert episode.first_row == 3011 and episode.first_time == START + 60 * 3010
    anomalies = np.flatnonzero(results["anomaly"])
    assert (episode.rows, episode.anomalies, episode.is_over) == (anomalies[-1] - 10 + 17, len(anomalies), True)
    assert (episode.peak_row, episode.column, episode.direction, episode.value) == (3013, 1, -1, -900)
    assert episode.peak_severity == results["severity"][12] and episode.peak_grade is oif.Grade.CRITICAL
    record = json.loads(json.dumps(episode.to_dict(), allow_nan=False))
    assert record["number"] == episode.number and record["peak_grade"] == "critical" and record["value"] == -900


def test_an_episode_has_the_name_of_its_column_and_nothing_that_is_unknown():
    alerts = oif.Pipeline(oif.RollingIsolationForest(seed=1), alert_rate=0.0005)
    for row in healthy(3000):
        alerts.process_one(dict(zip("abc", row)), key="h")
    assert alerts.process_one({"a": 0, "b": 0, "c": 99}, key="h").episode is oif.Episode.BEGINS
    assert alerts.episode("h").column is None
    alerts.explain()
    episode = alerts.episode("h")
    assert episode.column == "c" and math.isnan(episode.first_time)
    assert episode.to_dict()["first_time"] is None
    assert alerts.episode("other") is None and oif.Pipeline().episode() is None
    assert alerts.episode(3) is None


@pytest.mark.parametrize(
    "times",
    [
        lambda seconds: seconds.tolist(),
        lambda seconds: seconds * 1e3,
        lambda seconds: (seconds * 1e3).astype(np.int64).tolist(),
        lambda seconds: (seconds * 1e6).astype(np.uint64),
        lambda seconds: seconds.astype(np.int64) * 10**9,
        lambda seconds: (seconds * 1000).astype("datetime64[ms]"),
        lambda seconds: [datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=s) for s in seconds.tolist()],
    ],
)
def test_times_are_numbers_or_dates(times):
    alerts = oif.Pipeline("loda")
    seconds = START + 10.0 * np.arange(50)
    alerts.process(healthy(50), times=times(seconds))
    assert alerts.silent(seconds[-1] + 50) == []
    assert alerts.silent(seconds[-1] + 51) == [oif.Silence(None, seconds[-1], 50)]


@pytest.mark.parametrize("unit", [10**3, 10**6, 10**9])
def test_a_number_is_seconds_or_a_smaller_unit_by_its_size_as_in_the_shell(unit):
    alerts = oif.Pipeline("loda")
    for i in range(50):
        alerts.process_one([1, 2, i], time=(START + 10 * i) * unit)
    assert alerts.key_info().last_time == START + 490
    assert alerts.silent((START + 490 + 51) * unit) == [oif.Silence(None, START + 490, 50)]
    digits = 1794769501123456789  # more than a double has: divided as a whole number
    alerts.process(healthy(1), times=np.array([digits]))
    assert alerts.key_info().last_time == 1794769501 + 123456789 / 1e9
    alerts.process(healthy(1), times=np.array([-(2**63)]))


def test_dates_are_times():
    alerts = oif.Pipeline("loda", time="day")
    alerts.process([{"day": datetime.date(2026, 11, day), "x": day} for day in (14, 15)])
    assert alerts.key_info().last_time == datetime.datetime(2026, 11, 15, tzinfo=datetime.timezone.utc).timestamp()


def test_options_that_need_times_warn_once_where_none_come():
    rows = healthy(5)
    for options, named in (({"season": ["1d", "1w"]}, "season has"), ({"alerts": 5.0, "season": "1d"}, "season, alerts have")):
        for process in (lambda made: made.process(rows), lambda made: made.process_one(rows[0], key="a")):
            alerts = oif.Pipeline("loda", **options)
            with pytest.warns(oif.TimeWarning, match=f"^{named} no effect without the times of rows; .*times=frame.index") as record:
                process(alerts)
                process(alerts)
            assert len(record) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        oif.Pipeline("loda", season="1d").process(rows, times=START + np.arange(5))
        oif.Pipeline("loda", season=48).process(rows)
        oif.Pipeline("loda", silence=-1.0).process_one(rows[0])


def test_missing_times_are_unknown_and_bad_ones_refused():
    alerts = oif.Pipeline("loda", silence=5.0)
    alerts.process(healthy(2), times=np.array(["NaT", "NaT"], "datetime64[s]"))
    assert alerts.silent(1e12) == []
    with pytest.raises(oif.DataError, match="the time of a row is infinite"):
        alerts.process(healthy(2), times=[0, math.inf])
    with pytest.raises(oif.DataError, match="the time of a row is infinite"):
        alerts.process_one([0, 0, 0], time=math.inf)
    with pytest.raises(ValueError, match="there must be a time for each of the 2 rows"):
        alerts.process(healthy(2), times=[0])
    assert alerts.rows == 2


def test_a_silent_key_is_told_once():
    alerts = oif.Pipeline("loda", silence=300.0)
    alerts.process(healthy(3), keys=["a", "b", b"\xff"], times=[0, 100, 200])
    assert alerts.silent(301) == [oif.Silence("a", 0, 300)]
    assert alerts.silent(datetime.datetime(1970, 1, 2)) == [oif.Silence("b", 100, 300), oif.Silence(b"\xff", 200, 300)]
    assert alerts.silent(1e9) == []


def test_the_alert_rate_is_a_cap_and_not_a_quota():
    rows = healthy(20000)
    for begin in range(1000, len(rows), 50):
        rows[begin] += 6
    few, many = (
        (oif.Pipeline(oif.RollingIsolationForest(seed=1), alert_rate=rate).process(rows)["episode"] == oif.Episode.BEGINS).sum()
        for rate in (0.0005, 0.004)
    )
    assert few < many
    quiet = oif.Pipeline(oif.RollingIsolationForest(seed=1), alert_rate=0.5).process(healthy(20000))
    assert (quiet["episode"] == oif.Episode.BEGINS).sum() < 40, "a cap is not a quota"


def test_a_budget_of_episodes_is_kept():
    alerts = oif.Pipeline(oif.RollingIsolationForest(seed=1), alerts=10.0)
    results = alerts.process(healthy(30000), times=START + 60.0 * np.arange(30000))
    assert (results["episode"] == oif.Episode.BEGINS).sum() < 208
    with pytest.raises(oif.ParameterError, match="alerts contradicts"):
        oif.Pipeline(alerts=10.0, alert_rate=0.01)


def test_what_is_frozen_learns_nothing():
    alerts = pipeline()
    alerts.change(learn="none")
    rows = np.vstack([healthy(500, seed=4)] * 2)
    results = alerts.process(rows)
    assert not results["learned"].any()
    # the first rows have others before them
    np.testing.assert_array_equal(results["score"][10:500], results["score"][510:])


def test_options_change_before_and_after_the_first_row():
    for alerts in (oif.Pipeline(), pipeline()):
        alerts.change(learn="normal", silence=60.0)
        assert (alerts.options["learn"], alerts.options["silence"]) == ("normal", 60)
        with pytest.raises(oif.ParameterError):
            alerts.change(silence=-2)
        with pytest.raises(oif.ParameterError):
            alerts.change(nonsense=1)
    with pytest.raises(oif.ParameterError, match="shingle cannot be changed once the pipeline exists"):
        alerts.change(shingle=4)

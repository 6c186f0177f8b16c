"""Derived columns and times of a Pipeline."""

import datetime
import pickle

import numpy as np
import pytest

import oif


def counters(count=3000):
    rng = np.random.default_rng(3)
    rows = np.column_stack([np.cumsum(rng.integers(100, 120, count)), rng.normal(size=count)]).astype(float)
    rows[count - 200 :, 0] += 1e6
    return rows, 1.7e9 + 10.0 * np.arange(count)


def test_a_rate_is_what_the_rows_of_rates_give():
    rows, times = counters()
    rates = rows.copy()
    rates[0, 0] = np.nan
    rates[1:, 0] = np.diff(rows[:, 0]) / 10
    derived = oif.Pipeline(oif.RollingIsolationForest(seed=1), rate=[0]).process(rows, times=times)
    by_hand = oif.Pipeline(oif.RollingIsolationForest(seed=1)).process(rates)
    assert derived.tobytes() == by_hand.tobytes()


def test_the_reasons_are_about_what_is_learned():
    pandas = pytest.importorskip("pandas")
    rows, times = counters()
    frame = pandas.DataFrame(rows, columns=["rx", "load"])
    alerts = oif.Pipeline(oif.RollingIsolationForest(seed=1), rate=["rx"], log="load", keep_original=True)
    when = pandas.to_datetime(times, unit="s", utc=True)
    results = alerts.process(frame, times=when, explain=True)
    assert [name for name in results.columns if name.startswith("share_")] == [
        "share_rx",
        "share_rate(rx)",
        "share_load",
        "share_log(load)",
    ]
    assert results["share_rx"].iloc[2800] > 0.8, "the counter itself is learned, too, and jumps"
    derived = oif.Pipeline(oif.RollingIsolationForest(seed=1), rate=["rx"], log="load")
    assert derived.process(frame, times=when, explain=True)["share_rate(rx)"].iloc[2800] > 0.8
    assert [why.column for why in alerts.explain()] == ["rx", "rate(rx)", "load", "log(load)"]


def test_copies_pickles_and_snapshots_derive_as_well():
    rows, times = counters(300)
    for before in (0, 100):
        first = oif.Pipeline(oif.RollingIsolationForest(seed=1), rate=[0], diff=1)
        if before:
            first.process(rows[:before], times=times[:before])
        others = [first.clone(), pickle.loads(pickle.dumps(first))]
        expected = first.process(rows[before:], times=times[before:])
        for other in others:
            assert other.process(rows[before:], times=times[before:]).tobytes() == expected.tobytes()


def test_one_row_after_another_gives_the_same():
    rows, times = counters(300)
    blocks = oif.Pipeline(oif.RollingIsolationForest(seed=1), rate=[0])
    single = oif.Pipeline(oif.RollingIsolationForest(seed=1), rate=[0])
    expected = blocks.process(rows, times=times)
    for row, time, result in zip(rows, times, expected):
        assert single.process_one(row, time=time).score == result["score"]


@pytest.mark.parametrize(
    "make",
    [
        lambda times: times,
        lambda times: times.astype("datetime64[s]"),
        lambda times: [datetime.datetime.fromtimestamp(t, datetime.timezone.utc) for t in times],
        lambda times: [datetime.datetime.fromtimestamp(t, datetime.timezone.utc).replace(tzinfo=None) for t in times],
    ],
)
def test_times_may_be_datetimes(make):
    rows, times = counters(100)
    expected = oif.Pipeline(oif.RollingIsolationForest(seed=1), rate=[0]).process(rows, times=times)
    found = oif.Pipeline(oif.RollingIsolationForest(seed=1), rate=[0]).process(rows, times=make(times))
    assert found.tobytes() == expected.tobytes()


def test_what_cannot_be_derived_is_refused_and_nothing_is_made():
    rows, times = counters(10)
    for columns in ([2], ["rx"], [-1], [0, 0]):
        alerts = oif.Pipeline(oif.RollingIsolationForest(seed=1), rate=columns)
        with pytest.raises(ValueError):
            alerts.process(rows)
        assert alerts.columns is None
    alerts = oif.Pipeline(oif.RollingIsolationForest(seed=1), rate=[0])
    for wrong in (times[:5], np.array(["a"] * 10), times.reshape(2, 5)):
        with pytest.raises(ValueError):
            alerts.process(rows, times=wrong)

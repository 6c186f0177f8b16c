"""Operational anomalies: the streams, the arithmetic of alerts, the yardstick, limits and pages."""

import stat
import sys
from pathlib import Path

import numpy as np
import pytest

from experiments.operations import __main__ as command
from experiments.operations import (
    backgrounds,
    campaign,
    heatmap,
    kinds,
    limits,
    measures,
    outcome,
    page,
    plants,
    quiet,
    recording,
    tables,
    tool,
    yardstick,
)
from experiments.operations.campaign import Plan, Results
from experiments.operations.limits import Found, Limits
from experiments.operations.outcome import Cell, Chance, Part, Quiet

BY_KEY = kinds.BY_KEY


# ---- Streams ----


@pytest.mark.parametrize("kind", kinds.KINDS, ids=[kind.key for kind in kinds.KINDS])
def test_the_anomaly_is_where_it_says_and_nowhere_else(kind):
    stream = kinds.build(kind, seed=3)
    changed = ~((stream.rows == stream.normal) | np.isnan(stream.normal)).all(axis=1)
    inside = np.zeros(len(changed), dtype=bool)
    inside[stream.start : stream.start + stream.length] = True
    assert changed[inside].all() and not np.isnan(stream.normal).any()
    if kind.plant is plants.after_an_incident:
        inside[plants.FIRST_INCIDENT : plants.FIRST_INCIDENT + plants.FIRST_ROWS] = True
    assert not changed[~inside].any()


@pytest.mark.parametrize("kind", kinds.KINDS, ids=[kind.key for kind in kinds.KINDS])
def test_a_stream_depends_on_its_seed_alone(kind):
    first, again, other = (kinds.build(kind, seed) for seed in (3, 3, 4))
    assert np.array_equal(first.rows, again.rows, equal_nan=True)
    assert not np.array_equal(first.rows, other.rows, equal_nan=True)


def test_kinds_have_keys_of_their_own_and_known_groups():
    rows = (*kinds.KINDS, *recording.EVENTS)
    assert len({row.key for row in rows}) == len(rows) == len({row.title for row in rows})
    assert {row.group for row in rows} == set(kinds.GROUPS)
    assert set(kinds.QUICK) <= set(BY_KEY) and set(quiet.QUICK) <= set(quiet.STREAMS)
    assert len(measures.BY_KEY) == len(measures.MEASURES)
    assert set(measures.QUICK) <= set(measures.BY_KEY) and set(measures.BY_KEY).isdisjoint(BY_KEY)


@pytest.mark.parametrize(
    "key, column, deviations",
    [("spike-6", 0, 6), ("spike-10-of-100", 0, 10), ("latency-6", 2, 6), ("drop", 1, -100)],
)
def test_a_spike_is_as_large_as_its_name_says(key, column, deviations):
    stream = kinds.build(BY_KEY[key], seed=1)
    deviation = stream.normal[: stream.start, column].std()
    away = (stream.rows - stream.normal)[stream.start, column] / deviation
    assert away == pytest.approx(deviations, abs=4 if key == "drop" else 1e-9)
    others = np.delete(stream.rows - stream.normal, column, axis=1)
    assert not others.any()


def test_a_broken_correlation_leaves_each_column_as_it_was():
    stream = kinds.build(BY_KEY["correlation"], seed=1)
    window = slice(stream.start, stream.start + stream.length)
    before = np.corrcoef(stream.normal[:, 0], stream.normal[:, 1])[0, 1]
    within = np.corrcoef(stream.rows[window, 0], stream.rows[window, 1])[0, 1]
    assert before == pytest.approx(0.98, abs=0.01) and abs(within) < 0.3
    assert np.isin(stream.rows[window, 1], stream.normal[:, 1]).all()


def test_counters_are_what_their_names_say():
    counters = {key: kinds.build(BY_KEY[key], 2) for key in ("counter-1", "counter-seldom", "up")}
    column = {key: stream.rows[:, backgrounds.COUNTER] for key, stream in counters.items()}
    assert column["counter-1"].sum() == column["counter-1"][kinds.START] == 1
    assert column["counter-seldom"][kinds.START] == 50
    assert 4 < (column["counter-seldom"] == 1).sum() < 40
    assert (column["up"] == 0).sum() == 20


@pytest.mark.parametrize("key", quiet.STREAMS)
def test_a_stream_without_anomaly_depends_on_its_seed_alone(key):
    rows = quiet.build(key, 1)
    assert rows.shape == (quiet.LENGTH, quiet.COLUMNS) and np.isfinite(rows).all()
    assert np.array_equal(rows, quiet.build(key, 1))
    assert (key == "constant") == np.array_equal(rows, quiet.build(key, 2))


def test_a_late_season_has_the_values_of_half_a_period_before():
    stream = kinds.build(BY_KEY["season-all"], seed=1)
    window = slice(stream.start, stream.start + stream.length)
    away = np.abs(stream.rows - stream.normal)[window] / stream.normal.std(axis=0)
    assert (away.mean(axis=0) > 0.5).all() and away[:3].max() > 1.5
    earlier = slice(window.start - backgrounds.PERIOD // 2, window.stop - backgrounds.PERIOD // 2)
    assert np.array_equal(stream.rows[window], stream.normal[earlier])


def test_counters_of_a_kind_only_rise_and_rise_faster_in_the_burst():
    kind = BY_KEY["rate-burst"]
    stream = kinds.build(kind, seed=1)
    lines = kinds.text_of(kind, stream.rows).decode().splitlines()
    counter = np.array([float(line.split(",")[1]) for line in lines[1:]])
    rises = np.diff(counter)
    assert lines[0] == "time,c0,c1,c2" and (rises > 0).all()
    burst = rises[stream.start - 1 : stream.start - 1 + stream.length]
    assert burst.mean() == pytest.approx(5 * np.median(rises), rel=0.4)


def test_healthy_streams_are_what_their_titles_say():
    quantised, counters, weekends = (
        quiet.build(key, 1) for key in ("quantised", "counters", "weekends")
    )
    assert (np.diff(quantised, axis=0) == 0).mean() > 0.5 and len(np.unique(quantised)) < 20
    assert (np.diff(counters, axis=0) > 0).all() and counters.max() < 1e9
    day = np.arange(quiet.LENGTH) // backgrounds.PERIOD % 7
    assert weekends[day < 5, 0].mean() > weekends[day >= 5, 0].mean() + 10


# ---- Measures ----


def heard(seed, ends):
    """The rows of heartbeats: times and hosts."""
    lines = measures.heartbeats(measures.random_of(seed), ends).decode().splitlines()[1:]
    times, hosts, _ = zip(*(line.split(",") for line in lines))
    return np.array(times, dtype=int), np.array(hosts)


def test_one_host_ends_and_the_others_go_on():
    (times, hosts), (all_times, all_hosts) = heard(3, True), heard(3, False)
    last = {host: times[hosts == host].max() for host in set(hosts)}
    silent = last.pop(measures.SILENT)
    assert len(last) == measures.HOSTS - 1 and min(last.values()) > silent + 400 * measures.STEP
    assert (np.diff(times) >= 0).all()
    for host in set(all_hosts):
        pauses = np.diff(np.sort(all_times[all_hosts == host]))
        assert 5 * measures.STEP > pauses.max() > 1.5 * measures.STEP and pauses.std() > 10
    assert np.array_equal(all_times, heard(3, False)[0])


@pytest.mark.parametrize(
    "hosts, right, invented", [(["host2"], 1, 1), ([], 0, 0), (["host2", "host1"], 0, 2)]
)
def test_a_silence_is_found_if_it_is_the_only_one(hosts, right, invented, monkeypatch):
    monkeypatch.setattr(tool, "silences", lambda *_: [{"host": host} for host in hosts])
    assert measures.silence_found(Path(), 1) == Part(right, 1)
    assert measures.silence_invented(Path(), 1) == Part(invented, 1)


def test_reasons_are_right_by_judge_and_column_within_the_anomaly(monkeypatch):
    start = BY_KEY["stuck-50"].start
    alerts = [
        tool.Reason(start - 1, "values", "c3"),
        tool.Reason(start, "stuck", "c0"),
        tool.Reason(start + 1, "stuck", "c1"),
        tool.Reason(start + 2, "values", "c0"),
        tool.Reason(start + 50, "stuck", "c0"),
    ]
    monkeypatch.setattr(tool, "reasons", lambda *_: alerts)
    assert measures.BY_KEY["why-stuck"].of(Path(), 1) == Part(1, 3)


def test_the_largest_judge_is_a_careful_one(monkeypatch):
    judges = ["values"] * 5 + ["stuck"] * 2 + ["partner"]
    monkeypatch.setattr(recording, "load", lambda: np.zeros((2, 2)))
    monkeypatch.setattr(tool, "reasons", lambda *_: [tool.Reason(0, judge, "c0") for judge in judges])
    assert measures.largest_judge(Path(), 1) == Part(2, 8)
    monkeypatch.setattr(tool, "reasons", lambda *_: [])
    assert measures.largest_judge(Path(), 1) == Part(0, 0)


def test_a_drift_goes_up_and_down_by_5_sd():
    rows = measures.drifting(np.random.default_rng(1), 1)
    flat, slope = measures.FLAT, measures.SLOPE
    level = [rows[i - 50 : i + 50].mean(axis=0) for i in range(flat, len(rows), slope)]
    assert np.array(level)[:, 0] == pytest.approx([0, 5, 0, 5], abs=0.5)
    assert np.array(level)[:, 1:] == pytest.approx(0, abs=0.5)


def test_the_clock_changes_by_an_hour_once():
    rows, period = measures.local_clock(np.random.default_rng(1))[:, 0], backgrounds.PERIOD
    days = rows.reshape(-1, period)
    change = measures.CHANGE // period
    before, after = days[:change].mean(axis=0), days[change:].mean(axis=0)
    assert np.roll(before, -measures.HOUR) == pytest.approx(after, abs=2)
    assert np.abs(before - after).max() > 5


def test_a_counter_is_reset_to_less_than_one_increase(monkeypatch):
    seen = []

    def score(oif, text, command, seed, options):
        seen.append([float(line.split(b",")[1]) for line in text.splitlines()[1:]])
        alerts = flags(backgrounds.LENGTH, kinds.START + 2)
        return tool.Scored(alerts, alerts)

    monkeypatch.setattr(tool, "score", score)
    assert measures.counter_reset(Path(), 1) == Part(1, 1)
    counter = np.array(seen[0])
    (fall,) = np.flatnonzero(np.diff(counter) < 0) + 1
    assert fall == kinds.START and 0 <= counter[fall] < 5_000 and counter[fall - 1] > 1e6


def test_alerts_after_the_day_of_a_clock_change_are_counted(monkeypatch):
    rows = measures.DAYS * backgrounds.PERIOD
    later = measures.CHANGE + backgrounds.PERIOD
    alerts = flags(rows, measures.CHANGE, later - 1, later, rows - 1)
    monkeypatch.setattr(tool, "score", lambda *_: tool.Scored(alerts, alerts))
    part = measures.clock_change(Path(), 1)
    assert part.part == 2 and part.whole == pytest.approx(tool.RATE * (rows - later))


def test_chance_looks_where_no_event_of_the_recording_is():
    caused = {row for e in recording.EVENTS for row in range(e.start, e.start + e.rows)}
    starts = recording.elsewhere(59, rows=19_083)
    assert len(starts) > 15_000 and starts[-1] + 59 <= 19_083
    assert all(caused.isdisjoint(range(start, start + 59)) for start in starts[::7])
    assert caused.isdisjoint({starts[-1] + 58}) and 18_996 - 59 in starts


def test_the_numbers_of_a_record_are_those_of_its_parts():
    record = {"ts": "12:00", "cpu": {"user": 90.5, "sys": 9}, "forks": 21}
    assert recording.numbers(record) == [90.5, 9.0, 21.0]


# ---- Found, delay, episodes ----


def flags(length, *rows):
    alerts = np.zeros(length, dtype=bool)
    alerts[list(rows)] = True
    return alerts


def test_a_delay_is_counted_from_the_first_row_of_the_anomaly():
    assert outcome.delay(flags(100, 50), 50, 10) == 0
    assert outcome.delay(flags(100, 49, 57, 59), 50, 10) == 7
    assert outcome.delay(flags(100, 49, 60), 50, 10) is None


def test_chance_is_the_share_of_windows_that_have_an_alert():
    starts = np.arange(0, 90)
    assert outcome.chance(flags(100), 10, starts) == 0
    assert outcome.chance(flags(100, 50), 10, starts) == pytest.approx(10 / 90)
    assert outcome.chance(flags(100, 50, 51), 1, starts) == pytest.approx(2 / 90)
    assert (Chance((0.25, 0.5)).found, Chance((0.25, 0.51)).text()) == (0.8, "0.8")


def test_a_cell_counts_what_was_found_and_takes_the_median_of_that():
    cell = Cell((None, 3, 40, 5))
    assert (cell.found, cell.seeds, cell.delay, cell.text()) == (3, 4, 5, "3 +5")
    assert Cell((0, 0, None)).text() == "2" and Cell((0, 1)).text() == "2 +0.5"
    assert (Cell((None,)).delay, Cell((None,)).text()) == (None, "0")


def test_alerts_at_most_calm_rows_apart_are_one_episode():
    assert outcome.episodes(flags(100)) == 0
    assert outcome.episodes(flags(100, 5, 6, 7)) == 1
    assert outcome.episodes(flags(100, 5, 5 + tool.CALM)) == 1
    assert outcome.episodes(flags(100, 5, 6 + tool.CALM, 99)) == 3


def test_false_alerts_of_several_seeds_are_counted_together():
    runs = [Quiet(0.01, 1000, 30, 13, 1), Quiet(0.01, 3000, 50, 35, 1)]
    both = campaign.together(runs)
    assert both == Quiet(0.01, 4000, 80, 48, 2)
    assert both.ratio == pytest.approx(1.2) and both.share == pytest.approx(0.02)


# ---- The yardstick ----


def test_the_largest_z_is_that_of_a_plain_calculation():
    random = np.random.default_rng(5)
    rows = random.normal(size=(3_000, 3)) * (1, 10, 100) + 1000
    rows[2_500, 1] += 80
    scores = yardstick.largest_z(rows)
    for row in (100, 2_500, 2_999):
        recent = rows[max(row - yardstick.WINDOW, 0) : row]
        plain = np.abs(rows[row] - recent.mean(axis=0)) / recent.std(axis=0)
        assert scores[row] == pytest.approx(plain.max(), rel=1e-6)


def test_a_column_that_was_constant_is_infinitely_far_when_it_changes():
    rows = np.tile([0.1, 7.0], (600, 1))
    rows[500, 1] = 8
    scores = yardstick.largest_z(rows)
    assert not scores[:500].any() and scores[500] == np.inf


def test_missing_values_are_neither_near_nor_far():
    rows = np.random.default_rng(5).normal(size=(600, 2))
    rows[400:450, 0] = np.nan
    alone = yardstick.largest_z(rows[:, 1:])
    assert np.array_equal(yardstick.largest_z(rows)[400:450], alone[400:450])


def plain_rank_alerts(scores, rate):
    """The rule as it is written, with all scores kept."""
    memory, alerts = max(16 / rate, 8_192), []
    for row, score in enumerate(scores):
        weights = np.exp((np.arange(row) - row) / memory)
        as_high = weights[np.asarray(scores[:row]) >= score].sum()
        alerts.append((as_high + 1) / (weights.sum() + 1) <= rate)
    return np.array(alerts)


def test_the_rank_rule_is_that_of_a_plain_calculation():
    scores = np.random.default_rng(6).exponential(size=3_000).round(2)  # with ties
    found = yardstick.rank_alerts(scores, 0.01)
    assert np.array_equal(found, plain_rank_alerts(scores, 0.01))
    assert 10 < found.sum() < 50 and not found[:90].any()


def test_the_yardstick_keeps_the_rate_and_finds_a_spike():
    stream = kinds.build(BY_KEY["spike-10"], seed=1)
    alerts = yardstick.alerts_of(stream.rows, tool.RATE)
    assert alerts[stream.start] and alerts.sum() < 20


# ---- The tool ----


FAKE = r"""#!/bin/sh
case "$1" in
    --version) echo oif fake; exit ;;
esac
on=1
case " $* " in
    *" --detector help "*) echo 'no help; choose one of: eager, never' >&2; exit 2 ;;
    *" --bad "*) echo a bad option >&2; exit 1 ;;
    *" never "*) on=0 ;;
esac
awk -F, -v on=$on 'NR == 1 { print $0 ",anomaly,ready"; next }
    { print $0 "," (on && $1 >= 140 ? 1 : 0) ",1" }'
"""


@pytest.fixture
def fake(tmp_path):
    """A tool with two detectors: `never` does not alert, `eager` and the default if c0 >= 140."""
    script = tmp_path / "oif"
    script.write_text(FAKE)
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


def test_missing_numbers_are_empty_fields():
    rows = np.array([[1.5, np.nan], [1e6, -2]])
    assert tool.csv_text(rows) == b"c0,c1\n1.5,\n1000000,-2\n"


def test_times_come_first_and_counters_add_up():
    rows = np.array([[1.0, np.nan], [2, 5], [4, 6]])
    assert tool.totals(rows, (0,))[:, 0].tolist() == [1, 3, 7]
    assert tool.csv_text(rows[:2], seconds=900) == (
        b"time,c0,c1\n2026-01-05T00:00:00Z,1,\n2026-01-05T00:15:00Z,2,5\n"
    )


def script_of(folder, printed):
    (folder / "lines").write_text("\n".join(printed) + "\n")
    script = folder / "oif"
    script.write_text(f"#!/bin/sh\ncat > /dev/null; cat {folder}/lines\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


def test_the_first_reason_of_an_alert_is_read(tmp_path):
    script = script_of(tmp_path, [
        '{"c0":1,"oif":{"anomaly":false,"why":[]}}',
        '{"c0":1,"oif":{"anomaly":true,"why":[{"column":"c0","reason":"stuck"},{"column":"c1"}]}}',
        '{"c0":9,"oif":{"anomaly":true,"why":[{"column":"c1","direction":"high"}]}}',
    ])  # fmt: skip
    found = tool.reasons(script, b"c0\n1\n1\n9\n", seed=0)
    assert found == [tool.Reason(1, "stuck", "c0"), tool.Reason(2, "values", "c1")]
    with pytest.raises(tool.ToolFailed, match="printed 3 rows"):
        tool.reasons(script, b"c0\n1\n", seed=0)


def test_silences_that_begin_are_read(tmp_path):
    script = script_of(tmp_path, [
        '{"host":"a","oif":{"silence":"begins","seconds":300}}',
        '{"host":"a","oif":{"silence":"ends","seconds":900}}',
        '{"host":"b","oif":{"score":1,"episode":"begins"}}',
    ])  # fmt: skip
    (record,) = tool.silences(script, b"", 0, ())
    assert record["host"] == "a" and record["oif"]["seconds"] == 300


def test_alerts_are_read_from_the_last_field(fake):
    text = tool.csv_text(np.array([[1.0, 2], [200, 2], [3, np.nan]]))
    scored = tool.score(fake, text, tool.DEFAULT, seed=0)
    assert scored.ready.tolist() == [True] * 3 and scored.alerts.tolist() == [False, True, False]


def test_detectors_are_those_that_the_tool_names(fake):
    assert [found.title for found in tool.detector_commands(fake)] == ["eager", "never"]


def test_a_tool_that_fails_is_named_with_its_words(fake, tmp_path):
    with pytest.raises(tool.ToolFailed, match="ended with 1: a bad option"):
        tool.score(fake, b"a\n1\n", tool.Command("bad", ("--bad",)), seed=0)
    with pytest.raises(tool.ToolFailed, match="make build"):
        tool.run(tmp_path / "nothing", ["score"])


# ---- Limits ----

KEY = ("spike-10-of-10", tool.DEFAULT.title)
LOUD = ("normal", 0.01, tool.DEFAULT.title)


def cell_of(found, seeds=limits.SEEDS, rows=0):
    return Cell((rows,) * found + (None,) * (seeds - found))


def failures(cell, limit):
    return limits.check(Results({KEY: cell}, {}, {}), Limits({KEY: limit}, {}, {})).failures


def test_a_cell_below_its_limit_is_named():
    assert failures(cell_of(9), Found(9)) == []
    (failure,) = failures(cell_of(8), Found(9, bar=True))
    for part in ("bar: ", "spike-10-of-10", "1 of 10 columns, 10 sd", "oif score", "8 of 10", "wanted 9"):
        assert part in failure


def test_a_cell_that_is_found_too_late_is_named():
    assert failures(cell_of(10, rows=10), Found(9, 10)) == []
    (failure,) = failures(cell_of(10, rows=11), Found(9, 10))
    assert "after 11 rows" in failure and "wanted 10" in failure


def test_with_fewer_seeds_no_more_may_be_missed():
    assert failures(cell_of(2, seeds=3, rows=99), Found(9, 10)) == []
    assert failures(cell_of(1, seeds=3), Found(9)) != []
    assert failures(cell_of(2, seeds=3), Found(10)) != []
    assert failures(cell_of(0, seeds=3), Found(5)) == []


@pytest.mark.parametrize("episodes, wrong", [(0, False), (150, False), (151, True)])
def test_too_many_false_alerts_are_named(episodes, wrong):
    results = Results({}, {LOUD: Quiet(0.01, 10_000, 900, episodes, 1)}, {})
    verdict = limits.check(results, Limits({}, {LOUD: limits.SHARE_BARS[LOUD[0]]}, {}))
    assert bool(verdict.failures) == wrong
    assert all("normal" in failure and "0.01" in failure for failure in verdict.failures)


@pytest.mark.parametrize("part, wrong", [(95, False), (94, True), (100, False)])
def test_a_measure_outside_its_limits_is_named(part, wrong):
    results = Results({}, {}, {"why-stuck": Part(part, 100)})
    verdict = limits.check(results, limits.bars())
    assert verdict.judged == 1 and bool(verdict.failures) == wrong
    for failure in verdict.failures:
        assert "bar: why-stuck (reason is stuck" in failure
        assert "0.94 (94 of 100), wanted at least 0.95" in failure


def test_what_is_wanted_of_a_measure_is_said_in_words():
    words = [limits.wanted(*pair) for pair in ((0.95, 1), (1, 1), (0, 0), (0, 1.2), (0, 1 / 3))]
    assert words == ["at least 0.95", "1", "0", "at most 1.2", "at most 0.333"]


def test_limits_of_what_was_not_measured_are_counted():
    verdict = limits.check(Results({}, {}, {}), limits.bars())
    assert (verdict.failures, verdict.judged) == ([], 0) and verdict.absent > 20


def test_bars_stay_whatever_was_measured():
    chance, other = ("spike-10-of-10", campaign.CHANCE), ("spike-10-of-10", "rrcf")
    cells = {KEY: cell_of(8), other: cell_of(6, rows=4), chance: Chance((0.1,) * 10)}
    accepted = limits.accepted(Results(cells, {LOUD: Quiet(0.01, 10_000, 500, 9, 10)}, {}))
    assert accepted.found[KEY] == limits.FOUND_BARS["spike-10-of-10"]
    assert accepted.share[LOUD] == limits.SHARE_BARS[LOUD[0]]
    assert accepted.found[other] == Found(5, 13)
    assert chance not in accepted.found


def test_what_is_found_by_chance_is_no_limit():
    chance, other = ("spike-4", campaign.CHANCE), ("spike-4", "rrcf")
    accepted = limits.accepted(Results({other: cell_of(4), chance: Chance((0.2,) * 10)}, {}, {}))
    assert other not in accepted.found


def test_limits_are_read_as_they_were_written(tmp_path):
    written = limits.bars()
    written.found["spike-4", "rrcf"] = Found(3, 7.5)
    limits.write(written, tmp_path / "limits.json")
    assert limits.read(tmp_path / "limits.json") == written


def test_the_file_of_limits_has_every_bar():
    kept, bars = limits.read(), limits.bars()
    assert {key: kept.found.get(key) for key in bars.found} == bars.found
    assert {key: kept.share.get(key) for key in bars.share} == bars.share
    assert kept.measures == bars.measures
    assert all(kind in BY_KEY or kind.startswith("host-") for kind, _ in kept.found)


# ---- Tables, picture, page ----


def half(oif, seed):
    return Part(seed + 1, 3)


@pytest.fixture
def measured(fake, monkeypatch, tmp_path):
    monkeypatch.setattr(quiet, "LENGTH", 300)
    rows = tuple(BY_KEY[key] for key in ("spike-10-of-10", "spike-50", "season-season-96"))
    detectors = tuple(tool.detector_commands(fake))
    monkeypatch.setitem(measures.BY_KEY, "drift", measures.BY_KEY["drift"]._replace(of=half))
    commands = (tool.DEFAULT, *detectors)
    plan = Plan(fake, rows, commands, ("normal",), 2, 2, jobs=2, measures=("drift",))
    return plan, campaign.run(plan, tmp_path)


def test_every_cell_is_measured_with_every_seed(measured):
    plan, results = measured
    assert results.cells["spike-50", tool.DEFAULT.title] == Cell((0, 0))
    assert results.cells["spike-50", "eager"] == Cell((0, 0))
    assert results.cells["spike-50", "never"] == Cell((None, None))
    assert results.cells["spike-50", campaign.CHANCE] == Chance((0.0, 0.0))
    assert results.cells["spike-10-of-10", tool.DEFAULT.title] == Cell((None, None))
    assert results.cells["spike-10-of-10", yardstick.TITLE].seeds == 2
    assert results.cells["season-season-96", yardstick.TITLE].seeds == 2
    assert results.quiet["normal", 0.01, tool.DEFAULT.title] == Quiet(0.01, 600, 0, 0, 2)
    assert results.measures == {"drift": Part(3, 6)}


def test_a_stream_that_was_measured_is_not_measured_again(measured, tmp_path, monkeypatch):
    plan, results = measured
    file = tmp_path / campaign.FILE
    kept = file.read_bytes()
    monkeypatch.setattr(tool, "score", None)
    file.write_bytes(kept + b'["torn')
    assert campaign.run(plan, tmp_path) == results
    assert file.read_bytes() == kept


def test_another_tool_is_measured_again(measured, tmp_path):
    plan, _ = measured
    plan.oif.write_text(plan.oif.read_text().replace(">= 140", ">= 1000000"))
    assert campaign.run(plan, tmp_path).cells["spike-50", "eager"] == Cell((None, None))


def test_the_tables_have_every_kind_and_every_column(measured):
    plan, results = measured
    for printed in (tables.text(plan, results), tables.markdown(plan, results)):
        for row in plan.rows:
            assert row.title in printed
        for word in ("eager", "never", "chance", "normal noise", "0.00 (0.00%)", "0.50 (3 of 6)"):
            assert word in printed
    lines = tables.markdown(plan, results).splitlines()
    bars = {line.replace("\\|", "").count("|") for line in lines if line.startswith(("| 1 of", "| anomaly"))}
    assert bars == {len(plan.columns()) + 2}


def test_the_picture_marks_the_bar_that_is_missed(measured):
    plan, results = measured
    picture = heatmap.draw(plan, results)
    assert 'class="bar missed"' in picture and "prefers-color-scheme: dark" in picture
    assert "1 of 5 columns, 50 sd, oif score: found in 2 of 2, median delay 0 rows" in picture
    met = results._replace(cells={**results.cells, ("spike-10-of-10", "oif score"): Cell((0, 0))})
    count = 'class="bar met"'
    assert heatmap.draw(plan, met).count(count) == picture.count(count) + 1


def test_shades_go_from_one_colour_to_the_other():
    assert heatmap.mixed("#000000", "#ff8000", 0) == "#000000"
    assert heatmap.mixed("#000000", "#ff8000", 1) == "#ff8000"
    assert heatmap.mixed("#000000", "#ff8000", 0.5) == "#804000"


def test_the_page_loads_nothing_and_names_missed_bars(measured, tmp_path):
    plan, results = measured
    verdict = limits.check(results, limits.read())
    page.write(tmp_path, plan, results, verdict, "oif fake")
    text = (tmp_path / "operations.html").read_text()
    loaded = ("<link", "src=", "@import", "url(", 'href="http')
    assert not [word for word in loaded if word in text]
    assert "spike-10-of-10 (1 of 10 columns, 10 sd), oif score: found in 0 of 2" in text
    assert '<span class="good">0.50 (3 of 6)</span>' in text
    assert {file.name for file in tmp_path.glob("operations.*")} == {
        "operations.html", "operations.json", "operations.svg",
    }  # fmt: skip


# ---- The command ----


def run_command(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["operations", *map(str, arguments)])
    code = command.main()
    return code, capsys.readouterr().out


def test_check_exits_with_1_and_names_what_is_missed(fake, tmp_path, monkeypatch, capsys):
    arguments = ("--oif", fake, "--results", tmp_path, "--seeds", 2, "spike-10-of-10", "spike-50")
    assert run_command(monkeypatch, capsys, *arguments)[0] == 0
    code, printed = run_command(monkeypatch, capsys, *arguments, "--check")
    assert code == 1 and "MISSED bar: spike-10-of-10" in printed and "MISSED bar: spike-50" not in printed


def test_an_unknown_kind_or_detector_is_refused(fake, monkeypatch, capsys):
    for wrong in (("spike-7",), ("spike-6", "--detectors", "eagre")):
        with pytest.raises(SystemExit, match="there are"):
            run_command(monkeypatch, capsys, "--oif", fake, *wrong)


def test_accept_wants_everything_measured(fake, monkeypatch, capsys):
    for part in ("--quick", "spike-6"):
        with pytest.raises(SystemExit):
            run_command(monkeypatch, capsys, "--oif", fake, "--accept", part)


def test_a_recording_that_is_not_there_is_said_to_be_missing(tmp_path, fake, monkeypatch, capsys):
    monkeypatch.setenv("OIF_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["operations", "--oif", str(fake), "spike-6", "host-storm"])
    assert [row.key for row in command.rows_of(command.parse_arguments())] == ["spike-6"]
    assert str(tmp_path) in capsys.readouterr().err

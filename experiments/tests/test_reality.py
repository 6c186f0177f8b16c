"""Real series: the measures, planted incidents, scorers, budget, limits, tables, pictures and the command.

The tests need no data sets: their series are synthetic, and the tool is a script.
"""

import re
import stat
import sys

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from experiments.operations import tool
from experiments.reality import __main__ as command
from experiments.reality import campaign, limits, measures, outcome, page, picture, plants, scorers, tables
from experiments.reality import series as real
from experiments.reality.campaign import Plan
from experiments.reality.measures import Found, Span
from experiments.reality.plants import Incident
from experiments.reality.scorers import Scored, Scorer
from experiments.reality.series import Series

DAY = 48
EVENTS = [(1500, 1520), (3000, 3010)]


def make_series(family="SYN", name="one", rows=4000, columns=3, seed=1, labels=(), start=600, times=False):
    """Days of DAY rows with noise, written with three decimals."""
    random = np.random.default_rng(seed)
    day = np.sin(2 * np.pi * np.arange(rows) / DAY)[:, None]
    values = np.round(20 + 5 * day + random.normal(size=(rows, columns)), 3)
    flags = np.zeros(rows, dtype=bool)
    for first, end in labels:
        flags[first:end] = True
    names = tuple(f"c{j}" for j in range(columns))
    moments = tuple(str(1_700_000_000 + 300 * i) for i in range(rows)) if times else None
    return Series(family, name, names, values, moments, flags, start, DAY, names)


def alerts_at(rows, *places):
    flags = np.zeros(rows, dtype=bool)
    for place in places:
        flags[place] = True
    return flags


# ---- Measures ----


@pytest.mark.parametrize("seed", range(6))
def test_auc_is_that_of_scikit_learn_with_equal_scores_too(seed):
    random = np.random.default_rng(seed)
    scores, labels = random.integers(0, 12, 400) / 12, random.random(400) < 0.2
    assert measures.area_under_roc(scores, labels) == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


def widened(labels, width):
    """The slow twin: a row is labelled if a labelled row is at most width / 2 rows away."""
    near = [labels[max(0, i - width // 2) : i + width // 2 + 1].any() for i in range(len(labels))]
    return np.array(near)


@pytest.mark.parametrize("seed", range(4))
def test_vus_is_the_mean_of_scikit_learns_average_precision_for_wider_labels(seed):
    random = np.random.default_rng(seed)
    scores, labels = random.integers(0, 40, 900) / 40, np.zeros(900, dtype=bool)
    labels[300:330] = labels[700:702] = True
    scores[305:320] += 0.5
    areas = [average_precision_score(widened(labels, width), scores) for width in range(0, 101, 10)]
    assert measures.volume_under_pr(scores, labels) == pytest.approx(np.mean(areas), abs=1e-12)


def test_events_within_reach_are_those_of_the_best_threshold_with_few_others():
    scores, labels = np.zeros(20_000), np.zeros(20_000, dtype=bool)
    labels[1000:1010] = labels[5000:5010] = labels[9000:9010] = True
    scores[1005], scores[5002], scores[9001] = 9, 7, 5
    scores[[3000, 7000, 11_000]] = 8, 6, 5.5  # others; those that rank before the second and third event
    reached = [measures.within_reach(scores, labels, others) for others in (0, 0.5, 1, 1.4, 1.5)]
    assert reached == [1, 2, 2, 2, 3]


def test_without_both_kinds_of_rows_there_is_no_ranking():
    scores = np.arange(300.0)
    for labels in (np.zeros(300, dtype=bool), np.ones(300, dtype=bool)):
        assert measures.area_under_roc(scores, labels) is None
        assert measures.volume_under_pr(scores, labels) is None


def episodes_row_by_row(alerts, calm):
    """The slow twin: an episode ends when more than `calm` - 1 rows without an alert have passed."""
    found, last = [], None
    for row, is_alert in enumerate(alerts):
        if is_alert and (last is None or row - last > calm):
            found.append([row, row + 1])
        if is_alert:
            found[-1][1] = row + 1
            last = row
    return [Span(*pair) for pair in found]


@pytest.mark.parametrize("seed", range(20))
def test_episodes_are_those_of_the_slow_twin(seed):
    random = np.random.default_rng(seed)
    alerts = random.random(600) < random.choice([0, 0.01, 0.05, 0.3, 1])
    calm = int(random.integers(1, 30))
    assert measures.episodes(alerts, calm) == episodes_row_by_row(alerts, calm)


def test_alerts_as_far_apart_as_calm_are_one_episode():
    assert measures.episodes(alerts_at(100, 10, 26)) == [Span(10, 27)]
    assert measures.episodes(alerts_at(100, 10, 27)) == [Span(10, 11), Span(27, 28)]


def test_an_event_is_found_by_one_of_its_rows_and_an_episode_elsewhere_is_an_other():
    labels = alerts_at(200, slice(50, 60), slice(100, 110), slice(150, 155))
    alerts = alerts_at(200, 57, 58, 64, 100, 130, 149)
    assert measures.find(alerts_at(200, 148, 151), labels).others == 0  # it begins before the event, and reaches it
    found = measures.find(alerts, labels)
    assert found == Found(3, 2, (7, 0), others=2, alert_rows=6, other_rows=3, rows=200)


# ---- Planted incidents ----


@pytest.fixture(scope="module")
def background():
    return make_series(columns=4, labels=[(1500, 1520), (2900, 2910)])


@pytest.mark.parametrize("seed", range(6))
def test_an_incident_changes_its_rows_and_columns_and_nothing_else(background, seed):
    copy, incidents = plants.plant(background, seed)
    changed = ~((copy.rows == background.rows) | (np.isnan(copy.rows) & np.isnan(background.rows)))
    expected = np.zeros_like(changed)
    for incident in incidents:
        part = changed[incident.first : incident.end, list(incident.columns)]
        assert part.any(), f"{incident.kind} changed nothing"
        expected[incident.first : incident.end, list(incident.columns)] = True
    assert not changed[~expected].any()
    assert {incident.kind for incident in incidents} == set(plants.KINDS)
    assert len({len(plants.plant(background, other)[1][0].columns) for other in range(3)}) == 2  # 1, 2, half of 4


@pytest.mark.parametrize("kind", plants.KINDS)
def test_an_incident_is_what_its_name_says(background, kind):
    copy, incidents = plants.plant(background, 3)
    (one,) = [incident for incident in incidents if incident.kind == kind]
    assert len(one.columns) == 1
    now, before = (rows[one.first : one.end, one.columns[0]] for rows in (copy.rows, background.rows))
    deviation = background.rows[:, one.columns[0]].std()
    expected = {
        "outage": np.zeros(len(now)),
        "unit": before * 1000,
        "missing": np.full(len(now), np.nan),
        "frozen": np.full(len(now), before[0]),
        "late day": np.roll(before, len(before) // 2),
        "burst": before + 8 * deviation,
        "ramp": before * np.minimum(2, 1 + 2 * np.arange(len(now)) / (len(now) - 1)),
        "leak": before + 5 * deviation * np.arange(len(now)) / (len(now) - 1),
    }
    assert now == pytest.approx(expected[kind], abs=6e-4, nan_ok=True)
    days = plants.KINDS[kind][1]
    assert len(now) == max(plants.LEAST_ROWS[kind], round(days * DAY))


def test_planted_values_have_the_decimals_of_their_column(background):
    copy, _ = plants.plant(background, 1)
    known = copy.rows[~np.isnan(copy.rows)]
    assert np.array_equal(known, np.round(known, 3))
    assert plants.decimals_of(np.array([1.25, 3.75, 2.0, np.nan] * 9)) == 2


def test_a_copy_depends_on_its_seed_and_series_alone(background):
    first, again, other = (plants.plant(background, seed) for seed in (2, 2, 3))
    assert np.array_equal(first[0].rows, again[0].rows, equal_nan=True) and first[1] == again[1]
    assert not np.array_equal(first[0].rows, other[0].rows, equal_nan=True)
    renamed = plants.plant(background._replace(name="two"), 2)
    assert first[1] != renamed[1]


@pytest.mark.parametrize("seed", range(8))
def test_nothing_is_planted_on_labelled_rows_or_before_the_quiet_part(seed):
    crowded = make_series(labels=[(first, first + 20) for first in range(1300, 4000, 300)], start=900)
    copy, incidents = plants.plant(crowded, seed)
    assert np.array_equal(copy.rows[crowded.labels], crowded.rows[crowded.labels])
    assert np.array_equal(copy.labels, crowded.labels)
    for incident in incidents:
        assert incident.first >= 1200  # 30% of the rows, later than the start
        assert not crowded.labels[incident.first - 1 : incident.end + 1].any()


# ---- Outcomes ----


@pytest.mark.parametrize(
    "kind, length, last", [("burst", 3, 6), ("outage", 8, 11), ("ramp", 40, 49), ("late day", 48, 59)]
)
def test_an_incident_may_be_noticed_a_little_late(kind, length, last):
    incident = Incident(kind, 1000, 1000 + length, (0,))
    assert outcome.delay_of(incident, alerts_at(4000, 999)) is None
    assert outcome.delay_of(incident, alerts_at(4000, 1000)) == 0
    assert outcome.delay_of(incident, alerts_at(4000, 1000 + last)) == last
    assert outcome.delay_of(incident, alerts_at(4000, 1000 + last + 1)) is None


@pytest.mark.parametrize(
    "kind, after", [("burst", 16), ("frozen", 16), ("ramp", DAY), ("leak", DAY), ("late day", DAY)]
)
def test_alerts_after_an_incident_are_of_it_for_a_while(kind, after):
    series, incident = make_series(), Incident(kind, 2000, 2020, (0,))
    late = 2020 + 5 + after - 1
    assert outcome.other_episodes(series, [incident], alerts_at(4000, late)) == []
    assert outcome.other_episodes(series, [incident], alerts_at(4000, late + 1)) == [Span(late + 1, late + 2)]


def test_others_touch_neither_a_label_nor_an_incident_and_count_from_the_start():
    series, incident = make_series(labels=[(3000, 3010)]), Incident("burst", 2000, 2003, (0,))
    alerts = alerts_at(4000, 100, 1000, 1010, 1995, 2001, 2995, 3004, 3500)
    found = outcome.judge_planted(series, [incident], 7, Scored(alerts.astype(float), alerts))
    assert found.others == 2 and found.rows == 3400 and found.alert_rows == 7 and found.seed == 7
    (caught,) = found.incidents
    assert (caught.kind, caught.delay) == ("burst", 1)


@pytest.mark.parametrize("seed", range(6))
def test_chance_is_the_share_of_free_windows_with_an_alert(seed):
    random = np.random.default_rng(seed)
    alerts, explained = random.random(300) < 0.03, random.random(300) < 0.01
    for length in (1, 7, 60, 300, 301):
        windows = [slice(i, i + length) for i in range(300 - length + 1)]
        hits = [alerts[window].any() for window in windows if not explained[window].any()]
        assert outcome.chance(alerts, explained, length) == pytest.approx(np.mean(hits) if hits else 0)


def test_events_found_by_a_scorer_that_is_mostly_an_alert_are_found_by_chance():
    series = make_series(labels=EVENTS)
    every, none, seldom = np.ones(4000, dtype=bool), np.zeros(4000, dtype=bool), alerts_at(4000, 1505, 2000)
    for alerts, found, chance in ((every, 2, 2), (none, 0, 0), (seldom, 1, 30 / 3300)):
        judged = outcome.judge_labelled(series, Scored(alerts.astype(float), alerts))
        assert judged.found.found == found and judged.chance == pytest.approx(chance, rel=0.05)


@pytest.mark.parametrize(
    "rows, others, word",
    [
        (20_000, 20, "within"), (20_000, 6, "within"), (20_000, 5, "below"), (20_000, 30, "within"),
        (20_000, 31, "above"), (20_000, 40, "above"), (20_000, 41, "far"),
        (345, 0, "within"), (345, 1, "within"), (345, 2, "far"),  # 0.345 are asked for
        (2_000, 3, "within"), (2_000, 4, "above"), (2_000, 5, "far"), (2_000, 0, "below"), (1_000, 0, "within"),
    ],
)  # fmt: skip
def test_the_budget_is_judged_by_counts_where_a_series_is_short(rows, others, word):
    found = Found(0, 0, (), others, others, others, rows)
    assert outcome.spends(found, 0.001) == word


# ---- Scorers ----


@pytest.mark.parametrize("rate", [0.001, 0.02])
def test_the_running_quantile_is_that_of_the_slow_twin(rate, monkeypatch):
    monkeypatch.setattr(scorers, "MEMORY", 700)
    scores = np.round(np.random.default_rng(5).normal(size=2500), 1)
    expected = np.zeros(2500, dtype=bool)
    for row in range(scorers.FIRST + scorers.LEAST, 2500):
        before = scores[max(scorers.FIRST, row - 700) : row]
        expected[row] = np.sum(before >= scores[row]) <= rate * len(before)
    assert np.array_equal(scorers.quantile_alerts(scores, rate), expected)
    assert expected.any()


def test_equal_scores_are_no_alerts():
    assert not scorers.quantile_alerts(np.zeros(3000), 0.01).any()


def test_a_robust_z_survives_missing_values_and_constant_columns():
    rows = make_series(columns=5).rows
    rows[:, 1] = 7
    rows[:, 2] = np.nan
    rows[:2000, 3] = np.nan
    rows[1500:1520] = np.nan
    rows[3000, 1] = 8  # for the first time
    rows[3500, 0] = 500
    scores = scorers.robust_z(rows)
    assert np.isfinite(scores).all() and not scores[1500:1520].any() and not scores[: scorers.FIRST].any()
    assert scores.argmax() == 3500
    assert scorers.quantile_alerts(scores, 0.001)[3500]


def test_a_robust_z_is_the_distance_from_the_median_in_median_deviations():
    rows = make_series(columns=2).rows
    begin = scorers.FIRST + 10 * scorers.RENEWED
    window = rows[max(0, begin - scorers.WINDOW) : begin]
    centre = np.median(window, axis=0)
    scale = 1.4826 * np.median(np.abs(window - centre), axis=0)
    assert scorers.robust_z(rows)[begin + 5] == pytest.approx(max(abs(rows[begin + 5] - centre) / scale))


def test_a_robust_z_does_not_see_the_future():
    rows = make_series().rows
    other = rows.copy()
    other[2001:] = 1e6
    assert np.array_equal(scorers.robust_z(rows)[:2001], scorers.robust_z(other)[:2001])


def test_missing_values_are_filled_with_the_last_one():
    nan = np.nan
    rows = np.array([[nan, 1], [2, nan], [nan, nan], [3, 4]])
    assert scorers.filled(rows).tolist() == [[0, 1], [2, 1], [2, 1], [3, 4]]
    assert np.isnan(rows).sum() == 4


FAKE = """#!{python}
import sys
assert sys.argv[1:] != ["score"]
if sys.argv[1] == "--version":
    print("oif fake")
    sys.exit()
names, *lines = sys.stdin.read().splitlines()
assert "label" not in names
if names.startswith("time,"):
    assert sys.argv[-2:] == ["--time", "time"], sys.argv
print(names + ",score,severity,anomaly")
for line in lines[{lost}:]:
    values = [float(x) for x in line.split(",")[names.startswith("time"):] if x]
    high = max(values, default=0)
    print(f"{{line}},{{high / 1000}},{{high / 10:.2f}},{{int(high > {limit})}}")
"""


def fake_tool(folder, limit=60, lost=0):
    script = folder / f"oif-{limit}-{lost}"
    script.write_text(FAKE.format(python=sys.executable, limit=limit, lost=lost))
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    return script


@pytest.mark.parametrize("times", [False, True])
def test_the_tool_gets_rows_without_labels_and_their_times(tmp_path, times):
    series = make_series(rows=700, labels=[(650, 660)], times=times)
    series.rows[655, 1] = 90
    series.rows[3] = np.nan
    scored = scorers.oif_score(fake_tool(tmp_path), (), series)
    assert np.flatnonzero(scored.alerts).tolist() == [655]
    assert scored.scores[655] == 0.09 and scored.severities[655] == 9 and len(scored.scores) == 700


def test_a_tool_that_loses_rows_is_named(tmp_path):
    with pytest.raises(tool.ToolFailed, match="printed 699 of 700 rows"):
        scorers.oif_score(fake_tool(tmp_path, lost=1), (), make_series(rows=700))


def test_numbers_reach_the_tool_exactly():
    series = make_series(rows=5)
    series.rows[:] = [[0.1 + 0.2, 1e-300, np.nan]] * 5
    name, first, *_ = real.csv_text(series).decode().splitlines()
    assert name == "c0,c1,c2" and first == "0.30000000000000004,1e-300,"


def test_a_row_without_any_value_is_still_a_row():
    """An empty line would be skipped by the tool, and all rows after it were taken for earlier ones."""
    series = make_series(rows=3, columns=1)
    series.rows[1] = np.nan
    assert real.csv_text(series).decode().splitlines()[2] == '""'


@pytest.mark.parametrize(
    "options, rate", [((), 0.001), (("--alert-rate", "0.01"), 0.01), (("--a", "--alert-rate=.2", "x"), 0.2)]
)
def test_the_rate_is_the_one_that_is_asked_for(options, rate):
    assert scorers.rate_of(options) == rate


def test_scores_of_a_slow_scorer_are_kept_until_it_or_the_rows_change(tmp_path):
    runs, kept, series = [], scorers.Kept(tmp_path), make_series(rows=700)

    def score(given):
        runs.append(given)
        return Scored(given.rows[:, 0], given.rows[:, 0] > 24)

    slow = Scorer("slow", score, "slow", "1")
    first, again = (scorers.scored_by(slow, series, kept) for _ in range(2))
    assert len(runs) == 1 and np.array_equal(first.scores, again.scores) and np.array_equal(first.alerts, again.alerts)
    other_rule = slow._replace(title="other", alerts=lambda scores: scores > 1e9)
    assert first.alerts.any() and not scorers.scored_by(other_rule, series, kept).alerts.any() and len(runs) == 1
    scorers.scored_by(slow._replace(fingerprint="2"), series, kept)
    assert len(runs) == 2
    changed = series._replace(rows=series.rows + 1)
    scorers.scored_by(slow, changed, kept)
    assert len(runs) == 3


# ---- A small campaign ----

SPIKES = (1505, 2000, 2500)  # of the labelled series: one in an event, two others


def spiky(family, name):
    series = make_series(family, name, labels=EVENTS, times=family == "B")
    series.rows[list(SPIKES), 0] = 200
    return series


def by_value(series):
    """A fake scorer: the largest value, an alert above 60."""
    highest = np.nan_to_num(series.rows).max(axis=1)
    return Scored(highest, highest > 60, highest / 100)


def never(series):
    return Scored(np.zeros(len(series.rows)), np.zeros(len(series.rows), dtype=bool))


@pytest.fixture
def data_there(monkeypatch):
    """Series as if they were in the folder of data."""
    labelled = tuple(spiky(family, name) for family in "AB" for name in ("x", "y", "z"))
    unlabelled = (make_series("series", "etth1", start=0), make_series("series", "more", rows=5000, start=0))
    monkeypatch.setattr(real, "labelled", lambda: labelled)
    monkeypatch.setattr(real, "to_plant_in", lambda: unlabelled)
    monkeypatch.setattr(real, "is_there", lambda: True)


@pytest.fixture
def measured(data_there):
    cases = (*campaign.labelled_cases(False), *campaign.planted_cases(False, 3))
    plan = Plan(cases, (Scorer("oif score", by_value), Scorer("never", never)), 0.001, jobs=2)
    return plan, campaign.run(plan)


def test_every_scorer_is_measured_on_every_series_in_order(measured):
    _, results = measured
    assert [(o.family, o.name) for o in results.labelled["oif score"]] == [(f, n) for f in "AB" for n in "xyz"]
    for one in results.labelled["oif score"]:
        assert one.found == Found(2, 1, (5,), 2, 3, 2, 3400)
    assert all(one.found.found == one.found.others == 0 for one in results.labelled["never"])
    assert [(o.name, o.seed) for o in results.planted["never"]] == [(n, s) for n in ("etth1", "more") for s in range(3)]
    for planted in results.planted["oif score"]:
        found = {incident.kind for incident in planted.incidents if incident.delay is not None}
        assert found == {"unit"} or found == {"unit", "burst"} and planted.others == 0
    assert [drawn.key for drawn in results.drawn[5:7]] == ["B z", "series etth1 0"]


def test_quick_has_two_series_of_a_family_and_few_copies(data_there):
    assert [case.key for case in campaign.labelled_cases(True)] == ["A x", "A y", "B x", "B y"]
    assert [case.key for case in campaign.planted_cases(True, 1)] == ["series etth1 0"]


def test_the_quick_part_of_a_full_run_is_what_quick_measures(measured, data_there):
    plan, results = measured
    cases = (*campaign.labelled_cases(True), *campaign.planted_cases(True, campaign.QUICK_SEEDS))
    quick = campaign.run(plan._replace(cases=cases))
    part = campaign.quick_part(results)
    assert part.labelled == quick.labelled and part.planted == quick.planted
    assert limits.measured(part, 0.001) == limits.measured(quick, 0.001)


def test_a_forest_that_cannot_run_is_named_and_the_others_are_measured(data_there):
    def fails(series):
        raise scorers.aws_forest.ForestMissing("java: no such machine")

    scorers_ = (Scorer("oif score", by_value), Scorer("AWS RCF", fails))
    plan = Plan(tuple(campaign.labelled_cases(True)), scorers_, 0.001, jobs=1, absent=(("peer", "no network"),))
    results = campaign.run(plan)
    assert results.titles == ["oif score"]
    for printed in (tables.text(plan, results), page.html(plan, results, limits.Verdict([], 0, 0), "v")):
        assert "AWS RCF: java: no such machine" in printed and "peer: no network" in printed


# ---- Tables ----


def test_a_family_counts_rows_and_events_together_and_the_mean_counts_families():
    def one(family, auc, found, events, others, rows, delays):
        found_ = Found(events, found, delays, others, 10, others, rows)
        return outcome.Labelled(family, "n", auc, auc / 2, 1, found_, 0.5)

    figures = tables.by_family([
        one("A", 0.6, 1, 4, 3, 1000, (9,)),
        one("A", 0.8, 3, 4, 0, 5000, (1, 2, 3)),
        one("B", 0.9, 0, 1, 5, 2000, ()),
    ])  # fmt: skip
    assert figures["A"].auc == pytest.approx(0.7) and figures["A"].vus == pytest.approx(0.35)
    assert (figures["A"].found, figures["A"].events, figures["A"].delay) == (4, 8, 2.5)
    assert (figures["A"].others, figures["A"].largest) == (5, 30)
    mean = tables.mean_figures(list(figures.values()))
    assert figures["A"].chance == 1 / 8 and figures["B"].chance == 0.5 and mean.chance == 2.5 / 8
    assert mean.auc == pytest.approx(0.8) and mean.share == 0.25 and mean.others == 15 and mean.largest == 30
    assert mean.delay == 2.5 and mean.found is None
    assert figures["A"].within_reach == 2 / 8 and mean.within_reach == 5 / 8


def test_the_tables_have_every_family_scorer_and_kind(measured):
    plan, results = measured
    for printed in (tables.text(plan, results, True), tables.markdown(plan, results, True)):
        words = ("A: 3 series, 10,200 rows", "never", "mean of families", "3/6", "5.9", "by chance", "without B")
        assert [word for word in words if word not in printed] == []
    lines = tables.markdown(plan, results).splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith("| ---")]
    for start in starts:
        table = [line for line in lines[start - 1 :] if line.startswith("|")]
        assert lines[start - 1].count("|") == lines[start].count("|") == table[2].count("|")
    assert len(starts) == 5 - (tables.outside_budget(plan, results).lines == [])


def test_without_planted_series_there_are_no_tables_of_them(data_there):
    plan = Plan(tuple(campaign.labelled_cases(True)), (Scorer("oif score", by_value),), 0.001, jobs=1)
    titles = [table.title for table in tables.tables_of(plan, campaign.run(plan))]
    assert "Labelled series" in titles and not [title for title in titles if "Planted" in title]


# ---- Pictures and the page ----


def test_a_picture_has_bands_ticks_and_at_most_one_point_per_pixel():
    series = spiky("A", "x")
    drawn = picture.draw(series, (), by_value(series))
    assert drawn.count('class="band found"') == 1 and drawn.count('class="band missed"') == 1
    assert drawn.count('class="other"') == 2 and drawn.count('class="hit"') == 1
    assert "event, rows 1,500 to 1,519: found after 5 rows" in drawn and "rows 3,000 to 3,009: missed" in drawn
    assert "other, rows 2,000 to 2,000, severity 2.0" in drawn
    (first, *_) = re.findall(r'<path d="([^"]*)" class="line"', drawn)
    assert len(re.findall("[ML]", first)) == picture.WIDTH
    assert len(drawn) < 60_000


def test_a_picture_names_the_planted_incidents():
    series, incidents = plants.plant(make_series(labels=[(1500, 1510)]), 1)
    drawn, alerts = picture.draw(series, incidents, by_value(series)), by_value(series).alerts
    assert re.findall('class="(found|missed)">([a-z ]+)</text>', drawn) == [
        ("missed" if outcome.delay_of(incident, alerts) is None else "found", incident.kind) for incident in incidents
    ]
    assert drawn.count('class="band label"') == 1
    assert 'class="found">unit<' in drawn and 'class="missed">frozen<' in drawn


def test_every_pixel_shows_the_least_and_the_largest_value_of_its_rows():
    values = np.arange(8000.0)
    values[4005], values[6000:6010], values[7000] = -50, np.nan, np.nan
    drawn = list(picture.extremes(values))
    assert len(drawn) == picture.WIDTH
    assert drawn[0] == (0.5, 0, 9) and drawn[400] == (400.5, -50, 4009)
    assert np.isnan(drawn[600][1:]).all() and drawn[700] == (700.5, 7001, 7009)
    path = picture.line_path(values, 0, 8000, 0, 50)
    assert path.count("M") == 2  # a gap


@pytest.mark.parametrize("rows", [1, 5, 700])
def test_odd_series_can_be_drawn(rows):
    values = np.zeros((rows, 4))
    values[:, 1] = np.nan
    values[:, 2] = np.arange(rows)
    none = np.zeros(rows, dtype=bool)
    odd = Series("odd", "<one>", ("a&b", "b", "c", "d"), values, None, none, 0, 0, ())
    for alerts in (none, ~none):
        assert "a&b" not in picture.draw(odd, (), Scored(np.zeros(rows), alerts))


def test_the_column_of_the_event_is_drawn():
    series = make_series(columns=9, labels=[(2000, 2030)])
    series.rows[2000:2030, 7] += 60
    bands = picture.bands_of(series, (), np.zeros(4000, dtype=bool))
    assert 7 in picture.telling_columns(series, bands, ()) and len(picture.telling_columns(series, bands, ())) <= 3


def test_the_page_loads_nothing_and_shows_every_series(measured, tmp_path):
    plan, results = measured
    verdict = limits.Verdict(["bar: A, AUC: 0.5, wanted at least 0.9"], 3, 0)
    page.write(tmp_path, plan, results, verdict, "oif <fake>")
    text = (tmp_path / "reality.html").read_text()
    loaded = ("<link", "src=", "@import", "url(", 'href="http', "<script")
    assert not [word for word in loaded if word in text]
    assert text.count("<svg") == len(plan.cases) == 12 and "prefers-color-scheme: dark" in text
    assert "bar: A, AUC: 0.5, wanted at least 0.9" in text and "oif &lt;fake&gt;" in text
    assert text.index("Labelled series</h2>") < text.index("<svg")
    assert "series etth1, copy 2" in text
    assert {file.name for file in tmp_path.iterdir()} == {"reality.html", "reality.json"}


# ---- Limits ----


def test_accepted_limits_are_met_and_written_as_they_are_read(measured, tmp_path):
    _, results = measured
    path = tmp_path / "limits.json"
    accepted = limits.accepted(results, 0.001, {})
    limits.write(accepted, path)
    assert limits.read(path) == accepted and set(accepted) == {limits.FULL, limits.QUICK}
    values = limits.measured(results, 0.001)
    verdict = limits.check(values, accepted[limits.FULL])
    assert verdict == limits.Verdict([], len(values), 0)
    expected = {"A, AUC", "B, events found", "mean of families, VUS-PR", "planted, unit found", "budget, series above"}
    assert expected <= set(values)


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("A, AUC", 0.1, "A, AUC: 0.1, wanted at least "),
        ("A, events found", 1, "A, events found: 1, wanted at least 2"),
        ("A, others per 10,000 rows", 9, "A, others per 10,000 rows: 9, wanted at most 8.4"),
        ("planted, unit found", 4, "planted, unit found: 4, wanted at least 5"),
        ("budget, series above", 4, "budget, series above: 4, wanted at most 2"),
    ],
)
def test_what_became_worse_is_named(measured, name, value, words):
    values = limits.measured(measured[1], 0.001)
    accepted = limits.accepted(measured[1], 0.001, {})[limits.FULL]
    worse = {**values, name: values[name]._replace(value=value)}
    (failure,) = limits.check(worse, accepted).failures
    assert failure.startswith(words)


def test_bars_stay_whatever_is_accepted(measured):
    bar = limits.Limit(low=0.99, bar=True)
    accepted = limits.accepted(measured[1], 0.001, {limits.FULL: {"A, AUC": bar, "B, AUC": limits.Limit(low=0.99)}})
    assert accepted[limits.FULL]["A, AUC"] == bar and accepted[limits.FULL]["B, AUC"].low < 0.99
    (failure,) = limits.check(limits.measured(measured[1], 0.001), {"A, AUC": bar}).failures
    assert failure.startswith("bar: A, AUC")


def test_limits_of_what_was_not_measured_are_counted():
    assert limits.check({}, {"A, AUC": limits.Limit(low=1)}) == limits.Verdict([], 0, 1)


def test_the_file_of_limits_has_both_runs_and_every_kind():
    kept = limits.read(limits.FILE)
    assert set(kept) == {limits.FULL, limits.QUICK}
    assert {f"planted, {kind} found" for kind in plants.KINDS} <= set(kept[limits.FULL])
    assert set(kept[limits.QUICK]) <= set(kept[limits.FULL])


# ---- The command ----


def run_command(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["reality", *map(str, arguments)])
    code = command.main()
    return code, capsys.readouterr().out


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    monkeypatch.setenv("OIF_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    real.labelled.cache_clear()
    real.to_plant_in.cache_clear()


def test_without_data_the_message_says_where_to_put_them(no_data, monkeypatch, capsys, tmp_path):
    with pytest.raises(command.data.DataMissing) as raised:
        run_command(monkeypatch, capsys, "--oif", tmp_path / "oif", "--quick")
    assert real.HOW_TO_GET in str(raised.value) and str(tmp_path / "nothing") in str(raised.value)


def test_without_data_the_quick_check_is_skipped_with_its_reason(no_data, monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("CI", raising=False)
    code, printed = run_command(monkeypatch, capsys, "--oif", tmp_path / "oif", "--quick", "--check")
    assert code == 0 and "skipped" in printed and real.HOW_TO_GET in printed


def test_in_ci_the_quick_check_is_never_skipped(no_data, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("CI", "true")
    with pytest.raises(command.data.DataMissing):
        run_command(monkeypatch, capsys, "--oif", tmp_path / "oif", "--quick", "--check")


def test_check_exits_with_1_and_names_what_is_missed(data_there, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(limits, "FILE", tmp_path / "limits.json")
    monkeypatch.setattr(scorers, "why_no_aws", lambda: "not wanted here")
    usual = ("--results", tmp_path / "results", "--jobs", 2)
    code, printed = run_command(monkeypatch, capsys, "--oif", fake_tool(tmp_path), *usual, "--accept", "--check")
    assert code == 0 and "limits are met" in printed and "Not measured: AWS RCF: not wanted here" in printed
    code, printed = run_command(monkeypatch, capsys, "--oif", fake_tool(tmp_path), *usual, "--quick", "--check")
    assert code == 0 and (tmp_path / "results" / "quick" / "reality.html").is_file()
    blind = fake_tool(tmp_path, limit=1e9)
    code, printed = run_command(monkeypatch, capsys, "--oif", blind, *usual, "--quick", "--check")
    assert code == 1 and "MISSED A, events found: 0, wanted at least 1" in printed
    assert "MISSED mean of families, share of events found" in printed


@pytest.mark.parametrize(
    "arguments",
    [("--accept", "--quick"), ("--accept", "--seeds", "2"), ("--accept", "--options", "x"), ("--seeds", "0")],
)
def test_limits_are_accepted_from_a_full_run_only(arguments, monkeypatch, capsys):
    with pytest.raises(SystemExit):
        run_command(monkeypatch, capsys, *arguments)
    assert "--accept needs" in capsys.readouterr().err or arguments[0] == "--seeds"


def test_a_single_kind_of_series_can_be_asked_for(data_there, tmp_path, monkeypatch, capsys):
    usual = ("--oif", fake_tool(tmp_path), "--results", tmp_path, "--quick", "--only")
    _, labelled = run_command(monkeypatch, capsys, *usual, "labelled")
    _, planted = run_command(monkeypatch, capsys, *usual, "planted", "--markdown")
    assert "LABELLED SERIES" in labelled and "late day" not in labelled
    assert "### Planted incidents by kind" in planted and "AUC" not in planted

"""Real series: the measures, planted incidents, scorers, limits, tables, the sheet and the command.

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


def make_series(
    family="SYN", name="one", rows=4000, columns=3, seed=1, labels=(), start=600, times=False, collection="real"
):
    """Days of DAY rows with noise, written with three decimals."""
    random = np.random.default_rng(seed)
    day = np.sin(2 * np.pi * np.arange(rows) / DAY)[:, None]
    values = np.round(20 + 5 * day + random.normal(size=(rows, columns)), 3)
    flags = np.zeros(rows, dtype=bool)
    for first, end in labels:
        flags[first:end] = True
    names = tuple(f"c{j}" for j in range(columns))
    moments = tuple(str(1_700_000_000 + 300 * i) for i in range(rows)) if times else None
    return Series(family, name, names, values, moments, flags, start, DAY, names, collection)


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


def find_row_by_row(alerts, labels):
    """The slow twin."""
    rows, begun = range(len(alerts)), episodes_row_by_row(alerts, measures.CALM)
    firsts = [row for row in rows if labels[row] and not (row and labels[row - 1])]
    events = [range(first, next((row for row in rows[first:] if not labels[row]), len(rows))) for first in firsts]
    reported = sum(any(one.first in event for one in begun) for event in events)
    hits = [[row - event[0] for row in event if alerts[row]] for event in events]
    others = sum(not any(labels[row] for row in range(*one)) for one in begun)
    return Found(
        len(events),
        reported,
        sum(map(bool, hits)),
        tuple(hit[0] for hit in hits if hit),
        others,
        sum(alerts),
        len(rows),
    )


@pytest.mark.parametrize("seed", range(20))
def test_reported_found_and_others_are_those_of_the_slow_twin(seed):
    random = np.random.default_rng(seed)
    alerts = random.random(500) < random.choice([0, 0.01, 0.04, 0.2])
    labels = np.repeat(random.random(100) < 0.1, 5)
    assert measures.find(alerts, labels) == find_row_by_row(alerts, labels)


def test_an_event_is_reported_if_an_episode_begins_inside_and_found_by_any_of_its_alerts():
    labels = alerts_at(200, slice(50, 60), slice(100, 110), slice(150, 155))
    late = measures.find(alerts_at(200, 40, 52, 65), labels)  # an episode that began before the event
    assert (late.reported, late.found, late.delays, late.others) == (0, 1, (2,), 0)
    found = measures.find(alerts_at(200, 57, 58, 64, 100, 130, 149), labels)
    assert found == Found(3, 2, 2, (7, 0), others=2, alert_rows=6, rows=200)


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


def judged_kinds(series, incident, *places):
    """What is found of an incident, and the other episodes."""
    judged = outcome.judge_planted(series, [incident], 7, alerts_at(4000, *places))
    return judged.incidents[0].found, judged.others


@pytest.mark.parametrize(
    "kind, length, last", [("burst", 3, 6), ("outage", 8, 11), ("ramp", 40, 49), ("late day", 48, 59)]
)
def test_an_incident_may_be_noticed_a_little_late(kind, length, last):
    incident = Incident(kind, 1000, 1000 + length, (0,))
    reached = [judged_kinds(make_series(), incident, row)[0] for row in (999, 1000, 1000 + last, 1000 + last + 1)]
    assert reached == [0, 1, 1, 0]


@pytest.mark.parametrize(
    "kind, after", [("burst", 16), ("frozen", 16), ("ramp", DAY), ("leak", DAY), ("late day", DAY)]
)
def test_alerts_after_an_incident_are_of_it_for_a_while(kind, after):
    series, incident = make_series(), Incident(kind, 2000, 2020, (0,))
    late = 2020 + 5 + after - 1
    assert [judged_kinds(series, incident, row) for row in (late, late + 1)] == [(0, 0), (0, 1)]


def test_others_touch_neither_a_label_nor_an_incident_and_count_from_the_start():
    series, incident = make_series(labels=[(3000, 3010)]), Incident("burst", 2000, 2003, (0,))
    alerts = alerts_at(4000, 100, 1000, 1010, 1995, 2001, 2995, 3004, 3500)
    found = outcome.judge_planted(series, [incident], 7, alerts)
    assert found.others == 2 and found.rows == 3400 and found.seed == 7
    assert found.incidents == (outcome.Caught("burst", 2000, 2003, 1),)


# ---- As many alerts at random ----


def test_alerts_at_random_are_shifted_in_a_circle_behind_the_history():
    series, alerts = make_series(rows=900), alerts_at(900, 10, 700, slice(702, 706), 850)
    moved = list(outcome.shifted(series, alerts))
    assert len(moved) == outcome.SHIFTS and len({tuple(one) for one in moved}) > outcome.SHIFTS // 2
    turns = {tuple(np.roll(alerts[600:], offset)) for offset in range(300)}
    for one in moved:
        assert np.array_equal(one[:600], alerts[:600]) and tuple(one[600:]) in turns
    assert all(np.array_equal(*pair) for pair in zip(moved, outcome.shifted(series, alerts)))


def test_by_chance_is_the_mean_of_all_turns_of_the_circle(monkeypatch):
    monkeypatch.setattr(outcome, "SHIFTS", 1500)
    series = make_series(rows=900, labels=[(640, 650), (700, 740)])
    incidents = [Incident("burst", 660, 663, (0,)), Incident("frozen", 800, 840, (0,))]
    alerts = alerts_at(900, 10, 620, slice(702, 722), 760, 850)
    judged = outcome.judge_labelled(series, Scored(alerts.astype(float), alerts))
    chance = outcome.labelled_by_chance(series, alerts, judged)
    turns = [np.concatenate((alerts[:600], np.roll(alerts[600:], offset))) for offset in range(300)]
    found = [measures.find(turn[600:], series.labels[600:]) for turn in turns]
    for name in ("reported", "found", "others"):
        assert getattr(chance.found, name) == pytest.approx(np.mean([getattr(one, name) for one in found]), rel=0.1)
    assert chance.auc is None and chance.found.rows == 300 and chance.found.alert_rows == judged.found.alert_rows
    planted = outcome.planted_by_chance(series, incidents, alerts, outcome.judge_planted(series, incidents, 1, alerts))
    each = [outcome.judge_planted(series, incidents, 1, turn) for turn in turns]
    assert planted.others == pytest.approx(np.mean([one.others for one in each]), rel=0.1)
    for i, caught in enumerate(planted.incidents):
        assert caught.found == pytest.approx(np.mean([one.incidents[i].found for one in each]), rel=0.1)
    assert 0 < planted.incidents[0].found < planted.incidents[1].found < 1


@pytest.mark.parametrize("events, alerts, silent", [(2, 0, True), (2, 1, False), (0, 0, False)])
def test_a_series_is_silent_if_it_has_an_event_and_no_alert(events, alerts, silent):
    found = Found(events, 0, 0, (), alerts, alerts, 1000)
    assert outcome.Labelled("real", "A", "n", False, None, None, found).is_silent is silent


@pytest.mark.parametrize(
    "rows, others, noisy", [(20_000, 40, False), (20_000, 41, True), (345, 1, False), (345, 2, True), (1_000, 2, False)]
)
def test_a_series_is_noisy_with_more_than_twice_what_was_asked_for_and_more_than_one(rows, others, noisy):
    found = Found(0, 0, 0, (), others, others, rows)
    assert outcome.Labelled("real", "A", "n", False, None, None, found).is_noisy(0.001) is noisy


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


def ratios_row_by_row(column):
    """The slow twin: of each value that is there, the step to it over the usual step before it."""
    ratios, values, steps = np.zeros(len(column)), [], []
    for row, value in enumerate(column):
        if np.isnan(value):
            continue
        if values:
            step = abs(value - values[-1])
            if len(values) >= scorers.FIRST_JUDGED:
                moves = [one for one in steps if one > 0]
                usual = max(np.quantile(steps[-scorers.STEPS :], scorers.USUAL), np.mean(moves) if moves else 0)
                ratios[row] = min(step / usual, scorers.MOST) if usual > 0 else scorers.MOST if step > 0 else 0
            steps.append(step)
        values.append(value)
    return ratios


@pytest.mark.parametrize("seed", range(4))
def test_the_yardstick_is_the_largest_step_over_the_usual_one_as_the_slow_twin_has_it(seed, monkeypatch):
    monkeypatch.setattr(scorers, "STEPS", 300)
    random = np.random.default_rng(seed)
    series = make_series(rows=900, columns=5, seed=seed)
    series.rows[:, 1] = 7
    series.rows[600, 1] = 8  # for the first time
    series.rows[:, 2] = np.nan
    series.rows[:, 3] = random.random(900) < 0.01  # a quantile of 0, at times
    series.rows[random.random(900) < 0.1, 4] = np.nan
    series.rows[500, 0] = 90
    expected = np.max([ratios_row_by_row(column) for column in series.rows.T], axis=0)
    scored = scorers.yardstick(series)
    assert scored.scores == pytest.approx(expected) and np.array_equal(scored.alerts, expected > 2.5)
    assert scored.alerts[500] and scored.scores[600] == scorers.MOST and not scored.scores[:48].any()


def test_the_yardstick_judges_from_row_48_on_and_does_not_see_the_future():
    for row, alerts in ((47, []), (48, [48])):
        series = make_series(rows=300)
        series.rows[row:] += 900
        assert np.flatnonzero(scorers.yardstick(series).alerts).tolist() == alerts
    other = series._replace(rows=series.rows.copy())
    other.rows[201:] = 1e6
    assert np.array_equal(scorers.yardstick(series).scores[:201], scorers.yardstick(other).scores[:201])


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
print(names + ",score,anomaly")
for line in lines[{lost}:]:
    values = [float(x) for x in line.split(",")[names.startswith("time"):] if x]
    high = max(values, default=0)
    print(f"{{line}},{{high / 1000}},{{int(high > {limit})}}")
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
    assert scored.scores[655] == 0.09 and len(scored.scores) == 700


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


def spiky(family, name, collection="real"):
    series = make_series(family, name, labels=EVENTS, times=family == "B", collection=collection)
    series.rows[list(SPIKES), 0] = 200
    return series


def by_value(series):
    """A fake scorer: the largest value, an alert above 60."""
    highest = np.nan_to_num(series.rows).max(axis=1)
    return Scored(highest, highest > 60)


def never(series):
    return Scored(np.zeros(len(series.rows)), np.zeros(len(series.rows), dtype=bool))


def seldom(series):
    return Scored(np.zeros(len(series.rows)), alerts_at(len(series.rows), SPIKES[0]))


@pytest.fixture
def data_there(monkeypatch):
    """Series as if they were in the folder of data."""
    labelled = {
        "real": [spiky(family, name) for family in "AB" for name in ("x", "y", "z")],
        "fresh": [spiky(family, name, "fresh") for family in ("crash", "WSD") for name in "xyz"],
    }
    unlabelled = (make_series("series", "etth1", start=0), make_series("series", "more", rows=5000, start=0))
    monkeypatch.setattr(
        real,
        "labelled",
        lambda collection, families=(): tuple(
            one for one in labelled[collection] if not families or one.family in families
        ),
    )
    monkeypatch.setattr(real, "to_plant_in", lambda: unlabelled)
    monkeypatch.setattr(real, "is_there", lambda: True)


@pytest.fixture
def measured(data_there):
    cases = (*campaign.labelled_cases(False), *campaign.planted_cases(False, 3))
    plan = Plan(cases, (Scorer("oif score", by_value), Scorer("never", never)), 0.001, jobs=2)
    return plan, campaign.run(plan)


def test_every_scorer_is_measured_on_every_series_in_order(measured):
    _, results = measured
    names = [(family, name) for family in ("A", "B", "crash", "WSD") for name in "xyz"]
    assert results.titles == ["oif score", scorers.RANDOM, "never"]
    for title in results.titles:
        assert [(one.family, one.name) for one in results.labelled[title]] == names
    for one in results.labelled["oif score"]:
        assert one.found == Found(2, 1, 1, (5,), 2, 3, 3400)
    assert all(one.found.found == one.found.others == 0 for one in results.labelled["never"])
    assert [(o.name, o.seed) for o in results.planted["never"]] == [(n, s) for n in ("etth1", "more") for s in range(3)]
    for planted in results.planted["oif score"]:
        found = {incident.kind for incident in planted.incidents if incident.found}
        assert found == {"unit"} or found == {"unit", "burst"} and planted.others == 0
    by_chance = [one.found for one in results.labelled[scorers.RANDOM]]
    assert 0 < sum(one.reported for one in by_chance) < 1 and all(2 < one.others <= 3 for one in by_chance)


def test_slow_scorers_are_left_out_of_fresh(data_there):
    scorers_ = (Scorer("oif score", by_value), Scorer("slow", never, kept_as="slow"))
    results = campaign.run(Plan(tuple(campaign.labelled_cases(True)), scorers_, 0.001, jobs=1))
    assert {one.collection for one in results.labelled["slow"]} == {"real"}
    printed = tables.text(Plan((), scorers_, 0.001, 1), results)
    assert "slow" in printed.partition("FRESH")[0] and "slow" not in printed.partition("FRESH")[2]


def test_quick_has_two_series_of_a_family_and_few_copies(data_there):
    assert [case.key for case in campaign.labelled_cases(True)] == ["A x", "A y", "B x", "B y", "crash x", "crash y"]
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
    assert results.titles == ["oif score", scorers.RANDOM]
    for printed in (tables.text(plan, results), page.html(plan, results, limits.Verdict([], 0, 0), "v")):
        assert "AWS RCF: java: no such machine" in printed and "peer: no network" in printed


# ---- Tables ----


def made(family, auc, found, rows=1000, collection="real", is_short=False):
    return outcome.Labelled(collection, family, "n", is_short, auc, auc / 2, found._replace(rows=rows))


def test_a_family_counts_rows_and_events_together_and_the_mean_counts_families():
    families = tables.by_family([
        made("A", 0.6, Found(4, 1, 1, (9,), 3, 10, 0)),
        made("A", 0.8, Found(4, 2, 3, (1, 2, 3), 0, 10, 0), rows=5000),
        made("B", 0.9, Found(1, 0, 0, (), 5, 0, 0), rows=2000),
    ], 0.001)  # fmt: skip
    one, other = families["A"], families["B"]
    assert one.auc == pytest.approx(0.7) and one.vus == pytest.approx(0.35)
    assert (one.reported, one.found, one.events, one.delay, one.others) == (3 / 8, 4 / 8, 8, 2.5, 5)
    assert (one.noisy, one.silent, other.noisy, other.silent) == (1, 0, 1, 1)
    mean = tables.mean_figures([one, other])
    assert mean.auc == pytest.approx(0.8) and (mean.reported, mean.found, mean.others) == (3 / 16, 0.25, 15)
    assert (mean.noisy, mean.silent, mean.delay, mean.events) == (2, 1, 2.5, None)


def test_collections_are_never_mixed_and_short_series_have_a_line():
    some = Found(2, 1, 1, (0,), 1, 5, 0)
    outcomes = [made("A", 0.5, some), made("A", 0.5, some, is_short=True), made("B", 0.5, some, collection="fresh")]
    lines = tables.lines_of(tables.of_collection(outcomes, "real"), 0.001)
    assert list(lines) == ["A", "short series", "longer series", tables.MEAN]
    assert lines["short series"].events == lines["longer series"].events == 2 and lines["A"].events == 4
    assert list(tables.lines_of(tables.of_collection(outcomes, "fresh"), 0.001)) == ["B", "longer series", tables.MEAN]


@pytest.mark.parametrize(
    "reported, found, others, lost",
    [(4, 4, 5, False), (5, 4, 5, True), (4, 5, 4, True), (5, 5, 5.1, False), (3, 3, 0, False)],
)
def test_a_family_is_lost_if_the_yardstick_is_better_without_more_others(reported, found, others, lost):
    ours, theirs = (
        tables.family_figures([made("A", 0.5, Found(9, *counts, 7, 0))], 0.001)
        for counts in ((4, 4, (), 5), (reported, found, (), others))
    )
    assert tables.is_lost(ours, theirs) is lost and not tables.is_lost(ours, None)


def test_the_tables_have_every_family_scorer_and_kind(measured):
    plan, results = measured
    for printed in (tables.text(plan, results, True), tables.markdown(plan, results, True)):
        words = ("A: 3 series, 10,200 rows", "never", "mean of families", "3/6", "5.9", scorers.RANDOM, "without B")
        assert [word for word in words if word not in printed] == []
    lines = tables.markdown(plan, results).splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith("| ---")]
    for start in starts:
        table = [line for line in lines[start - 1 :] if line.startswith("|")]
        assert lines[start - 1].count("|") == lines[start].count("|") == table[2].count("|")
    assert len(starts) == 4


def test_a_family_that_is_lost_is_marked(data_there):
    plan = Plan(
        tuple(campaign.labelled_cases(True)), (Scorer("oif score", never), Scorer(scorers.YARDSTICK, seldom)), 0.001, 1
    )
    printed = tables.text(plan, campaign.run(plan))
    assert f"A: 2 series, 6,800 rows; {tables.LOST}" in printed
    won = plan._replace(scorers=plan.scorers[::-1])
    assert tables.LOST not in tables.text(won, campaign.run(won))


def test_without_planted_series_there_are_no_tables_of_them(data_there):
    plan = Plan(tuple(campaign.labelled_cases(True)), (Scorer("oif score", by_value),), 0.001, jobs=1)
    titles = [table.title for table in tables.tables_of(plan, campaign.run(plan))]
    assert titles == ["Labelled series: real", "Labelled series: fresh"]


# ---- The sheet and the page ----


def test_a_strip_has_labels_ticks_and_at_most_one_point_per_pixel():
    series = spiky("A", "x")
    drawn = picture.strip(series, {"a": by_value(series).alerts, "b": never(series).alerts}).svg
    assert [drawn.count(f'class="{style}"') for style in ("history", "label", "tick0", "tick1")] == [1, 2, 3, 0]
    assert "A x, 4,000 rows: 1 of 2 events reported, 1 found, 2 others" in drawn
    (first, *_) = re.findall(r'<path d="([^"]*)" class="line"', drawn)
    assert len(re.findall("[ML]", first)) == picture.WIDTH
    assert len(drawn) < 60_000


def test_every_pixel_shows_the_least_and_the_largest_value_of_its_rows():
    values = np.arange(12_000.0)
    values[4005], values[6000:6010], values[7000] = -50, np.nan, np.nan
    drawn = list(picture.extremes(values))
    assert len(drawn) == picture.WIDTH
    assert drawn[0] == (0.5, 0, 9) and drawn[400] == (400.5, -50, 4009)
    assert np.isnan(drawn[600][1:]).all() and drawn[700] == (700.5, 7001, 7009)
    path = picture.line_path(values, 0, 12_000, 0, 50)
    assert path.count("M") == 2  # a gap


@pytest.mark.parametrize("rows", [1, 5, 700])
def test_odd_series_can_be_drawn(rows):
    values = np.zeros((rows, 4))
    values[:, 1] = np.nan
    values[:, 2] = np.arange(rows)
    none = np.zeros(rows, dtype=bool)
    odd = Series("odd", "<one>", ("a&b", "b", "c", "d"), values, None, none, 0, 0, ())
    for alerts in (none, ~none):
        assert (
            "nan" not in picture.strip(odd, {"a": alerts}).svg
            and "&lt;one&gt;" in picture.strip(odd, {"a": alerts}).svg
        )


def test_the_column_of_the_event_is_drawn():
    series = make_series(columns=9, labels=[(2000, 2030)])
    series.rows[2000:2030, 7] += 60
    assert 7 in picture.telling_columns(series) and len(picture.telling_columns(series)) <= 3


def test_an_event_is_drawn_in_full_unless_it_would_flatten_what_is_usual():
    values, usual = np.arange(100.0), np.arange(100) < 90
    assert picture.drawn_range(values, usual) == (0, 99)
    values[95] = 1e9
    low, high = picture.drawn_range(values, usual)
    assert low == 0 and 200 < high < 230


def test_the_sheet_takes_the_first_series_with_events_of_each_family_in_turn_those_of_fresh_first(monkeypatch):
    named = [("A", "real", 3), ("B", "real", 1), ("crash", "fresh", 2)]
    cases = [
        campaign.Case(make_series(family, str(i), rows=900, collection=collection, labels=[(700, 710)] if i else []))
        for family, collection, count in named
        for i in range(count + 1)
    ]
    cases.append(campaign.Case(cases[1].series, 0))  # planted
    chosen = [cases[number].key for number in campaign.sheet_cases(cases)]
    assert chosen == ["crash 1", "A 1", "B 1", "crash 2", "A 2", "A 3"]
    monkeypatch.setattr(picture, "STRIPS", 4)
    assert [cases[number].key for number in campaign.sheet_cases(cases)] == chosen[:4]


def test_the_page_loads_nothing_and_the_sheet_stands_alone(measured, tmp_path):
    plan, results = measured
    verdict = limits.Verdict(["bar: A, AUC: 0.5, wanted at least 0.9"], 3, 0)
    page.write(tmp_path, plan, results, verdict, "oif <fake>")
    text = (tmp_path / "reality.html").read_text()
    loaded = ("<link", "src=", "@import", "url(", 'href="http', "<script")
    assert not [word for word in loaded if word in text]
    assert "bar: A, AUC: 0.5, wanted at least 0.9" in text and "oif &lt;fake&gt;" in text
    sheet = (tmp_path / "reality-sheet.svg").read_text()
    assert sheet.startswith("<svg") and sheet.count("<g ") == len(results.strips) == 12 and "href" not in sheet
    assert {file.name for file in tmp_path.iterdir()} == {"reality.html", "reality.json", "reality-sheet.svg"}


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
    expected = {"A, AUC", "B, events found", "real, mean of families, VUS-PR", "planted, unit found"}
    expected |= {"fresh, longer series, silent", "real, mean of families, noisy", "crash, events reported"}
    assert expected <= set(values)


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("A, AUC", 0.1, "A, AUC: 0.1, wanted at least "),
        ("A, events found", 1, "A, events found: 1, wanted at least 2"),
        ("A, others per 10,000 rows", 9, "A, others per 10,000 rows: 9, wanted at most 8.4"),
        ("planted, unit found", 4, "planted, unit found: 4, wanted at least 5"),
        ("real, longer series, silent", 2, "real, longer series, silent: 2, wanted at most 1"),
        (
            "fresh, mean of families, share of events reported",
            0.4,
            "fresh, mean of families, share of events reported: 0.4, wanted",
        ),
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
    assert "MISSED real, mean of families, share of events found" in printed


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

"""The ablation: paired differences, changing streams, and when a detector has recovered."""

import math

import numpy as np
import pandas
import pytest

from experiments import ablation, ablation_report, configuration, data, drift


def test_a_paired_difference_is_a_mean_over_sets_with_its_standard_error():
    difference = pandas.DataFrame({"one": [0.1, 0.3, 0.2], "other": [-0.2, -0.2, -0.2]})
    mean, error = ablation_report.paired(difference)
    assert mean == pytest.approx((0.2 - 0.2) / 2)
    assert error == pytest.approx(math.sqrt(0.01 / 3) / 2)  # variance .01 of three shuffles, none of the other set
    assert ablation_report.beyond_chance(difference) == (1, 1)


def test_rows_to_recover_are_counted_to_the_last_block_that_lacks_something():
    before, block = 0.9, 512
    level, low = [0.9] * 6, [0.5] * 4
    assert ablation_report.rows_to_recover(np.array(level), before, block) == 0
    assert ablation_report.rows_to_recover(np.array(low + level), before, block) == 4 * block
    assert ablation_report.rows_to_recover(np.array(level + low + level), before, block) == 10 * block
    assert math.isinf(ablation_report.rows_to_recover(np.array(level + low), before, block))
    assert ablation_report.rows_to_recover(np.array([math.nan, *level]), before, block) == 0


@pytest.fixture
def plain_set():
    random = np.random.RandomState(1)
    return random.normal(size=(3 * drift.SEGMENT, 4)), random.uniform(size=3 * drift.SEGMENT) < 0.05


@pytest.mark.parametrize("kind", drift.KINDS)
def test_a_changing_stream_is_the_set_until_the_change(kind, plain_set):
    rows, anomalous = plain_set
    untouched = rows.copy()
    stream = drift.build(kind, rows, anomalous, seed=3)
    again = drift.build(kind, rows, anomalous, seed=3)
    assert np.array_equal(rows, untouched) and np.array_equal(stream.rows, again.rows)
    assert len(stream.rows) == len(stream.anomalous) == 2 * drift.SEGMENT
    first = stream.changes[0]
    known = {row.tobytes() for row in rows}
    assert all(row.tobytes() in known for row in stream.rows[:first])
    assert sum(row.tobytes() in known for row in stream.rows[first:]) < 0.9 * (len(stream.rows) - first)


def test_a_jump_leaves_nothing_where_it_was(plain_set):
    stream = drift.build("jump", *plain_set, seed=3)
    (change,) = stream.changes
    assert (stream.rows[change:].min(axis=0) > stream.rows[:change].max(axis=0)).all()


def test_a_set_that_is_too_short_is_refused():
    with pytest.raises(ValueError, match="too few"):
        drift.build("jump", np.zeros((100, 2)), np.zeros(100, bool), seed=0)


def test_aucs_around_a_change_end_at_the_next_one():
    rows = 4 * ablation.BLOCK
    anomalous = np.arange(rows) % 8 == 0
    found = anomalous.astype(float)
    lost = np.where(np.arange(rows) < 2 * ablation.BLOCK, found, -found)
    stream = drift.Stream(np.zeros((rows, 1)), anomalous, (ablation.BLOCK, 2 * ablation.BLOCK))
    before, after, blocks = ablation.around(stream.changes[0], stream, lost)
    assert (before, after, blocks) == (1, [1, 1], [1])
    before, after, blocks = ablation.around(stream.changes[1], stream, lost)
    assert (before, after, blocks) == (1, [0, 0], [0, 0])


def test_every_setting_can_be_run_and_has_a_key_of_its_own():
    settings = [setting for family in ablation.FAMILIES.values() for setting in family]
    assert all(configuration.is_installed(setting) for setting in settings)
    by_key = {setting.key: (setting.detector, setting.params) for setting in settings}
    assert all(by_key[setting.key] == (setting.detector, setting.params) for setting in settings)
    prints = {setting.key: configuration.fingerprint(setting) for setting in settings}
    assert len(set(prints.values())) == len(prints), "two settings give the same scores"


@pytest.fixture
def small(monkeypatch, tmp_path, plain_set):
    """A plan of few runs on a made-up set, whose anomalies lie further out."""
    rows, anomalous = plain_set
    rows[anomalous] *= 3
    dataset = data.Dataset("Shuttle", "made up", rows, anomalous, "", None, np.array([], dtype=int))
    monkeypatch.setattr(data, "load", lambda name: dataset)
    kept = {family: settings[:3] for family, settings in ablation.FAMILIES.items()}
    monkeypatch.setattr(ablation, "FAMILIES", kept)
    monkeypatch.setattr(ablation, "DETECTORS", kept["detectors"])
    return ablation.Plan(tmp_path, ["Shuttle"], executions=2, drift_executions=2, most_rows=1500, jobs=1)


def test_the_tables_tell_of_every_setting_and_every_kind_of_change(small, capsys):
    ablation_report.report_ingredients(ablation.run_stationary(small), ablation.FAMILIES, small.results)
    streams = ablation.run_drift(small)
    ablation_report.report_drift(streams, ablation.DETECTORS, small.results, ablation.AFTER, ablation.BLOCK)
    printed = capsys.readouterr().out
    titles = {setting.title for family in ablation.FAMILIES.values() for setting in family}
    for words in titles | set(drift.KINDS):
        assert words in printed
    table = pandas.read_csv(small.results / "ablation_drift_table.csv")
    assert len(table) == len(drift.KINDS) * 3 and table["before"].between(0.8, 1).all()
    assert (small.results / "ablation_drift.svg").stat().st_size > 10_000


def test_a_run_that_was_made_is_not_made_again(small, monkeypatch):
    first = ablation.run_stationary(small)
    monkeypatch.setattr(ablation, "measure", lambda *arguments: pytest.fail("measured again"))
    assert ablation.run_stationary(small).equals(first)

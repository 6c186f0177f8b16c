"""Streams of one kind of anomaly: what the table by kind promises about its rows."""

import json
import sys

import numpy as np
import pytest

from experiments import kinds, published  # noqa: F401  (published puts tools/measure on the path)

import accuracy_by_kind  # noqa: E402
import anchors  # noqa: E402

ROWS = 10_000
STREAMS = [(name, columns) for name, (_, widths) in kinds.KINDS.items() for columns in widths]


def make(name, columns, seed=1, rows=ROWS):
    return kinds.KINDS[name][0](rows, columns, seed)


def correlations(rows):
    """Of any two columns."""
    found = np.corrcoef(rows, rowvar=False)
    return found[np.triu_indices(len(found), 1)]


@pytest.mark.parametrize("name,columns", STREAMS)
def test_half_a_percent_of_the_rows_is_anomalous(name, columns):
    stream = make(name, columns)
    assert stream.rows.shape == (ROWS, columns)
    assert stream.anomalous.sum() == 50
    assert stream.anomalous[: ROWS // 2].any() and stream.anomalous[ROWS // 2 :].any()


@pytest.mark.parametrize("name,columns", STREAMS)
def test_the_same_seed_makes_the_same_rows_and_another_one_others(name, columns):
    first, again, other = (make(name, columns, seed) for seed in (3, 3, 4))
    assert np.array_equal(first.rows, again.rows) and np.array_equal(first.anomalous, again.anomalous)
    assert not np.array_equal(first.rows, other.rows) and not np.array_equal(first.anomalous, other.anomalous)


@pytest.mark.parametrize("columns", kinds.KINDS["spikes"][1])
def test_a_spike_is_one_number_and_the_others_are_ordinary(columns):
    stream = make("spikes", columns)
    extreme = np.abs(stream.rows) > 4.5  # one normal number in 150,000 is further out
    assert np.all(extreme[stream.anomalous].sum(axis=1) <= 1)
    assert extreme[stream.anomalous].sum() >= 49
    assert extreme[~stream.anomalous].sum() <= 4
    places = np.argmax(np.abs(stream.rows[stream.anomalous]), axis=1)
    assert len(np.unique(places)) > columns // 2
    spikes = stream.rows[stream.anomalous][np.arange(50), places]
    assert (spikes > 3).any() and (spikes < -3).any()


@pytest.mark.parametrize("columns", kinds.KINDS["local"][1])
def test_local_anomalies_are_far_for_the_dense_cluster_and_near_for_the_wide_one(columns):
    stream = make("local", columns)
    centre = np.full(columns, kinds.CLUSTER_DISTANCE / np.sqrt(columns))
    distance = np.linalg.norm(stream.rows - centre, axis=1)
    anomalies, normal = distance[stream.anomalous], np.sort(distance[~stream.anomalous])
    dense, wide = np.split(normal, [ROWS // 2 - 50])  # some dense rows gave way to anomalies
    assert anomalies.min() > 1.5 * dense.max()
    assert anomalies.max() < np.median(np.linalg.norm(stream.rows[~stream.anomalous], axis=1))
    assert np.all(anomalies < wide[100:].min())


@pytest.mark.parametrize("columns", kinds.KINDS["dependency"][1])
def test_broken_dependencies_leave_each_column_as_it_was(columns, monkeypatch):
    broken = make("dependency", columns)
    monkeypatch.setattr(kinds, "SHARE", 0)  # then nothing is exchanged
    whole = make("dependency", columns)
    assert np.array_equal(np.sort(broken.rows, axis=0), np.sort(whole.rows, axis=0))
    normal = ~broken.anomalous
    assert np.array_equal(broken.rows[normal], whole.rows[normal])
    assert np.all(broken.rows[broken.anomalous] != whole.rows[broken.anomalous])


@pytest.mark.parametrize("columns", kinds.KINDS["dependency"][1])
def test_columns_are_correlated_except_in_anomalous_rows(columns):
    stream = make("dependency", columns, rows=100_000)
    assert np.allclose(correlations(stream.rows[~stream.anomalous]), 0.95, atol=0.01)
    assert np.allclose(correlations(stream.rows[stream.anomalous]), 0, atol=0.2)


# ---- The table ----


def test_the_rows_that_are_drawn_have_the_set_s_share_of_anomalies_or_ten():
    anomalous = np.arange(100_000) < 3000
    rows, labels = accuracy_by_kind.draw(np.arange(100_000.0)[:, None], anomalous, 10_000, seed=1)
    assert len(np.unique(rows)) == len(rows) == 10_000 and labels.sum() == 300
    assert np.array_equal(labels, rows[:, 0] < 3000) and labels[:5000].any() and labels[5000:].any()
    _, rare = accuracy_by_kind.draw(np.arange(100_000.0)[:, None], np.arange(100_000) < 30, 10_000, seed=1)
    assert rare.sum() == 10


def test_a_stretch_has_anomalies_that_count_or_lies_around_a_change():
    anomalous = np.zeros(50_000, dtype=bool)
    anomalous[10_100:10_400] = anomalous[25_000:25_003] = anomalous[35_000:35_004] = True
    anomalous[40_000:] = True
    assert accuracy_by_kind.stretch_starts(anomalous, [], 10_000) == [30_000]
    assert accuracy_by_kind.stretch_starts(anomalous, [1000, 20_000, 49_000], 10_000) == [0, 15_000, 40_000]
    assert accuracy_by_kind.stretch_starts(anomalous[:10_273], [], 10_000) == [0]


def test_a_detector_may_be_named_with_parameters():
    assert accuracy_by_kind.options_of("a+b") == ["--detector", "a+b"]
    spec = "online-iforest:forgetting=turnover,num_trees=64"
    expected = ["--detector", "online-iforest", "--forgetting", "turnover", "--num-trees", "64"]
    assert accuracy_by_kind.options_of(spec) == expected
    assert accuracy_by_kind.title_of(spec) == "online-iforest, turnover, 64"


def test_rows_without_a_score_count_as_the_least_anomalous():
    anomalous = np.arange(1000) % 2 == 1
    scores = np.where(anomalous, np.nan, 1.0)
    assert accuracy_by_kind.measure(scores, anomalous)[0] == 0
    assert accuracy_by_kind.measure(np.where(anomalous, 1.0, np.nan), anomalous) == (1, 1)


def test_the_table_needs_no_data_for_generated_kinds(tmp_path, monkeypatch, capsys):
    command = "accuracy.py --kinds --groups spikes,local --rows 2000 --runs 2 --jobs 1 --markdown --json"
    monkeypatch.setattr(sys, "argv", [*command.split(), str(tmp_path / "table.json"), "rolling-iforest", "hst"])
    assert accuracy_by_kind.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| rolling-iforest", "| hst"]
    rolling, hst = json.loads((tmp_path / "table.json").read_text())["detectors"]
    assert [len(stream["aucs"]) for stream in rolling["streams"]] == [2] * 6
    assert rolling["groups"]["spikes"]["auc"] > 0.98 > hst["groups"]["spikes"]["auc"]


# ---- Anchors ----


def test_a_row_is_z_scored_by_the_rows_of_the_window_before_it():
    rows = np.random.RandomState(1).normal(1e9, 3, (300, 2))
    found = anchors.z_scores(rows, window=50)
    for i in (2, 40, 51, 299):
        before = rows[max(i - 50, 0) : i]
        assert np.allclose(found[i], (rows[i] - before.mean(axis=0)) / before.std(axis=0), rtol=1e-6)
    changed = rows.copy()
    changed[200:] = 0
    assert np.allclose(anchors.z_scores(changed, window=50)[:200], found[:200])  # nothing is known in advance


def test_a_column_without_spread_is_only_centred():
    rows = np.full((100, 2), 7.1)
    rows[0] = -1e3
    rows[60, 1] = 9.1
    found = anchors.z_scores(rows, window=10)
    assert np.allclose(found[11:, 0], 0) and np.allclose(found[11:60, 1], 0) and np.allclose(found[71:, 1], 0)
    assert np.isclose(found[60, 1], 2)


def test_an_anchor_that_is_not_installed_is_named_before_anything_runs(monkeypatch):
    monkeypatch.setitem(anchors.ANCHORS, "absent", anchors.Anchor("no-such-package", anchors.unit, None))
    with pytest.raises(ValueError, match="no-such-package is not installed; experiments/run.sh accuracy"):
        anchors.versions(["rolling-iforest", "absent"])


def test_forests_that_cut_columns_get_rows_as_they_are_and_ours_do():
    plain = {name.split(" ")[0] for name, anchor in anchors.ANCHORS.items() if anchor.scale is anchors.as_they_are}
    assert plain == {"AIF", "SIF", "IForestASD", "OnlineIForest", "RCF", "RRCF"}

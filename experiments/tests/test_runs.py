"""Executions: the same rows for all, batches as by hand, rows as the tool, and results that survive an interruption."""

import numpy as np
import oif
import pytest
from conftest import make_plan
from sklearn.metrics import roc_auc_score

from experiments import configuration, data, ledger, runs, synthetic, tables


def test_every_detector_is_given_the_same_shuffle(plan, monkeypatch):
    seen = {}
    original = configuration.Column.create

    class Spy:
        def __init__(self, detector, key):
            self.detector, self.key, self.rows = detector, key, []

        def learn(self, rows):
            self.rows.append(np.array(rows))
            self.detector.learn(rows)

        def score(self, rows):
            seen[self.key] = np.concatenate(self.rows)
            return self.detector.score(rows)

    monkeypatch.setattr(configuration.Column, "create", lambda self, seed: Spy(original(self, seed), (self.key, seed)))
    for column in plan.columns:
        for execution in (0, 1):
            runs.measure_auc("generated_toy", column, "batch", execution, 1200)
    first = [rows for (_, execution), rows in seen.items() if execution == 0]
    assert len(first) == 5 and all(np.array_equal(rows, first[0]) for rows in first)
    other = seen[configuration.OURS, 1]
    assert not np.array_equal(first[0], other), "another execution, another order"
    assert np.array_equal(np.sort(first[0], axis=0), np.sort(other, axis=0)), "of the same rows"


@pytest.mark.parametrize("column", [column for column in configuration.columns()], ids=lambda column: column.key)
def test_row_by_row_is_what_process_does(column):
    rows = synthetic.toy(3000)["X"]
    pipeline = oif.Pipeline(column.create(seed=5), learn="all", find_season="off", moves="off")
    results = pipeline.process(rows)
    scores = runs.score(column.create(seed=5), rows, "row")
    assert np.array_equal(results["score"], scores, equal_nan=True)


def fill_aucs(plan):
    runs.run_aucs(plan)
    runs.run_drift(plan)
    return [(plan.results / name).read_bytes() for name in ("auc.csv", "drift.csv")]


def test_an_interrupted_run_goes_on_to_the_same_bytes(tmp_path, monkeypatch):
    less = dict(stationary=["generated_toy"], executions=2)
    whole = fill_aucs(make_plan(tmp_path / "whole", **less))
    plan = make_plan(tmp_path / "interrupted", jobs=1, **less)

    original, count = ledger.Ledger.append, []

    def interrupt_after_seven(self, record):
        if self.path.name == "auc.csv" and len(count) == 7:
            raise KeyboardInterrupt
        count.append(1)
        original(self, record)

    monkeypatch.setattr(ledger.Ledger, "append", interrupt_after_seven)
    with pytest.raises(KeyboardInterrupt):
        fill_aucs(plan)
    monkeypatch.setattr(ledger.Ledger, "append", original)
    path = plan.results / "auc.csv"
    assert path.read_bytes().count(b"\n") == 8
    path.write_bytes(path.read_bytes() + b"generated_toy,online-iforest:re")  # and a crash tore a line

    monkeypatch.setattr(runs, "measure_auc", counted := Counted(runs.measure_auc))
    assert fill_aucs(plan) == whole
    assert counted.calls == 2 * 5 * 2 - 7, "what was done is not done again"


class Counted:
    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.function(*arguments)


def test_results_of_a_changed_detector_are_made_again(tmp_path):
    plan = make_plan(tmp_path, stationary=["generated_toy"], executions=1)
    runs.run_aucs(plan)
    changed = plan._replace(columns={**plan.columns, "loda": "00000000"})
    assert set(tables.aucs(changed, "batch")["column"]) == set(plan.columns) - {"loda"}
    runs.run_aucs(changed)
    assert set(tables.aucs(changed, "batch")["column"]) == set(plan.columns)


def test_a_file_with_other_fields_is_set_aside(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("of,another,version\n1,2,3\n")
    assert len(ledger.Ledger(path, ["a"], ["b"]).read()) == 0
    assert (tmp_path / "x.csv.old").read_text().startswith("of,another")


def test_a_window_is_centred_and_ends_with_the_stream():
    anomalous = np.arange(1000) % 10 == 0
    scores = np.random.RandomState(1).rand(1000)
    aucs = runs.windowed_aucs(anomalous, scores, 200)
    centers = runs.drift_centers(1000)
    at = int(np.argmin(abs(centers - 500)))
    around = slice(centers[at] - 100, centers[at] + 100)
    assert aucs[at] == roc_auc_score(anomalous[around], scores[around])
    assert aucs[0] == roc_auc_score(anomalous[:100], scores[:100])
    assert aucs[-1] == roc_auc_score(anomalous[-101:], scores[-101:])


def test_a_detector_that_the_package_lacks_is_left_out():
    known = configuration.by_key("hst")
    assert configuration.is_installed(known)
    assert not configuration.is_installed(known._replace(detector="perfect-forest"))
    assert not configuration.is_installed(known._replace(params={"crystal_balls": 3}))
    assert not configuration.is_installed(
        configuration.by_key(configuration.OURS)._replace(params={"variant": "perfect"})
    )

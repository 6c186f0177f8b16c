"""Ours beside the detectors of others: everyone gets the same rows, and what fails is in the table with the reason."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from experiments import published  # noqa: F401  (puts tools/measure on the path)

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path += [str(CHECKOUT / "benchmarks"), str(CHECKOUT / "tools" / "docs")]

import accuracy_by_kind  # noqa: E402
import accuracy_by_set  # noqa: E402
import anchors  # noqa: E402
import aws_forest  # noqa: E402
import detectors  # noqa: E402
import peers  # noqa: E402
from pictures import peers as charts  # noqa: E402
from pictures.svg import LIGHT  # noqa: E402

ROWS = np.random.RandomState(1).normal(3, 2, (2500, 4))
ANOMALOUS = np.arange(2500) % 50 == 0
STREAM = detectors.Stream(4, ROWS.min(axis=0), ROWS.max(axis=0), seed=1)


# ---- make bench ----


def values_of(prepared):
    """The numbers of a chunk, whatever an adapter made of it."""
    rows = [getattr(row, "x", row) for row in prepared]
    return np.array([list(row.values()) if isinstance(row, dict) else row for row in rows], dtype=np.float64)


@pytest.mark.parametrize("detector", detectors.PEERS, ids=lambda d: f"{d.name}, {d.how}")
def test_an_adapter_passes_the_numbers_of_the_rows_in_their_order(detector):
    found = values_of(detector.prepare(STREAM, ROWS))
    if detector.prepare is detectors.to_unit_range:
        found = found * (STREAM.high - STREAM.low) + STREAM.low
    assert np.allclose(found, ROWS, rtol=1e-12)


def test_ours_a_peer_and_a_program_are_measured_on_the_same_rows(monkeypatch):
    seen = {}

    def remember(name, rows):
        seen.setdefault(name, []).append(np.array(rows))
        return rows[:, 0]

    def run_ours(ours, rows):
        return 1.0, remember("ours", rows)

    def run_program(stream, rows):
        return 2.0, remember("program", rows)

    monkeypatch.setattr(peers, "run_ours", run_ours)
    monkeypatch.setattr(peers, "load_rows", lambda name, most: (ROWS[:most], ANOMALOUS[:most]))
    monkeypatch.setattr(peers, "SHORT_RUN_SECONDS", 0)
    fake = dict(package="oif", how=detectors.ONE, beside=detectors.HST, rows=2100)
    chosen = [
        detectors.Detector("peer", make=lambda stream: lambda rows: remember("peer", rows), **fake),
        detectors.Detector("program", make=None, run=run_program, **fake),
        detectors.Detector("broken", make=lambda stream: 1 / 0, **fake),
    ]
    measured = peers.measure_set("any", chosen, share=1)["detectors"]
    assert all(np.array_equal(np.concatenate(rows), ROWS[:2100]) for rows in seen.values())
    assert sorted(seen) == ["ours", "peer", "program"]
    assert measured[1]["ours_times"] == 2 and measured[0]["auc"] == measured[1]["ours_auc"]
    assert measured[2]["missing"] == "ZeroDivisionError: division by zero"


def test_the_small_table_compares_with_an_earlier_run():
    def measured(nanoseconds):
        detector = {"detector": "hst", "nanoseconds": {"one-by-one": nanoseconds}}
        return [{"name": "Http", "detectors": [detector]}, {"name": "Smtp", "detectors": [detector]}]

    before, now = (peers.one_by_one(measured(nanoseconds)) for nanoseconds in (500, 400))
    assert "| hst | 400 | 400 |" in list(peers.small_table(now, {}))
    assert "| hst | 500, 400 (0.80) | 500, 400 (0.80) |" in list(peers.small_table(now, before))


def test_the_short_table_has_a_line_per_peer_with_the_times_and_the_aucs_ours_first():
    ran = {"name": "P X", "package": "p", "version": "1.0", "how": detectors.ONE, "beside": "rrcf sample=sliding"}
    measured = {"rows": 1500, "ours_times": 16.66, "auc": 0.5, "ours_auc": None}
    ours = {**ran, "package": "oif"}
    sets = [
        {"name": "Http", "d": 3, "detectors": [ours, {**ran, **measured}]},
        {"name": "Shuttle", "d": 9, "detectors": [{**ran, "rows": 1500, "missing": "no"}]},
    ]
    *_, heading, _, line = peers.short_table(sets)
    assert heading == "| ours | peer | rows at most | Http (3) | Shuttle (9) |"
    assert line == "| `rrcf`, `sample` sliding | P X 1.0 | 1,500 | 16.7 (-, .500) | did not run |"


# ---- experiments/run.sh accuracy --anchors ----


@pytest.fixture
def few_methods(monkeypatch):
    """One of ours, and anchors that remember their rows; {name: rows}."""
    seen = {}

    def remembering(name):
        def run(rows, seed):
            seen[name] = rows
            return rows[:, 0]

        return run

    def fail(rows, seed):
        raise RuntimeError("a | b\nc")

    def ours(program, spec, rows, seed):
        return remembering(spec)(rows, seed)

    known = {
        "plain": anchors.Anchor("numpy", anchors.as_they_are, remembering("plain")),
        "scaled": anchors.Anchor("numpy", anchors.z_scores, remembering("scaled")),
        "broken": anchors.Anchor("numpy", anchors.unit, fail),
        "slow": anchors.Anchor("numpy", anchors.as_they_are, remembering("slow"), rows=2000),
    }
    monkeypatch.setattr(anchors, "ANCHORS", known)
    monkeypatch.setattr(accuracy_by_kind, "score_with_program", ours)
    monkeypatch.setattr(accuracy_by_kind, "load_once", lambda name: (ROWS, ANOMALOUS))
    return seen


def task(specs, rows):
    return accuracy_by_kind.Task(accuracy_by_kind.Source("11", "any"), 5, rows, specs, "oif")


def test_ours_and_the_anchors_score_the_same_shuffled_rows(few_methods):
    found = accuracy_by_set.measure_task(task(("hst", "plain", "scaled"), 10_000))
    order = np.random.RandomState(5).permutation(len(ROWS))
    assert np.array_equal(few_methods["hst"], ROWS[order])
    assert np.array_equal(few_methods["plain"], ROWS[order])
    assert np.array_equal(few_methods["scaled"], anchors.z_scores(ROWS[order]))
    assert found[0].auc == found[1].auc and found[0].ap == found[1].ap


def test_ours_are_measured_again_on_the_rows_that_slow_anchors_get(few_methods):
    groups = accuracy_by_set.split_by_rows(["hst", "plain", "slow"], 10_000)
    assert groups == [(10_000, ["hst", "plain"]), (2000, ["hst", "slow"])]
    accuracy_by_set.measure_task(task(("hst", "slow"), 2000))
    assert len(few_methods["slow"]) == 2000 and np.array_equal(few_methods["slow"], few_methods["hst"])


def test_an_anchor_that_fails_is_in_the_table_with_the_reason(few_methods, capsys):
    specs = ("hst", "broken", "plain")
    found = accuracy_by_set.measure_task(task(specs, 10_000))
    summaries = {spec: accuracy_by_set.summarise({"any": [figures]}) for spec, figures in zip(specs, found)}
    accuracy_by_set.print_markdown(summaries, ["any"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "| broken | did not run: RuntimeError: a b c |  |  |"
    assert lines[2].startswith("| `hst` | **")


def test_a_failure_of_ours_is_not_hidden(few_methods, monkeypatch):
    monkeypatch.setattr(accuracy_by_kind, "score_with_program", lambda *rest: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        accuracy_by_set.measure_task(task(("hst",), 10_000))


def test_a_java_program_that_was_not_compiled_says_why(tmp_path, monkeypatch):
    monkeypatch.setattr(aws_forest, "FOLDER", tmp_path)
    with pytest.raises(aws_forest.ForestMissing, match="run tools/measure/make_aws_forest.sh"):
        aws_forest.run(ROWS, 1)
    (tmp_path / "failed").write_text("some words\njava/mvn: Maven is missing: apt-get install maven\n")
    with pytest.raises(aws_forest.ForestMissing, match="^java/mvn: Maven is missing"):
        aws_forest.run(ROWS, 1)
    assert aws_forest.version().count(".") == 2


# ---- Charts ----


def test_the_charts_need_a_reduced_file_only(tmp_path):
    (tmp_path / "benchmarks").mkdir()
    ran = {"package": "oif", "how": "one by one, from C", "name": "oif hst", "rows_per_second": 1234567.0}
    others = [
        {"package": "oif", "how": "one by one, from Python", "name": "oif hst", "rows_per_second": 1.0},
        {"package": "x", "how": "batches of 100", "name": "X Y", "rows_per_second": 10.0},
        {"package": "z", "how": "one by one", "name": "Z", "missing": "no"},
    ]
    sets = [{"name": "Http", "d": 3, "detectors": [ran, *others]}]
    aucs = {"name": "hst", "ours": True, "aucs": {"Http": 0.98765}}
    tables = [{"rows": 10_000, "methods": [aucs, {"name": "Z", "ours": False, "missing": "no"}]}]
    speed = {"date": "2026-11-16", "processor": "some", "command": "make bench", "sets": sets}
    auc = {"date": "2026-11-16", "runs": 5, "tables": [{"rows": 2000, "methods": []}, *tables]}
    paths = [tmp_path / "speed.json", tmp_path / "auc.json"]
    for path, results in zip(paths, (speed, auc)):
        path.write_text(json.dumps(results))
    charts.take_over(tmp_path, paths)
    figures = json.loads((tmp_path / "benchmarks" / "figures.json").read_text())
    assert [m["name"] for m in figures["speed"]["methods"]] == ["hst", "X Y, batches of 100"]
    assert figures["speed"]["methods"][0]["rows_per_second"] == {"Http": 1230000.0}
    assert figures["auc"]["methods"] == [{"name": "hst", "ours": True, "aucs": {"Http": 0.9877}}]
    drawn = {name: draw(LIGHT) for name, draw in charts.pictures(tmp_path).items()}
    assert ">.988</text>" in drawn["peers-auc"] and ">1.23M</text>" in drawn["peers-speed"]

"""Short tables: rows that are all known get an answer, the same as that of `oif score FILE`."""

from __future__ import annotations

import csv
import io
import pickle
import subprocess

import numpy as np
import pytest

import oif


def table(count=377, columns=3, seed=1):
    rows = np.random.default_rng(seed).normal(size=(count, columns))
    rows[count // 6, 1 % columns] = 20
    return rows


def begins(results):
    """The rows with which an episode begins."""
    return np.flatnonzero(results["episode"] == oif.Episode.BEGINS).tolist()


def scored_by_program(program, path, rows, *options):
    """What `oif score FILE` writes about the rows: score, severity, anomaly, threshold, as floats."""
    names = [f"c{i}" for i in range(rows.shape[1])]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([["" if value != value else repr(float(value)) for value in row] for row in rows])
    command = [program, "score", "-q", "--columns", ",".join(names), "--fields", "score,severity,anomaly,threshold", *options, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    lines = list(csv.reader(io.StringIO(done.stdout)))[1:]
    return np.array([[float(value) for value in line[len(names) :]] for line in lines])


@pytest.mark.parametrize("count", [40, 178, 377, 1200, 2000])
def test_results_are_those_of_the_program(program, tmp_path, count):
    rows = table(count, seed=count)
    rows[7, 0] = np.nan
    ours = oif.Pipeline().process_table(rows)
    theirs = scored_by_program(program, tmp_path / "table.csv", rows)
    assert ours["score"].tolist() == theirs[:, 0].tolist()
    assert np.allclose(ours["severity"], theirs[:, 1], atol=0.01)  # printed with two digits
    assert ours["anomaly"].tolist() == (theirs[:, 2] == 1).tolist()
    assert ours["threshold"].tolist() == theirs[:, 3].tolist()
    assert count < 100 or ours["anomaly"][count // 6]


def test_options_and_detectors_are_those_of_the_program(program, tmp_path):
    rows = table(120)
    pipeline = oif.Pipeline([oif.RollingIsolationForest(seed=3), oif.SparseDataObservers(seed=3)], alert_rate=0.01)
    theirs = scored_by_program(
        program, tmp_path / "t.csv", rows, "--detector", "rolling-iforest+sdo", "--seed", "3", "--alert-rate", "0.01"
    )
    assert pipeline.process_table(rows)["score"].tolist() == theirs[:, 0].tolist()


def test_a_table_says_how_sure_it_is():
    pipeline = oif.Pipeline()
    assert pipeline.table is None
    results = pipeline.process_table(table(), explain="anomalies")
    assert pipeline.table == (377, results["anomaly"].sum(), pytest.approx(1 / 120, rel=0.01))
    assert begins(results) == [62] and results["share"][62].argmax() == 1
    assert pipeline.rows == 377


def test_frames_times_and_roles():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table(), columns=["a", "b", "c"])
    frame["at"] = pandas.date_range("2026-11-18", periods=len(frame), freq="h")
    frame["note"] = "x"
    pipeline = oif.Pipeline(time="at", exclude="note")
    results = pipeline.process_table(frame)
    assert list(results.index) == list(frame.index) and begins(results) == [62]
    assert pipeline.column_names == ("a", "b", "c")
    more = pipeline.process(frame.iloc[:10])
    assert len(more) == 10 and pipeline.rows == 387


def test_what_is_no_table_is_refused_and_changes_nothing():
    pipeline = oif.Pipeline()
    with pytest.raises(oif.ParameterError, match="at least 20 rows"):
        pipeline.process_table(table(10))
    assert pipeline.columns is None
    pipeline.process_table(table(50, 2))  # another number of columns
    with pytest.raises(oif.ParameterError, match="has processed rows"):
        pipeline.process_table(table(50, 2))
    for options in ({"learn": "none"}, {"alerts": 5}):
        with pytest.raises(oif.ParameterError):
            oif.Pipeline(**options).process_table(table())
    with pytest.raises(oif.ParameterError, match="keys"):
        oif.Pipeline(key="host").process_table({"host": ["a"] * 50, "load": list(range(50))})
    infinite = table()
    infinite[5, 0] = np.inf
    with pytest.raises(oif.DataError):
        oif.Pipeline().process_table(infinite)


def test_a_stream_continues_after_a_table():
    pipeline = oif.Pipeline()
    pipeline.process_table(table())
    copy = pickle.loads(pickle.dumps(pipeline))
    more = table(300, seed=9)
    assert pipeline.process(more).tobytes() == copy.process(more).tobytes()


def test_scikit_learn_compares_each_row_with_all_others():
    sklearn = pytest.importorskip("oif.sklearn")
    rows = table(120)
    found = sklearn.RollingIsolationForest(contamination="auto").fit_predict(rows)
    assert found.tolist() == np.where(oif.Pipeline().process_table(rows)["anomaly"], -1, 1).tolist()
    assert found[20] == -1
    seeded = oif.Pipeline(oif.RollingIsolationForest(seed=3)).process_table(rows)
    forest = sklearn.RollingIsolationForest(contamination="auto", random_state=3)
    assert forest.fit_predict(rows).tolist() == np.where(seeded["anomaly"], -1, 1).tolist()
    assert forest.predict([[0, 0, 0], [0, 90, 0]]).tolist() == [1, -1]  # it is fitted
    for count in (30, 3000):
        forest = sklearn.RollingIsolationForest(contamination="auto")
        assert forest.fit_predict(table(count)).tolist() == forest.predict(table(count)).tolist()
    assert (sklearn.RollingIsolationForest(contamination=0.05).fit_predict(rows) == -1).sum() == 6


def test_scikit_learn_fits_few_rows_several_times():
    sklearn = pytest.importorskip("oif.sklearn")
    rows = table(60)
    forest = sklearn.RollingIsolationForest().fit(rows)
    assert forest.detector_.rows_learned == 1080 and forest.detector_.ready
    assert forest.score_samples(rows).argmin() == 10
    assert sklearn.RollingIsolationForest(shuffle=False).fit(rows).detector_.rows_learned == 60
    assert sklearn.RollingIsolationForest().partial_fit(rows).detector_.rows_learned == 60

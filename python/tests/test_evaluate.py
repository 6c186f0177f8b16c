"""evaluate agrees with scikit-learn, and says what an operator asks."""

import numpy as np
import pytest

import oif
from oif import _evaluate


@pytest.fixture(scope="module")
def labelled():
    random = np.random.default_rng(6)
    rows, labels = random.normal(size=(3000, 3)), np.zeros(3000, int)
    for begin in range(1500, 3000, 300):
        rows[begin : begin + 4] += 7
        labels[begin : begin + 4] = 1
    return rows, labels


def test_the_measures_are_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(0)
    for ties in (1000, 10, 1):
        labels, scores = random.random(500) < 0.2, random.integers(ties, size=500).astype(float)
        assert _evaluate.area_under_roc(labels, scores) == pytest.approx(metrics.roc_auc_score(labels, scores))
        assert _evaluate.average_precision(labels, scores) == pytest.approx(metrics.average_precision_score(labels, scores))


def test_detectors_are_compared(labelled):
    rows, labels = labelled
    table = oif.evaluate(rows, labels, ["rolling-iforest", oif.Loda(num_bins=20), oif.HalfSpaceTrees], alert_rate=0.02, seeds=2)
    assert {one.detector for one in table} == {"rolling-iforest", "Loda(num_bins=20)", "HalfSpaceTrees"}
    assert [one.auc for one in table] == sorted((one.auc for one in table), reverse=True)
    (best,) = (one for one in table if one.detector == "rolling-iforest")
    assert best.auc > 0.98 and best.events > 0.9 and best.delay <= 1 and best.microseconds > 0
    scores = table.scores["rolling-iforest"]
    results = oif.Pipeline(oif.RollingIsolationForest(seed=0), alert_rate=0.02).process(rows)
    assert np.array_equal(scores, results["score"])
    again = oif.evaluate(rows, labels, oif.Loda, alert_rate=0.02, seeds=[5])
    called = oif.Pipeline(oif.Loda(seed=5), alert_rate=0.02).process(rows)["anomaly"]
    assert again[0].recall == pytest.approx((called & (labels == 1)).sum() / labels.sum())
    assert again[0].precision == pytest.approx((called & (labels == 1)).sum() / called.sum())
    text = repr(table)
    assert text.splitlines()[0].startswith("3,000 rows, 20 labelled anomalous; alert rate 0.02; 2 seeds")
    assert "±" in text and "±" not in repr(again) and "<table>" in table._repr_html_()
    frame = pytest.importorskip("pandas")
    assert list(table.to_pandas().index) == [one.detector for one in table] and isinstance(table.to_pandas(), frame.DataFrame)


def test_labels_come_in_several_forms(labelled):
    pandas = pytest.importorskip("pandas")
    rows, labels = labelled
    frame = pandas.DataFrame(rows, columns=["a", "b", "c"]).assign(fault=labels, host=np.arange(3000) // 40)
    plain = oif.evaluate(rows, labels, oif.Loda, seeds=1)[0]
    for y in (labels == 1, np.where(labels == 1, -1, 1), labels.tolist()):
        assert oif.evaluate(rows, y, oif.Loda, seeds=1)[0].auc == plain.auc
    by_name = oif.evaluate(frame, "fault", oif.Loda, seeds=1, exclude="host")[0]
    assert by_name.auc == plain.auc
    keyed = oif.evaluate(frame, "fault", {"mine": oif.Loda}, seeds=1, key="host")
    assert keyed[0].detector == "mine" and keyed[0].recall == 0 < plain.recall, "40 rows of a key are too few"
    for wrong, told in (
        (np.zeros(3000), "none of the 3000 rows"),
        (["a"] * 3000, "1 for anomalies"),
        (np.ones(3000), "all of the 3000 rows"),
        ([1], "1 labels for 3000 rows"),
        (labels[1500:1520], "20 labels for 3000 rows"),
    ):
        with pytest.raises(oif.DataError, match=told):
            oif.evaluate(rows, wrong, oif.Loda, seeds=1)
    with pytest.raises(oif.DataError, match="no column 'falt'"):
        oif.evaluate(frame, "falt")


def test_detectors_judge_together(labelled):
    rows, labels = labelled
    table = oif.evaluate(rows, labels, {"both": [oif.Loda, oif.HalfSpaceTrees], "text": "loda+hst"}, seeds=1)
    assert table[0].auc == table[1].auc

"""The pictures can be drawn of everything they say they take. How they look is for people."""

import numpy as np
import pytest

import oif

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

from oif import plot  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def drawn(ax):
    ax.figure.canvas.draw()
    return ax


def test_scores_of_a_pipeline_or_alone(rows):
    results = oif.Pipeline(alert_rate=0.05).process(np.tile(rows, (4, 1)))
    assert {line.get_label() for line in drawn(plot.scores(results, labels=results["score"] > 0.5)).lines} >= {
        "threshold"
    }
    assert len(drawn(plot.scores(results["score"])).lines) == 1
    frame = pytest.importorskip("pandas").DataFrame({name: results[name] for name in results.dtype.names})
    drawn(plot.scores(frame, times=np.arange(len(frame)) / 10))
    _, ax = pyplot.subplots()
    assert plot.scores(results, ax=ax) is ax


def test_many_scores_are_bands_and_few_a_line(rows):
    scores = oif.Loda().learn_score(np.tile(rows, (4, 1)))
    assert (len(drawn(plot.scores(scores)).collections), len(drawn(plot.scores(scores[:400])).collections)) == (3, 0)
    scores[:1700] = np.nan  # such as those of a long shingle
    drawn(plot.scores(scores))
    drawn(plot.scores(scores[:1]))
    for wrong in ([], np.zeros((3, 3)), 1.0):
        with pytest.raises(ValueError, match="expected results of process or scores"):
            plot.scores(wrong)
    with pytest.raises(ValueError, match="3 times for 400 scores"):
        plot.scores(scores[:400], times=[1, 2, 3])


def test_times_may_be_dates(rows):
    pandas = pytest.importorskip("pandas")
    many = np.tile(rows, (4, 1))
    times = np.datetime64("2026-01-01") + np.arange(len(many)) * np.timedelta64(1, "m")
    results = oif.Loda().process(many, alert_rate=0.01)
    ax = drawn(plot.scores(results, times=times, labels=results["anomaly"]))
    assert "2026-Jan" in ax.xaxis.get_offset_text().get_text()
    frame = pandas.DataFrame(many, columns=list("abc"), index=pandas.DatetimeIndex(times, tz="Europe/Berlin"))
    ax = drawn(plot.scores(oif.Loda().process(frame)))
    assert "2026-Jan" in ax.xaxis.get_offset_text().get_text()


def test_a_heatmap_leaves_the_detector_as_it_was(detector_class):
    detector = detector_class()
    rows = np.random.default_rng(0).normal(size=(1000, 2))
    axes = plot.heatmap(detector, rows, cells=20)
    assert [ax.get_title(loc="left") for ax in axes] == ["after 100 rows", "after 300 rows", "after 1,000 rows"]
    assert detector.rows_learned == 0
    drawn(plot.heatmap(detector, rows, after=[50], cells=5)[0])
    with pytest.raises(ValueError, match="two columns"):
        plot.heatmap(detector, rows[:, :1])
    with pytest.raises(ValueError, match="there are 999 rows"):
        plot.heatmap(detector, rows[:999])
    frame = pytest.importorskip("pandas").DataFrame(rows, columns=["flow", "heat"])
    ax = plot.heatmap(detector, frame, after=[50], cells=5)[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("flow", "heat")


def labels_of(ax):
    return [label.get_text() for label in drawn(ax).get_yticklabels()][::-1]


def test_attributions(rows):
    pipeline = oif.Pipeline(oif.Loda())
    pipeline.column_names = "abc"
    pipeline.process(np.tile(rows, (4, 1)))
    pipeline.process_one([30.0, 0.0, -6.0])
    assert labels_of(plot.attribution(pipeline.explain()))[:2] == ["a", "c"]
    assert labels_of(plot.attribution(pipeline.explain(), most=1)) == ["a", "2 others"]
    drawn(plot.attribution([]))
    record = pipeline.process([[30.0, 0.0, -6.0]], explain=True)[0]
    assert labels_of(plot.attribution(record, names="abc"))[:2] == ["a", "c"]
    forest = oif.OnlineIsolationForest()
    forest.learn(rows)
    assert set(labels_of(plot.attribution(forest.explain([9, 0, 0])))) <= {"0", "1", "2", "1 other", "2 others"}
    with pytest.raises(ValueError, match="explain=True"):
        plot.attribution(pipeline.process([[0.0, 0.0, 0.0]])[0])
    with pytest.raises(ValueError, match="a single row"):
        plot.attribution(forest.explain(rows[:2]))
    with pytest.raises(ValueError, match="2 names for 3 shares"):
        plot.attribution(record, names="ab")

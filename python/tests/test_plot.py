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


def test_a_heatmap_leaves_the_detector_as_it_was(detector_class):
    detector = detector_class()
    rows = np.random.default_rng(0).normal(size=(1000, 2))
    axes = plot.heatmap(detector, rows, cells=20)
    assert [ax.get_title(loc="left") for ax in axes] == ["after 100 rows", "after 300 rows", "after 1,000 rows"]
    assert detector.rows_learned == 0
    drawn(plot.heatmap(detector, rows, after=[50], cells=5)[0])
    with pytest.raises(ValueError, match="two numbers"):
        plot.heatmap(detector, rows[:, :1])


def test_attributions(rows):
    pipeline = oif.Pipeline()
    pipeline.process(rows)
    assert len(drawn(plot.attribution(pipeline.explain())).patches) == 3
    assert len(drawn(plot.attribution(pipeline.explain(), most=1)).patches) == 1
    drawn(plot.attribution([]))

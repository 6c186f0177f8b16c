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
    pipeline.change(learn="none")  # only the detector judges
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


# ---- The flaws of a trial, and what it missed ----


def frame_of(rows):
    pandas = pytest.importorskip("pandas")
    many = np.tile(np.nan_to_num(rows), (6, 1))
    many[2500:2510, 1] += 20
    return pandas.DataFrame(many, columns=["load", "heat", "flow"])


def test_attribution_takes_a_row_of_a_frame(rows):
    polars = pytest.importorskip("polars")
    frame = frame_of(rows)
    results = oif.Pipeline(oif.RollingIsolationForest(seed=1), alert_rate=0.01).process(frame, explain=True)
    for row in (results.iloc[2500], results.iloc[[2500]], results.iloc[2500].to_dict(), polars.from_pandas(results)[2500]):
        assert labels_of(plot.attribution(row))[0] == "heat"
    with pytest.raises(ValueError, match="a single row, got a DataFrame of 2"):
        plot.attribution(results.iloc[:2])
    with pytest.raises(ValueError, match="explain=True"):
        plot.attribution(oif.Pipeline().process(frame).iloc[3])


def test_a_heatmap_says_where_it_is():
    ax = drawn(plot.heatmap(oif.Loda(), np.random.default_rng(0).normal(size=(300, 2)), after=[300], cells=5)[0])
    assert [label.get_text() for label in ax.get_xticklabels()] and ax.get_xlabel() == "column 0"


def test_each_key_has_a_threshold_of_its_own(rows):
    many = np.tile(rows, (8, 1))
    keys = np.array(["a", "b"] * (len(many) // 2))
    results = oif.Pipeline(oif.Loda(), alert_rate=0.01).process(many, keys=keys)
    ax = drawn(plot.scores(results, keys=keys))
    assert sum(len(line.get_xdata()) == len(many) // 2 for line in ax.lines) == 2
    ax = drawn(plot.scores(results, keys=keys, key="a"))
    assert [line.get_label() for line in ax.lines].count("threshold") == 1
    with pytest.raises(ValueError, match="no row of the key 'c'"):
        plot.scores(results, keys=keys, key="c")
    with pytest.raises(ValueError, match="3 keys for"):
        plot.scores(results, keys=["a", "b", "c"])
    hosts = drawn(plot.keys(results, keys))
    assert {label.get_text().split()[0] for label in hosts.get_yticklabels()} == {"a", "b"}


def test_labels_are_told_apart_and_many_are_a_density(rows):
    many = np.tile(np.nan_to_num(rows), (6, 1))
    many[2500] += 30
    results = oif.Pipeline(oif.RollingIsolationForest(), alert_rate=0.005).process(many)
    few = np.isin(np.arange(len(many)), [2500, 100])
    words = legend_of(plot.scores(results, labels=few))
    assert {"labelled, found", "labelled, missed", "anomaly"} <= words and "known to be one" not in words
    dense = np.arange(len(many)) % 5 == 0
    ax = plot.scores(results, labels=dense)
    assert "labelled anomaly" in legend_of(ax) and len(ax.lines) <= 3, "no triangle for each"


def legend_of(ax):
    return {text.get_text() for text in drawn(ax).get_legend().get_texts()}


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_text_can_be_read_on_any_paper(style, rows):
    from matplotlib.colors import to_rgb

    with pyplot.style.context(style):
        results = oif.Pipeline(oif.Loda(), alert_rate=0.01).process(np.tile(rows, (4, 1)), explain=True)
        axes = [plot.scores(results), plot.attribution_over_time(results), *plot.data(np.tile(rows, (4, 1)), results)]
    for ax in axes:
        drawn(ax)
        paper = np.mean(to_rgb(ax.get_facecolor()))
        for text in [*ax.get_yticklabels(), ax.yaxis.label]:
            assert abs(np.mean(to_rgb(text.get_color())) - paper) > 0.4
        for patch in ax.patches:
            assert abs(np.mean(to_rgb(patch.get_facecolor())) - paper) < 0.8, "no white box on black paper"


def test_the_data_with_what_was_found_in_them(rows):
    frame = frame_of(rows)
    results = oif.Pipeline(oif.RollingIsolationForest(seed=1), alert_rate=0.01).process(frame, explain=True)
    axes = plot.data(frame, results, labels=np.arange(len(frame)) // 10 == 250)
    assert [drawn(ax).get_ylabel() for ax in axes] == ["load", "heat", "flow"]
    marks = [sum(len(c.get_offsets()) for c in ax.collections if len(c.get_offsets()) < 500) for ax in axes]
    assert marks[1] >= 8, "in the column that explains them"
    (ax,) = plot.data(frame, results, columns=["heat"])
    assert ax.get_ylabel() == "heat" and "episode" in legend_of(ax)
    assert [ax.get_ylabel() for ax in plot.data(frame, results, most=1)] == ["heat"], "what is blamed most"
    plain = oif.Pipeline().process(frame["heat"].to_numpy())
    assert len(plot.data(frame["heat"], plain)) == 1
    drawn(plot.attribution_over_time(results, most=2))
    assert {label.get_text() for label in plot.attribution_over_time(results).get_yticklabels()} == {"load", "heat", "flow"}
    with pytest.raises(ValueError, match="explain=True"):
        plot.attribution_over_time(plain)
    with pytest.raises(ValueError, match="for these rows"):
        plot.data(frame, results[:10])


def test_curves_and_tables_of_evaluate(rows):
    frame = frame_of(rows)
    labels = np.arange(len(frame)) // 10 == 250
    table = oif.evaluate(frame, labels, [oif.Loda, oif.RollingIsolationForest], seeds=2)
    for draw in (plot.roc, plot.precision_recall):
        assert {text.split()[0] for text in legend_of(draw(table))} == {"Loda", "RollingIsolationForest"}
        results = oif.Pipeline(oif.Loda()).process(frame)
        assert len(drawn(draw(labels, results)).lines) == 2
        drawn(draw(np.where(labels, -1, 1), {"mine": results["score"]}))
        with pytest.raises(ValueError, match="labels and scores"):
            draw(labels)
    ax = drawn(plot.evaluation(table))
    assert len(ax.get_yticklabels()) == 2 and legend_of(ax) == {"AUC", "AP", "precision", "recall"}

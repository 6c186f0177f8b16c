"""Judges: the options that they have, and the reasons, sizes and partners of results and explanations."""

import copy
import datetime
import pickle

import numpy as np
import pytest

import oif
from oif import Reason

HALF_HOUR = 1800.0


def make_days(days=30, per_day=48):
    """A row per half-hour; for six hours of the last day the column is what it is half a day later."""
    phase = np.arange(days * per_day) * 2 * np.pi / per_day
    late = slice(-per_day // 2, -per_day // 4)
    phase[late] += np.pi
    noise = np.random.default_rng(1).normal(scale=0.1, size=len(phase))
    return (10 * np.sin(phase) + noise)[:, None], late


def times_of(rows):
    return 1.7e9 + HALF_HOUR * np.arange(len(rows))


def options_of(**options):
    made = oif.Pipeline(**options).options
    return {name: made[name] for name in ("season_rows", "season_seconds", "other_season_seconds")}


# ---- Options ----


@pytest.mark.parametrize(
    "season, expected",
    [
        (96, (96, 0, 0)),
        ("1d", (0, 86400, 0)),
        ("90m", (0, 5400, 0)),
        ("1.5h", (0, 5400, 0)),
        (datetime.timedelta(days=1), (0, 86400, 0)),
        (["1d", "1w"], (0, 86400, 604800)),
        (("1d", 48), (48, 86400, 0)),
        ([336, "1d", datetime.timedelta(weeks=1)], (336, 86400, 604800)),
        ((), (0, 0, 0)),
    ],
)
def test_a_season_is_rows_or_times_or_several(season, expected):
    assert tuple(options_of(season=season).values()) == expected


def test_a_season_adds_to_those_in_seconds():
    assert tuple(options_of(season="1w", season_seconds=86400).values()) == (0, 86400, 604800)


@pytest.mark.parametrize("season", [1, 0, -5, "1s", "daily", "1 d", "d", "", "-1d", "96", [48, 336], ["1h", "1d", "1w"]])
def test_a_season_that_makes_no_sense_is_a_value_error(season):
    with pytest.raises(oif.ParameterError, match="season"):
        oif.Pipeline(season=season)


def test_a_season_is_searched_for_unless_it_is_off():
    assert oif.Pipeline().options == oif.Pipeline(season="auto").options == oif.Pipeline(find_season=True).options
    assert oif.Pipeline().find_season == "on"
    assert oif.Pipeline(season="off").options == oif.Pipeline(find_season=False).options
    assert oif.Pipeline(season=["off"]).find_season == "off"
    with pytest.raises(oif.ParameterError):
        oif.Pipeline(find_season="maybe")
    with pytest.raises(oif.ParameterError, match="find_season cannot be changed"):
        made = oif.Pipeline()
        made.process_one([1, 2])
        made.find_season = "off"


@pytest.mark.parametrize(
    "options, other",
    [
        ({"season": ["auto", 48]}, "another season"),
        ({"season": ["1d", "off"]}, "another season"),
        ({"season": ["auto", "off"]}, "another season"),
        ({"season": "auto", "season_rows": 48}, "season_rows"),
        ({"season": "off", "season_seconds": 3600.0}, "season_seconds"),
        ({"season": "auto", "find_season": False}, "find_season"),
    ],
)
def test_auto_and_off_contradict_other_seasons(options, other):
    with pytest.raises(oif.ParameterError, match=f"season='[a-z]+' contradicts {other}.*; leave one of them out"):
        oif.Pipeline(**options)


@pytest.mark.parametrize("season", [1.5, True, [None], [["1d"]]])
def test_a_season_of_another_type_is_a_type_error(season):
    with pytest.raises(TypeError):
        oif.Pipeline(season=season)


def test_what_is_on_or_off_may_be_a_bool():
    assert oif.Pipeline(moves=False, find_season=True).options["moves"] == "off"
    assert oif.Pipeline(moves=False, find_season=True).options["find_season"] == "on"
    assert oif.Pipeline(moves="off").options == oif.Pipeline(moves=False).options
    with pytest.raises(oif.ParameterError):
        oif.Pipeline(moves="maybe")
    with pytest.raises(TypeError):
        oif.Pipeline(moves=1)


def test_process_of_a_detector_takes_a_bool_and_keeps_it(rows):
    detector = oif.RollingIsolationForest()
    detector.process(rows, find_season=False)
    detector.process(rows, find_season="off", alert_rate=0.001)
    with pytest.raises(oif.ParameterError, match="find_season"):
        detector.process(rows, find_season=True)


def test_the_repr_shows_seasons_and_switches_and_can_be_read_back():
    pipeline = oif.Pipeline(season=[48, "1d"], moves=False)
    assert repr(pipeline) == (
        "Pipeline(RollingIsolationForest(), season_rows=48, season_seconds=86400.0, moves='off')"
    )
    assert repr(oif.Pipeline(season="off")) == "Pipeline(RollingIsolationForest(), find_season='off')"
    for made in (pipeline, oif.Pipeline(season="off")):
        assert repr(eval(repr(made), vars(oif))) == repr(made)


# ---- Seasons ----


def test_a_season_is_found_and_its_anomalies_are_those_of_a_season_that_is_given():
    rows, late = make_days()
    searching, knowing = oif.Pipeline(), oif.Pipeline(season=48)
    found, given = searching.process(rows), knowing.process(rows)
    (season,) = searching.season()
    assert (season.rows, season.seconds, season.was_found, season.column) == (48, 0, True, 0)
    assert 0.9 < season.strength <= 1 and isinstance(season.rows, int)
    assert season.to_dict() == season._asdict()
    (known,) = knowing.season()
    assert (known.rows, known.was_found) == (48, False) and known.strength > 0.9
    assert (found["reason"][late] == given["reason"][late]).all()
    assert (found["reason"][late] == Reason.SEASON).any()


def test_a_season_that_is_found_goes_by_the_times_of_the_rows():
    rows, _ = make_days()
    pipeline = oif.Pipeline()
    pipeline.process(rows, times=times_of(rows))
    (season,) = pipeline.season()
    assert (season.rows, season.seconds, season.was_found) == (0, 86400, True)


def test_every_key_has_its_own_season_and_the_name_of_its_column():
    rows, _ = make_days()
    pipeline = oif.Pipeline(diff="total")
    noise = np.random.default_rng(2).normal(size=len(rows))
    total = np.cumsum(rows[:, 0])
    for i in range(len(rows)):
        pipeline.process_one({"noise": noise[i], "total": total[i]}, key="daily")
        pipeline.process_one({"noise": noise[i], "total": noise[-i]}, key=b"none")
    (season,) = pipeline.season("daily")
    assert (season.rows, season.column) == (48, "diff(total)")
    assert pipeline.season("none") == pipeline.season(b"other") == pipeline.season(3) == pipeline.season() == []


def test_seasons_that_are_given_are_listed_while_their_strength_is_unknown():
    pipeline = oif.Pipeline(season=[48, "1d", "1w"])
    assert pipeline.season() == []
    pipeline.process_one([1, 2], time=1.7e9)
    expected = [(48, 0, False, 0, None), (0, 86400, False, 0, None), (0, 604800, False, 0, None)]
    assert pipeline.season() == expected and isinstance(pipeline.season()[0], oif.Season)
    assert pickle.loads(pickle.dumps(pipeline.season())) == expected
    pipeline = oif.Pipeline(season="off")
    pipeline.process(make_days()[0])
    assert pipeline.season() == []


# ---- Reasons ----


def test_a_number_that_is_unusual_for_its_time_has_the_reason_season():
    rows, late = make_days()
    results = oif.Pipeline(season=48).process(rows)
    assert results.dtype["reason"] == np.int8
    found = results[late]
    assert found["anomaly"].any()
    assert (found["reason"][found["anomaly"]] == Reason.SEASON).all()
    without = oif.Pipeline(season="off").process(rows)
    assert not (without["reason"] == Reason.SEASON).any()


def test_a_season_in_times_goes_by_the_times_of_the_rows():
    rows, late = make_days()
    results = oif.Pipeline(season="1d").process(rows, times=times_of(rows))
    found = results[late]
    assert (found["reason"][found["anomaly"]] == Reason.SEASON).any()


def test_results_of_single_rows_have_the_reasons_of_those_of_arrays():
    rows, _ = make_days()
    results = oif.Pipeline(season=48).process(rows)
    pipeline = oif.Pipeline(season=48)
    singles = [pipeline.process_one(row) for row in rows]
    assert all(isinstance(result.reason, Reason) for result in singles)
    assert [result.reason for result in singles] == list(results["reason"])


def test_an_explanation_names_the_reason_and_the_episode_as_well():
    rows, late = make_days()
    pipeline = oif.Pipeline(season=48)
    for row in rows:
        result = pipeline.process_one({"load": row[0]})
        if result.anomaly and result.reason is Reason.SEASON:
            break
    (why,) = pipeline.explain()
    assert (why.column, why.reason, why.partner) == ("load", Reason.SEASON, None)
    episode = pipeline.episode()
    assert episode.reason is Reason.SEASON
    assert episode.to_dict()["reason"] == "season"


def test_a_column_that_no_longer_follows_another_names_its_partner():
    rng = np.random.default_rng(3)
    level = rng.normal(size=6000)
    rows = np.column_stack([level, 2 * level]) + rng.normal(scale=0.1, size=(6000, 2))
    rows[5500:, 1] = 2 * rng.normal(size=500)
    pipeline = oif.Pipeline()
    whys = []
    for row in rows:
        result = pipeline.process_one(dict(zip(["pressure", "flow"], row)))
        if result.anomaly and result.reason is Reason.PARTNER:
            whys += [why for why in pipeline.explain() if why.reason is Reason.PARTNER]
    assert {(why.column, why.partner) for why in whys} <= {("pressure", "flow"), ("flow", "pressure")}
    assert whys


def test_a_stuck_column_has_the_reason_stuck():
    rows = np.random.default_rng(5).normal(size=(4000, 2))
    rows[3900:, 0] = rows[3900, 0]
    reasons = oif.Pipeline().process(rows)["reason"]
    assert (reasons[3900:] == Reason.STUCK).any() and not (reasons[:3900] == Reason.STUCK).any()


# ---- Sizes ----


def reasons_of_the_worst(rows):
    """The first explanation of the worst row, and its episode."""
    pipeline = oif.Pipeline(season="off")
    worst, found = 0.0, None
    for row in rows:
        result = pipeline.process_one(row)
        if result.anomaly and result.severity > worst:
            worst, found = result.severity, (max(pipeline.explain()), pipeline.episode())
    return found


@pytest.mark.parametrize(
    "reason, change, size",
    [
        (Reason.LEVEL, lambda column: column + np.where(np.arange(4000) < 3900, 0, 3), (1, 4)),
        (Reason.STUCK, lambda column: np.where(np.arange(4000) < 3900, column, 0.5), (20, 100)),
        (Reason.MISSING, lambda column: np.where(np.arange(4000) < 3900, column, np.nan), (20, 100)),
        (Reason.JUMP, lambda column: column + np.where(np.arange(4000) == 3950, 30, 0), (25, 35)),
    ],
)
def test_an_explanation_has_the_size_and_the_usual_one(reason, change, size):
    random = np.random.default_rng(5)
    column = np.convolve(random.normal(size=4004), np.ones(5) / 5, "valid")  # values resemble those before
    why, episode = reasons_of_the_worst(np.column_stack([random.normal(size=4000), change(column)]))
    assert (why.column, why.reason) == (1, reason)
    assert size[0] <= why.size <= size[1] and 0 <= why.usual < why.size
    assert (episode.reason, episode.size, episode.usual) == (reason, why.size, why.usual)


def test_values_have_no_size(rows):
    pipeline = oif.Pipeline()
    pipeline.process(rows)
    why = pipeline.explain()[0]
    assert np.isnan(why.size) and why.to_dict()["usual"] is None


# ---- Moves ----


def make_wave():
    """A slow wave beside noise; the last value jumps, but stays within the range of the wave."""
    random = np.random.default_rng(6)
    rows = np.column_stack([50 + 40 * np.sin(np.arange(6000) / 50) + random.random(6000), random.normal(size=6000)])
    rows[-1, 0] += 15 if rows[-1, 0] < 50 else -15
    return rows


def test_a_jump_within_the_usual_range_is_an_anomaly():
    assert oif.Pipeline(season="off").process(make_wave())["anomaly"][-1], "the detector gets the moves"
    pipeline = oif.Pipeline(season="off", moves=False)
    last = pipeline.process(make_wave())[-1]
    assert last["anomaly"] and last["reason"] == Reason.JUMP
    assert pipeline.explain()[0].reason == Reason.JUMP and pipeline.expected()[0].by == "jump"


def test_moves_stay_as_they_were(rows):
    with pytest.raises(oif.ParameterError, match="moves cannot be changed"):
        made = oif.Pipeline()
        made.process_one([1, 2])
        made.moves = "off"
    trained = oif.RollingIsolationForest()
    trained.learn(rows)
    assert oif.Pipeline(trained).moves == "off", "it has no columns for them"
    with pytest.raises(TypeError, match="moves"):
        trained.process(rows, moves="on")


def test_rows_are_scored_as_if_they_moved_as_usual():
    pandas = pytest.importorskip("pandas")
    wave = make_wave()
    frame = pandas.DataFrame(wave, columns=["flow", "load"])
    pipeline = oif.Pipeline(season="off")
    pipeline.process(frame)
    detector = pipeline.detector()
    assert detector.column_names == ("flow", "load", "jump(*)", "flutter(*)", "drift(*)")
    scores = pipeline.score(frame)
    assert np.array_equal(scores, detector.score(np.column_stack([wave, np.ones((len(wave), 3))])))
    assert np.array_equal(scores, pipeline.score(wave))
    assert np.array_equal(scores, pipeline.score(frame[["load", "flow"]]))
    assert scores[7] == pipeline.score(wave[7]) == pipeline.score({"load": wave[7, 1], "flow": wave[7, 0]})
    with pytest.raises(oif.DataError, match="expected rows of 2 columns, not 3"):
        pipeline.score(np.ones((4, 3)))
    with pytest.raises(oif.DataError, match="no column 'heat'"):
        pipeline.score({"heat": 1.0})
    series = oif.Pipeline(season="off")
    series.process(wave[:, :1])
    assert np.array_equal(series.score(wave[:, 0]), series.score(wave[:, :1]))
    assert isinstance(series.score([3.0]), float)


@pytest.mark.parametrize(
    "detector", [oif.Loda, oif.HalfSpaceTrees, oif.IForestASD, [oif.RollingIsolationForest, oif.Loda]]
)
def test_detectors_that_mind_constant_columns_get_no_moves(detector):
    wave = make_wave()[:1000]
    on, off = (oif.Pipeline(detector, season="off", moves=moves) for moves in ("on", "off"))
    assert np.array_equal(on.process(wave)["score"], off.process(wave)["score"], equal_nan=True)
    assert on.moves == "on" and on.detector().columns == 2
    assert np.array_equal(on.score(wave), off.score(wave))


def test_the_first_value_of_a_column_that_was_always_missing_is_reported_once():
    rows = np.random.default_rng(5).normal(size=(4000, 3))
    rows[:3900, 2] = np.nan
    pipeline = oif.Pipeline()
    results = pipeline.process(rows[:3901])
    assert results["anomaly"][3900] and results["grade"][3900] == oif.Grade.NOTE
    assert [why.reason for why in pipeline.explain()] == [Reason.VALUES, Reason.VALUES, Reason.FIRST_VALUE]
    assert pipeline.episode().reason is Reason.FIRST_VALUE
    both = np.concatenate([results["reason"], pipeline.process(rows[3901:])["reason"]])
    assert np.flatnonzero(both == Reason.FIRST_VALUE).tolist() == [3900]


@pytest.mark.parametrize("season", [48, "auto"])
def test_copies_and_pickles_keep_seasons_and_go_on_alike(season):
    rows, _ = make_days()
    pipeline = oif.Pipeline(season=season, moves=False)
    assert pickle.loads(pickle.dumps(pipeline)).options == pipeline.options
    pipeline.process(rows[:1000])
    twins = [pickle.loads(pickle.dumps(pipeline)), copy.copy(pipeline), pipeline.clone()]
    expected = pipeline.process(rows[1000:])
    for twin in twins:
        assert twin.options == pipeline.options
        assert (twin.process(rows[1000:]) == expected).all()
        assert twin.season() == pipeline.season() != []


def test_results_and_explanations_can_be_pickled():
    rows, _ = make_days(3)
    pipeline = oif.Pipeline(season=48)
    result = pipeline.process_one(rows[0])
    assert pickle.loads(pickle.dumps(result))._asdict().keys() == result._asdict().keys()
    assert repr(pickle.loads(pickle.dumps(pipeline.explain()))) == repr(pipeline.explain())  # NaN is not NaN
    assert Reason(8) is Reason.SILENCE

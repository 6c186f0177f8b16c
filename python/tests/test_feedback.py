"""Past episodes, and the rules that follow from them."""

import math
import pickle
import re

import numpy as np
import pytest

import oif


def rows():
    made = np.random.default_rng(1).normal([100, 5], size=(5000, 2))
    made[2000::500, 0] = 40
    return made


def processed(**options):
    pipeline = oif.Pipeline(oif.RollingIsolationForest(seed=1), keep_episodes=True, moves="off", **options)
    pipeline.column_names = ["latency", "load"]
    pipeline.process(rows(), times=np.arange(5000) * 60 + 1.7e9)
    return pipeline


def low_ones(pipeline):
    return [one for one in pipeline.past_episodes() if one.column == "latency" and one.direction < 0]


def test_a_useless_episode_becomes_a_rule():
    pipeline = processed()
    low = low_ones(pipeline)
    assert len(low) >= 5
    assert low[0].key is None and low[0].reason in (oif.Reason.VALUES, oif.Reason.JUMP, oif.Reason.SPREAD)
    assert low[0].change > 40 and 0.4 < low[0].change_share < 0.7
    assert low[0].first_seconds == 1.7e9 + 60 * (low[0].first_row - 1)
    proposal = pipeline.propose(max(low, key=lambda one: one.change).number)
    assert re.match(r"mute column=latency direction=low change<", proposal)
    pipeline.rules = ["mute reason=stuck"]
    pipeline.add_rules(proposal)
    assert [rule.text for rule in pipeline.rules] == ["mute reason=stuck", proposal]
    assert not pipeline.process_one([40, 5]).anomaly and pipeline.rules[1].held > 0
    far = pipeline.process_one([1, 5])
    assert far.anomaly, "it is farther out"


def test_scores_do_not_depend_on_it():
    with_episodes, without = processed(), oif.Pipeline(oif.RollingIsolationForest(seed=1), moves="off")
    without.process(rows(), times=np.arange(5000) * 60 + 1.7e9)
    assert with_episodes.process_one([101, 5], time=1.8e9) == without.process_one([101, 5], time=1.8e9)
    assert without.past_episodes() == [] and not without.keep_episodes


@pytest.mark.parametrize("copy", [lambda one: pickle.loads(pickle.dumps(one)), lambda one: one.clone()])
def test_copies_keep_episodes(copy):
    fresh = copy(oif.Pipeline(keep_episodes=True))
    assert fresh.keep_episodes
    again = copy(processed())
    assert again.keep_episodes and again.past_episodes() == processed().past_episodes()


def test_a_state_file_keeps_episodes(tmp_path):
    path = tmp_path / "state.oif"
    with oif.Pipeline.open(path, moves="off", keep_episodes=True) as pipeline:
        pipeline.process(rows())
        past = pipeline.past_episodes()
    assert past and pipeline.keep_episodes
    with oif.Pipeline.open(path) as pipeline:
        assert repr(pipeline.past_episodes()) == repr(past)  # its times are NaN
    with oif.Pipeline.open(path, keep_episodes=False) as pipeline:
        assert pipeline.past_episodes() == []


def test_keys_are_those_of_the_rows():
    pipeline = oif.Pipeline(oif.RollingIsolationForest(seed=1), keep_episodes=True, moves="off")
    pipeline.process(rows(), ["web-1"] * 5000)
    one = pipeline.past_episodes()[-1]
    assert one.key == "web-1" and math.isnan(one.first_seconds)
    assert pipeline.propose(one.number, "web-1").startswith("mute column=")
    with pytest.raises(oif.DataError) as error:
        pipeline.propose(one.number, "web-2")
    assert error.value.cause == "unknown_episode"


def test_what_cannot_be_is_refused():
    fresh = oif.Pipeline()
    assert fresh.past_episodes() == []
    with pytest.raises(oif.DataError) as error:
        fresh.propose(1)
    assert error.value.cause == "no_episodes_kept"
    pipeline = processed()
    pipeline.rules = "mute reason=stuck"
    with pytest.raises(oif.ParameterError) as error:
        pipeline.add_rules(["mute reason=jump", "hush"])
    assert error.value.row == 1 and len(pipeline.rules) == 1
    with pytest.raises(TypeError):
        pipeline.propose("one")
    with pytest.raises(oif.DataError):
        pipeline.propose(10**9)

"""Detectors that judge together in a pipeline."""

import pickle

import numpy as np
import pytest

import oif

ROWS = np.random.default_rng(3).normal(size=(3000, 3))


def test_a_list_of_detectors_is_the_same_as_their_names():
    by_name = oif.Pipeline("rolling-iforest+loda").process(ROWS)
    by_class = oif.Pipeline([oif.RollingIsolationForest, oif.Loda()]).process(ROWS)
    np.testing.assert_array_equal(by_name, by_class)
    alone = oif.Pipeline("rolling-iforest").process(ROWS)
    assert (by_name["score"] != alone["score"]).any()
    assert (by_name["score"] >= 0).all() and (by_name["score"] > 1).any(), "a severity"


def test_each_detector_keeps_its_own_parameters():
    together = oif.Pipeline([oif.RollingIsolationForest(num_trees=16), oif.HalfSpaceTrees(window_size=77)])
    assert together.params["num_trees"] == 16 and together.params["hst_num_trees"] == 32
    assert together.params["window_size"] == 2048 and together.params["hst_window_size"] == 77
    assert repr(together) == "Pipeline([RollingIsolationForest(num_trees=16), HalfSpaceTrees(window_size=77)])"


def test_one_parameter_cannot_have_two_values():
    with pytest.raises(oif.ParameterError, match="one seed, which cannot be both 1 and 2"):
        oif.Pipeline([oif.RollingIsolationForest(seed=1), oif.Loda(seed=2)])


@pytest.mark.parametrize("detectors, message", [([], "needs a detector"), (["loda", "loda"], "twice"), ("loda+nope", "nope")])
def test_lists_that_make_no_sense_are_refused(detectors, message):
    with pytest.raises(oif.ParameterError, match=message):
        oif.Pipeline(detectors)


def test_a_pickled_pipeline_continues():
    together = oif.Pipeline(["rolling-iforest", "loda"])
    together.process(ROWS[:2000])
    again = pickle.loads(pickle.dumps(together))
    np.testing.assert_array_equal(together.process(ROWS[2000:]), again.process(ROWS[2000:]))
    assert again.kind == "rolling-iforest+loda"

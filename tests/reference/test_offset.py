"""Where a feature's zero lies means nothing to cuts that are drawn inside its range, so moving it must not matter."""

import numpy as np
import pytest

import datasets
import oif
from accuracy import roc_auc

OFFSET = 1e9
SEEDS = range(10)


def scores_of(rows, seed):
    return oif.OnlineIsolationForest(seed=seed).learn_score(rows)


def scores_here_and_far_away(name):
    """For each seed the scores, those of the rows moved by OFFSET, and the labels."""
    rows, anomalous = datasets.load(name)
    for seed in SEEDS:
        shuffled, labels = datasets.shuffle(rows, anomalous, seed)
        yield scores_of(shuffled, seed), scores_of(shuffled + OFFSET, seed), labels


def test_whole_numbers_far_from_zero_have_the_same_scores():
    """Shuttle holds whole numbers, so nothing is lost by the addition; only a cut within 1e-7 of a whole number could
    fall on its other side."""
    rows, _ = datasets.load("Shuttle")
    assert np.array_equal(rows, np.round(rows)), "Shuttle no longer holds whole numbers only"
    for seed, (here, far, _) in zip(SEEDS, scores_here_and_far_away("Shuttle")):
        changed = np.mean(here != far)
        assert changed <= 0.01, f"seed {seed}: {changed:.1%} of the scores changed"


@pytest.mark.parametrize("name", ["Shuttle", "Mammography"])
def test_the_auc_is_the_same_far_from_zero(name):
    """Mammography's numbers are rounded by the addition (to 1e-7), so some rows may change sides: noise."""
    aucs = [(roc_auc(here, y), roc_auc(far, y)) for here, far, y in scores_here_and_far_away(name)]
    here, far = np.mean(aucs, axis=0)
    print(f"{name}: {here:.5f}, far from zero {far:.5f}")
    assert abs(here - far) <= 0.002, f"mean AUC {here:.5f}, with {OFFSET:g} added to every value {far:.5f}"

"""iforest-asd, trained once, against scikit-learn's IsolationForest: the same forest, so the same accuracy.

Both train on all rows of a set and score all of them: here the window is the whole set, scikit-learn fits it. 30 seeds each.
"""

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest

import datasets
import oif
from accuracy import roc_auc

SEEDS = 30
NUM_TREES = 32
SUBSAMPLE_SIZE = 256


def our_auc(rows, anomalous, seed):
    detector = oif.IForestASD(
        window_size=len(rows), num_trees=NUM_TREES, subsample_size=SUBSAMPLE_SIZE, seed=seed
    )
    detector.learn(rows)
    detector.learn(rows[:NUM_TREES])  # the window is full, and each row after it grows a tree
    return roc_auc(detector.score(rows), anomalous)


def their_auc(rows, anomalous, seed):
    forest = IsolationForest(n_estimators=NUM_TREES, max_samples=SUBSAMPLE_SIZE, random_state=seed).fit(rows)
    return roc_auc(-forest.score_samples(rows), anomalous)


@pytest.mark.parametrize("name", ["Annthyroid", "Mammography", "Satellite", "nyc_taxi_shingle"])
def test_the_mean_auc_is_that_of_scikit_learn(name):
    rows, anomalous = datasets.load(name)
    ours = np.array([our_auc(rows, anomalous, seed) for seed in range(SEEDS)])
    theirs = np.array([their_auc(rows, anomalous, seed) for seed in range(SEEDS)])
    difference = ours.mean() - theirs.mean()
    standard_error = np.sqrt((ours.var(ddof=1) + theirs.var(ddof=1)) / SEEDS)
    print(
        f"{name}: ours {ours.mean():.4f}, scikit-learn's {theirs.mean():.4f}, "
        f"standard error of the difference {standard_error:.4f}"
    )
    assert abs(difference) <= 2 * standard_error, (
        f"{name}: mean AUC over {SEEDS} seeds is {ours.mean():.4f}, scikit-learn's {theirs.mean():.4f}: "
        f"{abs(difference) / standard_error:.1f} standard errors apart"
    )

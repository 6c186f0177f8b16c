"""hst against River's HalfSpaceTrees, on data scaled to [0, 1]: at least as accurate.

Not the same accuracy: River has no random work ranges (every tree cuts the unit cube, at a random place near the middle
instead of in the middle), descends while mass >= 0.1 window_size and sums over all nodes of the path, not just the last.
So the test is one-sided. Its tolerance is two standard errors of the paired difference and 0.01 for what River does differently.
"""

import numpy as np
import pytest
from river import anomaly

import datasets
import oif
from accuracy import roc_auc

SEEDS = 6
ROWS = 3000  # River needs some 0.4 ms a row
TREES, DEPTH, WINDOW = 25, 8, 250
TOLERANCE = 0.01


def river_scores(rows, seed):
    names = [f"x{i}" for i in range(rows.shape[1])]
    model = anomaly.HalfSpaceTrees(n_trees=TREES, height=DEPTH, window_size=WINDOW, seed=seed)
    scores = []
    for values in rows.tolist():
        row = dict(zip(names, values))
        model.learn_one(row)
        scores.append(model.score_one(row))
    return np.array(scores)


def our_scores(rows, seed):
    model = oif.HalfSpaceTrees(num_trees=TREES, max_depth=DEPTH, window_size=WINDOW, ranges="fixed", seed=seed)
    return model.learn_score(rows)


def scaled_rows(name, seed):
    rows, anomalous = datasets.shuffle(*datasets.load(name), seed)
    rows, anomalous = rows[:ROWS], anomalous[:ROWS]
    low, high = rows.min(axis=0), rows.max(axis=0)
    return np.ascontiguousarray((rows - low) / np.where(high > low, high - low, 1)), anomalous


@pytest.mark.parametrize("name", ["Annthyroid", "Mammography", "Shuttle"])
def test_the_mean_auc_is_at_least_that_of_river(name):
    aucs = []
    for seed in range(SEEDS):
        rows, anomalous = scaled_rows(name, seed)
        aucs.append([roc_auc(score(rows, seed)[WINDOW:], anomalous[WINDOW:]) for score in (our_scores, river_scores)])
    ours, theirs = np.mean(aucs, axis=0)
    difference = np.subtract(*np.transpose(aucs))
    standard_error = difference.std(ddof=1) / np.sqrt(SEEDS)
    print(f"{name}: ours {ours:.4f}, River's {theirs:.4f}, standard error of the difference {standard_error:.4f}")
    assert ours >= theirs - 2 * standard_error - TOLERANCE, (
        f"{name}: mean AUC {ours:.4f} over {SEEDS} shuffles, River's is {theirs:.4f} "
        f"(standard error of the difference {standard_error:.4f})"
    )

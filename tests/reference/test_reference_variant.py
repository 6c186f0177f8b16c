"""variant=reference against the authors' own code: the same accuracy, as far as 30 shuffles can tell."""

import multiprocessing
import os

import numpy as np
import pytest

import authors_code
import datasets
import oif_ctypes
from accuracy import roc_auc

BATCH_ROWS = 100  # the paper's
SHUFFLES = 30


def our_scores(rows, seed):
    detector = oif_ctypes.Detector("online-iforest", rows.shape[1], variant="reference", seed=seed)
    scores = []
    for first in range(0, len(rows), BATCH_ROWS):
        batch = rows[first : first + BATCH_ROWS]
        detector.learn_rows(batch)
        scores.append(detector.score_rows(batch))
    return np.concatenate(scores)


def both_aucs(task):
    name, seed = task
    rows, anomalous = datasets.shuffle(*datasets.load(name), seed)
    theirs = authors_code.score_in_batches(rows, seed, BATCH_ROWS)
    return roc_auc(our_scores(rows, seed), anomalous), roc_auc(theirs, anomalous)


@pytest.fixture(scope="module")
def pool():
    """The authors' code needs a quarter of a millisecond a row: three minutes in all on one processor."""
    with multiprocessing.Pool(os.cpu_count()) as workers:
        yield workers


@pytest.mark.parametrize("name", ["Annthyroid", "Mammography", "Satellite"])
def test_the_mean_auc_is_that_of_the_authors_code(name, pool):
    authors_code.load_class()  # here its failure is short and to the point
    aucs = np.array(pool.map(both_aucs, [(name, seed) for seed in range(SHUFFLES)], chunksize=1))
    ours, theirs = aucs.mean(axis=0)
    # Paired: both see the same shuffle, and what the shuffle does to both alike is no difference between them.
    difference = aucs[:, 0] - aucs[:, 1]
    standard_error = difference.std(ddof=1) / np.sqrt(SHUFFLES)
    print(f"{name}: ours {ours:.4f}, the authors' {theirs:.4f}, standard error of the difference {standard_error:.4f}")
    assert abs(difference.mean()) <= 2 * standard_error, (
        f"{name}: mean AUC over {SHUFFLES} shuffles is {ours:.4f}, that of the authors' code {theirs:.4f}: "
        f"{abs(difference.mean()) / standard_error:.1f} standard errors apart"
    )

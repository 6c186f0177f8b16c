"""variant=reference against the authors' own code: the same accuracy, as far as 30 shuffles can tell."""

import json

import numpy as np
import pytest

import authors_code
import datasets
import oif
import record_authors_aucs as recorded
from accuracy import roc_auc


@pytest.fixture(scope="module")
def record():
    return json.loads(recorded.RECORD.read_text(encoding="utf-8"))


def our_auc(name, seed):
    rows, anomalous = datasets.shuffle(*datasets.load(name), seed)
    detector = oif.OnlineIsolationForest(variant="reference", seed=seed)
    scores = []
    for first in range(0, len(rows), recorded.SCORED_AT_ONCE):
        block = rows[first : first + recorded.SCORED_AT_ONCE]
        detector.learn(block)
        scores.append(detector.score(block))
    return roc_auc(np.concatenate(scores), anomalous)


@pytest.mark.parametrize("name", recorded.SETS)
def test_the_mean_auc_is_that_of_the_authors_code(name, record):
    ours = np.array([our_auc(name, seed) for seed in recorded.SEEDS])
    theirs = np.array(record["aucs"][name])
    # Paired: both see the same shuffles, and what a shuffle does to both alike is no difference between them.
    differences = ours - theirs
    mean, standard_error = differences.mean(), differences.std(ddof=1) / np.sqrt(len(differences))
    report = (
        f"{name}: mean AUC over {len(ours)} shuffles {ours.mean():.4f}, the authors' {theirs.mean():.4f}; "
        f"difference {mean:+.4f}, standard error {standard_error:.4f}"
    )
    print(report)
    assert abs(mean) <= 2 * standard_error, report


def test_the_record_is_that_of_the_authors_code(record):
    """Reruns the recorded probe with the CapyMOA that is installed here."""
    try:
        authors_code.load_class()
    except authors_code.CapymoaMissing as missing:
        pytest.fail(str(missing))
    assert recorded.probe() == pytest.approx(record["probe"], rel=1e-9)

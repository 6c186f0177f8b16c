"""sdo against the authors' SDOstream, which is in dSalmon: the AUC on the paper's sets is the same within 0.01.

Both get the first 10,000 rows of a shuffle, with mean 0 and deviation 1 in each column, and score each row before they
learn it. The first 500 rows do not count. Single runs of dSalmon differ by up to 0.03 from seed to seed, so what counts
is the mean over shuffles, and twice its standard error is allowed besides.

CI does not run it, because dSalmon 0.1 builds with numpy below 2 only: pip install "numpy<2" setuptools wheel, then
pip install --no-build-isolation dSalmon. The test, then the table of docs/algorithms/sdo.md with our own scales beside:

    python -m pytest tests/reference/sdo_dsalmon.py
    python tests/reference/sdo_dsalmon.py [SHUFFLES [SET...]]
"""

import sys
from pathlib import Path

import numpy as np
import pytest
from dSalmon import outlier

import oif

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "measure"))
import accuracy  # only now is tools/measure on the path
import datasets

ROWS, NOT_COUNTED, WINDOW = 10_000, 500, 2048
TOLERATED = 0.01
SMALL_SETS = ("Smtp", "Mammography", "Annthyroid", "Satellite")


def standardise(rows):
    deviations = rows.std(axis=0)
    return (rows - rows.mean(axis=0)) / np.where(deviations > 0, deviations, 1)


def standardise_by_window(rows):
    """As a stream could: by mean and deviation of the last rows, the row itself included."""
    centred = rows - rows.mean(axis=0)
    ends = np.arange(1, len(rows) + 1)
    starts = np.maximum(ends - WINDOW, 0)
    first, second = (np.vstack([np.zeros(rows.shape[1]), np.cumsum(x, axis=0)]) for x in (centred, centred**2))
    count = (ends - starts)[:, None]
    mean = (first[ends] - first[starts]) / count
    deviations = np.sqrt(np.maximum((second[ends] - second[starts]) / count - mean**2, 0))
    return (centred - mean) / np.where(deviations > 1e-9, deviations, 1)


def our_scores(rows, seed, scale):
    detector = oif.SparseDataObservers(window_size=WINDOW, scale=scale, seed=seed)
    scores = np.empty(len(rows))
    for i, row in enumerate(rows):
        scores[i] = detector.score_one(row)
        detector.learn_one(row)
    return scores


def dsalmon_scores(rows, seed):
    return outlier.SDOstream(k=200, T=WINDOW, qv=0.3, x=6, seed=seed).fit_predict(rows)


def shuffled(name, seed):
    rows, anomalous = datasets.shuffle(*datasets.load(name), seed)
    return rows[:ROWS], anomalous[:ROWS]


def auc(scores, anomalous):
    return accuracy.roc_auc(scores[NOT_COUNTED:], anomalous[NOT_COUNTED:])


def differences(name, shuffles):
    """Our AUC less dSalmon's, on each shuffle."""
    result = []
    for seed in range(shuffles):
        rows, anomalous = shuffled(name, seed)
        rows = standardise(rows)
        result.append(auc(our_scores(rows, seed, "none"), anomalous) - auc(dsalmon_scores(rows, seed), anomalous))
    return np.array(result)


@pytest.mark.parametrize("name", SMALL_SETS)
def test_the_auc_is_that_of_the_authors_code(name):
    difference = differences(name, 4)
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    assert abs(difference.mean()) <= TOLERATED + 2 * error, f"{name}: {difference}"


def main():
    shuffles = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    heading = "AUC: dSalmon, ours, difference +- standard error; AUC / AP by window of 2,048, with scale=robust"
    print(f"{shuffles} shuffles. {heading}")
    for name in sys.argv[2:] or [dataset.name for dataset in datasets.STATIONARY]:
        runs = []
        for seed in range(shuffles):
            rows, anomalous = shuffled(name, seed)
            scores = (
                dsalmon_scores(standardise(rows), seed),
                our_scores(standardise(rows), seed, "none"),
                our_scores(standardise_by_window(rows), seed, "none"),
                our_scores(rows, seed, "robust"),
            )
            precisions = [accuracy.average_precision(s[NOT_COUNTED:], anomalous[NOT_COUNTED:]) for s in scores[2:]]
            runs.append([auc(s, anomalous) for s in scores] + precisions)
        runs = np.array(runs)
        difference = runs[:, 1] - runs[:, 0]
        error = difference.std(ddof=1) / np.sqrt(shuffles)
        dsalmon, ours, window, robust, window_ap, robust_ap = runs.mean(axis=0)
        print(
            f"{name:<17} {dsalmon:.3f} {ours:.3f} {difference.mean():+.3f} +- {error:.3f}   "
            f"{window:.3f} / {window_ap:.3f}  {robust:.3f} / {robust_ap:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()

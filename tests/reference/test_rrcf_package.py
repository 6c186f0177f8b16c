"""rrcf against the package of that name: the displacement of every row has the same law in both.

A tree of ours learns a set of rows, one by one, after others that it forgets again; one of the package is built from the
set at once. The displacements of a row in 400 trees a side are independent draws from one law each;
two-sample Kolmogorov-Smirnov tests compare them.
"""

import numpy as np
import pytest
import rrcf

import oif

TREES = 400
P_VALUE = 1e-5  # a comparison; there are some 70 of them
OTHERS = 30  # rows that go before


def normal_rows(random):
    rows = random.normal(size=(60, 3))
    rows[:5] *= 6  # outliers
    return rows


def clusters(random):
    return np.concatenate([random.normal(size=(40, 2)), random.normal(size=(12, 2)) * 0.2 + 8])


def duplicates(random):
    return random.randint(0, 4, size=(50, 2)).astype(float)


def different_ranges(random):
    return random.random_sample(size=(40, 4)) * (1, 3, 10, 30)


def our_displacements(rows, others, probes):
    """Each forest has one tree, and the probe is learned last, so that its score is its displacement in the tree."""
    result = np.empty((TREES, len(probes)))
    for i, probe in enumerate(probes):
        rows_before = np.concatenate([others, np.delete(rows, probe, axis=0)])
        for seed in range(TREES):
            tree = oif.RobustRandomCutForest(
                num_trees=1, tree_size=len(rows), sample="sliding", seed=seed + TREES * i
            )
            tree.learn(rows_before)
            result[seed, i] = tree.learn_score(rows[probe : probe + 1])[0]
    return result


def package_displacements(rows, probes):
    result = np.empty((TREES, len(probes)))
    for number in range(TREES):
        tree = rrcf.RCTree(rows)
        result[number] = [tree.codisp(probe) for probe in probes]
    return result


def greatest_distance(one, other):
    """Between two distribution functions."""
    places = np.union1d(one, other)
    shares = [np.searchsorted(np.sort(side), places, side="right") / len(side) for side in (one, other)]
    return np.max(np.abs(shares[0] - shares[1]))


@pytest.mark.parametrize("make_rows", [normal_rows, clusters, duplicates, different_ranges])
def test_displacements_have_the_law_of_the_package(make_rows):
    random = np.random.RandomState(1)
    rows = np.ascontiguousarray(make_rows(random))
    others = random.normal(size=(OTHERS, rows.shape[1])) * 3
    probes = range(0, len(rows), 3)
    np.random.seed(2)  # the package draws from numpy's global generator
    ours = np.round(our_displacements(rows, others, probes), 6)
    theirs = np.round(package_displacements(rows, probes), 6)
    allowed = np.sqrt(-np.log(P_VALUE / 2) / TREES)
    distances = [greatest_distance(ours[:, i], theirs[:, i]) for i in range(len(probes))]
    worst = int(np.argmax(distances))
    print(f"{make_rows.__name__}: greatest distance {distances[worst]:.3f}, allowed {allowed:.3f}")
    assert distances[worst] <= allowed, (
        f"row {probes[worst]} of {make_rows.__name__}: the distributions over {TREES} trees are "
        f"{distances[worst]:.3f} apart, {allowed:.3f} allowed; mean displacement {ours[:, worst].mean():.3f}, "
        f"the package's {theirs[:, worst].mean():.3f}"
    )

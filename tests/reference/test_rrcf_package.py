"""rrcf against the package of that name: the displacement of every row has the same law in both.

One tree of ours is learned from a set of rows, one by one, after others that it has forgotten again; one of the package
is built from the set at once. The displacements of a row in 400 trees a side are independent draws from one law each;
two-sample Kolmogorov-Smirnov tests compare them.
"""

import numpy as np
import pytest

import oif_ctypes

rrcf = pytest.importorskip("rrcf")

TREES = 400
P_VALUE = 1e-5  # a comparison; there are some 200 of them
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


def our_displacements(rows, others):
    """Row by row and tree by tree: each forest has one tree, so that a score is a displacement."""
    result = np.empty((TREES, len(rows)))
    for seed in range(TREES):
        tree = oif_ctypes.Detector(
            "rrcf", rows.shape[1], num_trees=1, tree_size=len(rows), sample="sliding", seed=seed
        )
        tree.learn_rows(others)
        tree.learn_rows(rows)
        result[seed] = tree.score_rows(rows)
    return result


def package_displacements(rows):
    result = np.empty((TREES, len(rows)))
    for number in range(TREES):
        tree = rrcf.RCTree(rows)
        result[number] = [tree.codisp(i) for i in range(len(rows))]
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
    np.random.seed(2)  # the package draws from numpy's global generator
    ours = np.round(our_displacements(rows, random.normal(size=(OTHERS, rows.shape[1])) * 3), 6)
    theirs = np.round(package_displacements(rows), 6)
    allowed = np.sqrt(-np.log(P_VALUE / 2) / TREES)
    distances = [greatest_distance(ours[:, i], theirs[:, i]) for i in range(len(rows))]
    worst = int(np.argmax(distances))
    print(f"{make_rows.__name__}: greatest distance {distances[worst]:.3f}, allowed {allowed:.3f}")
    assert distances[worst] <= allowed, (
        f"row {worst} of {make_rows.__name__}: the distributions over {TREES} trees are {distances[worst]:.3f} apart, "
        f"{allowed:.3f} allowed; mean displacement {ours[:, worst].mean():.3f}, the package's {theirs[:, worst].mean():.3f}"
    )

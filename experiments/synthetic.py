"""The two data sets that are generated, Mulcross and a stream with the shape of INSECTS, and small streams for quick runs.

Both are ours. The seed of the paper's Mulcross is not public, so its points are others with the same law; the stream of
insects is no insects at all, only of their number, length and change points.
"""

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, Any]  # X, y and perhaps change_points, as in a file of data sets

MULCROSS_SIGNS = np.array(
    [[1.0, 1, 1, 1], [1, 1, -1, -1]]
)  # of the two clusters; isolation forests find them as published
INSECTS_CHANGES = np.array([51255, 74381, 100944, 142291, 152207])  # of the authors' plot_results_sliding_window.py
TEMPERATURES = np.array([0.5, 0.0, 0.75, 0.25, 1.0, 0.4])  # one for each stretch between changes


def mulcross(n: int = 262144, d: int = 4, share: float = 0.1, distance: float = 2.0, seed: int = 1) -> Arrays:
    """Rocke and Woodruff 1996, appendix: a standard normal cloud, and clusters of outliers far out in the corners."""
    from scipy.stats import chi2

    random = np.random.default_rng(seed)
    outliers = int(share * n + 0.5)
    variance = max((1 - share) * (share * d - (1 - share)) / (share * ((1 - share) * d - share)), 0.01)
    radius = distance * np.sqrt(chi2.ppf(0.999, d) / d)
    rows = random.standard_normal((n, d))
    clusters = len(MULCROSS_SIGNS)
    cluster = np.minimum(np.arange(outliers) // (outliers // clusters), clusters - 1)
    rows[n - outliers :] = radius * MULCROSS_SIGNS[cluster] + np.sqrt(variance) * rows[n - outliers :]
    rows -= rows.mean(0)
    rows = rows @ np.linalg.cholesky(np.linalg.inv(np.cov(rows, rowvar=False)))
    order = random.permutation(n)
    return {"X": rows[order].astype(np.float32), "y": (order >= n - outliers).astype(np.uint8)}


def insects(n: int = 212514, d: int = 33, seed: int = 2024) -> Arrays:
    """Two normal classes and an anomalous one, which a temperature moves together and apart at each change."""
    random = np.random.default_rng(seed)
    normal = random.normal(0, 0.8, (2, d))
    centers = np.vstack([normal, normal.mean(0) + random.normal(0, 1.1, d)])
    common = random.normal(0, 4.0, d)
    own = random.normal(0, 1.4, (3, d))
    spread = random.normal(0, 0.25, (3, d, 6))
    y = np.zeros(n, np.uint8)
    y[random.choice(n, round(0.055 * n), replace=False)] = 1
    kind = np.where(y == 1, 2, random.integers(0, 2, n))
    temperature = TEMPERATURES[np.searchsorted(INSECTS_CHANGES, np.arange(n), side="right")]
    rows = np.empty((n, d), np.float32)
    for c in range(3):
        i = np.flatnonzero(kind == c)
        within = random.standard_normal((len(i), 6)) @ spread[c].T
        moved = centers[c] + temperature[i, None] * (common + own[c])
        rows[i] = moved + within + 0.9 * random.standard_normal((len(i), d))
    return {"X": np.round(rows, 2), "y": y, "change_points": INSECTS_CHANGES}


def toy(n: int, share: float = 0.05, seed: int = 0) -> Arrays:
    """Figure 1 of the paper: a standard normal cloud, and anomalies scattered over a far larger square."""
    random = np.random.default_rng(seed)
    y = (random.permutation(n) < share * n).astype(np.uint8)
    return {"X": np.where(y[:, None], random.uniform(-10, 10, (n, 2)), random.standard_normal((n, 2))), "y": y}


def drift(n: int, share: float = 0.02, seed: int = 0) -> Arrays:
    """A cloud among scattered anomalies that jumps, turns gradually into a third one, and comes back to the first two."""
    random = np.random.default_rng(seed)
    place = np.arange(n) / n
    turning = np.where(random.uniform(size=n) < (place - 0.5) * 8, 2, 1)
    cloud = np.select([place < 0.25, place < 0.5, place < 0.75, place < 0.875], [0, 1, turning, 0], 1)
    centers = np.array([[0, 0], [4, 4], [-4, 4]])
    y = (random.permutation(n) < share * n).astype(np.uint8)
    normal = centers[cloud] + random.standard_normal((n, 2))
    changes = np.array([n // 4, n // 2, n * 5 // 8, n * 3 // 4, n * 7 // 8])
    return {"X": np.where(y[:, None], random.uniform(-12, 12, (n, 2)), normal), "y": y, "change_points": changes}


def seasonal(n: int) -> Arrays:
    """Three sensors of `oif demo`, the one that was installed with the package."""
    program = Path(sys.executable).parent / "oif"
    command = [str(program), "demo", "seasonal", "--rows", str(n), "--columns", "3"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    table = np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1)
    return {"X": np.ascontiguousarray(table[:, :-1]), "y": table[:, -1].astype(np.uint8)}

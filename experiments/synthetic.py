"""The two data sets that are generated: Mulcross and a stream with the shape of INSECTS. And streams of `oif demo`.

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


def generate(kind: str, rows: int, *options: str) -> Arrays:
    """A stream of the tool `oif demo`, the one that was installed with the package."""
    program = Path(sys.executable).parent / "oif"
    command = [str(program), "demo", kind, "--rows", str(rows), *options]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    heading, _, body = text.partition("\n")
    assert heading.split(",")[-1] == "label", heading
    table = np.loadtxt(io.StringIO(body), delimiter=",", ndmin=2)
    arrays: Arrays = {"X": np.ascontiguousarray(table[:, :-1]), "y": table[:, -1].astype(np.uint8)}
    if kind == "drift":  # as its help says
        arrays["change_points"] = np.array([rows // 4, rows // 2, rows * 5 // 8, rows * 3 // 4, rows * 7 // 8])
    return arrays

"""The paper's numbers, each with its place: Leveni et al., Online Isolation Forest, ICML 2024.

The AUCs of its Table 4 are in tools/measure/datasets.py, which `experiments/run.sh accuracy` reads as well.
"""

import sys
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CHECKOUT / "tools" / "measure"))
import datasets  # noqa: E402

PAPER = "Leveni, Weigert Cassales, Pfahringer, Bifet, Boracchi: Online Isolation Forest, ICML 2024"
DETECTORS = ("oIFOR", "asdIFOR", "HST", "RRCF", "LODA")  # the columns of Table 4

# Table 4, "ROC AUCs and total execution times", left half
AUCS = {s.name: dict(zip(DETECTORS, (s.paper_aucs[d] for d in datasets.DETECTORS))) for s in datasets.STATIONARY}


def _row(*values: float) -> dict[str, float]:
    return dict(zip(DETECTORS, values))


# Table 4, right half: seconds
SECONDS = {
    "Donors": _row(252.36, 551.85, 2145.85, 4924.46, 2111.09),
    "Http": _row(179.36, 509.40, 2016.00, 8367.16, 2017.85),
    "ForestCover": _row(107.65, 197.82, 1045.39, 2997.86, 1009.92),
    "fraud_partial": _row(100.09, 285.69, 973.91, 4936.03, 931.93),  # of the whole fraud set
    "Mulcross": _row(90.33, 270.79, 936.01, 3244.96, 848.12),
    "Smtp": _row(29.95, 142.65, 325.77, 1273.98, 254.69),
    "Shuttle": _row(16.35, 108.28, 167.48, 770.61, 130.61),
    "Mammography": _row(3.32, 80.01, 37.92, 118.22, 29.55),
    "nyc_taxi_shingle": _row(8.03, 83.15, 36.70, 151.67, 36.82),
    "Annthyroid": _row(2.00, 77.06, 24.26, 93.40, 19.79),
    "Satellite": _row(3.74, 78.90, 21.78, 93.77, 17.55),
}

# The last rows of Table 4
MEDIAN_AUC = _row(0.866, 0.863, 0.739, 0.832, 0.541)
MEAN_RANK_AUC = _row(2.167, 1.583, 3.917, 2.500, 4.833)
MEDIAN_SECONDS = _row(29.95, 142.57, 323.29, 1274.45, 254.64)
MEAN_RANK_SECONDS = _row(1.000, 2.667, 3.500, 5.000, 2.833)

CRITICAL_DISTANCE = 0.336  # section 5.3: 5 populations, 330 paired executions


class Shape(NamedTuple):
    n: int
    d: int
    percent: float  # of anomalies


# Table 2, "Stationary datasets properties"; INSECTS from section 5.1
SHAPES = {
    "Donors": Shape(619326, 10, 5.90),
    "Http": Shape(567497, 3, 0.40),
    "ForestCover": Shape(286048, 10, 0.90),
    "fraud_partial": Shape(284807, 29, 0.17),
    "Mulcross": Shape(262144, 4, 10.00),
    "Smtp": Shape(95156, 3, 0.03),
    "Shuttle": Shape(49097, 9, 7.00),
    "Mammography": Shape(11183, 6, 2.00),
    "nyc_taxi_shingle": Shape(10273, 48, 5.20),
    "Annthyroid": Shape(6832, 6, 7.00),
    "Satellite": Shape(6435, 36, 32.00),
    "INSECTS": Shape(212514, 33, 5.50),
}

for table in (AUCS, SECONDS, SHAPES):  # the whole fraud set, where a user has it, stands beside the same numbers
    table["fraud"] = table["fraud_partial"]


def total_hours(detectors: tuple[str, ...] = DETECTORS, executions: int = 30) -> float:
    """What the published times of Table 4 add up to."""
    names = [dataset.name for dataset in datasets.STATIONARY]
    return executions * sum(SECONDS[name][detector] for name in names for detector in detectors) / 3600

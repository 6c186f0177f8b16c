"""Table 3 of the paper as configuration: which detectors run, with which parameters, and how each looks in a figure.

A column is one detector with its parameters. The five of the paper come first; the rest are ours, and only those that
the installed package has are run. To add one, add a line to COLUMNS.
"""

import hashlib
from typing import Any, NamedTuple, Optional

import numpy as np
from oif import _core
from oif._detectors import DETECTORS, Detector

BATCH_ROWS = 100  # "we divided every dataset in batches of 100 points each"
EXECUTIONS = 30  # "Each algorithm was executed 30 times"
EARLY_ROWS = 1000  # "the first 1000 samples of the stream"
WINDOW_ROWS = 5000  # the centred window of the drift figure
ALPHA = 0.05  # of the Friedman and Nemenyi tests; autorank's default, which the paper's CD of 0.336 agrees with

MODES = {
    "batch": f"batches of {BATCH_ROWS}, each learned and then scored, as the paper did",
    "row": "strictly row by row: each row learned, then scored",
}


class Column(NamedTuple):
    key: str  # in the CSV files
    title: str  # in tables and figures
    detector: str  # its name in oif
    params: dict[str, Any]
    color: str
    microseconds: float  # a row, roughly: only the time that is left is guessed from it
    published: Optional[str] = None  # the column of the paper that it stands beside
    dashes: Any = "-"

    def create(self, seed: int, **changed: Any) -> Detector:
        return DETECTORS[self.detector](**{**self.params, **changed, "seed": seed})


# num_trees is tau, window_size omega, max_leaf_samples eta, subsample_size and tree_size psi, max_depth delta,
# num_bins b.
OIFOR = dict(num_trees=32, window_size=2048, max_leaf_samples=32)
COLUMNS = (
    Column(
        "online-iforest:reference",
        "oIFOR",
        "online-iforest",
        {**OIFOR, "variant": "reference"},
        "#c8372d",
        0.7,
        "oIFOR",
    ),
    Column(
        "iforest-asd",
        "asdIFOR",
        "iforest-asd",
        dict(num_trees=32, window_size=2048, subsample_size=256),
        "#2f6f9f",
        0.8,
        "asdIFOR",
    ),
    Column("hst", "HST", "hst", dict(num_trees=32, window_size=250, max_depth=15), "#3d8f5f", 1.8, "HST"),
    Column("rrcf", "RRCF", "rrcf", dict(num_trees=32, tree_size=256), "#8a5bab", 11.0, "RRCF"),
    Column("loda", "LODA", "loda", dict(num_projections=32, num_bins=100), "#b8860b", 1.0, "LODA"),
    Column("sdo", "SDOstream", "sdo", dict(num_observers=200, window_size=2048), "#5b7083", 1.0),
    Column("online-iforest", "oIFOR default", "online-iforest", OIFOR, "#e8857d", 0.7, dashes=(0, (5, 1.5))),
    Column(
        "online-iforest:turnover",
        "oIFOR turnover",
        "online-iforest",
        {**OIFOR, "max_leaf_samples": 0, "forgetting": "turnover"},  # 0: it is chosen by itself
        "#7d1420",
        0.9,
        dashes=(0, (1.5, 1)),
    ),
    Column(
        "rolling-iforest",
        "rolling IFOR",
        "rolling-iforest",
        dict(num_trees=32, window_size=2048),
        "#1f2933",
        2.0,
        dashes=(0, (4, 1, 1, 1)),
    ),
)
OURS = "online-iforest:reference"  # the column that the paper's oIFOR is compared with


def is_installed(column: Column) -> bool:
    """Whether the installed package has this detector with all these parameters, choices included."""
    known = {info["name"]: {p["name"]: p for p in info["params"]} for info in _core.detector_infos()}
    if column.detector not in known or column.detector not in DETECTORS:
        return False
    params = known[column.detector]
    return all(
        name in params and (params[name]["choices"] is None or value in params[name]["choices"])
        for name, value in column.params.items()
    )


def columns() -> list[Column]:
    """Those that can be run."""
    return [column for column in COLUMNS if is_installed(column)]


def by_key(key: str) -> Column:
    return next(column for column in COLUMNS if column.key == key)


def fingerprint(column: Column) -> str:
    """Tells scores of today's package from those of another: eight digits that change with any score.

    Results are kept under it, so that after a change of one detector only its runs are made again.
    """
    rows = np.random.RandomState(8).standard_normal((3000, 5))
    scores = column.create(seed=8).learn_score(rows)
    return hashlib.sha256(np.ascontiguousarray(scores, dtype="<f8").tobytes()).hexdigest()[:8]

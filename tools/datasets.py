"""The data sets of the Online Isolation Forest paper: where they are, and what the paper reached on them.

The data are no part of the repository. They are looked for in $OIF_DATA, else in shared/data beside the checkout; the
README.md there says where each file comes from.
"""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

BESIDE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "data"


class DataMissing(Exception):
    """A data set, or the whole folder, is not there; the message says where it was looked for."""


class Dataset(NamedTuple):
    name: str  # of the file, without .npz
    paper_auc: float  # median ROC AUC of oIFOR
    note: str = ""  # where the file differs from the paper's


# In the order of the paper's table "ROC AUCs and total execution times", which the AUCs are from.
STATIONARY = (
    Dataset("Donors", 0.795),
    Dataset("Http", 0.998, "one row more than the paper's"),
    Dataset("ForestCover", 0.887),
    Dataset("fraud_partial", 0.936, "partial: every fraud, 9.5 % of the normal rows"),
    Dataset("Mulcross", 0.995, "synthetic, generated anew: the paper's seed is not public"),
    Dataset("Smtp", 0.861),
    Dataset("Shuttle", 0.992),
    Dataset("Mammography", 0.854),
    Dataset("nyc_taxi_shingle", 0.572),
    Dataset("Annthyroid", 0.685, "368 rows more than the paper's"),
    Dataset("Satellite", 0.651),
)


def folder():
    """The folder of the data sets; DataMissing when there is none."""
    chosen = Path(os.environ.get("OIF_DATA") or BESIDE_CHECKOUT)
    if not chosen.is_dir():
        raise DataMissing(f"no data sets: {chosen} is not a folder; set OIF_DATA to the one with Shuttle.npz and so on")
    return chosen


def load(name):
    """The rows of a data set as float64, and whether each is an anomaly."""
    path = folder() / f"{name}.npz"
    if not path.is_file():
        raise DataMissing(f"no data set {name}: {path} does not exist; OIF_DATA names the folder to look in")
    with np.load(path) as arrays:
        return np.ascontiguousarray(arrays["X"], dtype=np.float64), arrays["y"].astype(bool)


def shuffle(rows, anomalous, seed):
    """Both in one random order. RandomState, because its numbers stay the same in every version of numpy."""
    order = np.random.RandomState(seed).permutation(len(rows))
    return rows[order], anomalous[order]

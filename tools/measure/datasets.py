"""The data sets of the Online Isolation Forest paper: where they are, and what the paper reached on them.

The data are not part of the repository. A file NAME.npz is looked for in the folder $OIF_DATA, else in the cache
that `experiments/run.sh data` fills ($XDG_CACHE_HOME/oif/data, by default ~/.cache/oif/data). The series of nyc_taxi_shingle is also
examples/nyc_taxi.csv.
"""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

OWN_FOLDER = "set OIF_DATA to a folder that has the file"
HOW_TO_GET = f"run `experiments/run.sh data` to fetch the public data sets, or {OWN_FOLDER}"


class DataMissing(Exception):
    """A data set is not there; the message says where it was looked for and how to get it."""


class Dataset(NamedTuple):
    name: str  # of the file, without .npz
    paper_aucs: dict  # median ROC AUC by detector
    note: str = ""  # where the file differs from the paper's


def _paper_row(name, *aucs, note=""):
    return Dataset(name, dict(zip(DETECTORS, aucs)), note)


# The order of the paper's columns oIFOR, asdIFOR, HST, RRCF, LODA.
DETECTORS = ("online-iforest", "iforest-asd", "hst", "rrcf", "loda")

# In the order of the paper's table "ROC AUCs and total execution times", which the AUCs are from.
STATIONARY = (
    _paper_row("Donors", 0.795, 0.769, 0.715, 0.637, 0.554),
    _paper_row("Http", 0.998, 0.999, 0.992, 0.996, 0.632, note="one row more than the paper's"),
    _paper_row("ForestCover", 0.887, 0.861, 0.722, 0.917, 0.500),
    _paper_row(
        "fraud_partial", 0.936, 0.946, 0.910, 0.951, 0.722, note="partial: every fraud, 9.5 % of the normal rows"
    ),
    _paper_row(
        "Mulcross",
        *(0.995, 0.952, 0.011, 0.800, 0.506),
        note="synthetic, generated again: the paper's seed is not public",
    ),
    _paper_row("Smtp", 0.861, 0.905, 0.851, 0.894, 0.731),
    _paper_row("Shuttle", 0.992, 0.996, 0.981, 0.957, 0.528),
    _paper_row("Mammography", 0.854, 0.855, 0.831, 0.824, 0.622),
    _paper_row("nyc_taxi_shingle", 0.572, 0.709, 0.342, 0.725, 0.499),
    _paper_row("Annthyroid", 0.685, 0.810, 0.636, 0.740, 0.589, note="368 rows more than the paper's"),
    _paper_row("Satellite", 0.651, 0.709, 0.531, 0.662, 0.501),
)


def cache_folder():
    """Where `experiments/run.sh data` and `experiments/run.sh paper` keep what they fetched."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "oif" / "data"


def folders():
    """Where data sets are looked for; the first folder that has a file wins."""
    chosen = os.environ.get("OIF_DATA")
    return [Path(chosen), cache_folder()] if chosen else [cache_folder()]


def find(file):
    """The path of a data file, or None."""
    return next((folder / file for folder in folders() if (folder / file).is_file()), None)


def missing(name, remedy=HOW_TO_GET):
    """The DataMissing of a set, to be raised."""
    looked = " nor in ".join(str(folder) for folder in folders())
    return DataMissing(f"no data set {name}: {name}.npz is not in {looked}; {remedy}")


def or_whole(dataset):
    """The set itself, or the whole fraud set where only that is there: the part of it has no public home."""
    if dataset.name == "fraud_partial" and not find("fraud_partial.npz") and find("fraud.npz"):
        return dataset._replace(name="fraud", note="")
    return dataset


def load(name):
    """The rows of a data set as float64, and whether each is an anomaly."""
    path = find(f"{name}.npz")
    if path is None:
        raise missing(name)
    with np.load(path) as arrays:
        return np.ascontiguousarray(arrays["X"], dtype=np.float64), arrays["y"].astype(bool)


def shuffle(rows, anomalous, seed):
    """Both in one random order. RandomState, because its numbers stay the same in every version of numpy."""
    order = np.random.RandomState(seed).permutation(len(rows))
    return rows[order], anomalous[order]

"""The data sets: found in $OIF_DATA or the cache (tools/measure/datasets.py), otherwise fetched from their homes.

Every file holds X (rows), y (1 = anomaly) and, for streams that drift, change_points. A set that was fetched is
converted, compared with its checksum and kept in the cache ($XDG_CACHE_HOME/oif/data); none is part of the repository.
"""

import csv
import hashlib
import io
import os
import sys
import tempfile
import urllib.error
import urllib.request
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional

import numpy as np
from tqdm import tqdm

from . import published, synthetic
from .published import datasets

Arrays = dict[str, Any]
DataMissing = datasets.DataMissing
find, folders = datasets.find, datasets.folders


class Dataset(NamedTuple):
    """Rows, whether each is an anomaly, and what there is to say about them."""

    name: str
    title: str
    rows: np.ndarray
    anomalous: np.ndarray
    note: str  # what it is, where it is not the paper's; shown in every output
    stands_for: Optional[str]  # the paper's set that it is compared with
    change_points: np.ndarray

    def shuffled(self, execution: int) -> tuple[np.ndarray, np.ndarray]:
        """In the order of an execution, the same for every detector."""
        return datasets.shuffle(self.rows, self.anomalous, execution)

    def prefix(self, rows: int) -> "Dataset":
        """Its first rows, for quick runs; the same set when it is not longer."""
        if len(self.rows) <= rows:
            return self
        kept = self.change_points[self.change_points < rows]
        note = f"{self.note}; " if self.note else ""
        return self._replace(
            rows=self.rows[:rows],
            anomalous=self.anomalous[:rows],
            change_points=kept,
            note=f"{note}first {rows:,} rows only",
        )


# -- conversion: from the bytes of the public files to rows and labels


def arrays_of_npz(files: list[bytes]) -> Arrays:
    with np.load(io.BytesIO(files[0])) as arrays:
        return {"X": arrays["X"], "y": arrays["y"].astype(np.uint8)}


def donors_of_npz(files: list[bytes]) -> Arrays:
    """Rounded to the six decimals of the source, which the file holds with a last digit of noise."""
    arrays = arrays_of_npz(files)
    return {**arrays, "X": np.round(arrays["X"], 6)}


TAXI_EVENTS = (  # docs/taxi.md of kLabUM/rrcf; both ends belong to the event
    ("2014-07-04 00:00:00", "2014-07-07 00:00:00"),
    ("2014-09-01 00:00:00", "2014-09-02 00:00:00"),
    ("2014-09-06 00:00:00", "2014-09-07 00:00:00"),
    ("2014-11-02 00:00:00", "2014-11-03 00:00:00"),
    ("2014-11-27 00:00:00", "2014-11-28 00:00:00"),
    ("2014-12-25 00:00:00", "2014-12-26 00:00:00"),
    ("2015-01-01 00:00:00", "2015-01-02 00:00:00"),
    ("2015-01-26 00:00:00", "2015-01-28 00:00:00"),
)
SHINGLE_ROWS = 48  # a day


def shingles_of_taxi_csv(files: list[bytes]) -> Arrays:
    """Windows of a day; a window is an anomaly when its last half-hour lies in an event."""
    lines = list(csv.DictReader(io.StringIO(files[0].decode())))
    passengers = np.array([float(line["value"]) for line in lines])
    times = [line["timestamp"] for line in lines]
    label = np.array([any(start <= time <= end for start, end in TAXI_EVENTS) for time in times])
    windows = np.lib.stride_tricks.sliding_window_view(passengers, SHINGLE_ROWS)
    return {"X": np.ascontiguousarray(windows), "y": label[SHINGLE_ROWS - 1 :].astype(np.uint8)}


def fraud_of_kaggle_csv(path: Path) -> Arrays:
    """creditcard.csv: Time, V1..V28, Amount, Class; without Time there are the paper's 29 features."""
    table = np.genfromtxt(path, delimiter=",", skip_header=1, converters={30: lambda x: float(x.strip('"'))})
    return {"X": table[:, 1:30], "y": table[:, 30].astype(np.uint8)}


INSECTS_KINDS = {2: 0, 12: 0, 5: 1}  # ae-aegypti-female, cx-quinq-male; ae-albopictus-male is the anomaly


def insects_of_usp_csv(path: Path) -> Arrays:
    """The USP repository's abrupt, imbalanced stream: 33 features and the class, of which the paper keeps three."""
    table = np.genfromtxt(path, delimiter=",")
    table = table[np.isin(table[:, -1], list(INSECTS_KINDS))]
    y = np.array([INSECTS_KINDS[int(kind)] for kind in table[:, -1]], dtype=np.uint8)
    return {"X": table[:, :-1], "y": y, "change_points": synthetic.INSECTS_CHANGES}


# -- the one table: where each set comes from, and what it must be


class Home(NamedTuple):
    addresses: tuple[str, ...]  # owner/name/branch/path of public GitHub repositories
    convert: Callable[..., Arrays]
    checksum: Optional[str]  # SHA-256 of X as little-endian float64 by rows, then y as bytes; None: not known here


def _adbench(file: str, checksum: Optional[str], convert: Callable[..., Arrays] = arrays_of_npz) -> Home:
    return Home((f"Minqi824/ADBench/main/adbench/datasets/Classical/{file}",), convert, checksum)


RAW = "https://raw.githubusercontent.com/"
HOMES = {
    "Donors": _adbench(
        "11_donors.npz", "af2d1fc97ff21e9e7f03949465bb42f74a8d3655b4bd40b05650be283442cf52", donors_of_npz
    ),
    "Http": _adbench("16_http.npz", "948f099f1b126b74acaaab14cfce8bdbf452108aa634563b22b4fcb5970585ad"),
    "ForestCover": _adbench("10_cover.npz", "d73ccba360f2f335a31386f7b59244ec89757eea80855e709a06920147a01bae"),
    "fraud": _adbench("13_fraud.npz", None),
    "Mulcross": Home((), synthetic.mulcross, "bc46e143a8f703bcdccc79a809bac75b248f8ca221918740d3d353467eb2c2e5"),
    "Smtp": _adbench("34_smtp.npz", "ff6e362e01df518025603665f93bb15498a16dd6504f07dcb361e71adeb6e08b"),
    "Shuttle": _adbench("32_shuttle.npz", "44a39e1f88085518f2484e527cc567cbcfd64e98a51a6bd2da96a94fe3d0e7a5"),
    "Mammography": _adbench("23_mammography.npz", "e8c787878b1bd9e4a5e3f8b4bfc2fa36874fb0d274ca67827839f4ec4b820788"),
    "nyc_taxi_shingle": Home(
        ("numenta/NAB/master/data/realKnownCause/nyc_taxi.csv",),
        shingles_of_taxi_csv,
        "5218059c27936e1f87d21902f24c7b148885b795dbad3b2c22d54bdc2950fd80",
    ),
    "Annthyroid": _adbench("2_annthyroid.npz", "556bba1a3c0ce2c1ffc39236f0122974a052cd38c063507b2a596c2146f65232"),
    "Satellite": _adbench("30_satellite.npz", "fbd11420032ca9712d9d6e04298037afdf02349cd0c01b819c8afda64de509a3"),
    "insects_synth_standin": Home(
        (), synthetic.insects, "d4b524cb6608a60de53783ee483c67e963c3ba19d08d706fcc415a1e670cf6f2"
    ),
}

# Files that a user may have under another name than NAME.npz, and how to read them.
OTHER_FILES = {
    "fraud": ("creditcard.csv", fraud_of_kaggle_csv),
    "INSECTS": ("INSECTS-abrupt_imbalanced.csv", insects_of_usp_csv),
}

STATIONARY = tuple(dataset.name for dataset in datasets.STATIONARY)
NOTES = {
    **{dataset.name: dataset.note for dataset in datasets.STATIONARY},
    "INSECTS": "all 33 features; the authors' script takes the first 10",
    "insects_synth_standin": "STAND-IN for INSECTS, synthetic: its shape and change points, not its data",
    "insects_aedes_standin": "STAND-IN for INSECTS, real insect-sensor data of another study, composed by us",
}
TITLES = {
    "fraud_partial": "fraud (partial)",
    "Mulcross": "Mulcross (regenerated)",
    "insects_synth_standin": "INSECTS stand-in (synthetic)",
    "insects_aedes_standin": "INSECTS stand-in (Aedes)",
}

GENERATED: dict[str, Callable[[], Arrays]] = {  # what a quick run uses where there are no data sets
    "generated_toy": lambda: synthetic.toy(4000),
    "generated_mulcross": lambda: synthetic.mulcross(4000),
    "generated_seasonal": lambda: synthetic.seasonal(4000),
    "generated_drift": lambda: synthetic.drift(12000),
}


def checksum(arrays: Arrays) -> str:
    """Of the numbers, whatever type the file holds them in."""
    sum = hashlib.sha256(np.ascontiguousarray(arrays["X"], dtype="<f8").tobytes())
    sum.update(np.ascontiguousarray(arrays["y"], dtype=np.uint8).tobytes())
    return sum.hexdigest()


def fetch(address: str) -> bytes:
    """The bytes at an address, with a progress bar on a terminal."""
    url = RAW + address
    try:
        with urllib.request.urlopen(url, timeout=60) as reply:
            parts, total = [], int(reply.headers.get("Content-Length") or 0)
            with tqdm(total=total or None, unit="B", unit_scale=True, desc=Path(address).name, disable=None) as bar:
                while part := reply.read(1 << 16):
                    parts.append(part)
                    bar.update(len(part))
            return b"".join(parts)
    except (urllib.error.URLError, OSError) as failure:
        raise DataMissing(f"{url} cannot be fetched ({getattr(failure, 'reason', failure)})") from None


def obtain(name: str) -> Path:
    """Fetches or generates a set, compares it with its checksum and keeps it in the cache."""
    home = HOMES.get(name)
    if home is None:
        raise datasets.missing(name, f"it has no public home to fetch it from: {datasets.OWN_FOLDER}")
    try:
        arrays = home.convert([fetch(address) for address in home.addresses]) if home.addresses else home.convert()
    except DataMissing as failure:
        raise datasets.missing(name, f"{failure}: connect to the network, or {datasets.OWN_FOLDER}") from None
    found = checksum(arrays)
    if home.checksum is not None and found != home.checksum:
        raise DataMissing(f"the data set {name} that was fetched is not the one expected: {found}, not {home.checksum}")
    return keep(name, arrays)


def keep(name: str, arrays: Arrays) -> Path:
    """Writes a set into the cache, whole or not at all."""
    folder = datasets.cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".npz", delete=False) as file:
        np.savez_compressed(file, **arrays)
    os.replace(file.name, folder / f"{name}.npz")
    return folder / f"{name}.npz"


def read(name: str, may_obtain: bool) -> Arrays:
    """The arrays of a set, from the first place that has it."""
    if name in GENERATED:
        return GENERATED[name]()
    if path := find(f"{name}.npz"):
        with np.load(path) as arrays:
            return dict(arrays)
    other, convert = OTHER_FILES.get(name, (None, None))
    if other and (path := find(other)):
        return convert(path)
    if not may_obtain:
        raise datasets.missing(name)
    with np.load(obtain(name)) as arrays:
        return dict(arrays)


@lru_cache(maxsize=1)  # runs come ordered by set
def load(name: str, may_obtain: bool = False) -> Dataset:
    arrays = read(name, may_obtain)
    note = "generated by experiments/synthetic.py" if name in GENERATED else NOTES.get(name, "")
    return Dataset(
        name=name,
        title=TITLES.get(name, name.replace("_", " ") if name in GENERATED else name),
        rows=np.ascontiguousarray(arrays["X"], dtype=np.float64),
        anomalous=arrays["y"].astype(bool),
        note=note,
        stands_for=name if name in published.AUCS else None,
        change_points=np.asarray(arrays.get("change_points", ()), dtype=int),
    )


def path_of(name: str) -> Optional[Path]:
    """The file of a set, if it is here."""
    return find(f"{name}.npz") or (find(OTHER_FILES[name][0]) if name in OTHER_FILES else None)


def is_here(name: str) -> bool:
    return path_of(name) is not None


def choose_stationary(may_obtain: bool) -> list[str]:
    """The 11 sets, with the whole fraud set instead of the part of it where it can be had."""
    chosen = []
    for name in STATIONARY:
        if name == "fraud_partial" and (is_here("fraud") or (may_obtain and not is_here(name))):
            name = "fraud"
        if not is_here(name) and may_obtain:
            obtain(name)
        if not is_here(name):
            raise datasets.missing(name)
        chosen.append(name)
    return chosen


def choose_drifting(may_obtain: bool) -> list[str]:
    """INSECTS where a user has it, otherwise the stand-ins."""
    if is_here("INSECTS"):
        return ["INSECTS"]
    if may_obtain and not is_here("insects_synth_standin"):
        print("experiments: INSECTS is not here, its stand-in is generated", file=sys.stderr)
        obtain("insects_synth_standin")
    return [name for name in ("insects_synth_standin", "insects_aedes_standin") if is_here(name)]

"""The real series: labelled ones of several families, and unlabelled ones to plant incidents in.

They are looked for in $OIF_DATA: `real/FAMILY-NAME.csv.gz` with `real/index.csv`, `fresh/` likewise, and `series/`. None is
part of the repository.
"""

import csv
import gzip
import io
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Optional, Sequence

import numpy as np

from .. import data

REAL, FRESH = COLLECTIONS = ("real", "fresh")  # of labelled series
HOW_TO_GET = (
    "the real series are not public in one place: put them into $OIF_DATA/real, $OIF_DATA/fresh and $OIF_DATA/series, "
    "as docs/measurements/reality.md describes"
)


class Series(NamedTuple):
    """A stream as it was recorded. Rows before `start` are history: they are scored, but do not count."""

    family: str
    name: str
    columns: tuple[str, ...]
    rows: np.ndarray  # NaN where a value is missing
    times: Optional[tuple[str, ...]]  # as in the file
    labels: np.ndarray  # per row; all 0 where there are no labels
    start: int
    day_rows: int  # rows of a day; a week for daily rows
    planted: tuple[str, ...]  # columns for incidents: measured, no calendar or number of the row
    collection: str = REAL

    @property
    def title(self) -> str:
        return f"{self.family} {self.name}"


def folder(name: str) -> Path:
    """The folder with that name in one of the places where data sets are looked for."""
    for place in data.folders():
        if (Path(place) / name).is_dir():
            return Path(place) / name
    looked = " nor in ".join(map(str, data.folders()))
    raise data.DataMissing(f"there is no folder {name} in {looked}; {HOW_TO_GET}")


def is_there(collections: Sequence[str] = COLLECTIONS) -> bool:
    try:
        return all((folder(name) / "index.csv").is_file() for name in collections) and folder("series").is_dir()
    except data.DataMissing:
        return False


def read_table(path: Path, delimiter: str = ",") -> list[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=delimiter))


def numbers_of(texts: list[list[str]]) -> np.ndarray:
    return np.array([[float(text) if text else np.nan for text in line] for line in texts])


# ---- Labelled series ----

DAY_ROWS = {"SMD": 1440, "ASD": 288, "KPI": 288}  # of the families whose rows have a regular distance


def read_labelled(collection: str, path: Path, family: str, name: str, start: int) -> Series:
    names, *lines = read_table(path)
    has_time = names[0] == "time"
    columns = tuple(names[has_time:-1])
    numbers = numbers_of([line[has_time:] for line in lines])
    times = tuple(line[0] for line in lines) if has_time else None
    rows, labels, day_rows = numbers[:, :-1], numbers[:, -1] > 0, DAY_ROWS.get(family, 0)
    return Series(family, name, columns, rows, times, labels, start, day_rows, columns, collection)


@lru_cache(maxsize=None)
def labelled(collection: str = REAL, families: tuple[str, ...] = ()) -> tuple[Series, ...]:
    """`families`: only these; none: all."""
    place = folder(collection)
    with open(place / "index.csv", encoding="utf-8", newline="") as file:
        index = [(line["fam"], line["name"], int(line["start"])) for line in csv.DictReader(file)]
    return tuple(
        read_labelled(collection, place / f"{family}-{name}.csv.gz", family, name, start)
        for family, name, start in index
        if not families or family in families
    )


# ---- Series to plant incidents in ----

BIKE_MEASURED = ("temp", "feelingTemp", "humidity", "windspeed", "casual", "registered", "count")
UNLABELLED = {  # file: delimiter, has a header, column of time, rows of a day, columns for incidents
    "etth1.csv.gz": (",", True, "date", 24, None),
    "bike.csv.gz": (",", True, "dateday", 24, BIKE_MEASURED),
    "household.tsv.gz": ("\t", False, "index", 1440, None),
    "opsd.csv.gz": (",", True, "Date", 7, ("Consumption",)),
    "yosemite.csv.gz": (",", True, "ds", 288, None),
}


def read_unlabelled(path: Path) -> Series:
    delimiter, has_header, time, day_rows, measured = UNLABELLED[path.name]
    lines = read_table(path, delimiter)
    names = lines.pop(0) if has_header else ["index", "value"]
    at = names.index(time)
    is_time = has_header and time != "dateday"  # dates of bike rentals repeat all day: no time of the row
    kept = [i for i in range(len(names)) if i != at]
    numbers = numbers_of([[line[i] for i in kept] for line in lines])
    columns = tuple(names[i] for i in kept)
    times = tuple(line[at] for line in lines) if is_time else None
    name = path.name.split(".")[0]
    none = np.zeros(len(numbers), dtype=bool)
    return Series("series", name, columns, numbers, times, none, 0, day_rows, measured or columns)


@lru_cache(maxsize=None)
def to_plant_in() -> tuple[Series, ...]:
    """The unlabelled series, and those labelled ones with regular days: each family once or twice."""
    place = folder("series")
    unlabelled = tuple(read_unlabelled(place / name) for name in UNLABELLED)
    regular = [series for series in labelled() if series.day_rows]
    few: list[Series] = []
    for series in regular:
        if sum(other.family == series.family for other in few) < 2:
            few.append(series)
    return unlabelled + tuple(few)


# ---- As text, for the tool ----


def csv_text(series: Series) -> bytes:
    """The series as `oif score` reads it, each number as short as it can be written exactly."""
    out = io.StringIO()
    names = [*(("time",) if series.times else ()), *series.columns]
    out.write(",".join(names) + "\n")
    times = [f"{time}," for time in series.times] if series.times else [""] * len(series.rows)
    for time, row in zip(times, series.rows.tolist()):
        line = time + ",".join("" if x != x else repr(x) for x in row)
        out.write((line or '""') + "\n")  # an empty line would be skipped
    return out.getvalue().encode()

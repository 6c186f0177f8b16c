"""The scales that turn the scores of detectors into severities: what they should be, measured on the labelled series of several columns.

    experiments/run.sh calibration              the table, some minutes; --oif: another program
    experiments/run.sh calibration --accept     also into experiments/reality/calibration.json

A scale is a pair of numbers in a detector's source, `.rarity`: one row in 20 exceeds `usual`, and evidence that is higher by
`per_decade` is a tenth as frequent. A test compares the file with the sources and with the golden scores, so a detector or a scale
that has changed must be measured again.
"""

import argparse
import hashlib
import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np

from ..published import CHECKOUT
from . import scorers
from . import series as real
from .series import Series

FILE = Path(__file__).parent / "calibration.json"
FIRST = 480  # rows that detectors only learn
LEAST = 400  # rows of a series after these
GOLDEN = {  # the line of tests/golden/scores.txt that a detector's changes change
    "online-iforest": "as_created",
    "rolling-iforest": "rolling_as_created",
    "iforest-asd": "asd_as_created",
    "hst": "hst_as_created",
    "rrcf": "rrcf_as_created",
    "loda": "loda_as_created",
    "sdo": "sdo_as_created",
}


class Scale(NamedTuple):
    usual: float
    per_decade: float


# ---- What the sources say ----


def scales_of_sources() -> dict[str, Scale]:
    found = {}
    for path in sorted((CHECKOUT / "src" / "detect").glob("*/*.c")):
        text = path.read_text()
        name = re.search(r'table\.name = "([^"]+)"', text)
        rarity = re.search(r"\.rarity = \{\.usual = (-?[\d.]+), \.per_decade = ([\d.]+)\}", text)
        if name and rarity:
            found[name[1]] = Scale(float(rarity[1]), float(rarity[2]))
    return found


def fingerprints() -> dict[str, str]:
    lines = dict(line.split(" ", 1) for line in (CHECKOUT / "tests" / "golden" / "scores.txt").read_text().splitlines())
    return {name: hashlib.sha256(lines[line].encode()).hexdigest()[:16] for name, line in GOLDEN.items()}


# ---- What the series say ----


def evidence_of(name: str, scores: np.ndarray) -> np.ndarray:
    """As oif_score_evidence in src/detect/score_scale.c."""
    if name == "loda":
        return scores
    if name == "rrcf":
        return np.log2(1 + np.maximum(scores, 0))
    if name == "sdo":
        return np.log2(np.clip(scores, 2.0**-1000, 2.0**1000))
    return -np.log2(-np.log2(np.clip(scores, 2.0**-1000, 1 - 2.0**-52)))


def quantiles(oif: Path, name: str, series: Series) -> Optional[np.ndarray]:
    """Of the evidence of the unlabelled rows: those that one in 20, in 100 and in 1,000 exceeds. None: too few rows."""
    scores = scorers.oif_score(oif, ("--detector", name), series).scores
    usual = scores[FIRST:][~series.labels[FIRST:]]
    return np.quantile(evidence_of(name, usual), [0.95, 0.99, 0.999]) if len(usual) >= LEAST else None


def measure(oif: Path, name: str) -> Scale:
    """The medians over the families of the medians over their series."""
    families: dict[str, list[np.ndarray]] = {}
    several = [one for collection in real.COLLECTIONS for one in real.labelled(collection) if len(one.columns) > 1]
    with ThreadPoolExecutor(2) as pool:
        for one, found in zip(several, pool.map(lambda one: quantiles(oif, name, one), several)):
            if found is not None:
                families.setdefault(one.family, []).append(found)
    twentieth, hundredth, thousandth = np.array([np.median(found, axis=0) for found in families.values()]).T
    return Scale(float(np.median(twentieth)), float(np.median(thousandth - hundredth)))


# ---- The command ----


def write(measured: dict[str, Scale]) -> None:
    scales, golden = scales_of_sources(), fingerprints()
    kept = {
        name: {
            "usual": scales[name].usual,
            "per_decade": scales[name].per_decade,
            "measured_usual": round(scale.usual, 2),
            "measured_per_decade": round(scale.per_decade, 2),
            "golden": golden[name],
        }
        for name, scale in measured.items()
    }
    FILE.write_text(json.dumps(kept, indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(prog="experiments/run.sh calibration", description=__doc__.splitlines()[0])
    parser.add_argument("--oif", type=Path, default=CHECKOUT / "build" / "release-gcc" / "oif", help="the program")
    parser.add_argument("--accept", action="store_true", help="keep what was measured")
    arguments = parser.parse_args()
    measured = {}
    print("| detector | usual | measured | per_decade | measured |\n| --- | --- | --- | --- | --- |")
    for name, scale in scales_of_sources().items():
        measured[name] = found = measure(arguments.oif, name)
        print(f"| `{name}` | {scale.usual:g} | {found.usual:.2f} | {scale.per_decade:g} | {found.per_decade:.2f} |", flush=True)
    if arguments.accept:
        write(measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())

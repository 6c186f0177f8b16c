"""A table through the program: scores, alerts, and what it says about chance."""

import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Answer(NamedTuple):
    scores: np.ndarray
    alerts: np.ndarray
    one_in: int  # rows, by chance


def judge(program: str, rows: np.ndarray, seed: int = 0) -> Answer:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        header = ",".join(f"c{i}" for i in range(rows.shape[1]))
        np.savetxt(path, rows, delimiter=",", header=header, comments="", fmt="%.17g")
        command = [program, "score", "--strict", "--two-pass", "--seed", str(seed), "--fields", "score,anomaly", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    added = np.array([line.rsplit(",", 2)[1:] for line in done.stdout.splitlines()[1:]], dtype=float)
    said = re.search(r"one row in ([0-9,]+) would", done.stderr)
    assert said and len(added) == len(rows), done.stderr
    return Answer(added[:, 0], added[:, 1] == 1, int(said[1].replace(",", "")))

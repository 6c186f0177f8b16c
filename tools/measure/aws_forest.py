"""AWS's Random Cut Forest, which is Java: rows in a file, scores in another.

benchmarks/RandomCutForestScores.java has the forest alone, benchmarks/ThresholdedForestScores.java with its alerts.
"""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

CHECKOUT = Path(__file__).resolve().parents[2]
FOLDER = CHECKOUT / "build" / "aws-forest"
REQUIREMENTS = CHECKOUT / "tools" / "requirements" / "maven-peers.txt"
NAME = "randomcutforest-core"
HOW_TO_MAKE = "tools/measure/make_aws_forest.sh"


class ForestMissing(Exception):
    """The program is not there; the message says why."""


def version():
    """As it is pinned."""
    artifacts = REQUIREMENTS.read_text(encoding="utf-8").split()
    return next(artifact.rpartition(":")[2] for artifact in artifacts if f":{NAME}:" in artifact)


def check():
    """Raises ForestMissing, with what Maven or the compiler printed, if the program is not there."""
    if (FOLDER / "made").is_file():
        return
    failed = FOLDER / "failed"
    lines = failed.read_text(encoding="utf-8", errors="replace").split("\n") if failed.is_file() else []
    errors = [line for line in lines if "error" in line.lower() or "missing" in line.lower()]
    raise ForestMissing((errors or lines or [f"not compiled: run {HOW_TO_MAKE}"])[0].strip())


def start(program, arguments, quick):
    """What a program printed; `quick` takes the quick compiler, which pays for a single run."""
    check()
    # One collector thread: other threads' time is not the forest's, but costs.
    options = ["-XX:+UseSerialGC", *(["-XX:TieredStopAtLevel=1"] if quick else [])]
    command = ["java", *options, "-cp", f"{FOLDER}/*:{FOLDER}", program, *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as failure:
        raise ForestMissing(f"java cannot be run: {failure.strerror}") from None
    if done.returncode:
        raise ForestMissing(f"java: {(done.stderr.strip().splitlines() or ['failed'])[0]}")
    return done.stdout


def run(rows, seed, trees=50, sample=256, decay=None, repeats=1):
    """Processor seconds of the fastest run, and the scores. By default the parameters are the package's own."""
    decay = 0.1 / sample if decay is None else decay
    with tempfile.TemporaryDirectory() as folder:
        rows_path, scores_path = Path(folder) / "rows", Path(folder) / "scores"
        np.ascontiguousarray(rows, dtype=np.float64).tofile(rows_path)
        arguments = (rows.shape[1], rows_path, scores_path, trees, sample, repr(decay), seed, repeats)
        seconds = start("RandomCutForestScores", arguments, quick=repeats == 1)
        return float(seconds), np.fromfile(scores_path)


def run_thresholded(rows, seed, shingle):
    """The score of every row, and its anomaly grade, above 0 for an anomaly. No number may be missing."""
    with tempfile.TemporaryDirectory() as folder:
        rows_path, scores_path = Path(folder) / "rows", Path(folder) / "scores"
        np.ascontiguousarray(rows, dtype=np.float64).tofile(rows_path)
        start("ThresholdedForestScores", (rows.shape[1], shingle, rows_path, scores_path, seed), quick=False)
        scores, grades = np.fromfile(scores_path).reshape(-1, 2).T
        return scores, grades

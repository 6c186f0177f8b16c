"""AWS's Random Cut Forest, which is Java: rows in a file, scores in another (benchmarks/RandomCutForestScores.java)."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

CHECKOUT = Path(__file__).resolve().parents[1]
FOLDER = CHECKOUT / "build" / "aws-forest"
REQUIREMENTS = CHECKOUT / "tools" / "requirements" / "maven-peers.txt"
NAME = "randomcutforest-core"
HOW_TO_MAKE = "tools/make_aws_forest.sh"


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


def run(rows, seed, trees=50, sample=256, decay=None, repeats=1):
    """Processor seconds of the fastest run, and the scores. By default the parameters are the package's own."""
    check()
    decay = 0.1 / sample if decay is None else decay
    with tempfile.TemporaryDirectory() as folder:
        rows_path, scores_path = Path(folder) / "rows", Path(folder) / "scores"
        np.ascontiguousarray(rows, dtype=np.float64).tofile(rows_path)
        # One collector thread, and for a single run the quick compiler: other threads' time is not the forest's, but costs.
        options = ["-XX:+UseSerialGC", *(["-XX:TieredStopAtLevel=1"] if repeats == 1 else [])]
        command = ["java", *options, "-cp", f"{FOLDER}/*:{FOLDER}", "RandomCutForestScores"]
        command += [str(rows.shape[1]), str(rows_path), str(scores_path), str(trees), str(sample), repr(decay)]
        done = subprocess.run([*command, str(seed), str(repeats)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise ForestMissing(f"java: {(done.stderr.strip().splitlines() or ['failed'])[0]}")
        return float(done.stdout), np.fromfile(scores_path)

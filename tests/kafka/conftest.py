"""A broker, pump readings, and what one process says about them."""

import csv
import math
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from broker import Broker

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "flink"))

PROGRAM = os.environ.get("OIF_PROGRAM", "build/release-gcc/oif")
TARGET = Path("java/oif-kafka/target")
PUMPS = 60


def bits(text):
    """A number as its bits; None for those that the tool leaves empty and Java calls NaN or Infinity."""
    number = float(text.replace("Infinity", "inf") or "nan")
    return struct.pack(">d", number) if math.isfinite(number) else None


@pytest.fixture(scope="session")
def broker(tmp_path_factory):
    with Broker(TARGET / "jars", tmp_path_factory.mktemp("kafka")) as running:
        yield running


class Readings:
    """Rows in a file, and their results: row -> bits of score, threshold and anomaly."""

    def __init__(self, folder, rows):
        self.rows = rows
        self.file = folder / f"{rows}.csv"
        jar = TARGET / "oif-kafka-0.1.0-job.jar"
        subprocess.run(["java", "-cp", jar, "oif.flink.demo.Pumps", str(rows), str(PUMPS), self.file], check=True)
        scored = subprocess.run(
            [PROGRAM, "score", "--detector", "online-iforest", "--key", "pump", "--time", "time", "--columns", "flow,pressure,temperature",
             "--fields", "score,threshold,anomaly", self.file],
            check=True, capture_output=True, text=True,
        ).stdout
        self.expected = {
            int(line["row"]): tuple(bits(line[name]) for name in ("score", "threshold", "anomaly"))
            for line in csv.DictReader(scored.splitlines())
        }
        assert any(result[2] == bits("1") for result in self.expected.values()), "there are anomalies to find"

    def results(self, lines):
        """The results of output lines, which must hold every row once."""
        assert len(lines) == self.rows, "every row once"
        results = {int(line[0]): tuple(bits(text) for text in line[1:]) for line in lines}
        assert len(results) == self.rows
        return results


@pytest.fixture(scope="session")
def readings(tmp_path_factory):
    return Readings(tmp_path_factory.mktemp("readings"), int(os.environ.get("OIF_KAFKA_ROWS", "200000")))

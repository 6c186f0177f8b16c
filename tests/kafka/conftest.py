"""A broker, pump readings, and their results in one process."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "flink"))
from broker import Broker  # noqa: E402
from one_process import complete_results, count_anomalies, expected_results, write_readings  # noqa: E402

PROGRAM = os.environ.get("OIF_PROGRAM", "build/release-gcc/oif")
TARGET = Path("java/oif-kafka/target")
PUMPS = 60


@pytest.fixture(scope="session")
def broker(tmp_path_factory):
    with Broker(TARGET / "jars", tmp_path_factory.mktemp("kafka")) as running:
        yield running


class Readings:
    """Readings in a file, and their results in one process."""

    def __init__(self, folder, rows):
        self.rows = rows
        self.file = folder / f"{rows}.csv"
        write_readings(TARGET / "oif-kafka-0.1.0-job.jar", rows, PUMPS, self.file)
        self.expected = expected_results(PROGRAM, self.file)
        assert count_anomalies(self.expected) > 0, "there are anomalies to find"

    def results(self, lines):
        """Returns the results of output lines, which must contain every row exactly once."""
        return complete_results(lines, self.rows)


@pytest.fixture(scope="session")
def readings(tmp_path_factory):
    return Readings(tmp_path_factory.mktemp("readings"), int(os.environ.get("OIF_KAFKA_ROWS", "200000")))

"""oif on a real Flink cluster: what is left after kill -9, savepoints and other parallelisms is, bit for bit, what one process says.

    OIF_PROGRAM=build/release-gcc/oif OIF_FLINK=FOLDER OIF_FLINK_JOB=JAR pytest tests/flink

OIF_FLINK_KILLS says how many task managers are killed in the test of random kills (default 2).
"""

import csv
import math
import os
import random
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from cluster import Cluster

PROGRAM = os.environ.get("OIF_PROGRAM", "build/release-gcc/oif")
FLINK = os.environ.get("OIF_FLINK", "build/flink/packages/pyflink")
JOB = os.environ.get("OIF_FLINK_JOB", "java/oif-flink-demo/target/oif-flink-demo-0.1.0-job.jar")
KILLS = int(os.environ.get("OIF_FLINK_KILLS", "2"))
ENTRY = "oif.flink.demo.PumpsJob"
PUMPS = 60


def bits(text):
    """A number as its bits; None for those that the tool leaves empty and Java calls NaN or Infinity."""
    number = float(text.replace("Infinity", "inf") or "nan")
    return struct.pack(">d", number) if math.isfinite(number) else None


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flink")
    with Cluster(Path(FLINK).absolute(), folder) as running:
        running.start()
        running.jar = running.upload(JOB)
        yield running


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What one process says about so many rows: a function, as results are kept."""
    folder = tmp_path_factory.mktemp("reference")
    known = {}

    def of(rows, detector="online-iforest"):
        if (rows, detector) not in known:
            readings = folder / f"{rows}.csv"
            subprocess.run(["java", "-cp", JOB, "oif.flink.demo.Pumps", str(rows), str(PUMPS), readings], check=True)
            scored = subprocess.run(
                [PROGRAM, "score", "--detector", detector, "--key", "pump", "--time", "time", "--columns", "flow,pressure,temperature",
                 "--fields", "score,threshold,anomaly", readings],
                check=True, capture_output=True, text=True,
            ).stdout
            known[rows, detector] = {
                int(line["row"]): tuple(bits(line[name]) for name in ("score", "threshold", "anomaly"))
                for line in csv.DictReader(scored.splitlines())
            }
            anomalies = sum(line[2] == bits("1") for line in known[rows, detector].values())
            assert anomalies > 0 or rows < 80_000, "there are anomalies to find"
        return known[rows, detector]

    return of


class Run:
    """A job with its output folder."""

    def __init__(self, cluster, folder, rows, rate=15000, **options):
        self.cluster, self.folder, self.rows = cluster, folder, rows
        arguments = {"rows": rows, "pumps": PUMPS, "rate": rate, "output": f"file://{folder}/output", **options}
        self.arguments = [part for name, value in arguments.items() for part in (f"--{name.replace('_', '-')}", value)]

    def start(self, parallelism=3, savepoint=None, settings=None):
        self.job = self.cluster.run(self.cluster.jar, ENTRY, self.arguments, parallelism, savepoint, settings)
        return self

    def wait_for_checkpoints(self, count):
        self.cluster.wait_for(lambda: self.cluster.checkpoints(self.job) >= count, f"{count} checkpoints of {self.cluster.why(self.job)}")

    def lines(self):
        """Committed ones only: files that are still being written begin with a dot."""
        found = [file for file in (self.folder / "output").glob("*/part-*") if not file.name.startswith(".")]
        return [line.split(",") for file in found for line in file.read_text().splitlines()]

    def results(self):
        lines = self.lines()
        assert len(lines) == self.rows, "every row once"
        results = {int(line[0]): tuple(bits(text) for text in line[1:]) for line in lines}
        assert len(results) == self.rows
        return results


def replace_killed(cluster, name):
    cluster.kill(name)
    cluster.start_task_manager(name)


def test_killed_task_managers(cluster, expected, tmp_path):
    rows = 40_000 + 60_000 * KILLS
    run = Run(cluster, tmp_path, rows).start()
    chance = random.Random(os.urandom(8))
    for kill in range(KILLS):
        done = cluster.checkpoints(run.job)
        run.wait_for_checkpoints(done + chance.randint(1, 2))
        if cluster.state(run.job) == "FINISHED":
            pytest.fail(f"the job ended before kill {kill}")
        replace_killed(cluster, f"tm-{chance.randint(0, 1)}")
    cluster.finish(run.job, 120 + 60 * KILLS)
    assert cluster.restored(run.job) >= 1
    assert run.results() == expected(rows)


def test_the_control_differs(cluster, expected, tmp_path):
    """The same kill with models that are in no checkpoint: if this were equal, the others would prove nothing."""
    run = Run(cluster, tmp_path, 90_000, forgetful="yes").start()
    run.wait_for_checkpoints(2)
    replace_killed(cluster, "tm-0")
    cluster.finish(run.job)
    results, right = run.results(), expected(90_000)
    assert sum(results[row] != right[row] for row in right) > 1000


def test_rescaling_by_savepoints(cluster, expected, tmp_path):
    """2 -> 3 -> 1 subtasks, unaligned checkpoints, RocksDB in between."""
    rows = 120_000
    run, savepoint = Run(cluster, tmp_path, rows), None
    for parallelism, settings in [(2, None), (3, {"execution.checkpointing.unaligned.enabled": "true"})]:
        run.start(parallelism, savepoint, settings)
        run.wait_for_checkpoints(2)
        savepoint = cluster.stop_with_savepoint(run.job)
    run.start(1, savepoint)
    cluster.finish(run.job)
    assert run.results() == expected(rows)


def test_a_cache_far_too_small_on_rocksdb(cluster, expected, tmp_path):
    rows = 30_000
    run = Run(cluster, tmp_path, rows, rate=6000, cache="400k", detector="rolling-iforest")
    run.start(settings={"state.backend.type": "rocksdb", "execution.checkpointing.incremental": "true"})
    run.wait_for_checkpoints(2)
    replace_killed(cluster, "tm-1")
    cluster.finish(run.job, 240)
    assert run.results() == expected(rows, "rolling-iforest")


def test_write_through_goes_on_as_operator(cluster, expected, tmp_path):
    """The function and the operator have one state."""
    rows = 80_000
    run = Run(cluster, tmp_path, rows, rate=5000, write_through="yes").start()
    run.wait_for_checkpoints(2)
    savepoint = cluster.stop_with_savepoint(run.job)
    Run.__init__(run, cluster, tmp_path, rows)
    run.start(savepoint=savepoint)
    cluster.finish(run.job)
    assert run.results() == expected(rows)


def test_second_job_on_the_same_task_managers(cluster, expected, tmp_path):
    """Each job has a class loader of its own, and loads the native library again."""
    for number in range(2):
        folder = tmp_path / str(number)
        run = Run(cluster, folder, 20_000, rate=100_000).start()
        cluster.finish(run.job)
        assert run.results() == expected(20_000)
        shutil.rmtree(folder)

"""Topic to topic through Flink's operator, in transactions. After kill -9 of a task manager, the committed records must equal the
results of one process, bit for bit.

    tools/test/test_kafka.sh flink
"""

import os
import random
import time
from pathlib import Path

import pytest
from cluster import Cluster
from conftest import TARGET

FLINK = os.environ.get("OIF_FLINK", "build/flink/packages/pyflink")
ENTRY = "oif.kafka.FlinkTopicJob"
RATE = 10_000


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(Path(FLINK).absolute(), tmp_path_factory.mktemp("flink")) as running:
        running.start()
        running.jar = running.upload(TARGET / "oif-kafka-0.1.0-job.jar")
        yield running


def run_with_a_kill(cluster, broker, readings, name, folder, **options):
    """Kills a task manager while rows arrive. Returns the committed results of the job."""
    source, sink, half = f"{name}-readings", f"{name}-results", readings.rows // 2
    broker.create(source, sink)
    arguments = {"broker": broker.address, "input": source, "output": sink, **options}
    job = cluster.run(cluster.jar, ENTRY, [part for key, value in arguments.items() for part in (f"--{key}", value)])
    cluster.wait_for(lambda: cluster.checkpoints(job) >= 1, f"a checkpoint of {cluster.why(job)}")
    began, done = time.monotonic(), cluster.checkpoints(job)
    feeder = broker.begin(folder / "feed.log", "oif.kafka.Topics", "feed", broker.address, source, readings.file, 0, half, RATE)
    try:
        assert broker.read(sink, 1, folder / "begin.csv"), f"no results after {cluster.checkpoints(job)} checkpoints: {cluster.why(job)}"
        time.sleep(random.random())  # at any moment between two checkpoints
        was_fed = feeder.poll() is not None
        cluster.kill("tm-0")
        cluster.start_task_manager("tm-0")
        assert feeder.wait(180) == 0
    finally:
        feeder.kill()
    broker.java("oif.kafka.Topics", "feed", broker.address, source, readings.file, half, readings.rows, RATE)
    broker.read(sink, readings.rows, folder / "first.csv")
    seconds = time.monotonic() - began
    restored, done = cluster.restored(job), cluster.checkpoints(job) - done
    assert restored >= 1
    cluster.stop_with_savepoint(job)  # commits everything
    print(f"\n{name}: {readings.rows} rows in {seconds:.0f} s, {done} checkpoints, {restored} restored,",
          "killed between the halves" if was_fed else "killed while rows arrived")
    return readings.results(broker.read(sink, readings.rows, folder / "all.csv"))


def test_a_killed_task_manager(cluster, broker, readings, tmp_path):
    assert run_with_a_kill(cluster, broker, readings, "scored", tmp_path) == readings.expected


def test_the_control_differs(cluster, broker, readings, tmp_path):
    """Negative control: models that are not part of checkpoints. If a kill changed nothing here, the other test would prove nothing."""
    results = run_with_a_kill(cluster, broker, readings, "control", tmp_path, forgetful="yes")
    differ = sum(results[row] != right for row, right in readings.expected.items())
    print(f"control: {differ} rows differ")
    assert differ > 1000

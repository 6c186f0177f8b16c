"""Topic to topic through Kafka Streams. After kill -9, the committed records must equal the results of one process, bit for bit."""

import time

import pytest


def run(broker, readings, name, folder, kills, *options):
    """Feeds a topic, runs the program with some kills, and returns the committed results."""
    source, sink = f"{name}-readings", f"{name}-results"
    broker.create(source, sink)
    broker.java("oif.kafka.Topics", "feed", broker.address, source, readings.file, 0, readings.rows, 1_000_000)
    arguments = ["oif.kafka.StreamsApp", broker.address, source, sink, folder / "state", *options]
    began = time.monotonic()
    program = broker.begin(folder / "streams.log", *arguments)
    try:
        for kill in range(kills):
            assert broker.read(sink, 1 + kill * readings.rows // 2, folder / "begin.csv"), (folder / "streams.log").read_text()[-3000:]
            program.kill()
            program.wait()
            program = broker.begin(folder / "streams.log", *arguments)
        lines = broker.read(sink, readings.rows, folder / "all.csv", seconds=600)
        assert program.poll() is None, (folder / "streams.log").read_text()[-3000:]
    finally:
        program.kill()
        program.wait()
    seconds = time.monotonic() - began
    print(f"\n{name}: {len(lines)} rows in {seconds:.0f} s, {len(lines) / seconds:.0f} rows/s, {kills} kills")
    return readings.results(lines)


def test_a_task_needs_a_model(broker, tmp_path):
    with pytest.raises(RuntimeError, match="maxModels is 0"):
        broker.java("oif.kafka.StreamsApp", broker.address, "in", "out", tmp_path, 0, seconds=60)


def test_without_a_kill(broker, readings, tmp_path):
    assert run(broker, readings, "quiet", tmp_path, 0) == readings.expected


def test_killed_twice_with_few_models_in_memory(broker, readings, tmp_path):
    """10 models per task for about 15 keys, so many rows load a model from the stores."""
    assert run(broker, readings, "killed", tmp_path, 2, 10) == readings.expected

"""A Kafka broker on this machine (KRaft, no ZooKeeper) from the jars of Maven Central, and operations on its topics."""

import os
import socket
import subprocess
import time
from pathlib import Path

from cluster import free_port

class Broker:
    def __init__(self, jars, folder):
        self.path = f"{Path(jars).absolute()}/*:{Path(jars).absolute().parent}/classes"
        self.folder = Path(folder)
        self.address = f"127.0.0.1:{free_port()}"

    def start(self):
        controller = free_port()
        settings = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listeners": f"PLAINTEXT://{self.address},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://{self.address}",
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAINTEXT",
            "log.dirs": self.folder / "logs",
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 4,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "transaction.state.log.num.partitions": 4,
            "group.initial.rebalance.delay.ms": 0,
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / "broker.properties"
        file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        self.java("kafka.tools.StorageTool", "format", "-t", "b2lmLXRlc3RzLWNsdXN0ZQ", "-c", file)
        log = open(self.folder / "broker.log", "ab")
        self.process = subprocess.Popen(
            ["java", "-Xmx512m", "-XX:+UseSerialGC", "-cp", self.path, "kafka.Kafka", file], stdout=log, stderr=log, start_new_session=True
        )
        self.wait()
        return self

    def wait(self, seconds=90):
        host, port = self.address.split(":")
        deadline = time.monotonic() + seconds
        while True:
            if self.process.poll() is not None:
                raise RuntimeError(f"the broker ended\n{(self.folder / 'broker.log').read_text()[-3000:]}")
            try:
                socket.create_connection((host, int(port)), 1).close()
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise TimeoutError(f"the broker does not answer\n{(self.folder / 'broker.log').read_text()[-3000:]}") from None
                time.sleep(0.2)

    def java(self, entry, *arguments, seconds=300):
        """Runs a class of the jars and waits for its end. Returns its output."""
        done = subprocess.run(
            ["java", "-Xmx512m", "-XX:+UseSerialGC", "-cp", self.path, entry, *map(str, arguments)],
            capture_output=True, text=True, timeout=seconds,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{entry} {arguments} failed\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
        return done.stdout

    def begin(self, log, entry, *arguments):
        """Starts a class of the jars. Returns the process, which the test may kill."""
        file = open(log, "ab")
        return subprocess.Popen(
            ["java", "-Xmx512m", "-XX:+UseSerialGC", "-cp", self.path, entry, *map(str, arguments)],
            stdout=file, stderr=file, start_new_session=True, env={**os.environ, "MALLOC_ARENA_MAX": "2"},
        )

    def create(self, *topics, partitions=4):
        self.java("oif.kafka.Topics", "create", self.address, partitions, *topics)

    def read(self, topic, rows, file, seconds=180):
        """Returns the committed records: at least `rows`, or fewer after `seconds`."""
        self.java("oif.kafka.Topics", "read", self.address, topic, rows, seconds, file, seconds=seconds + 60)
        return [line.split(",") for line in Path(file).read_text().splitlines()]

    def stop(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

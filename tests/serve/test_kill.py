"""kill -9 at any moment, while three writers feed one stream: no row is lost, none counts twice, and every result is right.

Each writer posts numbered batches of random sizes. Whenever the server dies, it is started again, and the writers send again
what was not answered. What the server had processed by then is skipped and has no line. The order in which the server took the
rows is read from its points; `oif score` on the rows in that order must print every line that any writer got. OIF_SERVE_KILLS sets how often it dies (tools/test/long.sh serve-kill: 1,000 times),
OIF_TEST_SEED repeats the rows and the moments. A start takes most of the time of a kill, so many kills are shared by a server
per core, each with its own writers.
"""

import http.client
import json
import os
import random
import re
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from conftest import Server, score

KILLS = int(os.environ.get("OIF_SERVE_KILLS", "20"))
SEED = int(os.environ.get("OIF_TEST_SEED", time.time_ns() % 2**32))
SERVERS = min(os.cpu_count(), 1 + KILLS // 100)
WRITERS = 3
BEGIN = 1_700_000_000
STREAM = "/api/v1/streams/pump"
SETTINGS = {"key": "writer", "time": "at", "alert-rate": 0.02, "num-trees": 8}
OPTIONS = ["--key", "writer", "--time", "at", "--alert-rate", "0.02", "--num-trees", "8"]


def row_of(writer, number):
    """The row of a writer, as a line; its time tells its number."""
    chance = random.Random(f"{SEED} {writer} {number}")
    shift = 40 if number % 97 == 96 else 0
    values = {f"x{i}": round(chance.gauss(10 + i, 1) + shift, 3) for i in range(3)}
    return json.dumps({"at": BEGIN + number, "writer": writer, **values})


class Killer:
    """Ends the server after a moment; sometimes it is asked to end first, so that it dies while it saves."""

    def __init__(self, server, chance):
        self.process = server.process
        self.pause = chance.choice([chance.uniform(0, 0.02), chance.uniform(0, 0.2)])
        self.asks_first = chance.random() < 0.2
        self.after = chance.uniform(0, 0.03)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        time.sleep(self.pause)
        if self.asks_first:
            self.process.send_signal(signal.SIGTERM)
            time.sleep(self.after)
        self.process.send_signal(signal.SIGKILL)

    def join(self):
        self.thread.join()
        self.process.wait()


class Writer:
    def __init__(self, name):
        self.name = name
        self.chance = random.Random(f"{SEED} {name}")
        self.lines = []  # the results, by number; None: the row was skipped
        self.sent = 0  # rows that the server may have
        self.batches = self.repeated = 0
        self.failure = None

    def post(self, server, connection, size):
        at, durable, sent = len(self.lines), self.chance.random() < 0.1, self.sent
        self.sent = max(self.sent, at + size)
        text = "".join(row_of(self.name, at + i) + "\n" for i in range(size))
        path = f"{STREAM}/rows?writer={self.name}&first_row={at}" + ("&durable=true" if durable else "")
        answer = server.post(path, text, headers={"Content-Type": "application/x-ndjson"}, connection=connection)
        assert answer.status == 200, answer.text
        assert int(answer.headers["Oif-Writer-Rows"]) >= at + size
        skipped, accepted = (int(answer.headers[name]) for name in ("Oif-Skipped", "Oif-Accepted"))
        assert skipped <= max(0, sent - at) and skipped + accepted == size
        assert not durable or int(answer.headers["Oif-Saved"]) >= accepted
        lines = answer.text.splitlines()
        assert len(lines) == accepted
        self.lines += [None] * skipped + lines
        self.batches += 1
        self.repeated += skipped

    def run(self, server):
        """Posts until the server dies."""
        try:
            connection = server.connect()
            while True:
                self.post(server, connection, self.chance.choice([1, 3, 20, 100]))
        except (http.client.HTTPException, OSError):
            pass
        except BaseException as failure:
            self.failure = failure


def position(server, writer):
    """How many rows of the writer were processed: the answer to rows far ahead of them."""
    answer = server.post(f"{STREAM}/rows?writer={writer}&first_row={2**62}", row_of(writer, 0), headers={"Content-Type": "application/x-ndjson"})
    assert answer.status == 409, answer.text
    return answer.json["writer_rows"]


def follow_order(server, writers, order):
    """Adds the rows that the server has taken since the last time: {number in the stream: (writer, number)}."""
    stream = server.get(STREAM).json
    assert stream["error"] is None, stream
    positions = {writer.name: position(server, writer.name) for writer in writers}
    assert stream["rows"] == sum(positions.values()), (stream["rows"], positions)
    known = dict.fromkeys((writer.name for writer in writers), 0)
    for name, _ in order.values():
        known[name] += 1
    for writer in writers:
        taken = positions[writer.name]
        assert len(writer.lines) <= taken <= writer.sent, (len(writer.lines), taken, writer.sent)
        if taken == known[writer.name]:
            continue
        points = server.get(f"{STREAM}/points?key={writer.name}&limit={taken - known[writer.name]}").json
        numbers = [round(at) - BEGIN for at in points["times"]]
        assert numbers == list(range(known[writer.name], taken))
        for row, number in zip(points["rows"], numbers):
            assert row not in order
            order[row] = (writer.name, number)
    assert len(order) == stream["rows"]


def run_until_killed(server, writers, chance):
    killer = Killer(server, chance)
    threads = [threading.Thread(target=writer.run, args=(server,)) for writer in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    killer.join()
    for writer in writers:
        if writer.failure:
            raise writer.failure


class Progress:
    """Says how far it is: every 100 kills, on a terminal every minute."""

    def __init__(self):
        self.lock = threading.Lock()
        self.kills = 0
        self.began = self.said = time.monotonic()
        self.failed = False

    def add(self):
        with self.lock:
            self.kills += 1
            now = time.monotonic()
            if now - self.said > 60 if sys.stderr.isatty() else self.kills % 100 == 0:
                self.said = now
                print(f"{self.kills} of {KILLS} kills, {now - self.began:.0f} s", file=sys.stderr, flush=True)


def kill_often(folder, part, progress):
    """The part of one server: returns what the writers sent and the order of the rows."""
    chance = random.Random(f"{SEED} {part}")
    data = ["--data", str(folder / f"data{part}")]
    server = Server(*data)
    writers = [Writer(f"w{number}") for number in range(WRITERS)]
    order = {}
    assert server.put(STREAM, SETTINGS).status == 201
    server.stop()
    for _ in range(part, KILLS, SERVERS):
        server.options = [*data, "--save-every", chance.choice(["0", "0.02", "1"])]
        try:
            server.start()
        except (RuntimeError, http.client.HTTPException, OSError) as failure:
            raise AssertionError(f"seed {SEED}: it does not start again: {server.log}") from failure
        follow_order(server, writers, order)
        run_until_killed(server, writers, chance)
        progress.add()
        if progress.failed:
            return writers, order
    server.start()
    for writer in writers:
        writer.post(server, None, max(1, writer.sent - len(writer.lines)))
    follow_order(server, writers, order)
    check_results(order, writers)
    check_history(server, order)
    return writers, order


def test_no_row_is_lost_and_none_counts_twice(tmp_path):
    print("seed", SEED)
    progress = Progress()

    def run(part):
        try:
            return kill_often(tmp_path, part, progress)
        except BaseException:
            progress.failed = True  # the others need not go on
            raise

    with ThreadPoolExecutor(SERVERS) as pool:
        parts = list(pool.map(run, range(SERVERS)))
    writers = [writer for some, _ in parts for writer in some]
    rows = sum(len(order) for _, order in parts)
    lost = sum(len(writer.lines) for writer in writers) - rows
    doubled = rows - sum(len(set(order.values())) for _, order in parts)
    batches, repeated = (sum(getattr(writer, name) for writer in writers) for name in ("batches", "repeated"))
    print(f"{progress.kills} kills, {batches} batches, {rows} rows, {repeated} of them sent again, {lost} lost, {doubled} doubled")
    assert (progress.kills, lost, doubled) == (KILLS, 0, 0)


def check_results(order, writers):
    """Every line that was delivered is that of an undisturbed run, and only skipped rows have none."""
    lines = {writer.name: writer.lines for writer in writers}
    expected = score("".join(row_of(*order[row]) + "\n" for row in range(len(order))), *OPTIONS).splitlines()
    assert len(order) == sum(len(one) for one in lines.values())
    for row, line in enumerate(expected):
        name, number = order[row]
        assert lines[name][number] in (line, None), (row, name, number)
    assert sum(one.count(None) for one in lines.values()) == sum(writer.repeated for writer in writers)


def check_history(server, order):
    """What the page shows, rebuilt again and again, is what an undisturbed server has."""
    assert server.stop() == 0
    calm = Server()
    calm.put(STREAM, SETTINGS)
    calm.post(STREAM + "/rows?answer=count", "".join(row_of(*order[row]) + "\n" for row in range(len(order))))
    server.start()
    for path in ("/episodes?limit=1000", "/alerts?limit=1000", "/points?key=w1&limit=200"):
        # Where an incident begins depends on the batches, which the calm server got as one; the oldest of many are forgotten.
        got, expected = (re.sub(r'"incident":(\d+|null),', "", one.get(STREAM + path).text).split("},{") for one in (server, calm))
        assert [pair for pair in zip(got, expected) if pair[0] != pair[1]] == [] and len(got) == len(expected), path
    assert calm.stop() == server.stop() == 0

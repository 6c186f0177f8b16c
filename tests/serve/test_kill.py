"""kill -9 at any moment: what was saved is never lost, nothing is scored twice, results are those of an undisturbed run.

A client posts numbered batches of random sizes and, whenever the server dies, starts it again, asks how far it is and goes
on from there. OIF_SERVE_KILLS sets how often it dies (make test-serve-kill: 1,000 times), OIF_TEST_SEED repeats a run.
"""

import http.client
import json
import os
import random
import signal
import threading
import time

from conftest import Server, make_rows, score, to_ndjson

KILLS = int(os.environ.get("OIF_SERVE_KILLS", "20"))
SEED = int(os.environ.get("OIF_TEST_SEED", time.time_ns() % 2**32))
ROWS_PER_KILL = 300
STREAM = "/api/v1/streams/pump"
SETTINGS = {"key": "host", "time": "at", "alert-rate": 0.02, "num-trees": 8}
OPTIONS = ["--key", "host", "--time", "at", "--alert-rate", "0.02", "--num-trees", "8"]


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


class Client:
    def __init__(self, rows, expected):
        self.rows, self.expected = rows, expected
        self.saved = 0  # the most that the server has said to be on disk
        self.sent = 0  # the most that it may have seen
        self.answered = 0

    def resume(self, server):
        """Where to go on: at least what was saved, at most what was sent."""
        stream = server.get(STREAM).json
        assert stream["error"] is None, stream
        assert self.saved <= stream["rows"] <= self.sent, (self.saved, stream["rows"], self.sent)
        return stream["rows"]

    def post(self, server, connection, at, size, durable):
        part = self.rows[at : at + size]
        self.sent = max(self.sent, at + len(part))
        path = f"{STREAM}/rows?first_row={at}" + ("&durable=true" if durable else "")
        answer = server.post(path, to_ndjson(part), headers={"Content-Type": "application/x-ndjson"}, connection=connection)
        assert answer.status == 200, answer.text
        assert int(answer.headers["Oif-Rows"]) == at + len(part) and answer.headers["Oif-Skipped"] == "0"
        assert answer.text == "".join(self.expected[at : at + size])
        saved = int(answer.headers["Oif-Saved"])
        assert not durable or saved == at + len(part)
        self.saved = max(self.saved, saved)
        self.answered += len(part)
        return at + len(part)


def run_until_killed(server, client, chance):
    """Returns whether it was killed, rather than that all rows were answered."""
    killer = Killer(server, chance)
    try:
        at = client.resume(server)
        connection = server.connect()
        while at < len(client.rows):
            at = client.post(server, connection, at, chance.choice([1, 7, 100, 400]), chance.random() < 0.1)
            if chance.random() < 0.1:
                client.saved = max(client.saved, server.get(STREAM, connection=connection).json["saved"])
    except (http.client.HTTPException, OSError, json.JSONDecodeError):
        pass
    killer.join()


def test_nothing_saved_is_lost_and_nothing_is_scored_twice(tmp_path):
    print("seed", SEED)
    chance = random.Random(SEED)
    rows = [{"at": 1_700_000_000 + number, **row} for number, row in enumerate(make_rows(ROWS_PER_KILL * KILLS, seed=SEED, keys=4))]
    expected = score(to_ndjson(rows), *OPTIONS).splitlines(keepends=True)
    client = Client(rows, expected)
    data = ["--data", str(tmp_path / "data")]
    server = Server(*data)
    assert server.put(STREAM, SETTINGS).status == 201
    server.stop()
    for _ in range(KILLS):
        server.options = [*data, "--save-every", chance.choice(["0", "0.02", "1"])]
        try:
            server.start()
        except (RuntimeError, http.client.HTTPException, OSError) as failure:
            raise AssertionError(f"seed {SEED}: it does not start again: {server.log}") from failure
        run_until_killed(server, client, chance)

    server.start()
    at = client.resume(server)
    while at < len(rows):
        at = client.post(server, None, at, 1000, False)
    assert server.get(STREAM).json["rows"] == len(rows)
    # What the page shows of the last rows, rebuilt again and again, is what an undisturbed run has.
    points = server.get(STREAM + "/points?key=h1&limit=200").json
    scores = {number: json.loads(expected[number])["oif"]["score"] for number in points["rows"]}
    assert points["scores"] == [scores[number] for number in points["rows"]] and len(scores) == min(200, len(rows) // 4)
    assert server.stop() == 0
    calm = Server()
    calm.put(STREAM, SETTINGS)
    calm.post(STREAM + "/rows", to_ndjson(rows))
    server.start()
    for path in ("/episodes?limit=1000", "/alerts?limit=1000"):
        got, expected = (one.get(STREAM + path).text.split("}, {") for one in (server, calm))
        assert [pair for pair in zip(got, expected) if pair[0] != pair[1]] == [] and len(got) == len(expected), path
    assert calm.stop() == server.stop() == 0
    print(f"{KILLS} kills, {client.answered} answers for {len(rows)} rows")

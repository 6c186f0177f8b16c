"""Rows of a small fleet: load and temp of some hosts, of which one may be bad for a while."""

import json
import re
import time

import pytest

STREAM = "/api/v1/streams/fleet"
SETTINGS = {"key": "host", "time": "time", "silence": -1}
LEARNED = 600  # rows per host after which a bad row is an alert


WAVE = 64  # rows


def regular(row, host):
    """Load and temp of a healthy host: the same rows again and again, so only a fault is an alert, however strict the judges are. The
    load rises and falls slowly enough that some bad rows hardly change its mean, so an episode ends soon after the last of them."""
    at = row + 3 * host
    wave, step = 4 * abs(at % WAVE / WAVE - 0.5) - 1, 3 * at % 7 / 3 - 1
    return 1 + 0.07 * wave + 0.03 * step, 19 + 2 * (at + host) % 5 / 2


class Fleet:
    """Each call of rows() goes on where the one before ended; the latest times are those of now."""

    def __init__(self, hosts=("web-1", "web-2"), first=None, step=1.0):
        self.hosts = hosts
        self.number = 0
        self.step = step
        self.time = first if first is not None else time.time() - (LEARNED + 60) * step

    def rows(self, count, bad=()):
        made = []
        for _ in range(count):
            self.time += self.step
            self.number += 1
            for i, host in enumerate(self.hosts):
                load, temp = regular(self.number, i)
                load += 60 if host in bad else 0
                made.append({"time": round(self.time, 3), "host": host, "load": round(load, 4), "temp": temp})
        return made


def text_of(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def post(server, rows, stream=STREAM):
    answer = server.post(f"{stream}/rows?answer=count", text_of(rows), headers={"Content-Type": "application/x-ndjson"})
    assert answer.status == 200, answer.text
    return answer.json


def recover(server, fleet, stream=STREAM, rows=20):
    """Posts healthy rows until no episode is open. Sixteen end one, once nothing reminds of the fault."""
    for _ in range(10):
        post(server, fleet.rows(rows), stream)
        if not server.get(f"{stream}/episodes?open=true").json["episodes"]:
            return
    pytest.fail(f"an episode has not ended after {10 * rows} healthy rows")


def raise_load(server, fleet, host, is_seen, stream=STREAM):
    """Raises the load of a host little by little until is_seen() is true, which it returns, with the load."""
    for step in range(500):
        load = 1.1 + 0.004 * step
        post(server, [{**row, "load": load if row["host"] == host else row["load"]} for row in fleet.rows(1)], stream)
        if seen := is_seen():
            return seen, load
    pytest.fail(f"a load of {load} is not seen; usual is 0.9 to 1.1")


def is_high_load(reason):
    """Whether a person who reads the reason looks at the load, and knows that it is high."""
    return re.match(r"load .*\b(up|above|high)\b", reason) is not None


def start_fleet(server, fleet, settings=SETTINGS):
    """Makes the stream and lets it learn."""
    assert server.put(STREAM, settings).status == 201
    post(server, fleet.rows(LEARNED))


def metrics_of(server):
    """{'oif_rows_total{stream="a"}': 3.0}"""
    lines = [line for line in server.get("/metrics").text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}

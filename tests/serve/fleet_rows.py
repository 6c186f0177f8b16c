"""Rows of a small fleet: load and temp of some hosts, of which one may be bad for a while."""

import json
import random
import time

STREAM = "/api/v1/streams/fleet"
SETTINGS = {"key": "host", "time": "time", "silence": -1}
LEARNED = 600  # rows per host after which a bad row is an alert


class Fleet:
    """Each call of rows() goes on where the one before ended; the latest times are those of now."""

    def __init__(self, hosts=("web-1", "web-2"), first=None, step=1.0):
        self.hosts = hosts
        self.chance = random.Random(7)
        self.step = step
        self.time = first if first is not None else time.time() - (LEARNED + 60) * step

    def rows(self, count, bad=()):
        made = []
        for _ in range(count):
            self.time += self.step
            for host in self.hosts:
                load = self.chance.uniform(0.9, 1.1) + (60 if host in bad else 0)
                made.append({"time": round(self.time, 3), "host": host, "load": round(load, 4), "temp": round(self.chance.uniform(19, 21), 3)})
        return made


def text_of(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def post(server, rows, stream=STREAM):
    answer = server.post(f"{stream}/rows?answer=count", text_of(rows), headers={"Content-Type": "application/x-ndjson"})
    assert answer.status == 200, answer.text
    return answer.json


def start_fleet(server, fleet, settings=SETTINGS):
    """Makes the stream and lets it learn."""
    assert server.put(STREAM, settings).status == 201
    post(server, fleet.rows(LEARNED))


def metrics_of(server):
    """{'oif_rows_total{stream="a"}': 3.0}"""
    lines = [line for line in server.get("/metrics").text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}

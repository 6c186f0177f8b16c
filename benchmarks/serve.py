#!/usr/bin/env python3
"""`oif serve` beside `oif score`, in one run: batches by processor time, single rows by latency, what agents send.

    benchmarks/serve.py OIF [--rows N] [--keys N] [--repeat N] [--no-check]

- Batches of 1,000 rows of 10 numbers are posted on one connection and their results read, with a data folder. Their rows per
  second of the server's processor time are compared with those of `oif score` on the same rows: at least 85%.
- Single rows are posted on kept connections, in turns with GET /healthz, which is an empty answer of libmicrohttpd: the 99th
  percentile of the rows is at most 3 times that of the empty answers. The same while a snapshot of 10,000 keys is written,
  and the rows are of these keys. The median of the empty answers is printed, too.
- The same rows as Influx lines and as Prometheus remote write, answered with their number: at least 60% of NDJSON's rows per
  second of processor time.

Each figure is the median of the repeats. The client is this process. It fails if a bar is missed.
"""

import argparse
import http.client
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests/serve"))
from agent_messages import series, snappy  # noqa: E402

BATCH_ROWS, COLUMNS, CONNECTIONS = 1000, 10, 8
SHARE_BAR, LATENCY_BAR, AGENT_BAR = 0.85, 3, 0.6
NDJSON = {"Content-Type": "application/x-ndjson"}
INFLUX = {"Content-Type": "text/plain"}
REMOTE_WRITE = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy"}


def make_rows(count):
    chance = random.Random(1)
    return [json.dumps({f"c{i}": round(chance.gauss(50, 10), 3) for i in range(COLUMNS)}) + "\n" for _ in range(count)]


def processor_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, program, folder):
        self.process = subprocess.Popen([program, "serve", "--listen", "127.0.0.1:0", "--data", folder], stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        self.port = int(re.search(r":(\d+)$", line)[1])
        until = time.monotonic() + 60
        while self.ask(self.connect(), "GET", "/readyz")[0] != 200:
            assert time.monotonic() < until, "oif serve is not ready after 60 s"
            time.sleep(0.01)

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    @staticmethod
    def ask(connection, method, path, body=None, headers={}):
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def stop(self):
        self.process.terminate()
        self.process.communicate()


def score_rate(program, rows):
    """Rows per second of processor time of `oif score`, with the reasons that serve finds by default."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = "".join(rows).encode()
    done = subprocess.run([program, "score", "--fields", "score,p,anomaly,why", "-"], input=text, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return len(rows) / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime), done.stdout


def batch_rate(program, rows, expected):
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, folder)
        connection = server.connect()
        server.ask(connection, "PUT", "/api/v1/streams/bench", "{}")
        batches = ["".join(rows[i : i + BATCH_ROWS]).encode() for i in range(0, len(rows), BATCH_ROWS)]
        before = processor_seconds(server.process.pid)
        results = [server.ask(connection, "POST", "/api/v1/streams/bench/rows", batch, NDJSON)[1] for batch in batches]
        rate = len(rows) / (processor_seconds(server.process.pid) - before)
        server.stop()
    assert b"".join(results) == expected, "the results are not those of oif score"
    return rate


def latencies(program, rows):
    """Seconds of each empty answer and of each single row, taken in turns on kept connections."""
    empty, single = [], []
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, folder)
        connections = [server.connect() for _ in range(CONNECTIONS)]
        server.ask(connections[0], "PUT", "/api/v1/streams/bench", "{}")
        for i, row in enumerate(rows):
            connection = connections[i % CONNECTIONS]
            began = time.perf_counter()
            server.ask(connection, "GET", "/healthz")
            between = time.perf_counter()
            server.ask(connection, "POST", "/api/v1/streams/bench/rows", row.encode(), NDJSON)
            if i >= len(rows) // 5:  # after the first rows, with which models and caches are made
                empty.append(between - began)
                single.append(time.perf_counter() - between)
        server.stop()
    return empty, single


def percentiles(empty, single):
    """The median and the 99th percentile of empty answers, the same of single rows, and the ratio of the latter."""
    empty, single = sorted(empty), sorted(single)
    figures = [times[len(times) * share // 100] for times in (empty, single) for share in (50, 99)]
    return *figures, figures[3] / figures[1]


def tell_latency(what, empty, single):
    empty_median, empty_worst, median, worst, ratio = percentiles(empty, single)
    print(
        f"{what}: p50 {median * 1e6:5.0f} us, p99 {worst * 1e6:5.0f} us; empty answer p50 {empty_median * 1e6:5.0f} us, "
        f"p99 {empty_worst * 1e6:5.0f} us; p99/p99 {ratio:.1f}, p99/p50 {worst / empty_median:.1f}",
        flush=True,
    )
    return ratio


# ---- While a snapshot is written ----

NOTE_BYTES = 2000  # a text that is not learned: it makes the journal long
JOURNAL_BYTES = 64 << 20  # of a journal, from which on a snapshot is due (serve/stream/stream_keep.c)


def keyed_row(key, number, chance, note=0):
    values = {f"c{i}": round(chance.gauss(50, 10), 3) for i in range(3)}
    return json.dumps({"host": f"h{key}", "note": "x" * note, **values, "time": 1.7e9 + 10 * number}) + "\n"


def saves(server, connection):
    text = server.ask(connection, "GET", "/metrics")[1].decode()
    names = ("saves_total", "last_save_seconds", "journal_bytes")
    return [float(re.search(rf'^oif_{name}{{stream="bench"}} (\S+)', text, re.M)[1]) for name in names]


def post_rows(server, connection, rows):
    for at in range(0, len(rows), BATCH_ROWS):
        body = "".join(rows[at : at + BATCH_ROWS]).encode()
        status, text = server.ask(connection, "POST", "/api/v1/streams/bench/rows?answer=count", body, NDJSON)
        assert status == 200, text


def latencies_while_saving(program, keys):
    """As latencies(), of the time in which the snapshot of all keys was written."""
    chance, samples, number = random.Random(2), [], 5
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, folder)
        connections = [server.connect() for _ in range(CONNECTIONS)]
        server.ask(connections[0], "PUT", "/api/v1/streams/bench", '{"key": "host", "time": "time"}', {"Content-Type": "application/json"})
        for turn in range(number):
            post_rows(server, connections[0], [keyed_row(key, turn, chance) for key in range(keys)])
        before, _, journal = saves(server, connections[0])
        while journal <= JOURNAL_BYTES:
            post_rows(server, connections[0], [keyed_row(key, number, chance, NOTE_BYTES) for key in range(BATCH_ROWS)])
            journal = saves(server, connections[0])[2]
            number += 1
        done, until = before, time.perf_counter() + 120
        while done == before and time.perf_counter() < until:
            for i in range(50):
                connection = connections[i % CONNECTIONS]
                row = keyed_row(chance.randrange(keys), number + len(samples) // keys, chance).encode()
                began = time.perf_counter()
                server.ask(connection, "GET", "/healthz")
                between = time.perf_counter()
                server.ask(connection, "POST", "/api/v1/streams/bench/rows", row, NDJSON)
                samples.append((began, between - began, time.perf_counter() - between))
            done, seconds, _ = saves(server, connections[0])
        ended = time.perf_counter()
        server.stop()
    assert done > before, "no snapshot was written"
    during = [one for one in samples if one[0] >= ended - seconds]
    print(f"snapshot of {keys:,} keys: {seconds:.2f} s, {len(during):,} rows meanwhile")
    return [one[1] for one in during], [one[2] for one in during]


# ---- What agents send ----

AGENT_ROWS, INSTANCES = 200, 100  # of a request: 2,000 samples, as Prometheus sends


def agent_rows(count):
    chance = random.Random(3)
    values = [[round(chance.gauss(50, 10), 3) for _ in range(COLUMNS)] for _ in range(count)]
    return [(f"i{n % INSTANCES}", 1_700_000_000 + 10 * (n // INSTANCES), values[n]) for n in range(count)]


def as_ndjson(rows):
    columns = [f"c{i}" for i in range(COLUMNS)]
    lines = (json.dumps({"instance": key, "time": at, **dict(zip(columns, values))}) for key, at, values in rows)
    return "".join(line + "\n" for line in lines).encode()


def as_influx(rows):
    fields = (",".join(f"c{i}={v}" for i, v in enumerate(values)) for _, _, values in rows)
    return "".join(f"m,instance={row[0]} {text} {row[1]}000000000\n" for row, text in zip(rows, fields)).encode()


def as_remote_write(rows):
    made = b"".join(series(f"c{i}", {"instance": key}, [(v, at)]) for key, at, values in rows for i, v in enumerate(values))
    return snappy(made)


AGENTS = {
    "NDJSON": (as_ndjson, "/api/v1/streams/bench/rows?answer=count", NDJSON),
    "Influx lines": (as_influx, "/write?db=bench", INFLUX),
    "remote write": (as_remote_write, "/api/v1/streams/bench/write", REMOTE_WRITE),
}


def agent_rate(program, rows, name):
    write, path, headers = AGENTS[name]
    settings = {"key": "instance", "row-wait": 0, **({"time": "time"} if name == "NDJSON" else {})}
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, folder)
        connection = server.connect()
        status, text = server.ask(connection, "PUT", "/api/v1/streams/bench", json.dumps(settings), {"Content-Type": "application/json"})
        assert status == 201, text
        bodies = [write(rows[i : i + AGENT_ROWS]) for i in range(0, len(rows), AGENT_ROWS)]
        before = processor_seconds(server.process.pid)
        for body in bodies:
            status, text = server.ask(connection, "POST", path, body, headers)
            assert status in (200, 204), text
        spent = processor_seconds(server.process.pid) - before
        known = json.loads(server.ask(connection, "GET", "/api/v1/streams/bench")[1])
        assert known["rows"] == len(rows), f"{name}: {known['rows']} rows, not {len(rows)}"
        server.stop()
    return len(rows) / spent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--no-check", action="store_true")
    asked = parser.parse_args()
    rows = make_rows(asked.rows)

    shares = []
    for _ in range(asked.repeat):
        plain, expected = score_rate(asked.program, rows)
        served = batch_rate(asked.program, rows, expected)
        shares.append(served / plain)
        print(f"batches of {BATCH_ROWS}: {served:9,.0f} rows per second of processor time; oif score {plain:9,.0f}; {shares[-1]:.0%}")
    quiet, saving, agents = [], [], {name: [] for name in AGENTS}
    for _ in range(asked.repeat):
        quiet.append(tell_latency("single rows", *latencies(asked.program, rows[: max(1000, asked.rows // 10)])))
        saving.append(tell_latency("while a snapshot is written", *latencies_while_saving(asked.program, asked.keys)))
        sent = agent_rows(asked.rows // 5)
        rates = {name: agent_rate(asked.program, sent, name) for name in AGENTS}
        for name, rate in rates.items():
            agents[name].append(rate / rates["NDJSON"])
            print(f"{name}: {rate:9,.0f} rows per second of processor time; {agents[name][-1]:.0%} of NDJSON", flush=True)
    is_good = True
    for what, values, bar in [
        ("share of oif score", shares, SHARE_BAR),
        *((f"share of NDJSON: {name}", agents[name], AGENT_BAR) for name in list(AGENTS)[1:]),
        ("latency of single rows", quiet, -LATENCY_BAR),
        ("the same while a snapshot is written", saving, -LATENCY_BAR),
    ]:
        value = sorted(values)[len(values) // 2]
        is_met = value >= bar if bar > 0 else value <= -bar
        is_good &= is_met
        print(f"{what}: {value:.2f} (at {'least' if bar > 0 else 'most'} {abs(bar)}){'' if is_met else ': MISSED'}")
    sys.exit(not asked.no_check and not is_good)


if __name__ == "__main__":
    main()

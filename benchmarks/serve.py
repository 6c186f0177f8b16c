#!/usr/bin/env python3
"""`oif serve` beside `oif score`, in one run: batches of NDJSON by processor time, single rows by latency.

    benchmarks/serve.py OIF [--rows N] [--repeat N] [--no-check]

Batches of 1,000 rows of 10 numbers are posted on one connection and their results read, with a data folder; the rows per
second of the server's processor time are compared with those of `oif score` on the same rows: the bar is 60%. Single rows
are posted on kept connections; their 99th percentile is compared with the median of /healthz, which is an empty answer of
libmicrohttpd: the bar is 5 times. The client is this process. It fails if a bar is missed.
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

BATCH_ROWS, COLUMNS, CONNECTIONS = 1000, 10, 8
SHARE_BAR, LATENCY_BAR = 0.6, 5
NDJSON = {"Content-Type": "application/x-ndjson"}


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
        while self.ask(self.connect(), "GET", "/readyz")[0] != 200:
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
    done = subprocess.run([program, "score", "--explain", "3", "-"], input=text, capture_output=True, check=True)
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
    return sorted(empty), sorted(single)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--rows", type=int, default=100_000)
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
    ratios = []
    for _ in range(asked.repeat):
        empty, single = latencies(asked.program, rows[: max(1000, asked.rows // 10)])
        median, worst = empty[len(empty) // 2], single[len(single) * 99 // 100]
        ratios.append(worst / median)
        print(
            f"single rows: p50 {single[len(single) // 2] * 1e6:5.0f} us, p99 {worst * 1e6:5.0f} us; "
            f"empty answer p50 {median * 1e6:5.0f} us, p99 {empty[len(empty) * 99 // 100] * 1e6:5.0f} us; p99/p50 {ratios[-1]:.1f}"
        )
    share, ratio = sorted(shares)[len(shares) // 2], sorted(ratios)[len(ratios) // 2]
    print(f"share {share:.0%} (bar {SHARE_BAR:.0%}), latency {ratio:.1f} (bar {LATENCY_BAR})")
    sys.exit(not asked.no_check and not (share >= SHARE_BAR and ratio <= LATENCY_BAR))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Starts `oif serve` and streams six pumps into it, as `tools/demo/run.sh serve` does.

    tools/demo/demo_serve.py OIF [--listen HOST:PORT] [--seconds N]

OIF is the program. The pumps are those of `oif demo`, one reading per second, with faults that last some
seconds: an hour of history first, then live until Ctrl-C or for N seconds. Nothing is kept afterwards.
"""

import argparse
import csv
import http.client
import io
import json
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PUMPS = [f"pump-{number}" for number in range(1, 7)]
COLUMNS = ["time", "pump", "flow", "pressure", "temperature"]
HISTORY_SECONDS = 3600
DAY_SECONDS = 1200  # the wave of a day, in less time
SETTINGS = {"key": "pump", "time": "time"}
# Where the readings lie when something is wrong: flow in l/s, pressure in bar, degrees Celsius.
FAULTS = {
    "leak": ((55, 80), (0.2, 1.5), (35, 60)),
    "blockage": ((10, 30), (7, 9), (50, 70)),
    "overheating": ((8, 40), (2.5, 5.5), (80, 100)),
}


class Pump:
    """Running or in standby, so its readings form two clusters; both follow the time of the day."""

    def __init__(self, name, seed):
        self.name = name
        self.random = random.Random(seed)
        self.is_running = True
        self.fault = None
        self.fault_rows = 0

    def break_down(self, rows):
        self.fault = self.random.choice(list(FAULTS))
        self.fault_rows = rows

    def read(self, at):
        noise = self.random.gauss
        if self.fault_rows:
            self.fault_rows -= 1
            values = [self.random.uniform(*span) for span in FAULTS[self.fault]]
        else:
            if self.random.random() < 1 / 120:
                self.is_running = not self.is_running
            phase = at % DAY_SECONDS / DAY_SECONDS
            wave = -16 * phase * (0.5 - phase) if phase < 0.5 else 16 * (phase - 0.5) * (1 - phase)
            flow, pressure, temperature = (40 + 2 * wave, 5.2, 58) if self.is_running else (8, 2.5, 34)
            values = [flow + noise(0, 1.5), pressure + noise(0, 0.15), temperature + 2 * wave + noise(0, 1.5)]
        return [f"{at:.0f}", self.name, *(f"{value:.2f}" for value in values)]


def history(pumps, end):
    """The rows of the hour before `end`, in batches of a minute's rows."""
    chance = random.Random(11)
    for minute in range(HISTORY_SECONDS // 60):
        rows = []
        for second in range(60):
            at = end - HISTORY_SECONDS + 60 * minute + second
            for pump in pumps:
                # The first rows are only learned from.
                if minute > 10 and chance.random() < 1 / 2400:
                    pump.break_down(chance.randint(5, 20))
                rows.append(pump.read(at))
        yield rows


class Client:
    def __init__(self, address):
        self.connection = http.client.HTTPConnection(address, timeout=30)

    def ask(self, method, path, body, content_type):
        self.connection.request(method, path, body, {"Content-Type": content_type})
        answer = self.connection.getresponse()
        text = answer.read().decode()
        if answer.status >= 300:
            raise SystemExit(f"demo_serve.py: {method} {path}: {answer.status} {text}")

    def create(self, name, settings):
        self.ask("PUT", f"/api/v1/streams/{name}", json.dumps(settings), "application/json")

    def post(self, name, rows):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([COLUMNS, *rows])
        self.ask("POST", f"/api/v1/streams/{name}/rows?answer=count", text.getvalue().encode(), "text/csv")


def check_port(address):
    """Another server at this address would get the rows of the demo."""
    host, _, port = address.rpartition(":")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except OSError as error:
            raise SystemExit(f"demo_serve.py: {address}: {error.strerror}; choose another port: "
                             'tools/demo/run.sh serve --listen 127.0.0.1:8572') from None


def wait_until_ready(server, address):
    while server.poll() is None:
        try:
            connection = http.client.HTTPConnection(address, timeout=5)
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(0.05)
    raise SystemExit(server.returncode)


def stream_live(client, pumps, seconds):
    """One reading per second. The first fault comes soon, so the reader sees it come."""
    chance = random.Random()
    began = time.time()
    next_fault = began + 10
    second = 0
    while not seconds or second < seconds:
        now = time.time()
        if now >= next_fault:
            chance.choice(pumps).break_down(chance.randint(8, 25))
            next_fault = now + chance.uniform(25, 60)
        client.post("pumps", [pump.read(now) for pump in pumps])
        second += 1
        time.sleep(max(0, began + second - time.time()))


def run(server, address, seconds):
    wait_until_ready(server, address)
    client = Client(address)
    client.create("pumps", SETTINGS)
    pumps = [Pump(name, seed) for seed, name in enumerate(PUMPS)]
    for rows in history(pumps, int(time.time())):
        client.post("pumps", rows)
    print(f"\n    http://{address}/\n\nSix pumps, one reading per second each; a fault within ten seconds. "
          "Ctrl-C ends it.", flush=True)
    stream_live(client, pumps, seconds)


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("oif")
    parser.add_argument("--listen", default="127.0.0.1:8571", metavar="HOST:PORT")
    parser.add_argument("--seconds", type=int, default=0, metavar="N")
    options = parser.parse_args()

    check_port(options.listen)
    signal.signal(signal.SIGTERM, interrupt)
    folder = tempfile.mkdtemp(prefix="oif-demo-")
    # A session of its own: Ctrl-C reaches this program, which then ends the server.
    server = subprocess.Popen([options.oif, "serve", "--listen", options.listen, "--data", folder],
                              start_new_session=True)
    try:
        run(server, options.listen, options.seconds)
    except KeyboardInterrupt:
        print("\nending")
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())

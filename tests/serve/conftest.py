"""A real `oif serve` for each test that asks for one: on loopback, on a free port, ended with the test."""

import atexit
import http.client
import json
import os
import random
import re
import signal
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
OIF = os.environ.get("OIF", str(CHECKOUT / "build" / "release-gcc" / "oif"))
IS_SANITIZED = b"__asan_init" in Path(OIF).read_bytes()  # then freed memory is held for a while
SECONDS = 300  # nothing that a test waits for takes longer, even with a sanitizer on a busy machine


class Answer:
    """Status, headers and body of an answer."""

    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json["error"]


class Server:
    """A running server. What it prints is in `log`, a list of lines."""

    def __init__(self, *options, env=None):
        self.options = list(options)
        self.env = env
        self.process = None
        self.start()

    def start(self):
        options = self.options if "--listen" in self.options else ["--listen", "127.0.0.1:0", *self.options]
        self.log = []
        self.process = subprocess.Popen(
            [OIF, "serve", *options], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env={**os.environ, **(self.env or {})}
        )
        atexit.register(self.process.kill)  # whatever becomes of the test; it does nothing to a process that has ended
        bound = threading.Timer(SECONDS, self.process.kill)
        bound.daemon = True
        bound.start()
        for line in self.process.stderr:
            self.log.append(line.decode().rstrip("\n"))
            found = re.match(r"oif: listening on (https?)://(.*):(\d+)$", self.log[-1])
            if found:
                break
        else:
            raise RuntimeError(f"oif serve ended with {self.process.wait()}: {self.log}")
        bound.cancel()
        self.scheme, self.host, self.port = found[1], found[2].strip("[]"), int(found[3])
        self.reader = threading.Thread(target=self._read_log, args=(self.process.stderr,), daemon=True)
        self.reader.start()
        try:
            self.wait_until_ready()
        except BaseException:
            self.kill()
            raise

    def _read_log(self, stream):
        for line in stream:
            self.log.append(line.decode(errors="replace").rstrip("\n"))

    @property
    def address(self):
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    def connect(self):
        if self.scheme == "https":
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            return http.client.HTTPSConnection(self.host, self.port, timeout=SECONDS, context=context)
        return http.client.HTTPConnection(self.host, self.port, timeout=SECONDS)

    def socket(self):
        """A bare connection, for what a well-behaved client would not send."""
        return socket.create_connection((self.host, self.port), timeout=SECONDS)

    def ask(self, method, path, body=None, headers=None, connection=None):
        used = connection or self.connect()
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers = {"Content-Type": "application/json", **(headers or {})}
        used.request(method, path, body=body, headers=headers or {})
        answer = Answer(used.getresponse())
        if not connection:
            used.close()
        return answer

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def post(self, path, body=b"", **more):
        return self.ask("POST", path, body=body, **more)

    def put(self, path, body=None, **more):
        return self.ask("PUT", path, body=body, **more)

    def wait_until_ready(self):
        for _ in range(SECONDS * 100):
            if self.get("/readyz").status != 503:
                return
            threading.Event().wait(0.01)
        raise RuntimeError(f"not ready: {self.get('/readyz').text}")

    def kill(self):
        """As a crash ends it."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """In order; returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=SECONDS)
        self.reader.join(timeout=SECONDS)
        return code


def read_events(events, is_last):
    """The lines of an event stream up to the first that is_last() takes. Lines that keep it open come all the time, so a timeout of
    the connection is no bound."""
    lines, end = [], time.monotonic() + SECONDS
    while time.monotonic() < end:
        line = events.readline().decode()
        assert line, f"the events have ended: {lines[-5:]}"
        lines.append(line)
        if is_last(line):
            return lines
    pytest.fail(f"after {SECONDS} s no event is the last one: {lines[-5:]}")


@pytest.fixture
def serve(tmp_path):
    """Starts servers that end with the test; a sanitizer's report fails it."""
    started = []

    def start(*options, **more):
        server = Server(*options, **more)
        started.append(server)
        return server

    yield start
    for server in started:
        killed = server.process.poll() == -signal.SIGKILL
        code = server.stop()
        assert killed or code == 0, f"exit code {code}: {server.log[-20:]}"
        assert not any("Sanitizer" in line or "runtime error" in line for line in server.log), server.log


@pytest.fixture
def server(serve, tmp_path):
    """One with a data folder."""
    return serve("--data", str(tmp_path / "data"))


def make_rows(count, seed=1, columns=3, keys=0):
    """Rows as dictionaries: noise with a few outliers."""
    chance = random.Random(seed)
    rows = []
    for number in range(count):
        shift = 40 if number % 97 == 96 else 0
        row = {f"x{i}": round(chance.gauss(10 + i, 1) + shift, 3) for i in range(columns)}
        rows.append({"host": f"h{number % keys}", **row} if keys else row)
    return rows


def to_ndjson(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def to_csv(rows, header=True):
    lines = [",".join(rows[0])] if header else []
    return "".join(line + "\n" for line in lines + [",".join(str(value) for value in row.values()) for row in rows])


def score(text, *options):
    """What `oif score` prints for these rows, with what serve asks for if it is not told."""
    fields = () if "--fields" in options else ("--fields", "score,severity,anomaly,why")
    done = subprocess.run([OIF, "score", "--freeze=off", *fields, *options, "-"], input=text.encode(), capture_output=True, timeout=SECONDS * 4)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()

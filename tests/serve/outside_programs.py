"""Programs that `oif serve` works with: the real Prometheus and Alertmanager of Debian, and servers of a few lines."""

import http.server
import json
import shutil
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parent.parent))
from free_port import free_port  # noqa: E402

SECONDS = 300  # nothing that a test waits for takes longer


def wait_for(condition, what, seconds=SECONDS):
    """Returns the first true value of condition()."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            value = condition()
        except OSError:
            value = None
        if value:
            return value
        time.sleep(0.05)
    pytest.fail(f"after {seconds} s there is still not: {what}")


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")


def fetch_json(address, **parameters):
    query = "?" + urllib.parse.urlencode(parameters, doseq=True) if parameters else ""
    with urllib.request.urlopen(address + query, timeout=SECONDS) as answer:
        return json.load(answer)


class Program:
    """One that serves HTTP and is ended with the test."""

    def __init__(self, folder, ready, arguments, port):
        self.port = port
        self.address = f"http://127.0.0.1:{port}"
        self.log = folder / f"{arguments[0]}-{port}.log"
        self.arguments = arguments
        self.ready = ready
        self.folder = folder
        self.start()

    def start(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.arguments, cwd=self.folder, stdout=log, stderr=log)
        try:
            wait_for(self.is_ready, f"{self.arguments[0]} is ready: {self.log.read_text()}")
        except BaseException:
            self.stop()
            raise

    def is_ready(self):
        assert self.process.poll() is None, self.log.read_text()
        with urllib.request.urlopen(self.address + self.ready, timeout=5) as answer:
            return answer.status == 200

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(timeout=SECONDS)


class Alertmanager(Program):
    def __init__(self, folder, port=None, route=""):
        port = port or free_port()
        (folder / "alertmanager.yml").write_text(f"route:\n  receiver: none\n{route}receivers:\n  - name: none\n")
        super().__init__(
            folder,
            "/-/ready",
            ["prometheus-alertmanager", "--config.file=alertmanager.yml", "--storage.path=alerts", "--cluster.listen-address=",
             f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"],
            port,
        )  # fmt: skip

    def alerts(self):
        """Those that fire."""
        return fetch_json(self.address + "/api/v2/alerts", active="true")

    def groups(self):
        """The labels of each group, with the keys of its alerts."""
        groups = fetch_json(self.address + "/api/v2/alerts/groups", active="true")
        return [(group["labels"], sorted(alert["labels"]["key"] for alert in group["alerts"])) for group in groups]


class Prometheus(Program):
    def __init__(self, folder, jobs, rest=""):
        """Scrapes {job: port} every second."""
        port = free_port()
        lines = ["global:", "  scrape_interval: 1s", "  scrape_timeout: 1s", "  evaluation_interval: 1s", "scrape_configs:"]
        for job, target in jobs.items():
            lines += [f"  - job_name: {job}", "    static_configs:", f"      - targets: ['127.0.0.1:{target}']"]
        (folder / "prometheus.yml").write_text("\n".join(lines) + "\n" + rest)
        super().__init__(
            folder,
            "/-/ready",
            ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=series", f"--web.listen-address=127.0.0.1:{port}",
             "--log.level=warn"],
            port,
        )  # fmt: skip

    def query(self, query):
        return fetch_json(self.address + "/api/v1/query", query=query)["data"]["result"]


class Stub:
    """A server that answers with what `answer(path, body)` returns, (status, text), and remembers the requests."""

    def __init__(self, answer, port=0):
        self.requests = []
        stub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                stub.requests.append((self.path, body, dict(self.headers)))
                status, text = answer(self.path, body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                try:
                    self.wfile.write(text.encode())
                except OSError:
                    pass  # the client has gone

            do_POST = do_GET

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.server.block_on_close = False
        self.port = self.server.server_port
        self.address = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def outside(tmp_path):
    """outside(Alertmanager), outside(Stub, answer): started now, ended with the test."""
    started = []

    def start(kind, *arguments):
        if kind is not Stub:
            arguments = (tmp_path, *arguments)
        program = kind(*arguments)
        started.append(program)
        return program

    yield start
    for program in started:
        program.stop()

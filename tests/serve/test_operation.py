"""How it runs beside other programs: probes, local sockets, a path behind a proxy."""

import http.client
import http.server
import re
import signal
import socket
import stat
import subprocess
import threading
import time

import pytest
from conftest import OIF, SECONDS, Answer, make_rows, to_ndjson
from test_access import basic, refused

# ---- Probes


def test_a_damaged_stream_does_not_take_the_others_away(serve, tmp_path):
    options = ("--data", str(tmp_path / "data"))
    server = serve(*options)
    for name in ("good", "bad"):
        assert server.post(f"/api/v1/streams/{name}/rows?create=true", to_ndjson(make_rows(20))).status == 200
        assert server.get(f"/api/v1/streams/{name}/ready").json == {"status": "ready"}
    assert server.get("/readyz").json == {"status": "ready"}
    server.stop()
    (tmp_path / "data/streams/bad/state").write_bytes(b"not a snapshot")
    again = serve(*options)
    ready = again.get("/readyz")
    assert ready.status == 200 and ready.json == {"status": "ready", "damaged_streams": 1}
    assert again.get("/api/v1/streams/good/ready").status == 200
    answer = again.get("/api/v1/streams/bad/ready")
    assert answer.status == 503 and "stream bad: " in answer.error["message"] and answer.error["remedy"]
    assert again.get("/api/v1/streams/none/ready").status == 404


def test_a_probe_while_the_streams_are_loaded_is_not_logged_as_an_error(serve, tmp_path):
    options = ("--data", str(tmp_path / "data"))
    server = serve(*options)
    for i in range(8):
        assert server.post(f"/api/v1/streams/s{i}/rows?create=true", to_ndjson(make_rows(3000))).status == 200
    server.kill()  # all rows are in the journals
    again = serve(*options)
    assert again.get("/readyz").status == 200
    assert not any("/readyz" in line for line in again.log), again.log


# ---- Local sockets


class LocalConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=SECONDS)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(SECONDS)
        self.sock.connect(self.path)


class LocalServer:
    """Listens on a local socket, so it has no port that conftest's Server could find."""

    def __init__(self, path, *options):
        self.path = path
        self.process = subprocess.Popen([OIF, "serve", "--listen", f"unix:{path}", *options], stderr=subprocess.PIPE, text=True)
        self.first = self.process.stderr.readline()
        self.log = []
        threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True).start()

    def ask(self, method, target, body=None, headers=None):
        connection = LocalConnection(self.path)
        connection.request(method, target, body, headers or {})
        return Answer(connection.getresponse())

    def wait_until_ready(self):
        until = time.monotonic() + SECONDS
        while self.ask("GET", "/readyz").status == 503 and time.monotonic() < until:
            time.sleep(0.01)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(timeout=SECONDS)


@pytest.fixture
def local(tmp_path):
    started = []

    def start(path=tmp_path / "socket", *options):
        started.append(LocalServer(path, *options))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)


def test_it_listens_on_a_local_socket_of_its_owner_and_group(local, tmp_path):
    server = local()
    assert server.first == f"oif: listening on unix:{tmp_path}/socket\n"
    mode = (tmp_path / "socket").stat().st_mode
    assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o660
    for host in ("localhost", "oif.example"):  # no name of the web resolves to a file
        assert server.ask("GET", "/healthz", headers={"Host": host}).status == 200
    server.wait_until_ready()
    answer = server.ask("POST", "/api/v1/streams/a/rows?create=true&answer=count", to_ndjson(make_rows(50)))
    assert answer.json["accepted"] == 50
    assert server.ask("PUT", "/api/v1/streams/b", "{}", {"Origin": "http://evil.example"}).status == 403
    assert server.end() == 0
    assert not (tmp_path / "socket").exists()


def test_a_socket_that_a_crash_left_behind_is_replaced_and_others_are_not(local, tmp_path):
    server = local()
    code, message = refused("--listen", f"unix:{tmp_path}/socket")
    assert code == 1 and "another program listens there" in message
    assert server.ask("GET", "/healthz").status == 200, "the one that was there still works"
    server.end(signal.SIGKILL)
    assert (tmp_path / "socket").exists()
    assert local().ask("GET", "/healthz").status == 200
    (tmp_path / "file").write_text("precious")
    assert refused("--listen", f"unix:{tmp_path}/file")[0] == 1
    assert (tmp_path / "file").read_text() == "precious"
    for path in ("", "x" * 200):
        code, message = refused("--listen", f"unix:{path}")
        assert code == 2 and "1 to 107 bytes" in message
    assert "No such file" in refused("--listen", f"unix:{tmp_path}/none/socket")[1]


# ---- Behind a proxy


class Proxy(http.server.ThreadingHTTPServer):
    """Passes requests on, as nginx does: with its own Host unless it is told otherwise."""

    daemon_threads = True

    def __init__(self, port, strips="", host=None):
        super().__init__(("127.0.0.1", 0), ProxyHandler)
        self.port, self.strips, self.host = port, strips, host
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(*self.server_address, timeout=SECONDS)
        connection.request(method, path, body, headers or {})
        return Answer(connection.getresponse())


class ProxyHandler(http.server.BaseHTTPRequestHandler):
    def pass_on(self):
        proxy = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name: value for name, value in self.headers.items() if name not in ("Host", "Accept-Encoding", "Content-Length")}
        headers["Host"] = proxy.host or f"127.0.0.1:{proxy.port}"
        target = self.path.removeprefix(proxy.strips)
        connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=SECONDS)
        connection.request(self.command, target, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name not in ("Connection", "Transfer-Encoding", "Content-Length", "Date"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_DELETE = pass_on

    def log_message(self, *_):
        pass


@pytest.fixture
def proxy():
    started = []

    def start(*arguments, **more):
        started.append(Proxy(*arguments, **more))
        return started[-1]

    yield start
    for one in started:
        one.shutdown()
        one.server_close()


@pytest.mark.parametrize("strips", ["", "/team/oif"])
def test_a_path_behind_a_proxy_is_removed_by_the_proxy_or_here(serve, proxy, tmp_path, strips):
    (tmp_path / "token").write_text("a-token-of-32-characters-or-more\n")
    (tmp_path / "token").chmod(0o600)
    server = serve("--external-url", "https://oif.example/team/oif/", "--token-file", str(tmp_path / "token"))
    outside = proxy(server.port, strips=strips)
    browser = {**basic("a-token-of-32-characters-or-more"), "Origin": "https://oif.example", "Content-Type": "application/json"}
    page = outside.ask("GET", "/team/oif/", headers=browser)
    assert page.status == 200
    for address in re.findall(r'(?:src|href)="([^"#][^"]*)"', page.text):
        assert not address.startswith("/"), "an absolute address leaves the path"
        assert outside.ask("GET", f"/team/oif/{address}", headers=browser).status == 200, address
    assert outside.ask("PUT", "/team/oif/api/v1/streams/a", "{}", browser).status == 201
    assert outside.ask("PUT", "/team/oif/api/v1/streams/b", "{}", {**browser, "Origin": "https://evil.example"}).status == 403
    if not strips:
        assert outside.ask("GET", "/team/oifs/healthz").status == 404
        answer = outside.ask("GET", "/team/oif?x=1")
        assert answer.status == 308 and answer.headers["Location"] == "/team/oif/"


def test_a_proxy_may_pass_the_name_of_the_page_on(serve, proxy):
    server = serve("--external-url", "http://oif.example/oif")
    assert proxy(server.port, host="oif.example").ask("GET", "/oif/healthz").status == 200
    assert proxy(server.port, host="evil.example").ask("GET", "/oif/healthz").status == 421


@pytest.mark.parametrize("path", ["api", "metrics/x", "write"])
def test_a_path_that_the_server_has_itself_is_refused(path):
    code, message = refused("--external-url", f"https://oif.example/{path}")
    assert code == 2 and "of its own; choose another one" in message


@pytest.mark.parametrize("path", ["a//b", "a/../b", "a?b", "a b", "x" * 100])
def test_a_path_that_cannot_be_one_is_refused(path):
    assert refused("--external-url", f"https://oif.example/{path}")[0] == 2

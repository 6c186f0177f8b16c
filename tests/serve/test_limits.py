"""What a client cannot do to the server: fill its memory, hold its connections, confuse its parser."""

import gzip
import json
import random
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest
from conftest import IS_SANITIZED, SECONDS, make_rows, to_ndjson

ROWS = "/api/v1/streams/a/rows"


@pytest.fixture
def server(serve):
    """One that does not wait long for clients that have ended their side without saying so."""
    return serve("--timeout", "1s")


def resident_bytes(server):
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])


def read_all(connection):
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def exchange(server, data):
    """Sends bytes, and returns all that comes until the server closes."""
    with server.socket() as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has heard enough
        return read_all(connection)


def test_a_large_body_is_refused(serve):
    server = serve("--max-body", "100K")
    server.put("/api/v1/streams/a", {})
    answer = server.post(ROWS, b"x" * 200_000, headers={"Content-Type": "text/csv"})
    assert answer.status == 413 and "max-body" in answer.error["remedy"]
    chunked = server.post(ROWS, iter([b"y" * 60_000] * 3), headers={"Content-Type": "text/csv"})
    assert chunked.status == 413
    assert server.put("/api/v1/streams/b", "{" + " " * 70_000 + "}", headers={"Content-Type": "application/json"}).status == 413
    assert server.get("/healthz").status == 200


def test_a_client_that_sends_far_too_much_sees_the_answer(serve):
    server = serve("--max-body", "100K")
    server.put("/api/v1/streams/a", {})
    for _ in range(5):
        answer = server.post(ROWS, b"x" * 8_000_000, headers={"Content-Type": "text/csv"})
        assert answer.status == 413 and "max-body" in answer.error["remedy"]
        chunked = server.post(ROWS, iter([b"y" * 100_000] * 80), headers={"Content-Type": "text/csv"})
        assert chunked.status == 413
    assert server.post("/api/v1/streams/none/none", b"x" * 8_000_000).status == 404


def test_a_refused_body_is_not_read_for_long(serve):
    server = serve("--max-body", "100K", "--timeout", "1s")
    with server.socket() as connection:
        connection.sendall(f"POST {ROWS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000000\r\n\r\n".encode())
        began = time.monotonic()
        while time.monotonic() - began < SECONDS:
            try:
                connection.sendall(b"x" * 10_000)  # never idle
            except OSError:
                break
            time.sleep(0.05)
        else:
            pytest.fail("still open")


def test_a_refused_body_is_not_waited_for(serve):
    server = serve("--max-body", "100K")
    with server.socket() as connection:
        head = f"POST {ROWS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000000\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 4")


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_small_body_that_expands_is_cut_off(serve, encoding):
    server = serve("--max-body", "1M")
    server.put("/api/v1/streams/a", {})
    plain = b"a,b\n" + b"1,2\n" * 20_000_000
    if encoding == "gzip":
        bomb = gzip.compress(plain, 9)
    else:
        bomb = subprocess.run(["zstd", "-19", "-c"], input=plain, capture_output=True, check=True, timeout=300).stdout
    assert len(bomb) < 200_000
    before = resident_bytes(server)
    answer = server.post(ROWS, bomb, headers={"Content-Encoding": encoding, "Content-Type": "text/csv"})
    assert answer.status == 413 and "decompressed" in answer.error["message"]
    assert resident_bytes(server) - before < (300_000_000 if IS_SANITIZED else 30_000_000)
    assert server.get("/api/v1/streams/a").json["rows"] == 0


def test_compressed_bodies_must_be_whole_and_known(serve):
    server = serve()
    server.put("/api/v1/streams/a", {})
    good = gzip.compress(to_ndjson(make_rows(10)).encode())

    def post(body, encoding):
        return server.post(ROWS, body, headers={"Content-Encoding": encoding})

    assert post(good, "gzip").status == 200
    assert "cut off" in post(good[:-9], "gzip").error["message"]
    assert post(b"not gzip at all", "gzip").status == 400
    assert post(good, "br").status == 415
    assert post(good, "gzip, gzip").status == 415
    assert server.get("/api/v1/streams/a").json["rows"] == 10


@pytest.mark.parametrize("tool", ["gzip", "zstd", "xz"])
def test_the_answer_to_a_compressed_body_names_the_header_it_lacks(serve, tool):
    server = serve()
    server.put("/api/v1/streams/a", {})
    packed = subprocess.run([tool, "-c"], input=b"a,b\n1,2\n", capture_output=True, check=True, timeout=300).stdout
    for headers in ({}, {"Content-Type": "text/csv"}, {"Content-Encoding": "identity"}):
        answer = server.post(ROWS, packed, headers=headers)
        assert answer.status == 415
        if tool == "xz":
            assert answer.error["message"] == "the body is xz, which this server cannot read"
            assert answer.error["remedy"] == "Send it as gzip, zstd or uncompressed."
        else:
            assert answer.error["message"] == f"the body is {tool}, but its Content-Encoding does not say so"
            assert answer.error["remedy"] == f"Send the header Content-Encoding: {tool}."
    assert server.get("/api/v1/streams/a").json["rows"] == 0


@pytest.mark.skipif(not shutil.which("zstd"), reason="zstd is not installed")
def test_a_zstd_frame_with_a_huge_window_is_refused(serve):
    server = serve()
    server.put("/api/v1/streams/a", {})
    body = subprocess.run(
        ["zstd", "--long=26", "-c"], input=to_ndjson(make_rows(10)).encode(), capture_output=True, check=True, timeout=300
    ).stdout
    answer = server.post(ROWS, body, headers={"Content-Encoding": "zstd"})
    assert answer.status == 400 and "window" in answer.error["message"]


def test_all_bodies_together_are_limited(serve):
    server = serve("--max-body", "1M")
    server.put("/api/v1/streams/a", {})
    head = f"POST {ROWS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n".encode()
    before = resident_bytes(server)
    open_connections = []
    for _ in range(40):
        connection = server.socket()
        connection.sendall(head + b"x" * 900_000)
        open_connections.append(connection)
    statuses = []
    for connection in open_connections:
        connection.sendall(b"x" * 100_000)
        statuses.append(connection.recv(65536).split()[1])
        connection.close()
    assert b"503" in statuses
    assert resident_bytes(server) - before < (400_000_000 if IS_SANITIZED else 40_000_000)
    assert server.get("/healthz").status == 200


@pytest.mark.parametrize("start", [b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: ", b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"])
def test_a_client_that_trickles_is_cut_off(serve, start):
    server = serve("--timeout", "1s")
    server.put("/api/v1/streams/a", {})
    with server.socket() as connection:
        connection.sendall(start.replace(b"%s", ROWS.encode()))
        began = time.monotonic()
        connection.settimeout(0.1)
        while time.monotonic() - began < SECONDS:
            try:
                connection.sendall(b"a")  # often enough to be not idle
                if not connection.recv(100):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        else:
            pytest.fail("still open")
    assert server.get("/healthz").status == 200


def test_a_client_that_does_not_read_is_cut_off(serve):
    server = serve("--timeout", "1s")
    server.put("/api/v1/streams/a", {})
    body = to_ndjson(make_rows(40_000)).encode()
    with server.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        head = f"POST {ROWS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        for _ in range(SECONDS * 10):
            if any("event=cut_off" in line for line in server.log):
                break
            time.sleep(0.1)
        else:
            pytest.fail("not cut off")
    assert server.get("/healthz").status == 200


def test_a_thousand_connections_stay_open_and_are_all_answered(serve):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2800:  # of which connections may take three eighths
        pytest.skip("the limit of open files is too low")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1400), hard))
    server = serve("--timeout", "10m")  # a round takes longer than the usual one on a slow machine
    server.put("/api/v1/streams/a", {})
    connections = []
    try:
        for _ in range(1000):
            connections.append(server.socket())
        row = b'{"x": 1.5, "y": 2}\n'
        ask = f"POST {ROWS}?answer=count HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(row)}\r\n\r\n".encode() + row
        for _ in range(3):
            for connection in connections:
                connection.sendall(ask)
            for connection in connections:
                assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        assert server.get("/api/v1/streams/a").json["rows"] == 3000
    finally:
        for connection in connections:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_connections_that_become_readable_together_are_all_answered(serve):
    # The server's four threads get 128 events each, the most that libmicrohttpd asks for at once.
    server = serve("--max-connections", "512", "--timeout", "10m")
    connections = [server.socket() for _ in range(512)]
    try:
        for connection in connections:
            connection.settimeout(60)
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        server.process.send_signal(signal.SIGSTOP)
        for connection in connections:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        server.process.send_signal(signal.SIGCONT)
        for connection in connections:
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
    finally:
        for connection in connections:
            connection.close()


@pytest.mark.parametrize("most", [8, 11])
def test_no_more_connections_are_answered_than_allowed(serve, most):
    server = serve("--max-connections", str(most), "--timeout", "10m")
    held = [server.socket() for _ in range(most + 3)]
    for connection in held:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")

    def answered(count):
        for _ in range(SECONDS * 20):
            found = select.select(held, [], [], 0.05)[0]
            if len(found) >= count:
                return found
            time.sleep(0.05)
        raise TimeoutError(f"{len(found)} of {count}")

    answered(most)
    time.sleep(0.3)
    assert len(answered(most)) == most
    for _ in range(3):  # each that ends makes room for another
        gone = answered(most)[0]
        held.remove(gone)
        gone.close()
    assert len(answered(most)) == most == len(held)
    for connection in held:
        connection.close()


def test_more_connections_than_allowed_wait(serve):
    server = serve("--max-connections", "8", "--timeout", "1s")
    held = [server.socket() for _ in range(40)]
    for connection in held:
        connection.close()
    assert server.get("/healthz").status == 200


def test_more_streams_than_allowed_are_refused(serve):
    server = serve("--max-streams", "2")
    assert [server.put(f"/api/v1/streams/s{i}", {}).status for i in range(2)] == [201, 201]
    answer = server.put("/api/v1/streams/s2", {})
    assert answer.status in (409, 429, 507) and "2" in answer.error["message"]
    assert server.put("/api/v1/streams/s1", {}).status == 200


def wide_row(columns):
    return ",".join(f"c{i}" for i in range(columns)) + "\n" + ",".join("1" * columns) + "\n"


def test_rows_with_more_columns_than_allowed_are_refused(serve):
    server = serve()
    server.put("/api/v1/streams/a", {})
    answer = server.post(ROWS, wide_row(1_000_000), headers={"Content-Type": "text/csv"})
    assert answer.status == 413 and "max-columns" in answer.error["remedy"] and "1000000 columns" in answer.error["message"]
    assert IS_SANITIZED or resident_bytes(server) < 1 << 30
    later = '{"x": 1}\n' + json.dumps({f"c{i}": 1 for i in range(65_000)}) + "\n"
    assert server.post(ROWS, later, headers={"Content-Type": "application/x-ndjson"}).status == 413
    assert server.post(ROWS, "x\n1\n", headers={"Content-Type": "text/csv"}).status == 200
    answer = server.post(ROWS, wide_row(100_000), headers={"Content-Type": "text/csv"})
    assert answer.status == 413 and "max-columns" in answer.error["remedy"]
    narrow = serve("--max-columns", "3")
    narrow.put("/api/v1/streams/a", {})
    assert narrow.post(ROWS, wide_row(4), headers={"Content-Type": "text/csv"}).status == 413
    assert narrow.post(ROWS, wide_row(3), headers={"Content-Type": "text/csv"}).status == 200


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X-Long: " + b"a" * 100_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x00\x01\x02\x03\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET * HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /api/v1/streams/a/rows HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/v1/streams/a/rows HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        b"POST /api/v1/streams/a/rows HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\ncontent-length: 2\r\n\r\n1,2\n",
        b"POST /api/v1/streams/a/rows HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /api/v1/streams/%2e%2e/rows HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /page.js%2f..%2f..%2fetc HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /" + b"a/" * 50 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /api/v1?" + b"a=1&" * 50 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
    ids=lambda head: repr(head[:40]),
)
def test_junk_is_refused_and_the_server_goes_on(server, head):
    answer = exchange(server, head)
    assert not answer or answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 505")), answer[:200]
    assert server.get("/healthz").status == 200


def test_random_junk(server):
    chance = random.Random(20)
    pieces = [b"GET ", b"POST ", b"/api/v1", b"/streams/", b"a", b"/rows", b"?", b"first_row=", b"%", b"%00", b"&", b" HTTP/1.1", b"\r\n"]
    pieces += [b"Host: localhost\r\n", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"Content-Encoding: gzip\r\n", b"\r\n\r\n"]
    pieces += [b"{", b"\xff\xfe", b"\x00", b"5\r\nhello\r\n0\r\n\r\n"]
    for _ in range(300):
        head = b"".join(chance.choices(pieces, k=chance.randint(1, 25)))
        assert b"HTTP/1.1 50" not in exchange(server, head).replace(b" 505 ", b" 405 "), head
    assert server.get("/healthz").status == 200


def test_log_lines_cannot_be_forged(server):
    exchange(server, b"GET /x%0alevel=error%20event=forged HTTP/1.1\r\nHost: localhost\r\n\r\n")
    exchange(server, b"GET /\"\x1b[31mred HTTP/1.1\r\nHost: localhost\r\n\r\n")
    server.stop()
    logged = [line for line in server.log if line.startswith("time=")]
    assert logged
    for line in logged:
        assert re.match(r"time=\S+ level=(warn|error) event=\w+( \w+=(\"([^\"\\]|\\.)*\"|[^\s\"]*))*$", line), line
        assert "\x1b" not in line


def test_a_flood_of_problems_does_not_fill_the_log(serve):
    server = serve()
    connection = server.connect()
    began = time.monotonic()
    for _ in range(1000):
        assert server.get("/nothing", connection=connection).status == 404
    assert sum("status=404" in line for line in server.log) <= 110 + 20 * (time.monotonic() - began)  # 100 at once, then 20 per second


def test_shutdown_answers_what_was_asked(serve, tmp_path):
    server = serve("--data", str(tmp_path / "data"))
    server.put("/api/v1/streams/a", {"num-trees": 8} if IS_SANITIZED else {})
    batches = 6 if IS_SANITIZED else 60  # it has 10 s for what was asked
    body = to_ndjson(make_rows(2000)).encode() * batches
    connection = server.connect()
    connection.request("POST", ROWS, body=body, headers={"Content-Type": "application/x-ndjson", "Accept": "application/json"})
    events = server.socket()
    events.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert events.recv(100).startswith(b"HTTP/1.1 200")
    server.process.terminate()
    answer = connection.getresponse()
    assert answer.status == 200 and json.loads(answer.read())["rows"] == 2000 * batches
    read_all(events)
    assert server.process.wait(timeout=SECONDS) == 0
    server.start()
    assert server.get("/api/v1/streams/a").json["rows"] == 2000 * batches


def test_a_large_batch_does_not_hold_up_others(serve):
    server = serve()
    server.put("/api/v1/streams/a", {})
    body = to_ndjson(make_rows(2000)).encode() * 200
    connections = [server.connect() for _ in range(16)]  # so that each thread of the server has some
    for connection in connections:
        server.get("/healthz", connection=connection)
    busy = server.connect()
    busy.request("POST", ROWS, body=body, headers={"Content-Type": "application/x-ndjson", "Accept": "application/json"})
    began, answered = time.monotonic(), []
    reader = threading.Thread(target=lambda: answered.append((busy.getresponse().status, time.monotonic())))
    reader.start()
    longest = 0
    while reader.is_alive():
        for connection in connections:
            asked = time.monotonic()
            assert server.get("/healthz", connection=connection).status == 200
            longest = max(longest, time.monotonic() - asked)
    reader.join()
    assert answered and answered[0][0] == 200 and longest < (answered[0][1] - began) / 2, f"{longest} s of {answered[0][1] - began} s"

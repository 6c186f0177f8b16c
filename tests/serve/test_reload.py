"""SIGHUP: the files of the tokens and of the certificate are read again."""

import signal
import threading
import time
from pathlib import Path

import pytest
from conftest import SECONDS
from test_access import READ, WRITE, bearer, make_certificate

NEW = "n" * 20


def reload(server, expected="reload: the tokens and the certificate"):
    before = sum(expected in line for line in server.log)
    server.process.send_signal(signal.SIGHUP)
    for _ in range(SECONDS * 20):
        if sum(expected in line for line in server.log) > before:
            return
        assert server.process.poll() is None, server.log
        time.sleep(0.05)
    raise TimeoutError(server.log)


def read_to_the_end(events):
    """Until the answer ends, with the last chunk. Without it, lines come all the time that keep the events open."""
    received, end = b"", time.monotonic() + SECONDS
    while not received.endswith(b"\r\n0\r\n\r\n"):
        part = events.recv(65536)
        assert part and time.monotonic() < end, received
        received += part


@pytest.fixture
def server(serve, tmp_path):
    for name, token in (("token", WRITE), ("read", READ)):
        (tmp_path / name).write_text(token)
        (tmp_path / name).chmod(0o600)
    return serve("--token-file", str(tmp_path / "token"), "--read-token-file", str(tmp_path / "read"))


def test_tokens_change_without_a_restart(server, tmp_path):
    (tmp_path / "token").write_text(NEW)
    assert server.get("/api/v1", headers=bearer(WRITE)).status == 200
    reload(server)
    assert server.get("/api/v1", headers=bearer(WRITE)).status == 401
    assert server.get("/api/v1", headers=bearer(READ)).status == 200
    assert server.put("/api/v1/streams/a", {}, headers=bearer(NEW)).status == 201


def test_events_of_a_removed_token_end(server, tmp_path):
    with server.socket() as events:
        events.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {READ}\r\n\r\n".encode())
        assert events.recv(100).startswith(b"HTTP/1.1 200")
        (tmp_path / "read").write_text(NEW)
        reload(server)
        read_to_the_end(events)


def test_a_bad_file_keeps_what_was_there(server, tmp_path):
    file = tmp_path / "token"
    bad = (
        ("", "there is no token"),
        ("short", "16 to 255"),
        (f"{WRITE}\n{NEW}\n", "one token"),
        (f"{WRITE}\0{NEW}\n", "one token"),
        (f"{255 * 'a'}\r\nb", "one token"),
    )
    for text, expected in bad:
        server.log.clear()
        file.write_bytes(text.encode())
        reload(server, "reload: everything stays as it was")
        assert any(expected in line for line in server.log), server.log
        assert server.get("/api/v1", headers=bearer(WRITE)).status == 200
    file.unlink()
    reload(server, "reload: everything stays as it was")
    assert server.get("/api/v1", headers=bearer(WRITE)).status == 200


def test_a_reload_loses_no_request(server):
    failures, is_over = [], threading.Event()

    def ask():
        connection = server.connect()
        while not is_over.is_set():
            if server.get("/api/v1", headers=bearer(READ), connection=connection).status != 200:
                failures.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        reload(server)
    is_over.set()
    for thread in threads:
        thread.join(SECONDS)
    assert not failures


def test_the_certificate_changes_without_a_restart(serve, tmp_path):
    cert, key = make_certificate(tmp_path, "c")
    server = serve("--tls-cert", cert, "--tls-key", key)

    def fingerprint():
        connection = server.connect()
        connection.connect()
        text = connection.sock.getpeercert(binary_form=True)
        connection.close()
        return text

    open_before = server.connect()
    first = fingerprint()
    assert server.get("/healthz", connection=open_before).status == 200
    new_cert, new_key = make_certificate(tmp_path, "d")
    Path(cert).write_bytes(Path(new_cert).read_bytes())
    reload(server, "reload: everything stays as it was")  # the key is still the old one
    assert any("do not belong together" in line for line in server.log) and fingerprint() == first
    Path(key).write_bytes(Path(new_key).read_bytes())
    reload(server)
    assert fingerprint() != first
    assert server.get("/healthz", connection=open_before).status == 200
    for _ in range(3):
        reload(server)
    assert server.get("/healthz").status == 200

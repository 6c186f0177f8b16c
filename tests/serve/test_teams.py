"""Named tokens with roles, patterns and quotas; the log; what a reload changes."""

import base64
import json
import re
import signal
import stat
import subprocess
import threading
import time
from pathlib import Path

import pytest
from conftest import OIF, SECONDS, make_rows, to_ndjson
from fleet_rows import LEARNED, SETTINGS, Fleet, text_of
from test_access import bearer, make_certificate


def run_token(file, *arguments, expected=0):
    done = subprocess.run([OIF, "token", *arguments, "--tokens", str(file)], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == expected, done.stderr
    return done


def add(file, name, *options):
    return run_token(file, "add", name, *options).stdout.strip()


@pytest.fixture
def file(tmp_path):
    return tmp_path / "tokens"


@pytest.fixture
def team(serve, file, tmp_path):
    """A server with tokens of each role: team.server, team.ana, ..."""

    class Team:
        ana = add(file, "ana", "--role", "admin")
        web = add(file, "web", "--role", "write", "--streams", "web-*,shared")
        lead = add(file, "lead", "--role", "admin", "--streams", "web-*")
        wall = add(file, "wall")
        server = serve("--tokens", str(file), "--data", str(tmp_path / "data"))

        def ask(self, token, method, path, body=None, **more):
            return self.server.ask(method, path, body, headers={**bearer(token), **more})

    return Team()


def fail(team, *streams):
    """Streams that have learned, and then go bad together."""
    fleets = {name: Fleet(hosts=("host",)) for name in streams}
    for name, fleet in fleets.items():
        assert team.ask(team.ana, "PUT", f"/api/v1/streams/{name}", SETTINGS).status == 201
    for bad, count in (((), LEARNED), (("host",), 5)):
        for name, fleet in fleets.items():
            assert team.ask(team.ana, "POST", f"/api/v1/streams/{name}/rows", text_of(fleet.rows(count, bad=bad))).status == 200


def reload(server, expected="reload: the configuration, tokens and certificate"):
    before = sum(expected in line for line in server.log)
    server.process.send_signal(signal.SIGHUP)
    for _ in range(SECONDS * 20):
        if sum(expected in line for line in server.log) > before:
            return
        assert server.process.poll() is None, server.log
        time.sleep(0.05)
    raise TimeoutError(server.log)


# ---- The command and its file


def test_a_token_is_printed_once_and_only_its_hash_is_stored(file):
    token = add(file, "web-agents", "--role", "write", "--streams", "web-*", "--max-streams", "5")
    assert re.fullmatch("[0-9a-f]{64}", token)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text()
    assert token not in text
    (entry,) = json.loads(text)["tokens"]
    assert entry["name"] == "web-agents" and entry["role"] == "write" and entry["streams"] == ["web-*"] and entry["max_streams"] == 5
    assert add(file, "other") != token
    assert run_token(file, "list").stdout.splitlines() == [
        "web-agents           write  web-* max_streams=5",
        "other                read   *",
    ]
    run_token(file, "remove", "web-agents")
    assert [entry["name"] for entry in json.loads(file.read_text())["tokens"]] == ["other"]


def test_mistakes_of_the_command_are_explained(file, tmp_path):
    add(file, "web")
    for arguments, code, expected in (
        (("add", "web"), 1, "has a token 'web'"),
        (("add", "we b"), 2, "letters, digits"),
        (("add", "w" * 65), 2, "letters, digits"),
        (("add",), 2, "usage: oif token"),
        (("nonsense", "web"), 2, "usage: oif token"),
        (("list", "web"), 2, "usage: oif token"),
        (("remove", "none"), 1, "has no token 'none'"),
        (("add", "x", "--role", "root"), 2, "read, write or admin"),
        (("add", "x", "--streams", "a/b"), 2, "web-*"),
        (("add", "x", "y"), 2, "unexpected argument"),
    ):
        message = run_token(file, *arguments, expected=code).stderr
        assert expected in message, message
    for arguments in (("list",), ("remove", "web")):
        message = run_token(tmp_path / "tokns", *arguments, expected=1).stderr
        assert f"{tmp_path}/tokns: No such file or directory; oif token add makes it" in message, message
    done = subprocess.run([OIF, "token", "list"], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 2 and "--tokens FILE" in done.stderr
    before = file.read_text()
    file.write_text("{")
    assert "line 1" in run_token(file, "add", "x", expected=1).stderr and file.read_text() == "{"
    file.write_text(before.replace('"read"', '"root"'))
    assert '"role" is missing or wrong' in run_token(file, "add", "x", expected=1).stderr
    assert "No such file" in run_token(tmp_path / "none" / "tokens", "add", "x", expected=1).stderr


def test_a_file_that_others_can_write_is_refused_and_one_that_they_can_read_is_reported(serve, file, tmp_path):
    add(file, "web")
    file.chmod(0o622)
    done = subprocess.run([OIF, "serve", "--listen", "127.0.0.1:0", "--tokens", str(file)], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 2 and f"chmod 600 {file}" in done.stderr
    file.chmod(0o644)
    lines = tmp_path / "lines"
    lines.write_text("a" * 20 + "\n")
    lines.chmod(0o640)
    server = serve("--tokens", str(file), "--token-file", str(lines))
    for path in (file, lines):
        assert any(f"{path}: others can read these tokens" in line for line in server.log), server.log
    file.chmod(0o600), lines.chmod(0o600)
    assert not any("others can read" in line for line in serve("--tokens", str(file), "--token-file", str(lines)).log)


# ---- Roles and streams


def test_each_role_may_do_what_it_is_for(team):
    stream = "/api/v1/streams/web-1"
    matrix = [
        ("PUT", stream, {}, (403, 201, 200, 200)),
        ("POST", stream + "/rows", "a,b\n1,2\n", (403, 200, 200, 200)),
        ("GET", stream, None, (200, 200, 200, 200)),
        ("PATCH", stream, {"alert-rate": 0.01}, (403, 403, 200, 200)),
        ("POST", stream + "/rules", {"rule": "mute column=a"}, (403, 403, 200, 200)),
        ("DELETE", stream + "/rules?number=1", None, (403, 403, 200, 404)),
        ("DELETE", stream + "/keys?key=x", None, (403, 403, 404, 404)),
        ("DELETE", stream, None, (403, 403, 204, 404)),
    ]
    for method, path, body, expected in matrix:
        found = tuple(team.ask(token, method, path, body).status for token in (team.wall, team.web, team.lead, team.ana))
        assert found == expected, (method, path, found)
    assert "may only read" in team.ask(team.wall, "PUT", stream, {}).error["message"]
    assert team.ask(team.web, "PATCH", stream, {}).error["remedy"] == "Use a token with the role admin."
    assert team.ask(team.web, "GET", "/api/v1").json == {**team.ask(team.web, "GET", "/api/v1").json, "role": "write", "token": "web", "read_only": False}


def test_a_token_sees_only_its_streams(team):
    fail(team, "web-1", "db-1", "shared")
    for method, path, body in (("GET", "", None), ("GET", "/points", None), ("POST", "/rows", "a\n1\n"), ("POST", "/explain", '{"x0": 1}')):
        answer = team.ask(team.web, method, "/api/v1/streams/db-1" + path, body)
        assert answer.status == 403 and "only for streams such as web-*,shared" in answer.error["message"], path
        assert answer.status == team.ask(team.web, method, "/api/v1/streams/nothing" + path, body).status, "it shows whether a stream exists"
    assert team.ask(team.web, "PUT", "/api/v1/streams/db-2", {}).status == 403
    assert [one["name"] for one in team.ask(team.web, "GET", "/api/v1/streams").json["streams"]] == ["shared", "web-1"]
    assert team.ask(team.web, "GET", "/api/v1").json["streams"] == 2
    now = team.ask(team.web, "GET", "/api/v1/now")
    assert "db-1" not in now.text and "web-1" in now.text
    assert "db-1" in team.ask(team.ana, "GET", "/api/v1/now").text
    metrics = team.ask(team.web, "GET", "/metrics").text
    assert 'stream="web-1"' in metrics and "db-1" not in metrics
    assert 'stream="db-1"' in team.ask(team.wall, "GET", "/metrics").text
    assert team.ask(team.web, "GET", "/api/v1/events?stream=db-1").status == 403
    # one incident has members in all three streams, so only those who see all of them see it
    assert team.ask(team.ana, "GET", "/api/v1/incidents").json["incidents"]
    assert team.ask(team.web, "GET", "/api/v1/incidents").json == {"open": 0, "incidents": []}


def test_an_incident_within_its_streams_is_visible(team):
    fail(team, "web-1")
    assert team.ask(team.web, "GET", "/api/v1/incidents").json["incidents"] == team.ask(team.ana, "GET", "/api/v1/incidents").json["incidents"] != []


def test_agents_reach_only_the_streams_of_their_token(team):
    line = "cpu,host=a value=1 1700000000000000000\n"
    for path in ("/write?db=", "/api/v2/write?bucket="):
        assert team.ask(team.web, "POST", path + "web-influx", line).status == 204
        assert team.ask(team.web, "POST", path + "db-1", line).status == 403
        assert team.ask(team.wall, "POST", path + "web-influx", line).status == 403


def test_tokens_come_by_the_schemes_of_agents(team):
    for scheme in (f"Token {team.wall}", "Basic " + base64.b64encode(f"anything:{team.wall}".encode()).decode(), f"bearer {team.wall}"):
        assert team.server.get("/api/v1", headers={"Authorization": scheme}).json["token"] == "wall", scheme
    for scheme in ("Basic !!!", "Basic " + base64.b64encode(b"x").decode(), "Digest x", "Basic"):
        assert team.server.get("/api/v1", headers={"Authorization": scheme}).status == 401, scheme


def test_events_are_those_of_the_streams(team):
    for name in ("web-1", "db-1"):
        team.ask(team.ana, "PUT", f"/api/v1/streams/{name}", {})
    with team.server.socket() as events:
        events.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {team.web}\r\n\r\n".encode())
        received = events.recv(65536)
        assert received.startswith(b"HTTP/1.1 200")
        for name in ("db-1", "web-1"):
            team.ask(team.ana, "POST", f"/api/v1/streams/{name}/rows", to_ndjson(make_rows(1000)))
        while b'"rows":1000' not in received:
            received += events.recv(65536)
    assert b"web-1" in received and b"db-1" not in received and b"event: incident" not in received


# ---- Quotas


def test_quotas_bound_streams_keys_and_columns(serve, file):
    token = add(file, "small", "--role", "admin", "--streams", "s-*", "--max-streams", "3", "--max-keys", "10", "--max-columns", "2")
    ana = add(file, "ana", "--role", "admin")
    server = serve("--tokens", str(file))

    def put(name, settings, who=token):
        return server.put(f"/api/v1/streams/{name}", settings, headers=bearer(who))

    first = put("s-1", {"key": "host"})
    assert first.status == 201 and first.json["settings"]["max-keys"] == 10, "it gets what is left"
    assert put("s-1", {"key": "host"}).status == 200, "the same request again"
    assert put("s-1", {"key": "host"}, ana).status == 409
    refused = put("s-2", {"key": "host"})
    assert refused.status == 403 and '"small" is 10 keys' in refused.error["message"]
    assert server.ask("DELETE", "/api/v1/streams/s-1", headers=bearer(token)).status == 204
    assert put("s-1", {"key": "host", "max-keys": 11}).status == 403
    assert put("s-1", {"key": "host", "max-keys": 7}).status == 201
    created = server.post("/api/v1/streams/s-2/rows?create=true&key=host", '{"host":"a","x":1}\n', headers=bearer(token))
    assert created.status == 200
    assert server.get("/api/v1/streams/s-2", headers=bearer(token)).json["settings"]["max-keys"] == 3
    assert put("s-3", {}).status == 403, "a stream without keys has one model"
    assert put("other", {}).status == 403
    server.ask("DELETE", "/api/v1/streams/s-2", headers=bearer(token))
    assert [put(name, {}).status for name in ("s-2", "s-3", "s-4")] == [201, 201, 403]
    assert '"small" is 3 streams' in put("s-4", {}).error["message"]
    assert put("s-4", {}, ana).status == 201, "others have no quota"
    wide = server.post("/api/v1/streams/s-2/rows", "a,b,c\n1,2,3\n", headers={**bearer(token), "Content-Type": "text/csv"})
    assert wide.status == 413
    assert server.post("/api/v1/streams/s-3/rows", "a,b,c\n1,2,3\n", headers={**bearer(ana), "Content-Type": "text/csv"}).status == 200


def test_streams_that_are_created_at_once_stay_within_the_quota(serve, file):
    token = add(file, "small", "--role", "write", "--max-streams", "4")
    server = serve("--tokens", str(file))
    statuses = []

    def create(number):
        statuses.append(server.put(f"/api/v1/streams/s{number}", {}, headers=bearer(token)).status)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert sorted(statuses) == [201] * 4 + [403] * 12


# ---- Events


def read_events(events):
    """Until the answer ends, with the last chunk."""
    received = b""
    while not received.endswith(b"\r\n0\r\n\r\n"):
        part = events.recv(65536)
        assert part, received
        received += part


# ---- The log


def changes(server):
    server.stop()
    pairs = [dict(re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S*)', line)) for line in server.log if "event=change" in line]
    return [(one["method"], one["path"], one["status"], one.get("user"), one["from"]) for one in pairs]


def test_changes_are_logged(team):
    stream = "/api/v1/streams/web-1"
    team.ask(team.web, "PUT", stream, {"alert-rate": 0.01})
    team.ask(team.web, "PUT", stream, {"alert-rate": 0.01})  # changes nothing
    team.ask(team.web, "POST", stream + "/rows", "secretcolumn\n12345\n")
    team.ask(team.web, "POST", "/api/v1/streams/web-2/rows?create=true", "secretcolumn\n12345\n")
    team.ask(team.wall, "DELETE", stream)  # refused
    team.ask(team.lead, "PATCH", stream, {"alert-rate": 0.02}, **{"X-Forwarded-User": "somebody"})  # not a proxy
    team.ask(team.ana, "POST", stream + "/rules?try=true", {"rule": "mute column=x"})  # changes nothing
    team.ask(team.ana, "DELETE", stream)
    assert changes(team.server) == [
        ("PUT", stream, "201", None, "127.0.0.1"),
        ("POST", "/api/v1/streams/web-2/rows", "200", None, "127.0.0.1"),
        ("PATCH", stream, "200", None, "127.0.0.1"),
        ("DELETE", stream, "204", None, "127.0.0.1"),
    ]
    text = "".join(team.server.log)
    assert "12345" not in text and not any(token in text for token in (team.ana, team.web, team.lead))


def test_a_proxy_names_who_makes_a_change(serve):
    server = serve("--proxies", "127.0.0.1")

    def put(name, **headers):
        assert server.put(f"/api/v1/streams/{name}", {}, headers=headers).status == 201

    put("a", **{"X-Forwarded-User": "ana", "X-Forwarded-For": "192.0.2.9, 192.0.2.1"})
    put("b", **{"X-Forwarded-User": 'a b" event=forged\x9b', "X-Forwarded-For": "spoofed"})
    put("c", **{"X-Forwarded-User": "x" * 10_000})
    ana, forged, long = changes(server)
    assert ana[3:] == ("ana", "192.0.2.1"), "the last address is the one that the proxy has seen"
    assert forged[3].startswith(r'"a b\" event=forged') and "\x9b" not in forged[3] and forged[4] == "127.0.0.1"
    assert long[3].startswith("xxx") and len(long[3]) < 300


# ---- Reload


def test_tokens_change_without_a_restart(team, file):
    run_token(file, "remove", "wall")
    new = add(file, "new", "--role", "write")
    assert team.ask(team.wall, "GET", "/api/v1").status == 200
    reload(team.server)
    assert team.ask(team.wall, "GET", "/api/v1").status == 401
    assert team.ask(new, "PUT", "/api/v1/streams/a", {}).status == 201


def test_events_of_a_removed_token_end(team, file):
    with team.server.socket() as events:
        events.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {team.wall}\r\n\r\n".encode())
        assert events.recv(100).startswith(b"HTTP/1.1 200")
        run_token(file, "remove", "wall")
        reload(team.server)
        read_events(events)


def test_a_bad_file_keeps_what_was_there(team, file):
    before = file.read_text()
    for text, expected in (("{", "line 1"), ('{"tokens": []}', "there is no token"), (before.replace("sha256", "md5"), "sha256")):
        file.write_text(text)
        reload(team.server, "reload: everything stays as it was")
        assert any(expected in line for line in team.server.log), team.server.log
        assert team.ask(team.ana, "GET", "/api/v1").status == 200
    file.unlink()
    reload(team.server, "reload: everything stays as it was")
    assert team.ask(team.ana, "GET", "/api/v1").status == 200


def test_a_reload_loses_no_request(team, file):
    failures, is_over = [], threading.Event()

    def ask():
        connection = team.server.connect()
        while not is_over.is_set():
            if team.server.get("/api/v1", headers=bearer(team.wall), connection=connection).status != 200:
                failures.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        reload(team.server)
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


def test_the_configuration_is_read_again(serve, tmp_path):
    config = tmp_path / "serve.json"
    config.write_text(json.dumps({"max-streams": 10, "streams": [{"name": "a"}]}))
    server = serve("--config", str(config))
    config.write_text(json.dumps({"max-streams": 20, "streams": [{"name": "a"}, {"name": "b"}]}))
    reload(server)
    assert server.get("/api/v1/streams/b").status == 200
    assert any('"max-streams" of the configuration changes only with a restart' in line for line in server.log)
    config.write_text(json.dumps({"nonsense": 1}))
    reload(server, "reload: everything stays as it was")
    config.write_text(json.dumps({"streams": [{"name": "a", "settings": {"nonsense": 1}}]}))
    reload(server, "reload: everything stays as it was")
    assert server.get("/metrics").status == 200 and server.get("/api/v1/streams/b").status == 200


# ---- What is on disk and in the log


def test_files_are_for_their_owner_alone(serve, tmp_path):
    data = tmp_path / "data"
    server = serve("--data", str(data))
    server.put("/api/v1/streams/a", {})
    server.post("/api/v1/streams/a/rows?durable=true", to_ndjson(make_rows(300)))
    server.stop()
    server.start()
    server.stop()

    def wide():
        return [str(path) for path in data.rglob("*") if path.stat().st_mode & 0o077]

    assert len(list(data.rglob("*"))) > 4 and not wide()
    for path in data.rglob("*"):
        if path.is_file():
            path.chmod(0o644)  # as earlier versions left them
    server.start()
    server.stop()
    assert not [path for path in wide() if "/streams/a/" in path]


def test_what_rows_contain_is_not_logged(serve):
    server = serve()
    server.put("/api/v1/streams/a", {})
    server.post("/api/v1/streams/a/rows", "x,y\n1,2\n", headers={"Content-Type": "text/csv"})
    for body, kind in (
        ("x,y\nSECRET,2\n", "text/csv"),
        ("SECRET,y\n1,2\n", "text/csv"),
        ('{"x": SECRET}\n', "application/x-ndjson"),
        ('{"SECRET": 1}\n', "application/x-ndjson"),
        ('{"x": "SECRET", "y": 1}\n', "application/x-ndjson"),
        ("SECRET", "application/json"),
        ("SECRET", "text/SECRET"),
        ("SECRET x=y=z\n", "text/plain"),
        (b"\x00SECRET\xff", "application/octet-stream"),
        (b"SECRET", "application/x-protobuf"),
    ):
        for path in ("rows", "explain"):
            server.post(f"/api/v1/streams/a/{path}", body, headers={"Content-Type": kind})
    for path in ("/write?db=a", "/v1/metrics?stream=a", "/api/v1/streams/a/write"):
        server.post(path, "SECRET,x=SECRET SECRET=SECRET\n", headers={"Content-Type": "application/json"})
    server.put("/api/v1/streams/b", {"key": ["SECRET"], "nonsense": "SECRET"})
    server.post("/api/v1/streams/a/rules", {"rule": "SECRET"})
    server.post("/api/v1/streams/a/feedback", {"episode": 1, "key": "SECRET", "mark": "useless"})
    server.stop()
    assert sum("event=refused" in line for line in server.log) > 10, server.log
    assert not [line for line in server.log if "SECRET" in line]

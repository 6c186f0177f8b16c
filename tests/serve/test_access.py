"""Who may ask: loopback, tokens, TLS, pages of other sites."""

import base64
import re
import subprocess

import pytest
from conftest import OIF, SECONDS, make_rows, to_ndjson
from outside_programs import wait_for

WRITE, READ = "w" * 20, "r" * 20


@pytest.fixture
def tokens(tmp_path):
    (tmp_path / "token").write_text(WRITE + "\n")
    (tmp_path / "read").write_text(READ + "\n")
    for name in ("token", "read"):
        (tmp_path / name).chmod(0o600)
    return ["--token-file", str(tmp_path / "token"), "--read-token-file", str(tmp_path / "read")]


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def basic(token):
    return {"Authorization": "Basic " + base64.b64encode(f"anyone:{token}".encode()).decode()}


def refused(*options):
    done = subprocess.run([OIF, "serve", *options], capture_output=True, timeout=SECONDS)
    return done.returncode, done.stderr.decode()


def test_other_addresses_need_a_token(tmp_path):
    code, message = refused("--listen", "0.0.0.0:0")
    assert code == 2
    assert "openssl rand -hex 32 > token" in message and "--token-file token" in message
    assert refused("--listen", "[::]:0")[0] == 2


def test_mistakes_in_options_are_usage_errors(tmp_path):
    for options, expected in (
        (["--listen", "nonsense"], "HOST:PORT"),
        (["--listen", "127.0.0.1:70000"], "from 0 to 65535"),
        (["--tls-cert", str(tmp_path / "cert")], "go together"),
    ):
        code, message = refused("--listen", "127.0.0.1:0", *options)
        assert code == 2 and expected in message, message
    for options in (["--token-file", str(tmp_path / "none")], ["--data", "/proc/none"]):  # what may be right at another time
        assert refused("--listen", "127.0.0.1:0", *options)[0] == 1


def test_tokens_must_be_safe(tmp_path):
    file = tmp_path / "token"
    for text, expected in (("short\n", "16 to 255"), ("a" * 300, "16 to 255"), ("", "no token"), ("bad;token" * 3, "ASCII"), (f"{WRITE}\n{READ}\n", "one token")):
        file.write_text(text)
        code, message = refused("--token-file", str(file))
        assert code == 2 and expected in message, message
        assert not text or text.strip() not in message, "the token is in the message"
    assert "No such file" in refused("--token-file", str(tmp_path / "none"))[1]


def test_a_server_on_all_addresses_answers_with_a_token(serve, tokens):
    server = serve("--listen", "0.0.0.0:0", *tokens)
    assert server.get("/healthz").status == 200
    assert server.get("/api/v1").status == 401
    assert server.get("/api/v1", headers=bearer(READ)).status == 200


def test_each_token_may_do_what_it_is_for(serve, tokens):
    server = serve(*tokens)
    path = "/api/v1/streams/a"
    matrix = {
        None: (401, 401, 401),
        "wrong": (401, 401, 401),
        WRITE[:-1]: (401, 401, 401),
        WRITE + "w": (401, 401, 401),
        READ: (200, 200, 403),
        WRITE: (200, 200, 201),
    }
    for token, expected in matrix.items():
        headers = bearer(token) if token else {}
        found = (
            server.get("/api/v1", headers=headers).status,
            server.get("/api/v1/streams", headers=headers).status,
            server.put(path, {}, headers=headers).status,
        )
        assert found == expected, token
    answer = server.get("/api/v1")
    assert answer.headers["WWW-Authenticate"] == 'Basic realm="oif"'
    assert server.get("/api/v1", headers=bearer(READ)).json["read_only"] is True
    assert server.get("/api/v1", headers=bearer(WRITE)).json["read_only"] is False


def test_a_token_to_read_changes_nothing(serve, tokens):
    server = serve(*tokens)
    stream = "/api/v1/streams/a"
    for method, path, body, status in (
        ("PUT", stream, {}, 201),
        ("POST", stream + "/rows", "a,b\n1,2\n", 200),
        ("POST", "/write?db=b", "cpu,host=a value=1 1700000000000000000\n", 204),
        ("PATCH", stream, {"alert-rate": 0.01}, 200),
        ("DELETE", stream + "/keys?key=x", None, 404),
        ("DELETE", stream, None, 204),
    ):
        refused = server.ask(method, path, body, headers=bearer(READ))
        assert refused.status == 403 and "may only read" in refused.text, path
        assert server.ask(method, path, body, headers=bearer(WRITE)).status == status, path


def test_health_and_the_description_need_no_token(serve, tokens):
    server = serve(*tokens)
    for path in ("/healthz", "/readyz", "/api/v1/openapi.json"):
        assert server.get(path).status == 200, path
    for path in ("/", "/page.js", "/api/v1/now", "/api/v1/events", "/api/v1/streams/x", "/api/v1/streams/x/points"):
        assert server.get(path).status == 401, path


def test_a_browser_gives_the_token_as_a_password(serve, tokens):
    server = serve(*tokens)
    assert server.get("/").headers["WWW-Authenticate"] == 'Basic realm="oif"'
    assert server.get("/", headers=basic(READ)).headers["Content-Type"].startswith("text/html")
    assert server.get("/api/v1", headers=basic(READ)).json["read_only"] is True
    assert server.put("/api/v1/streams/a", {}, headers=basic(READ)).status == 403
    assert server.put("/api/v1/streams/a", {}, headers=basic(WRITE)).status == 201
    evil = {**basic(WRITE), "Origin": "http://evil.example"}
    assert server.put("/api/v1/streams/b", {}, headers=evil).status == 403, "browsers add the password for every page that asks"


def test_tokens_come_by_the_schemes_of_agents(serve, tokens):
    server = serve(*tokens)
    for scheme in (f"Token {READ}", "Basic " + base64.b64encode(READ.encode()).decode(), f"bearer {READ}"):
        assert server.get("/api/v1", headers={"Authorization": scheme}).status == 200, scheme
    for scheme in ("Basic !!!", "Basic " + base64.b64encode(b"x").decode(), "Digest x", "Basic"):
        assert server.get("/api/v1", headers={"Authorization": scheme}).status == 401, scheme


def test_a_file_that_others_can_write_is_refused_and_one_that_they_can_read_is_reported(serve, tokens, tmp_path):
    file = tmp_path / "token"
    file.chmod(0o622)
    code, message = refused("--listen", "127.0.0.1:0", "--token-file", str(file))
    assert code == 2 and f"chmod 600 {file}" in message
    file.chmod(0o640)
    assert any(f"{file}: others can read this token" in line for line in serve(*tokens).log)
    file.chmod(0o600)
    assert not any("others can read" in line for line in serve(*tokens).log)


def make_certificate(folder, name):
    cert, key = str(folder / f"{name}.pem"), str(folder / f"{name}-key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost",
         "-days", "1", "-keyout", key, "-out", cert],
        check=True, capture_output=True, timeout=SECONDS,
    )  # fmt: skip
    return cert, key


def test_tls_serves_https(serve, tokens, tmp_path):
    cert, key = make_certificate(tmp_path, "c")
    _, other_key = make_certificate(tmp_path, "d")
    server = serve("--tls-cert", cert, "--tls-key", key, *tokens)
    assert server.scheme == "https" and server.get("/healthz").status == 200
    origin = server.address
    headers = {**bearer(WRITE), "Origin": origin}
    assert server.put("/api/v1/streams/a", {}, headers=headers).status == 201
    assert server.put("/api/v1/streams/a", {}, headers={**headers, "Origin": origin.replace("https", "http")}).status == 403
    assert "go together" in refused("--tls-cert", cert)[1]
    for wrong_key, expected in ((cert, "with a private key"), (other_key, "do not belong together"), (cert + "x", "while reading file")):
        code, message = refused("--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", wrong_key)
        assert code == 1 and expected in message, message


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil", "1270.0.1", "[::2]", ""])
def test_a_foreign_host_name_is_refused_on_loopback(server, host):
    assert server.get("/api/v1", headers={"Host": host}).status in (400, 421)
    assert server.get("/", headers={"Host": host}).status in (400, 421)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:99", "127.0.0.1", "127.1.2.3:8571", "[::1]:8571"])
def test_names_of_this_machine_are_taken(server, host):
    assert server.get("/api/v1", headers={"Host": host}).status == 200


def test_pages_of_other_sites_cannot_write(server):
    path, host = "/api/v1/streams/a", f"{server.host}:{server.port}"
    assert server.put(path, {}, headers={"Origin": "http://evil.example"}).status == 403
    assert server.put(path, {}, headers={"Origin": "null"}).status == 403
    assert server.put(path, {}, headers={"Origin": f"http://{host}.evil"}).status == 403
    assert server.put(path, {}, headers={"Sec-Fetch-Site": "cross-site"}).status == 403
    assert server.put(path, {}, headers={"Sec-Fetch-Site": "same-site"}).status == 403
    assert server.get("/api/v1").headers["Access-Control-Allow-Origin"] is None
    assert server.put(path, {}, headers={"Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}).status == 201


def test_secrets_are_not_logged(serve, tokens):
    server = serve(*tokens)
    server.get(f"/api/v1?token={WRITE}", headers=bearer("guess-guess-guess-guess"))
    server.get("/api/v1", headers=basic("guess-guess-guess-guess"))
    server.get(f"/nothing?{WRITE}", headers=bearer(WRITE))
    server.stop()
    wait_for(lambda: any("status=401" in line for line in server.log), "it is logged")
    assert not any(WRITE in line or "guess" in line for line in server.log), server.log


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
    server.ask("PATCH", "/api/v1/streams/a", {"mute": "SECRET"})
    server.get("/api/v1/streams/a/proposal?episode=1&key=SECRET")
    server.stop()
    assert sum("event=refused" in line for line in server.log) > 10, server.log
    assert not [line for line in server.log if "SECRET" in line]


def changes(server):
    server.stop()
    pairs = [dict(re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S*)', line)) for line in server.log if "event=change" in line]
    return [(one["method"], one["path"], one["status"], one.get("user"), one["from"]) for one in pairs]


def test_changes_are_logged(serve, tokens):
    server, stream = serve(*tokens), "/api/v1/streams/web-1"

    def ask(method, path, body=None, token=WRITE, **headers):
        server.ask(method, path, body, headers={**bearer(token), **headers})

    ask("PUT", stream, {"alert-rate": 0.01})
    ask("PUT", stream, {"alert-rate": 0.01})  # changes nothing
    ask("POST", stream + "/rows", "secretcolumn\n12345\n")
    ask("POST", "/api/v1/streams/web-2/rows?create=true", "secretcolumn\n12345\n")
    ask("DELETE", stream, token=READ)  # refused
    ask("POST", "/query?q=CREATE%20DATABASE%20x")  # does nothing
    ask("POST", "/write?db=web-3", "no line of Influx")  # refused
    ask("PATCH", stream, {"alert-rate": 0.02}, **{"X-Forwarded-User": "somebody"})  # not a proxy
    ask("PATCH", stream + "?try=true", {"mute": "column=x"})  # changes nothing
    ask("DELETE", stream)
    assert changes(server) == [
        ("PUT", stream, "201", None, "127.0.0.1"),
        ("POST", "/api/v1/streams/web-2/rows", "200", None, "127.0.0.1"),
        ("PATCH", stream, "200", None, "127.0.0.1"),
        ("DELETE", stream, "204", None, "127.0.0.1"),
    ]
    text = "".join(server.log)
    assert "12345" not in text and WRITE not in text and READ not in text


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


def test_ipv6_loopback(serve):
    server = serve("--listen", "[::1]:0")
    assert server.address.startswith("http://[::1]:") and server.get("/healthz").status == 200


def test_a_taken_port_is_reported(server):
    code, message = refused("--listen", f"127.0.0.1:{server.port}")
    assert code == 1 and "port 0 chooses a free one" in message
    for address in ("nonsense", "127.0.0.1", "::1:80", "127.0.0.1:", "127.0.0.1:x"):
        assert "expected HOST:PORT" in refused("--listen", address)[1], address
    for port in ("99999", "65536", "18446744073709551617"):
        code, message = refused("--listen", f"127.0.0.1:{port}")
        assert code != 0 and "0 to 65535" in message, message


def test_a_data_folder_that_cannot_be_used_is_reported_before_anyone_is_served(tmp_path, serve):
    (tmp_path / "file").write_text("")
    code, message = refused("--listen", "127.0.0.1:0", "--data", str(tmp_path / "file"))
    assert code == 1 and str(tmp_path / "file") in message and "listening" not in message, message
    serve("--data", str(tmp_path / "data"))
    code, message = refused("--listen", "127.0.0.1:0", "--data", str(tmp_path / "data"))
    assert code == 1 and "listening" not in message, message


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
            path.chmod(0o644)  # as a backup may restore them
    server.start()
    server.stop()
    assert not [path for path in wide() if "/streams/a/" in path]


def test_times_may_be_milliseconds(serve):
    serve("--save-every", "50ms")
    assert "50ms" in refused("--save-every", "2x")[1]

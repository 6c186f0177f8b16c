"""Each route of the API, and that results are those of `oif score`."""

import gzip
import json
import re
import socket
import subprocess
import threading
import time
import urllib.parse

import pytest
from conftest import OIF, SECONDS, make_rows, score, to_csv, to_ndjson

NDJSON = {"Content-Type": "application/x-ndjson"}
CSV = {"Content-Type": "text/csv"}
COUNT = {"Accept": "application/json"}
STREAM = "/api/v1/streams/pump"


def fill(server, rows, settings=None, path=STREAM):
    assert server.put(path, settings or {}).status in (200, 201)
    answer = server.post(path + "/rows", to_ndjson(rows), headers=NDJSON)
    assert answer.status == 200, answer.text
    return answer


# ---- The server ----


def test_health_readiness_and_root(server):
    assert server.get("/healthz").json == {"status": "ok"}
    assert server.get("/readyz").status == 200
    root = server.get("/api/v1").json
    assert root["name"] == "oif" and root["streams"] == 0 and root["read_only"] is False


def test_every_answer_has_the_headers_that_protect_the_page(server):
    for path in ("/", "/api/v1", "/nothing"):
        headers = server.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'self'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]


def test_the_page_is_cached_by_its_tag(server):
    page = server.get("/")
    assert page.headers["Content-Type"].startswith("text/html")
    again = server.get("/", headers={"If-None-Match": page.headers["ETag"]})
    assert again.status == 304 and again.body == b""
    assert server.get("/", headers={"If-None-Match": '"other"'}).status == 200


@pytest.mark.parametrize("path", ["/healthz", "/api/v1", "/api/v1/streams", "/api/v1/openapi.json", "/"])
def test_head_is_get_without_the_body(server, path):
    head = server.ask("HEAD", path)
    assert head.status == 200 and head.body == b""
    assert int(head.headers["Content-Length"]) == len(server.get(path).body)


@pytest.mark.parametrize("method", ["POST", "DELETE", "PATCH", "TRACE", "CONNECT", "BREW"])
def test_other_methods_are_refused_with_those_that_are_allowed(server, method):
    answer = server.ask(method, "/api/v1/streams")
    assert answer.status == 405 and answer.headers["Allow"] == "GET, HEAD, OPTIONS"
    options = server.ask("OPTIONS", STREAM)
    assert options.status == 204 and options.headers["Allow"] == "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"


def test_unknown_paths_and_parameters_are_refused(server):
    server.put(STREAM, {})
    for path in ("/api", "/api/v2", "/api/v1/", "/api/v1/streams/pump/", "/api/v1/streams/pump/none", "/x/y"):
        assert server.get(path).status == 404, path
    answer = server.get(STREAM + "/keys?ordr=name")
    assert answer.status == 400 and "ordr" in answer.error["message"] and "order" in answer.error["remedy"]
    assert server.get(STREAM + "/keys?limit=1&limit=2").status == 400
    for query in ("limit=-1", "limit=x", "limit=", "limit=99999999999", "order=nonsense", "offset=1e3"):
        assert server.get(f"{STREAM}/keys?{query}").status == 400, query
    for query in ("since=yesterday", "open=1", "open="):
        assert server.get(f"{STREAM}/episodes?{query}").status == 400, query
    for query in ("since=1700000000", "since=2026-11-15T19:05:01Z", "open=true", "key=a%20b+c", "key=%00"):
        assert server.get(f"{STREAM}/episodes?{query}").status == 200, query


# ---- Streams ----


def test_a_stream_is_created_once(server):
    settings = {"key": "host", "num-trees": 40}
    made = server.put(STREAM, settings)
    assert made.status == 201 and made.headers["Location"] == STREAM
    assert made.json["name"] == "pump" and made.json["rows"] == 0 and made.json["error"] is None
    assert server.put(STREAM, settings).status == 200
    assert server.put(STREAM, {"key": "host", "num_trees": 40}).status == 200
    other = server.put(STREAM, {"key": "host", "num-trees": 41})
    assert other.status == 409 and "num-trees" in other.error["message"]
    assert [stream["name"] for stream in server.get("/api/v1/streams").json["streams"]] == ["pump"]
    assert server.get(STREAM).json["settings"]["key"] == "host"
    assert server.ask("DELETE", STREAM).status == 204
    assert server.get(STREAM).status == server.ask("DELETE", STREAM).status == 404
    assert server.get("/api/v1/streams").json["streams"] == []


@pytest.mark.parametrize("name", ["..", ".", ".hidden", "a%2fb", "a%5cb", "%00", "a%0ab", "-x", "a" * 65, "%c3%a4", "a%20b"])
def test_names_cannot_leave_the_data_folder(server, name):
    answer = server.put("/api/v1/streams/" + name, {})
    assert answer.status in (400, 404), answer.text
    assert server.get("/api/v1/streams").json["streams"] == []


@pytest.mark.parametrize("name", ["a", "A.b-c_d", "0", "a" * 64, "a..b"])
def test_usual_names_are_taken(server, name):
    assert server.put("/api/v1/streams/" + name, {}).status == 201


def test_settings_are_checked_as_options_are(server):
    for settings, word in (
        ({"num-trees": 0}, "num-trees"),
        ({"num-tres": 3}, "num-trees"),
        ({"detector": "nonsense"}, "nonsense"),
        ({"state": "/etc/passwd"}, "state"),
        ({"on-alert": "rm -rf /"}, "on-alert"),
        ({"output-file": "/tmp/x"}, "output-file"),
    ):
        answer = server.put(STREAM, settings)
        assert answer.status == 400 and word in answer.text, answer.text
    broken = server.put(STREAM, '{"key": \n "host",}', headers={"Content-Type": "application/json"})
    assert broken.status == 400 and broken.error["line"] == 2 and broken.error["column"] > 0
    assert server.put(STREAM, "[]", headers={"Content-Type": "application/json"}).status == 400
    assert server.put(STREAM, '{"a": 1, "a": 2}', headers={"Content-Type": "application/json"}).status == 400
    assert server.put(STREAM, "a: b", headers={"Content-Type": "text/yaml"}).status == 415
    assert server.get("/api/v1/streams").json["streams"] == []


def test_settings_that_decide_about_alerts_can_be_changed(server):
    server.put(STREAM, {"alert-rate": 0.01})
    changed = server.ask("PATCH", STREAM, {"alert-rate": 0.02})
    assert changed.status == 200 and changed.json["settings"]["alert-rate"] == 0.02
    assert server.ask("PATCH", STREAM, {"num-trees": 64}).status == 409
    unknown = server.ask("PATCH", STREAM, {"num-tres": 1})
    assert unknown.status == 400 and "num-trees" in unknown.error["message"]
    assert server.ask("PATCH", STREAM, {"num-trees": "many"}).status == 400
    assert server.ask("PATCH", STREAM).status == 400
    assert server.ask("PATCH", "/api/v1/streams/none", {}).status == 404


def test_rules_hold_back_alerts_and_can_be_changed(server):
    rows = [row for number, row in enumerate(make_rows(1600)) if number % 97 != 96][:1500]
    for row in rows[1000::50]:
        row["x0"] = 100.0
    fill(server, rows[:1200], {"mute": ["column=x0 direction=high # known", "reason=jump,level,spread"]})
    stream = server.get(STREAM).json
    assert [rule["rule"] for rule in stream["rules"]] == ["mute column=x0 direction=high # known", "mute reason=jump,level,spread"]
    assert stream["rules"][0]["held"] >= 2
    before = stream["alerts"]
    assert server.ask("PATCH", STREAM, {"mute": "column=x0 change<1000%"}).status == 200
    server.post(STREAM + "/rows", to_ndjson(rows[1200:1300]), headers=NDJSON)
    assert server.get(STREAM).json["rules"][0]["rule"] == "mute column=x0 change<1000%"
    assert server.ask("PATCH", STREAM, {"mute": None}).json["rules"] == []
    server.post(STREAM + "/rows", to_ndjson(rows[1300:]), headers=NDJSON)
    assert server.get(STREAM).json["alerts"] > before
    for settings, cause, word in (
        ({"mute": "colum=x0"}, None, "column=latency"),
        ({"mute": "column=y9"}, "unknown_column", "y9"),
        ({"mute": "ignore from=yesterday"}, None, "a value of from="),
        ({"rules": "/etc/passwd"}, None, "reads no files"),
    ):
        answer = server.ask("PATCH", STREAM, settings)
        assert answer.status == 400 and word in answer.text and answer.error.get("cause") == cause, answer.text
    assert server.get(STREAM).json["rules"] == []


def test_numbers_of_settings_are_shown_as_they_were_written(server):
    server.put(STREAM, {"alert-rate": 0.3, "key": "a\"\u00e9", "columns": ["x", "y"], "digits": 2, "strict": True, "label": None})
    server.ask("PATCH", STREAM, {"alert-rate": 0.1})
    text = server.get(STREAM).text
    assert '"alert-rate":0.1,' in text or '"alert-rate":0.1}' in text, text
    assert json.loads(text)["settings"] == {"alert-rate": 0.1, "key": 'a"\u00e9', "columns": ["x", "y"], "digits": 2, "strict": True, "label": None}


# ---- Rows ----


def test_errors_have_a_cause_to_decide_by(server):
    assert server.put(STREAM, {"detector": "forest"}).error["cause"] == "unknown_detector"
    assert server.put(STREAM, {"num-trees": "many"}).error["cause"] == "parameter_range"
    server.put(STREAM, {"digits": 2})
    for body, cause in (
        ("x,y\n1,2\n3\n", "too_few_fields"),
        ("x,y\n1,2\n3,4,5\n", "too_many_fields"),
        ("x,y\n1,2\n3,4,\n", "trailing_delimiter"),
        ("x,y\n1,2\n3,inf\n", "infinite_value"),
        ("x,y\n1,2\n3,up\n", "not_a_number"),
    ):
        answer = server.post(STREAM + "/rows", body, headers=CSV)
        assert (answer.status, answer.error["cause"]) == (400, cause), answer.text
    array = server.post(STREAM + "/rows", '[{"x": 1}]', headers=NDJSON)
    assert (array.status, array.error["cause"]) == (400, "bad_json"), array.text
    other = server.post(STREAM + "/rows", "x,y\n1,2\n") and server.post(STREAM + "/rows", "x,z\n1,2\n", headers=CSV)
    assert (other.status, other.error["cause"]) == (409, "unknown_column"), other.text
    assert server.put(STREAM, {"bogus": 5}).error["cause"] == "unknown_parameter"
    assert "cause" not in server.get("/api/v1/streams/none").error


def test_a_stream_can_be_created_by_its_first_rows(server):
    rows = to_csv(make_rows(300))
    missing = server.post(STREAM + "/rows", rows, headers=CSV)
    assert missing.status == 404
    assert "?create=true" in missing.error["remedy"] and f"http://{server.host}:{server.port}{STREAM}" in missing.error["remedy"]
    assert server.post(STREAM + "/rows?create=false", rows, headers=CSV).status == 404
    assert server.post(STREAM + "/rows?create=yes", rows, headers=CSV).status == 400
    assert server.post(STREAM + "/rows?create=true&answer=none", rows, headers=CSV).status == 400
    assert server.post("/api/v1/streams/-x/rows?create=true", rows, headers=CSV).status == 400
    assert server.get("/api/v1/streams").json["streams"] == []
    assert server.post(STREAM + "/rows?create=true", rows, headers=CSV).text == score(rows)
    assert server.post(STREAM + "/rows?create=true", rows, headers=CSV).headers["Oif-Rows"] == "600"
    assert server.get(STREAM).json["settings"] == {}


def test_create_leaves_the_settings_of_a_stream_alone(server):
    server.put(STREAM, {"num-trees": 20})
    assert server.post(STREAM + "/rows?create=true", to_csv(make_rows(3)), headers=CSV).status == 200
    assert server.get(STREAM).json["settings"] == {"num-trees": 20}


def test_many_clients_create_one_stream(server):
    statuses = []

    def post():
        statuses.append(server.post(STREAM + "/rows?create=true", to_ndjson(make_rows(5)), headers=NDJSON).status)

    clients = [threading.Thread(target=post) for _ in range(20)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert statuses == [200] * 20 and server.get(STREAM).json["rows"] == 100


def test_the_examples_of_help_work(server, tmp_path):
    text = subprocess.run([OIF, "serve", "--help"], capture_output=True, check=True, timeout=SECONDS).stdout.decode()
    (tmp_path / "readings.csv").write_text(to_csv(make_rows(50)))
    commands = re.findall(r"^ +(curl (?:.*\\\n)*.*)$", text, re.MULTILINE)
    assert commands
    for command in commands:
        command = command.replace("http://127.0.0.1:8571", server.address)
        done = subprocess.run(["sh", "-c", command.replace("curl ", "curl -sS --fail ")], cwd=tmp_path, capture_output=True, timeout=SECONDS)
        assert done.returncode == 0, done.stderr.decode()
        assert len(done.stdout.decode().splitlines()) == 51, done.stdout


@pytest.mark.parametrize(
    "settings, options",
    [
        ({}, []),
        ({"key": "host"}, ["--key", "host"]),
        ({"mute": ["column=x1", "key=b"]}, ["--mute", "column=x1", "--mute", "key=b"]),
        ({"detector": "hst", "columns": ["x0", "x1"]}, ["--detector", "hst", "--columns", "x0,x1"]),
        ({"digits": 5, "alert-rate": 0.02}, ["--digits", "5", "--alert-rate", "0.02"]),
        ({"num-trees": 20, "window-size": 128, "fields": "score,severity"}, ["--num-trees", "20", "--window-size", "128", "--fields", "score,severity"]),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("form", ["ndjson", "csv"])
def test_results_are_those_of_oif_score(server, settings, options, form):
    rows = make_rows(1200, keys=3)
    expected = score(to_ndjson(rows) if form == "ndjson" else to_csv(rows), *options)
    server.put(STREAM, settings)
    got, at = "", 0
    for size in (500, 1, 7, 300, 392):
        part = rows[at : at + size]
        text = to_ndjson(part) if form == "ndjson" else to_csv(part, header=at in (0, 501))
        answer = server.post(STREAM + "/rows", text, headers=NDJSON if form == "ndjson" else CSV)
        assert answer.status == 200, answer.text
        lines = answer.text.splitlines(keepends=True)
        got += "".join(lines[1:] if form == "csv" and at > 0 and lines[0] == expected.splitlines(keepends=True)[0] else lines)
        at += size
        assert int(answer.headers["Oif-Rows"]) == at
    assert got == expected


def test_a_body_may_be_compressed(server):
    text = to_csv(make_rows(300))
    expected = score(text)
    for name, body in (
        ("gzip", gzip.compress(text.encode())),
        ("zstd", subprocess.run(["zstd", "-c"], input=text.encode(), capture_output=True, check=True, timeout=SECONDS).stdout),
    ):
        path = f"/api/v1/streams/{name}"
        server.put(path, {})
        assert server.post(path + "/rows", body, headers={**CSV, "Content-Encoding": name}).text == expected


def test_the_answer_may_be_short(server):
    server.put(STREAM, {"alert-rate": 0.02})
    text = to_ndjson(make_rows(500))
    count = server.post(STREAM + "/rows", text, headers={**NDJSON, **COUNT}).json
    assert count["rows"] == count["accepted"] == 500 and count["skipped"] == count["bad"] == 0
    minimal = server.post(STREAM + "/rows", text, headers={**NDJSON, "Prefer": "return=minimal"}).json
    assert minimal["rows"] == 1000
    alerts = server.post(STREAM + "/rows?answer=alerts", text, headers=NDJSON)
    lines = [json.loads(line) for line in alerts.text.splitlines()]
    assert len(lines) == int(alerts.headers["Oif-Alerts"]) > 0
    assert all(line["oif"]["anomaly"] == 1 for line in lines)


def test_first_row_makes_a_batch_idempotent(server):
    server.put(STREAM, {})
    rows = make_rows(100)
    expected = score(to_ndjson(rows)).splitlines()

    def post(first, part):
        return server.post(f"{STREAM}/rows?first_row={first}", to_ndjson(part), headers=NDJSON)

    assert post(0, rows[:50]).text.splitlines() == expected[:50]
    again = post(0, rows[:50])
    assert again.text == "" and again.headers["Oif-Skipped"] == "50" and again.headers["Oif-Rows"] == "50"
    overlap = post(30, rows[30:80])
    assert overlap.text.splitlines() == expected[50:80] and overlap.headers["Oif-Skipped"] == "20"
    gap = post(81, rows[81:])
    assert gap.status == 409 and gap.json["rows"] == 80
    assert post(80, rows[80:]).text.splitlines() == expected[80:]


def test_a_bad_row_is_reported_with_its_place(server):
    server.put(STREAM, {})
    rows = to_ndjson(make_rows(3))
    answer = server.post(STREAM + "/rows", rows + '{"x0": 1, "x1": oops}\n' + rows, headers=NDJSON)
    assert answer.status == 400 and answer.error["line"] == 4 and answer.error["column"] > 1
    assert answer.json["rows"] == 3 and server.get(STREAM).json["rows"] == 3
    assert server.post(STREAM + "/rows", rows, headers={"Content-Type": "image/png"}).status == 415
    assert server.post(STREAM + "/rows?answer=none", rows).status == 400
    assert server.post("/api/v1/streams/none/rows", rows).status == 404


def test_durable_rows_are_saved(serve, tmp_path):
    server = serve("--data", str(tmp_path / "data"), "--save-every", "1h")
    server.put(STREAM, {})
    text = to_ndjson(make_rows(50))
    server.post(STREAM + "/rows", text, headers=NDJSON)
    answer = server.post(STREAM + "/rows?durable=true", text, headers={**NDJSON, **COUNT})
    assert answer.json["rows"] == answer.json["saved"] == 100
    server.kill()
    server.start()
    assert server.get(STREAM).json["rows"] == 100


def test_durable_rows_are_saved_whatever_the_saver_does_meanwhile(serve, tmp_path):
    server = serve("--data", str(tmp_path / "data"), "--save-every", "0.01")
    server.put(STREAM, {})
    connection = server.connect()
    body = to_ndjson(make_rows(300))
    for _ in range(300):
        answer = server.post(STREAM + "/rows?durable=true&answer=count", body, headers=NDJSON, connection=connection)
        assert answer.json["saved"] == answer.json["rows"], answer.text


def test_a_large_body_is_answered_as_soon_as_it_is_scored(server):
    # A separate thread scores it. The one that waits for clients must hear of it at once.
    server.put(STREAM, {})
    connection = server.connect()
    third = to_ndjson(make_rows(1500))
    assert len(third) < 1 << 17 < len(third) * 3

    def seconds_of(*bodies):
        began = time.monotonic()
        for body in bodies * 10:
            server.post(STREAM + "/rows?answer=count", body, headers=NDJSON, connection=connection)
        return time.monotonic() - began

    assert seconds_of(third * 3) < 10 * seconds_of(third, third, third)


def test_a_durable_batch_that_is_sent_again_is_saved_too(serve, tmp_path):
    server = serve("--data", str(tmp_path / "data"), "--save-every", "1h")
    server.put(STREAM, {})
    body = to_ndjson(make_rows(10))
    assert server.post(STREAM + "/rows?first_row=0", body, headers={**NDJSON, **COUNT}).json["saved"] == 0
    again = server.post(STREAM + "/rows?first_row=0&durable=true", body, headers={**NDJSON, **COUNT}).json
    assert again["skipped"] == again["saved"] == 10


# ---- What is known ----


@pytest.fixture
def filled(server):
    rows = [{"at": 1_700_000_000 + 60 * i, **row} for i, row in enumerate(make_rows(3000, keys=3))]
    fill(server, rows, {"key": "host", "time": "at", "alert-rate": 0.02})
    return server


def test_keys_points_episodes_and_alerts(filled):
    stream = filled.get(STREAM).json
    assert stream["rows"] == 3000 and stream["keys"] == 3 and stream["key"] == "host" and stream["time"] == "at"
    keys = filled.get(STREAM + "/keys?order=name").json
    assert [key["key"] for key in keys["keys"]] == ["h0", "h1", "h2"] and keys["total"] == 3
    assert [key["key"] for key in filled.get(STREAM + "/keys?order=name&limit=1&offset=1").json["keys"]] == ["h1"]
    assert [key["key"] for key in filled.get(STREAM + "/keys?find=2").json["keys"]] == ["h2"]
    points = filled.get(STREAM + "/points?key=h1&limit=20").json
    assert len(points["rows"]) == len(points["severities"]) == len(points["times"]) == 20
    assert all(row % 3 == 1 for row in points["rows"]) and set(points["values"]) >= {"x0", "x1", "x2"}
    assert "expected" not in points
    expected = filled.get(STREAM + "/points?key=h1&limit=20&expected=true").json["expected"]
    assert set(expected) == {"x0", "x1", "x2"} and all(len(pairs) == 20 for pairs in expected.values())
    assert filled.get(STREAM + "/points?expected=maybe").status == 400
    alerts = filled.get(STREAM + "/alerts?limit=5").json["alerts"]
    assert 0 < len(alerts) <= 5 and alerts == sorted(alerts, key=lambda alert: -alert["row"])
    assert alerts[0]["reasons"][0]["column"] in ("x0", "x1", "x2")
    episodes = filled.get(STREAM + "/episodes").json["episodes"]
    assert episodes and all(episode["stream"] == "pump" for episode in episodes)
    assert filled.get(STREAM + "/points?key=none").status == 404
    now = filled.get("/api/v1/now").json
    assert now["streams"][0]["name"] == "pump" and all(episode["ended"] is None for episode in now["episodes"])


def test_a_key_can_be_forgotten(filled):
    assert filled.ask("DELETE", STREAM + "/keys?key=h1").status == 204
    assert filled.ask("DELETE", STREAM + "/keys?key=h1").status == 404
    assert filled.ask("DELETE", STREAM + "/keys").status == 400
    assert filled.get(STREAM + "/keys").json["total"] == 2


# ---- Events ----


class Events:
    """Reads server-sent events from a connection of its own."""

    def __init__(self, server, path, headers=""):
        self.connection = server.socket()
        self.connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode())
        self.lines = self.connection.makefile("rb")
        self.status = int(self.lines.readline().split()[1])
        while self.lines.readline().strip():
            pass

    def next(self):
        event, end = {}, time.monotonic() + SECONDS
        while time.monotonic() < end:
            line = self.lines.readline()
            assert line, "the server has ended the events"
            line = line.decode().rstrip("\r\n")
            if line.startswith(("id: ", "event: ", "data: ")):
                name, value = line.split(": ", 1)
                event[name] = json.loads(value) if name == "data" else value
            elif line == "" and "data" in event:
                return event
        pytest.fail(f"no event in {SECONDS} s, only what keeps the connection open")


def test_events_come_as_rows_come(server):
    server.put(STREAM, {"alert-rate": 0.02})
    watcher = Events(server, "/api/v1/events?stream=pump")
    assert watcher.status == 200
    answer = server.post(STREAM + "/rows", to_ndjson(make_rows(700)), headers=NDJSON)
    anomalies = [row for row, line in enumerate(answer.text.splitlines()) if json.loads(line)["oif"]["anomaly"]]
    alerts, kinds = [], set()
    while len(alerts) < len(anomalies) or "stream" not in kinds:
        event = watcher.next()
        kinds.add(event["event"])
        alerts += [event["data"]["row"]] if event["event"] == "alert" else []
    assert alerts == anomalies != [] and kinds >= {"alert", "episode", "stream"}


def test_events_continue_after_the_last_one(server):
    fill(server, make_rows(500), {"alert-rate": 0.05})
    first = Events(server, "/api/v1/events", "Last-Event-ID: 0\r\n")
    one, two = first.next(), first.next()
    second = Events(server, "/api/v1/events", f"Last-Event-ID: {one['id']}\r\n")
    assert second.next() == two
    assert Events(server, "/api/v1/events", "Last-Event-ID: x\r\n").status == 400
    assert server.get("/api/v1/events?rows=true").status == 400
    assert server.get("/api/v1/events?stream=none").status == 404


def test_a_resumed_client_hears_that_events_were_lost(server):
    fill(server, make_rows(300), {"alert-rate": 0.5})
    old = Events(server, "/api/v1/events", "Last-Event-ID: 0\r\n").next()
    assert old["event"] != "lost"
    restarted = Events(server, "/api/v1/events", "Last-Event-ID: 987654\r\n").next()  # a number of an earlier run
    assert restarted["event"] == "lost"
    hosts = [{"host": f"h{key}", "x0": i % 7 if i < 60 else (-10.0) ** (i - 60)} for key in range(400) for i in range(100)]
    server.put("/api/v1/streams/hosts", {"key": "host", "alert-rate": 0.5})
    count = server.post("/api/v1/streams/hosts/rows", to_ndjson(hosts), headers={**NDJSON, **COUNT}).json
    assert count["alerts"] > 8192, "more than are kept"
    resumed = Events(server, "/api/v1/events", f"Last-Event-ID: {old['id']}\r\n")
    lost, after = resumed.next(), resumed.next()
    assert lost["event"] == "lost" and lost["data"]["after"] == int(old["id"])
    assert lost["data"]["until"] == int(lost["id"]) < int(after["id"]) and after["event"] != "lost"


def test_many_watchers_and_one_that_does_not_read(server):
    server.put(STREAM, {"alert-rate": 0.02})
    lazy = server.socket()
    lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    lazy.sendall(b"GET /api/v1/events?stream=pump HTTP/1.1\r\nHost: localhost\r\n\r\n")
    watchers = [Events(server, "/api/v1/events") for _ in range(200)]
    for _ in range(4):
        assert server.post(STREAM + "/rows", to_ndjson(make_rows(20_000)), headers={**NDJSON, **COUNT}).status == 200
    for watcher in watchers:
        assert watcher.next()["event"] in ("alert", "episode", "incident", "stream")
    assert server.get("/healthz").status == 200
    lazy.close()


def test_a_key_that_is_too_long_for_a_query_may_be_in_a_form(server):
    key = "é" * 32768  # 64 KB, the longest one, and three times that in a form
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    asked = urllib.parse.urlencode({"key": key, "limit": 2})
    server.put(STREAM, {"key": "host"})
    assert server.post(STREAM + "/rows", to_ndjson([{"host": name, "x": i} for i in range(3) for name in (key, "b")]), headers=NDJSON).status == 200
    assert server.get(STREAM + "/points?" + asked).status == 414
    points = server.post(STREAM + "/points", asked, headers=form).json
    assert points["key"] == key and points["values"] == {"x": [1, 2]}
    assert server.post(STREAM + "/points?limit=1", urllib.parse.urlencode({"key": key}), headers=form).json["rows"] == [4]
    assert server.post(STREAM + "/episodes", asked, headers=form).json == {"episodes": []}
    assert server.post(STREAM + "/alerts", asked, headers=form).json == {"alerts": []}
    for wrong, status in (("key=a&nope=1", 400), ("key=a&key=b", 400), ("key=%zz", 400), ("key=a\0b", 400), ("limit=x", 400), ("key=none", 404)):
        assert server.post(STREAM + "/points", wrong, headers=form).status == status, wrong
    assert server.post(STREAM + "/points?key=b", "key=b", headers=form).status == 400
    assert server.post(STREAM + "/points", '{"key": "b"}', headers={"Content-Type": "application/json"}).status == 415
    assert server.ask("DELETE", STREAM + "/keys", urllib.parse.urlencode({"key": key}), headers=form).status == 204
    assert [one["key"] for one in server.get(STREAM + "/keys").json["keys"]] == ["b"]

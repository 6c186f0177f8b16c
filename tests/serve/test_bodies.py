"""What may come as rows: a body is understood or refused with the reason, and a refused one leaves nothing behind."""

import json
import os
import re
import threading

import pytest
from conftest import make_rows, to_csv, to_ndjson

STREAM = "/api/v1/streams/pump"
NDJSON = {"Content-Type": "application/x-ndjson"}
CSV = {"Content-Type": "text/csv"}
JSON = {"Content-Type": "application/json"}
PLAIN = {"Content-Type": "text/plain"}
COUNT = "answer=count"
LONG = "y" * 200_000


def streams(server):
    return [stream["name"] for stream in server.get("/api/v1/streams").json["streams"]]


def post(server, body, headers, query=COUNT, stream=STREAM):
    return server.post(f"{stream}/rows?{query}", body, headers=headers)


# ---- A refused post leaves nothing behind ----


@pytest.mark.parametrize(
    "body, headers, status",
    [
        ("[1]", JSON, 400),
        ("", NDJSON, 400),
        (" \n", {}, 400),
        ("x,y\n1\n", CSV, 400),
        ("{", NDJSON, 400),
        ("hello", PLAIN, 400),
        ("\0\1\2", {}, 415),
        ("%PDF-1.4\n", {}, 400),
        ("a: 1\n", {"Content-Type": "text/yaml"}, 415),
        (",".join(f"c{i}" for i in range(1100)) + "\n" + ",".join(["1"] * 1100) + "\n", CSV, 413),
        ("x" * 200_000, CSV, 413),
        ("x\n1\n", {**CSV, "Content-Encoding": "br"}, 415),
        ("x\n1\n", {**CSV, "Content-Encoding": "gzip"}, 400),
        ("x\n1\n", {**CSV, "Origin": "http://elsewhere.example"}, 403),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_refused_post_makes_no_stream(serve, tmp_path, body, headers, status):
    server = serve("--max-body", "100K", "--data", str(tmp_path / "data"))
    answer = post(server, body, headers, "create=true&answer=count")
    assert answer.status == status, answer.text
    assert streams(server) == []
    assert server.get(STREAM).status == 404
    assert list((tmp_path / "data" / "streams").glob("[!.]*")) == []


def test_parameters_that_are_refused_make_no_stream(server):
    for query in ("first_row=5", "durable=maybe", "key=a,,b", "time=none", "format=nonsense", "nonsense=1"):
        assert post(server, "x\n1\n", CSV, "create=true&" + query).status in (400, 409), query
        assert streams(server) == [], query


def test_refused_posts_do_not_use_up_the_streams(serve):
    server = serve("--max-streams", "3")
    for number in range(20):
        assert post(server, "[1]", JSON, "create=true", f"/api/v1/streams/s{number}").status == 400
    for number in range(3):
        assert post(server, "x\n1\n", CSV, "create=true", f"/api/v1/streams/t{number}").status == 200
    assert post(server, "x\n1\n", CSV, "create=true", "/api/v1/streams/t3").status == 429


def test_refused_posts_hold_no_file(serve, tmp_path):
    server = serve("--data", str(tmp_path / "data"))

    def files():
        links = [f"/proc/{server.process.pid}/fd/{name}" for name in os.listdir(f"/proc/{server.process.pid}/fd")]
        return sorted(os.readlink(link) for link in links if os.path.lexists(link) and str(tmp_path) in os.readlink(link))

    before = files()
    for number in range(60):
        body, headers = (("[1]", JSON), ("", NDJSON), ("x,y\n1\n", CSV), ("hello", PLAIN))[number % 4]
        assert post(server, body, headers, "create=true", f"/api/v1/streams/s{number}").status == 400
    assert files() == before


def test_good_and_bad_posts_at_once_leave_one_stream_with_the_good_rows(server):
    statuses = []

    def run(body):
        for _ in range(20):
            statuses.append(post(server, body, NDJSON, "create=true&answer=count").status)

    clients = [threading.Thread(target=run, args=(body,)) for body in ('{"x": up}\n', '{"x": 1}\n', '{"x":\n')]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert statuses.count(200) == 20 and statuses.count(400) == 40
    assert server.get(STREAM).json["rows"] == 20


def test_a_stream_that_was_put_stays_after_a_refused_post(server):
    assert server.put(STREAM, {}).status == 201
    assert post(server, "[1]", JSON, "create=true").status == 400
    assert streams(server) == ["pump"]


def test_a_header_that_came_alone_makes_its_stream(server):
    answer = post(server, "x,y\n", CSV, "create=true&answer=count")
    assert answer.status == 200 and answer.json["accepted"] == 0 and "header" in answer.json["note"]
    assert post(server, "1,2\n", CSV).json["accepted"] == 1
    assert server.get(STREAM).json["columns"] == ["x", "y"]


def test_a_crash_after_a_refused_post_leaves_no_stream(serve, tmp_path):
    server = serve("--data", str(tmp_path / "data"))
    post(server, '{"x":\n', NDJSON, "create=true")
    post(server, '{"x": 1}\n', NDJSON, "create=true&durable=true", "/api/v1/streams/kept")
    server.kill()
    server.start()
    assert streams(server) == ["kept"]


# ---- Saved ----


def test_without_a_data_folder_nothing_is_saved(serve):
    server = serve()
    answer = post(server, "x\n1\n2\n", CSV, "create=true&answer=count")
    assert answer.json["rows"] == 2 and answer.json["saved"] == 0
    assert answer.headers["Oif-Saved"] == "0"
    assert server.get(STREAM).json["saved"] == 0


def test_without_a_data_folder_nothing_can_be_durable(serve):
    server = serve()
    answer = post(server, "x\n1\n", CSV, "create=true&durable=true")
    assert answer.status == 409 and "stores nothing" in answer.error["message"]
    assert streams(server) == []
    assert post(server, "x\n1\n", CSV, "create=true&durable=false").status == 200


def test_with_a_data_folder_durable_rows_are_saved(server):
    answer = post(server, "x\n1\n2\n", CSV, "create=true&durable=true&answer=count")
    assert answer.json["saved"] == answer.json["rows"] == 2


# ---- Settings by query ----


def test_key_and_time_of_a_new_stream_may_be_parameters(server):
    rows = "at,host,x\n2026-11-15T00:00:00Z,a,1\n2026-11-15T00:00:01Z,b,2\n"
    assert post(server, rows, CSV, "create=true&key=host&time=at").status == 200
    stream = server.get(STREAM).json
    assert stream["settings"] == {"key": "host", "time": "at"} and stream["keys"] == 2
    assert post(server, rows, CSV, "create=true&key=host&time=at").status == 200
    other = post(server, rows, CSV, "create=true&key=at")
    assert other.status == 409 and "key" in other.error["message"], other.text
    assert server.get(STREAM).json["rows"] == 4


def test_a_key_may_have_several_columns(server):
    assert post(server, "a,b,x\n1,2,3\n1,3,3\n", CSV, "create=true&key=a,b").status == 200
    assert [key["key"] for key in server.get(STREAM + "/keys?order=name").json["keys"]] == ["1/2", "1/3"]


def test_the_format_may_be_a_parameter(server):
    assert post(server, "x,y\n", {}, "create=true&format=csv").status == 200
    assert post(server, "1,2\n", JSON, "format=csv&answer=count").json["accepted"] == 1
    answer = post(server, "1,2\n", CSV, "format=ndjson")
    assert answer.status == 400 and answer.error["cause"] == "bad_json"


# ---- JSON ----


@pytest.mark.parametrize("headers", [JSON, {}, PLAIN, {"Content-Type": "application/json; charset=utf-8"}], ids=str)
def test_an_array_of_objects_is_rows(server, headers):
    rows = make_rows(100)
    server.put(STREAM, {})
    server.put("/api/v1/streams/lines", {})
    answer = server.post(STREAM + "/rows", json.dumps(rows, indent=1), headers=headers)
    assert answer.status == 200, answer.text
    lines = server.post("/api/v1/streams/lines/rows", to_ndjson(rows), headers=NDJSON)
    assert [json.loads(line) for line in answer.text.splitlines()] == [json.loads(line) for line in lines.text.splitlines()]


def test_one_object_is_a_row_however_many_lines_it_has(server):
    assert post(server, json.dumps({"x": 1, "net": {"in": 2}}, indent=2), JSON, "create=true&answer=count").json["accepted"] == 1
    assert server.get(STREAM).json["columns"] == ["x", "net.in"]


def test_lines_may_come_as_json(server):
    assert post(server, '{"x": 1}\n{"x": 2}\n', JSON, "create=true&answer=count").json["accepted"] == 2


@pytest.mark.parametrize(
    "body",
    ["[]", "[1, 2]", '["a"]', "[[1, 2]]", '[{"x": 1}', '[{"x": 1}, 2]', "12", '"x"', "null", "{}", '[{"x": 1}] {"x": 2', '{"x": 1} x', "[{}]"],
)
def test_json_without_rows_is_refused(server, body):
    answer = post(server, body, JSON, "create=true")
    assert answer.status == 400 and ("remedy" in answer.error or "no column is left" in answer.text), answer.text
    assert answer.json.get("rows", 0) == 0 or body.startswith('[{"x": 1}') or body == '{"x": 1} x', answer.text


# ---- Nothing understood is not 200 ----


@pytest.mark.parametrize("body", ["hello\n", "hello", "some words, and more\n", "x,y\n", "# a comment\n"])
def test_text_without_a_row_is_refused_unless_it_is_said_to_be_csv(server, body):
    for headers in (PLAIN, {}, {"Content-Type": "application/x-www-form-urlencoded"}):
        answer = post(server, body, headers, "create=true")
        assert answer.status == 400 and "text/csv" in answer.error["remedy"], answer.text
    server.put(STREAM, {})
    assert post(server, body, PLAIN).status == 400
    assert server.get(STREAM).json["columns"] is None
    assert post(server, "a,b\n1,2\n", PLAIN).status == 200  # the refused line is no header


def test_rows_that_are_all_bad_are_not_200(server):
    server.put(STREAM, {"on-bad-row": "skip"})
    assert post(server, "x,y\n1,2\n3,4\n", CSV).status == 200
    answer = post(server, "1\n2\n", CSV)
    assert answer.status == 400 and "2" in answer.error["message"] and answer.json["rows"] == 2, answer.text
    assert server.get(STREAM).json["bad_rows"] == 2
    assert post(server, "1\n5,6\n", CSV).json == {**post(server, "1\n5,6\n", CSV).json, "accepted": 1, "bad": 1, "rows": 3}


# ---- Messages ----


def answers_about(server, settings, bodies, headers):
    name = f"/api/v1/streams/m{len(streams(server))}"
    made = server.put(name, settings)
    texts = [made.text] if made.status >= 400 else []
    if made.status < 400:
        texts += [answer.text for body in bodies if (answer := server.post(name + "/rows", body, headers=headers)).status >= 400]
        texts += server.get(name).json["notes"]
    return texts


@pytest.mark.parametrize(
    "settings, bodies",
    [
        ({}, ["x,y\n1,2\n", "x,z\n1,2\n", "x\n1\n", "y,x,x\n1,2,3\n", "x,y\n1,up\n", "x,y\n1\n", "inf,1\n"]),
        ({"key": "host"}, ["x,y\n1,2\n"]),
        ({"key": "host"}, ["host,x\na,1\n", "x\n1\n", "host,y\n1,2\n"]),
        ({"time": "at"}, ["x\n1\n"]),
        ({"rate": "z"}, ["x\n1\n"]),
        ({"rate": "z*"}, ["x\n1\n"]),
        ({"columns": "q"}, ["x\n1\n"]),
        ({"columns": "x"}, ["x,y\n1,2\n", "y\n1\n"]),
        ({"exclude": "q"}, ["x\n1\n"]),
        ({"exclude": "x"}, ["x\n1\n"]),
        ({"category": "q"}, ["x\n1\n"]),
        ({"label": "q"}, ["x\n1\n"]),
        ({"strict": True}, ["x,y\n1,a\n2,b\n"]),
        ({"fields": "nonsense"}, ["x\n1\n"]),
        ({"key": "a,,b"}, ["x\n1\n"]),
        ({"max-keys": "1k"}, []),
        ({"season": "1d"}, ["x\n1\n"]),
        ({"csv": "a b"}, []),
        ({"window": 3}, []),
        ({"format": "raw"}, []),
        ({"evicted": "keep"}, []),
        ({}, ["t,a\n2026-11-15T00:00:00Z,3\n", "a\n5\n", "t,b\n2026-11-15T00:00:00Z,3\n", "t,a\n5,3\n"]),
        ({}, [",".join(f"c{i}" for i in range(1100)) + "\n" + ",".join(["1"] * 1100) + "\n"]),
        ({}, ["x," + LONG]),
        ({}, ["at,x\n" + "".join(f"2026-11-15T{h % 24:02}:00:00Z,{h}\n" for h in range(60))]),
        ({}, ["at,x\n01/02/2026 10:00,1\n01/02/2026 10:01,2\n", "13/02/2026 10:00,1\n"]),
    ],
    ids=lambda value: str(value)[:60],
)
def test_errors_speak_of_the_api(serve, settings, bodies):
    server = serve("--max-body", "100K")
    texts = answers_about(server, settings, bodies, CSV)
    assert texts
    for text in texts:
        assert not re.search(r"--[a-z]|oif score|oif serve", text), text


def test_errors_of_all_formats_and_questions_speak_of_the_api(serve):
    server = serve("--max-body", "100K", "--max-streams", "2", "--max-columns", "3")
    post(server, "host,x\n" + "".join(f"a,{i % 7}\n" for i in range(50)), CSV, "create=true&key=host")
    bodies = ["", "{", "[]", "[1]", '{"y": 1}\n', '{"x": "up"}\n', '{"x": 1e999}\n', '{"a": 1, "b": 2, "c": 3, "d": 4}', "x", "cpu x=", "cpu,host=a x=up\n", "\0\1", LONG]
    kinds = [NDJSON, JSON, PLAIN, CSV, {}, {"Content-Type": "application/x-protobuf"}, {"Content-Type": "application/octet-stream"}, {"Content-Type": "text/yaml"}]
    answers = [post(server, body, headers, query) for body in bodies for headers in kinds for query in (COUNT, "first_row=7", "durable=true", "format=ndjson")]
    answers += [server.post(path, body, headers=headers) for path in ("/write?db=pump", "/v1/metrics", f"{STREAM}/write") for body in bodies for headers in kinds]
    answers += [post(server, "x\n1\n", CSV, "create=true", f"/api/v1/streams/more{number}") for number in range(3)]
    for path in ("points?limit=x", "points?key=none", "keys?limit=-1", "episodes?since=soon", "alerts?limit=1e9", "days?from=x", "nothing"):
        answers.append(server.get(f"{STREAM}/{path}"))
    for change in ({"key": "x"}, {"columns": "a"}, {"alert-rate": 7}, {"nonsense": 1}, {"mute": "?"}, {"max-body": "1"}):
        answers.append(server.ask("PATCH", STREAM, change))
    refused = [answer.text for answer in answers if answer.status >= 400]
    assert len(refused) > 300
    for text in refused:
        assert not re.search(r"--[a-z]|oif score|oif serve", text), text


def test_a_setting_is_named_as_the_api_has_it_but_a_column_as_the_rows_have_it(server):
    server.put(STREAM, {"key": "host"})
    answer = post(server, "--key,x\n1,2\n", CSV)
    assert '"key": there is no column \'host\' (there are --key, x)' in answer.error["message"], answer.text


def test_a_new_column_is_not_blamed_on_one_that_was_never_learned(server):
    server.put(STREAM, {})
    assert post(server, "host,id,a\n" + "".join(f"q,{i},{i % 7}\n" for i in range(100)), CSV).status == 200
    answer = post(server, "host,id,b\nq,1,5\n", CSV)
    assert answer.status == 409 and "'a'" in answer.error["message"] and "'host'" not in answer.error["message"], answer.text
    answer = post(server, "host,id\nq,1\n", CSV)
    assert answer.status == 409 and "'a'" in answer.error["message"] and "'id'" not in answer.error["message"], answer.text

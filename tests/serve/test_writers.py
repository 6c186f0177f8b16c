"""Several writers feed one stream exactly once, and what is sent again gets the same answer again."""

import json
import threading

import pytest
from conftest import make_rows, score, to_csv, to_ndjson
from outside_programs import wait_for

STREAM = "/api/v1/streams/pump"
NDJSON = {"Content-Type": "application/x-ndjson"}
CSV = {"Content-Type": "text/csv"}


def post(server, rows, headers=None, text=None, **query):
    path = STREAM + "/rows?" + "&".join(f"{name}={value}" for name, value in query.items())
    return server.post(path, text or to_ndjson(rows), headers={**NDJSON, **(headers or {})})


def rows_of(server):
    return server.get(STREAM).json["rows"]


def test_writers_have_their_own_numbers(server):
    server.put(STREAM, {})
    rows = make_rows(100)
    expected = score(to_ndjson(rows)).splitlines()
    assert post(server, rows[:50], writer="a", first_row=0).text.splitlines() == expected[:50]
    second = post(server, rows[50:60], writer="b", first_row=0)
    assert second.text.splitlines() == expected[50:60]
    assert (second.headers["Oif-Rows"], second.headers["Oif-Writer-Rows"], second.headers["Oif-Skipped"]) == ("60", "10", "0")
    assert post(server, rows[60:], writer="a", first_row=50, answer="count").json["writer_rows"] == 90
    assert rows_of(server) == 100
    writers = server.get(STREAM + "/writers").json
    assert {one["writer"]: one["rows"] for one in writers["writers"]} == {"a": 90, "b": 10} and writers["dropped"] == 0


@pytest.mark.parametrize("form", ["ndjson", "csv"])
@pytest.mark.parametrize("query", [{"first_row": 0}, {"writer": "a", "first_row": 0}], ids=str)
def test_a_repeated_batch_gets_the_same_answer(server, query, form):
    server.put(STREAM, {"alert-rate": 0.02})
    text = (to_ndjson if form == "ndjson" else to_csv)(make_rows(500))
    headers = {"Content-Type": "text/csv" if form == "csv" else "application/x-ndjson"}
    first = post(server, None, headers, text, **query)
    again = post(server, None, headers, text, **query)
    assert first.status == again.status == 200 and first.text == again.text and first.text
    assert again.headers["Oif-Accepted"] == "0" and again.headers["Oif-Skipped"] == again.headers["Oif-Repeated"] == "500"
    assert again.headers["Oif-Alerts"] == first.headers["Oif-Alerts"] != "0"
    alerts = post(server, None, headers, text, **query, answer="alerts")
    header = 1 if form == "csv" else 0
    assert len(alerts.text.splitlines()) - header == int(first.headers["Oif-Alerts"]) and set(alerts.text.splitlines()) <= set(first.text.splitlines())
    count = post(server, None, headers, text, **query, answer="count").json
    assert (count["accepted"], count["skipped"], count["repeated"], count["alerts"]) == (0, 500, 500, int(first.headers["Oif-Alerts"]))
    assert rows_of(server) == 500


def test_a_batch_may_be_cut_otherwise_when_it_is_sent_again(server):
    server.put(STREAM, {})
    rows = make_rows(100)
    expected = score(to_ndjson(rows)).splitlines()
    post(server, rows[:30], writer="a", first_row=0)
    post(server, rows[30:50], writer="a", first_row=30)
    overlap = post(server, rows[10:80], writer="a", first_row=10)
    assert overlap.text.splitlines() == expected[10:80] and overlap.headers["Oif-Skipped"] == overlap.headers["Oif-Repeated"] == "40"
    assert post(server, rows[20:25], writer="a", first_row=20).text.splitlines() == expected[20:25]
    gap = post(server, rows[81:], writer="a", first_row=81)
    assert gap.status == 409 and gap.json["writer_rows"] == 80 and gap.json["rows"] == 80
    assert post(server, rows[80:], writer="a", first_row=80).status == 200


def test_an_answer_that_was_not_asked_for_is_not_kept(server):
    server.put(STREAM, {})
    rows = make_rows(10)
    post(server, rows, writer="a", first_row=0, answer="count")
    again = post(server, rows, writer="a", first_row=0)
    assert again.text == "" and again.headers["Oif-Skipped"] == "10" and again.headers["Oif-Repeated"] == "0"


def test_answers_are_kept_in_bounded_memory_and_what_is_lost_is_said(server):
    server.put(STREAM, {})
    rows = make_rows(2000, columns=20)
    texts = []
    for at in range(12):
        texts.append(post(server, rows, writer="a", first_row=2000 * at).text)
    last = post(server, rows, writer="a", first_row=2000 * 11)
    assert last.text == texts[11] and last.headers["Oif-Repeated"] == "2000"
    first = post(server, rows, writer="a", first_row=0)
    assert first.status == 200 and first.text == "" and first.headers["Oif-Skipped"] == "2000" and first.headers["Oif-Repeated"] == "0"
    assert rows_of(server) == 24000


def test_rows_of_another_client_are_not_taken_for_a_repetition(server):
    server.put(STREAM, {})
    assert post(server, [{"x": 1}, {"x": 2}], first_row=0).status == 200
    for query in ({"first_row": 0}, {"first_row": 1}):
        other = post(server, [{"x": 7}], **query)
        assert other.status == 409 and "writer=NAME" in other.error["remedy"], other.text
    assert rows_of(server) == 2


def test_a_bad_row_is_refused_again(server):
    server.put(STREAM, {})
    text = '{"x":1}\n{"x":2}\n{"x":}\n'
    first = post(server, None, None, text, writer="a", first_row=0)
    again = post(server, None, None, text, writer="a", first_row=0)
    assert first.status == again.status == 400 and first.json == again.json and first.json["writer_rows"] == 2
    assert post(server, [{"x": 3}], writer="a", first_row=2).status == 200


@pytest.mark.parametrize(
    "query",
    [
        {"writer": "a"},
        {"writer": "", "first_row": 0},
        {"writer": "a" * 201, "first_row": 0},
        {"writer": "%00", "first_row": 0},
        {"writer": "%c3%a4", "first_row": 0},
    ],
    ids=str,
)
def test_names_of_writers_are_checked(server, query):
    answer = post(server, [{"x": 1}], **query, create="true")
    assert answer.status == 400 and server.get("/api/v1/streams").json["streams"] == [], answer.text


def test_the_least_recently_seen_writer_is_dropped_and_counted(server):
    server.put(STREAM, {})
    connection = server.connect()

    def send(name, first):
        return server.post(f"{STREAM}/rows?writer={name}&first_row={first}&answer=count", '{"x":1}\n', headers=NDJSON, connection=connection)

    for number in range(1000):
        assert send(f"w{number}", 0).status == 200
    assert send("w0", 1).status == 200
    assert send("new", 0).status == 200
    writers = server.get(STREAM + "/writers").json
    assert len(writers["writers"]) == 1000 and writers["dropped"] == 1
    assert send("w1", 1).status == 409 and "dropped" in send("w1", 1).error["remedy"]
    assert send("w0", 2).status == 200


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_writers_and_answers_survive(serve, tmp_path, end):
    server = serve("--data", str(tmp_path / "data"))
    server.put(STREAM, {"alert-rate": 0.02})
    rows = make_rows(300)
    answers = [post(server, rows[:100], writer="a", first_row=0), post(server, rows[100:200], writer="c", first_row=0), post(server, rows[200:], writer="b", first_row=0, answer="alerts")]
    kept = server.get(STREAM + "/writers").json
    for _ in range(2):  # the second time from the snapshot, or the same journal
        server.kill() if end == "kill" else server.stop()
        server.start()
        again = [post(server, rows[:100], writer="a", first_row=0), post(server, rows[100:200], writer="c", first_row=0), post(server, rows[200:], writer="b", first_row=0, answer="alerts")]
        assert [one.text for one in again] == [one.text for one in answers]
        assert [one.headers["Oif-Repeated"] for one in again] == ["100"] * 3
        assert server.get(STREAM + "/writers").json == kept and rows_of(server) == 300
    assert post(server, [{"x0": 1}], writer="a", first_row=100).headers["Oif-Writer-Rows"] == "101"


def test_lost_positions_are_reported(serve, tmp_path):
    server = serve("--data", str(tmp_path / "data"))
    server.put(STREAM, {})
    post(server, make_rows(10), writer="a", first_row=0)
    server.stop()
    file = tmp_path / "data" / "streams" / "pump" / "senders"
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    file.write_bytes(damaged)
    server.start()
    wait_for(lambda: any("senders" in line and "count twice" in line for line in server.log), "it is reported")
    assert rows_of(server) == 10


def test_many_writers_at_once(server):
    server.put(STREAM, {"key": "w"})
    statuses = []

    def run(name):
        connection = server.connect()
        for first in range(0, 100, 10):
            text = to_ndjson([{"w": name, "x": first + i} for i in range(10)])
            for _ in range(2):
                path = f"{STREAM}/rows?writer={name}&first_row={first}"
                statuses.append(server.post(path, text, headers=NDJSON, connection=connection).status)

    threads = [threading.Thread(target=run, args=(f"w{number}",)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 100 and rows_of(server) == 500
    assert {key["key"]: key["rows"] for key in server.get(STREAM + "/keys").json["keys"]} == {f"w{number}": 100 for number in range(5)}


def test_a_body_that_an_agent_repeats_is_learned_once(server):
    lines = "".join(f"cpu,host=a x={i} {1_700_000_000 + i}000000000\n" for i in range(10))
    for _ in range(3):
        assert server.post("/write?db=t", lines).status == 204
    assert server.get("/api/v1/streams/t").json["rows"] == 10
    for _ in range(2):
        assert server.post("/write?db=t", "cpu,host=a x=1\n").status == 204  # without a time it is another row
    assert server.get("/api/v1/streams/t").json["rows"] == 12
    assert json.loads(server.get("/api/v1/streams/t/writers").text)["writers"] == []

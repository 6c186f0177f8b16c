"""Several writers feed one stream exactly once, and what is sent again is skipped."""

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


def position(server, writer):
    """How many rows of the writer were processed: the answer to rows far ahead of them."""
    answer = post(server, [{"x": 1}], writer=writer, first_row=2**62)
    assert answer.status == 409, answer.text
    return answer.json["writer_rows"]


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
    assert [position(server, name) for name in "abc"] == [90, 10, 0]


@pytest.mark.parametrize("form", ["ndjson", "csv"])
@pytest.mark.parametrize("query", [{"first_row": 0}, {"writer": "a", "first_row": 0}], ids=str)
def test_a_repeated_batch_is_counted_once_and_has_no_lines(server, query, form):
    server.put(STREAM, {"alert-rate": 0.02})
    text = (to_ndjson if form == "ndjson" else to_csv)(make_rows(500))
    headers = {"Content-Type": "text/csv" if form == "csv" else "application/x-ndjson"}
    first = post(server, None, headers, text, **query)
    again = post(server, None, headers, text, **query)
    assert first.status == again.status == 200 and first.text and again.text == ""
    assert (again.headers["Oif-Accepted"], again.headers["Oif-Skipped"], again.headers["Oif-Alerts"]) == ("0", "500", "0")
    assert first.headers["Oif-Alerts"] != "0"
    count = post(server, None, headers, text, **query, answer="count").json
    assert (count["accepted"], count["skipped"], count["alerts"]) == (0, 500, 0)
    assert rows_of(server) == 500


def test_a_batch_may_be_cut_otherwise_when_it_is_sent_again(server):
    server.put(STREAM, {})
    rows = make_rows(100)
    expected = score(to_ndjson(rows)).splitlines()
    post(server, rows[:30], writer="a", first_row=0)
    post(server, rows[30:50], writer="a", first_row=30)
    overlap = post(server, rows[10:80], writer="a", first_row=10)
    assert overlap.text.splitlines() == expected[50:80] and overlap.headers["Oif-Skipped"] == "40"
    assert post(server, rows[20:25], writer="a", first_row=20).headers["Oif-Skipped"] == "5"
    gap = post(server, rows[81:], writer="a", first_row=81)
    assert gap.status == 409 and gap.json["writer_rows"] == 80 and gap.json["rows"] == 80
    assert post(server, rows[80:], writer="a", first_row=80).text.splitlines() == expected[80:]


def test_rows_are_recognised_by_their_numbers(server):
    server.put(STREAM, {})
    assert post(server, [{"x": 1}, {"x": 2}], first_row=0).status == 200
    other = post(server, [{"x": 7}, {"x": 8}, {"x": 9}], first_row=0, answer="count").json
    assert (other["accepted"], other["skipped"], other["rows"]) == (1, 2, 3)


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


def test_the_least_recently_seen_writer_is_dropped(server):
    server.put(STREAM, {})
    connection = server.connect()

    def send(name, first):
        return server.post(f"{STREAM}/rows?writer={name}&first_row={first}&answer=count", '{"x":1}\n', headers=NDJSON, connection=connection)

    for number in range(1000):
        assert send(f"w{number}", 0).status == 200
    assert send("w0", 1).status == 200
    assert send("new", 0).status == 200
    assert send("w1", 1).status == 409 and "dropped" in send("w1", 1).error["remedy"]
    assert send("w0", 2).status == 200


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_writers_survive(serve, tmp_path, end):
    server = serve("--data", str(tmp_path / "data"))
    server.put(STREAM, {})
    batches = dict(zip("acb", (make_rows(300)[at : at + 100] for at in (0, 100, 200))))
    for name, rows in batches.items():
        assert post(server, rows, writer=name, first_row=0).headers["Oif-Accepted"] == "100"
    for _ in range(2):  # the second time from the snapshot, or the same journal
        server.kill() if end == "kill" else server.stop()
        server.start()
        for name, rows in batches.items():
            again = post(server, rows, writer=name, first_row=0)
            assert again.text == "" and again.headers["Oif-Skipped"] == again.headers["Oif-Writer-Rows"] == "100"
        assert rows_of(server) == 300
    assert post(server, [{"x0": 1}], writer="a", first_row=100).headers["Oif-Writer-Rows"] == "101"


def test_lost_positions_are_reported(serve, tmp_path):
    server = serve("--data", str(tmp_path / "data"))
    server.put(STREAM, {})
    post(server, make_rows(10), writer="a", first_row=0)
    server.stop()
    file = tmp_path / "data" / "streams" / "pump" / "history"
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    file.write_bytes(damaged)
    server.start()
    wait_for(lambda: any("history is lost" in line and "count twice" in line for line in server.log), "it is reported")
    assert rows_of(server) == 10 and position(server, "a") == 0


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

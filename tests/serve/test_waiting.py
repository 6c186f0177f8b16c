"""Samples of one row that come in several requests: the row waits for them, survives a crash, and counts once."""

import json
import random
import threading

import agent_messages as make
from conftest import SECONDS, score

TIME = 1_794_970_649
STREAM = "/api/v1/streams/pump"
REMOTE = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy"}


def write(server, *series):
    answer = server.post(STREAM + "/write", make.snappy(b"".join(series)), headers=REMOTE)
    assert answer.status == 204, answer.text


def wait_for_rows(server, rows):
    for _ in range(SECONDS * 20):
        if server.get(STREAM).json["rows"] == rows:
            return
        threading.Event().wait(0.05)
    raise AssertionError(server.get(STREAM).text)


def set_wait(server, text):
    answer = server.ask("PATCH", STREAM, {"row-wait": text})
    assert answer.status == 200, answer.text


def points(server, key):
    found = server.get(f"{STREAM}/points?key={key}").json
    return [{"time": at, **{name: values[number] for name, values in found["values"].items() if values[number] is not None}} for number, at in enumerate(found["times"])]


def test_a_row_waits_for_samples_of_other_requests(server):
    server.put(STREAM, {"key": "instance", "time": "time", "row-wait": "1h"})
    write(server, make.series("a", {"instance": "x"}, [(1, TIME)]))
    write(server, make.series("b", {"instance": "x"}, [(2, TIME)]), make.series("a", {"instance": "y"}, [(5, TIME)]))
    write(server, make.series("a", {"instance": "x"}, [(3, TIME + 15)]), make.series("c", {"instance": "x"}, [(7, TIME)]))
    write(server, make.series("a", {"instance": "z"}, [(1, TIME)]))
    write(server, make.series("b", {"instance": "z"}, [(3, TIME + 0.98)]))  # the next scrape, a bit early
    write(server, make.series("b", {"instance": "z"}, [(2, TIME)]))
    assert server.get(STREAM).json["rows"] == 0
    set_wait(server, "0.1s")
    wait_for_rows(server, 5)
    assert points(server, "x") == [{"time": TIME, "a": 1, "b": 2, "c": 7}, {"time": TIME + 15, "a": 3}]
    assert points(server, "y") == [{"time": TIME, "a": 5}]
    assert points(server, "z") == [{"time": TIME, "a": 1, "b": 2}, {"time": TIME + 0.98, "b": 3}]


def test_the_answer_says_that_rows_wait(server):
    server.put(STREAM, {"row-wait": "1h"})
    answer = server.post(STREAM + "/rows?answer=count", f"a x=1 {TIME}000000000\n", headers={"Content-Type": "text/plain"})
    assert answer.json["accepted"] == 0 and answer.json["waiting"] == 1 and answer.json["rows"] == 0
    numbered = server.post(STREAM + "/rows?first_row=0", f"a x=2 {TIME}000000000\n", headers={"Content-Type": "text/plain"})
    assert numbered.status == 409 and "row-wait" in numbered.error["remedy"]
    rows = server.post(STREAM + "/rows?answer=count", '{"a_x": 5}\n', headers={"Content-Type": "application/x-ndjson"})
    assert rows.json["accepted"] == 1 and rows.json["waiting"] == 1  # rows do not wait, only samples do
    set_wait(server, 0)
    wait_for_rows(server, 2)


def test_a_request_that_is_repeated_waits_once(server):
    server.put(STREAM, {"key": "instance", "time": "time", "row-wait": "1s"})
    for _ in range(3):
        write(server, make.series("a", {"instance": "x"}, [(1, TIME)]))
    wait_for_rows(server, 1)
    write(server, make.series("a", {"instance": "x"}, [(1, TIME)]))
    write(server, make.series("a", {"instance": "x"}, [(1, TIME + 5)]))
    wait_for_rows(server, 2)


def test_rows_that_wait_survive(serve, tmp_path):
    server = serve("--data", str(tmp_path / "data"))
    server.put(STREAM, {"key": "instance", "time": "time", "row-wait": "1h"})
    write(server, make.series("a", {"instance": "x"}, [(1, TIME)]))
    server.kill()
    server.start()
    write(server, make.series("b", {"instance": "x"}, [(2, TIME)]))
    server.kill()
    server.start()
    assert server.get(STREAM).json["rows"] == 0
    write(server, make.series("a", {"instance": "x"}, [(1, TIME)]))  # a repetition, also after a crash
    set_wait(server, "0.1s")
    wait_for_rows(server, 1)
    assert points(server, "x") == [{"time": TIME, "a": 1, "b": 2}]
    set_wait(server, "1h")
    write(server, make.series("a", {"instance": "x"}, [(3, TIME + 10)]))
    server.stop()  # a snapshot has no rows that wait
    server.start()
    assert server.get(STREAM).json["rows"] == 2


def test_rows_of_waiting_samples_are_those_of_an_undisturbed_stream(serve, tmp_path):
    """Samples in random requests, with kills between them: each once, and with the scores of the rows."""
    chance = random.Random(7)
    server = serve("--data", str(tmp_path / "data"), "--save-every", "0")
    server.put(STREAM, {"key": "instance", "time": "time", "row-wait": "1h", "num-trees": 8})
    rows = [{"time": TIME + 15 * at, "instance": f"i{key}", **{f"m{i}": round(chance.gauss(5, 1), 3) for i in range(4)}} for at in range(40) for key in range(3)]
    for at in range(0, len(rows), 40):
        samples = [(row, name) for row in rows[at : at + 40] for name in row if name.startswith("m")]
        chance.shuffle(samples)
        for part in range(0, len(samples), 20):
            write(server, *(make.series(name, {"instance": row["instance"]}, [(row[name], row["time"])]) for row, name in samples[part : part + 20]))
            if chance.random() < 0.3:
                server.kill()
                server.start()
        set_wait(server, "0.1s")
        wait_for_rows(server, at + 40)
        set_wait(server, "1h")
    taken = {}
    for key in range(3):
        found = server.get(f"{STREAM}/points?key=i{key}").json
        for number, at, value in zip(found["rows"], found["times"], found["severities"]):
            taken[number] = (at, f"i{key}", value)
    by_name = {(row["time"], row["instance"]): row for row in rows}
    ordered = [by_name[taken[number][:2]] for number in range(len(rows))]
    expected = score("".join(json.dumps(row) + "\n" for row in ordered), "--key", "instance", "--time", "time", "--num-trees", "8")
    assert [json.loads(line)["oif"]["severity"] for line in expected.splitlines()] == [taken[number][2] for number in range(len(rows))]


def test_what_waits_is_bounded(server):
    server.put(STREAM, {"key": "host", "time": "time", "row-wait": "1h"})
    lines = "".join(f"a,host=h{number % 10} x=1 {TIME + number}000000000\n" for number in range(12_000))
    answer = server.post(STREAM + "/rows?answer=count", lines, headers={"Content-Type": "text/plain"})
    assert answer.json["accepted"] == 12_000 and "waiting" not in answer.json

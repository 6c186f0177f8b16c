"""Rows from Prometheus: the real one that scrapes an exporter of a few lines, and one that is slow or wrong."""

import json
import math
import threading
import time
import urllib.parse

import pytest
from fleet_rows import LEARNED, Fleet, metrics_of, post
from outside_programs import SECONDS, Prometheus, Stub, need, outside, wait_for  # noqa: F401

STREAM = "/api/v1/streams/hosts"


@pytest.fixture
def configure(tmp_path):
    """Writes a configuration with one stream of queries and returns the options that name it."""

    def write(address, queries, step=2, **stream):
        path = tmp_path / "serve.json"
        stream = {"name": "hosts", "queries": queries, **stream}
        path.write_text(json.dumps({"prometheus": {"url": address, "step": step, "streams": [stream]}}))
        return "--config", str(path)

    return write


def vector(samples):
    """An answer with [(labels, value)]."""
    result = [{"metric": labels, "value": [0, value]} for labels, value in samples]
    return 200, json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}})


def asked(stub):
    """What was asked: [{"query": ..., "time": ...}]."""
    return [dict(urllib.parse.parse_qsl(body)) for _, body, _ in list(stub.requests)]


def rows_of(server):
    answer = server.get(STREAM)
    return answer.json["rows"] if answer.status == 200 else 0


def test_a_value_that_goes_bad_is_an_alert_with_its_key_and_column(serve, outside, configure):  # noqa: F811
    need("prometheus")
    fleet, bad = Fleet(), []

    def expose(path, body):
        rows = fleet.rows(1, bad=bad)
        return 200, "".join(f'{name}{{host="{row["host"]}"}} {row[name]}\n' for name in ("load", "temp") for row in rows)

    exporter = outside(Stub, expose)
    prometheus = outside(Prometheus, {"fleet": exporter.port})
    wait_for(lambda: len(prometheus.query('load{job="fleet"}')) == 2, "the exporter is scraped")
    server = serve(
        *configure(prometheus.address, {"load": "load", "warmth": "temp * 2"}, key=["job", "host"], settings={"silence": -1})
    )
    # What it would learn in some minutes, it gets at once.
    past = Fleet(first=time.time() - LEARNED - 200)
    post(server, [{"time": r["time"], "job": "fleet", "host": r["host"], "load": r["load"], "warmth": 2 * r["temp"]} for r in past.rows(LEARNED)], STREAM)
    wait_for(lambda: rows_of(server) >= 2 * LEARNED + 6, "some steps are taken")
    bad.append("web-2")

    def find_critical():
        return [e for e in server.get(STREAM + "/episodes?open=true").json["episodes"] if e["grade"] == "critical"]

    (episode,) = wait_for(find_critical, "an episode begins")
    assert (episode["key"], episode["column"]) == ("fleet/web-2", "load")
    assert episode["began"] == pytest.approx(time.time(), abs=SECONDS)
    points = server.get(STREAM + "/points?key=fleet%2Fweb-2").json
    assert points["columns"] == ["load", "warmth"]
    assert points["times"][-1] % 2 == pytest.approx(0, abs=0.01) or points["times"][-1] % 2 == pytest.approx(2, abs=0.01)
    wait_for(lambda: metrics_of(server)['oif_pull_up{stream="hosts"}'] == 1, "the last step worked")


def test_queries_of_a_step_have_one_time_and_are_joined(serve, outside, configure):  # noqa: F811
    answers = {
        "a": [({"host": "x", "__name__": "a"}, "1"), ({"host": "y"}, "2")],
        "b{c='é'}": [({"host": "y"}, "3"), ({"host": "z"}, "NaN")],
    }
    stub = outside(Stub, lambda path, body: vector(answers[dict(urllib.parse.parse_qsl(body))["query"]]))
    server = serve(*configure(stub.address + "/prefix/", {"first": "a", "second": "b{c='é'}"}))
    wait_for(lambda: rows_of(server) >= 9, "three steps are taken")
    assert {path for path, _, _ in stub.requests} == {"/prefix/api/v1/query"}
    steps = {}
    for request in asked(stub):
        steps.setdefault(request["time"], []).append(request["query"])
    whole = [queries for queries in steps.values() if len(queries) == 2]
    assert len(whole) >= 3 and all(queries == ["a", "b{c='é'}"] for queries in whole)
    assert all(math.isclose(float(at) / 2, round(float(at) / 2), abs_tol=0.01) for at in steps)
    keys = server.get(STREAM + "/keys?order=name").json
    assert [key["key"] for key in keys["keys"]] == ['{host="x"}', '{host="y"}', '{host="z"}']
    points = server.get(STREAM + "/points?limit=1&key=" + urllib.parse.quote('{host="y"}')).json
    assert points["values"] == {"first": [2], "second": [3]}
    assert f"{points['times'][0]:.3f}" in {request["time"] for request in asked(stub)}
    points = server.get(STREAM + "/points?limit=1&key=" + urllib.parse.quote('{host="x"}')).json
    assert points["values"] == {"first": [1], "second": [None]}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((500, "broken"), "answers 500: broken"),
        ((400, json.dumps({"status": "error", "errorType": "bad_data", "error": "parse error: \x1b[31m"})), "parse error: \\u001b[31m"),
        ((200, "{}"), "it is not an answer to a query"),
        ((200, json.dumps({"status": "success", "data": {"resultType": "matrix", "result": []}})), "the query returns a matrix"),
    ],
)
def test_failures_are_said_once_and_counted_until_they_are_over(serve, outside, configure, answer, said):  # noqa: F811
    now = [answer]
    stub = outside(Stub, lambda path, body: now[0])
    server = serve(*configure(stub.address, {"up": "up"}))
    wait_for(lambda: len(stub.requests) >= 4, "three steps failed")
    assert metrics_of(server)['oif_pull_up{stream="hosts"}'] == 0
    lines = [line for line in server.log if "Prometheus" in line]
    assert len(lines) == 1 and said in lines[0] and "the query of 'up'" in lines[0], lines
    assert rows_of(server) == 0
    now[0] = vector([({"host": "x"}, "1")])
    wait_for(lambda: rows_of(server) >= 2, "rows come")
    assert [line for line in server.log if "Prometheus" in line][1:] == [f"oif: Prometheus {stub.address}: stream hosts: answers again"]
    wait_for(lambda: metrics_of(server)['oif_pull_up{stream="hosts"}'] == 1, "the last step worked")


def test_steps_do_not_pile_up_behind_a_slow_answer(serve, outside, configure):  # noqa: F811
    hold = threading.Event()
    stub = outside(Stub, lambda path, body: hold.wait(60) and vector([({"host": "x"}, "1")]))
    began = time.monotonic()
    server = serve(*configure(stub.address, {"up": "up"}, step=0.5, key=["host"]))
    wait_for(lambda: len(stub.requests) >= 1 and time.monotonic() - began > 2, "steps are missed")
    requests = len(stub.requests)
    assert requests <= 2 + (time.monotonic() - began) / 0.5  # each has the time of its step at most
    released = time.time()
    hold.set()
    wait_for(lambda: rows_of(server) >= 2, "rows come")
    times = server.get(STREAM + "/points?key=x").json["times"]
    assert len(set(times)) == len(times)
    assert times[0] > released - 30


def test_a_server_ends_at_once_while_prometheus_does_not_answer(serve, outside, configure):  # noqa: F811
    hold = threading.Event()
    stub = outside(Stub, lambda path, body: hold.wait(60) and (200, "{}"))
    server = serve(*configure(stub.address, {"up": "up"}, step=7200))
    # The first step may be hours away: the end must not wait for it either.
    start = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - start < SECONDS
    hold.set()


@pytest.mark.parametrize("most", [3, 3.0, "3", "0.3e1"])
def test_series_beyond_max_keys_and_with_the_same_key_are_left_out_and_said(serve, outside, configure, most):  # noqa: F811
    samples = [({"host": f"h{i}", "cpu": "0"}, "1") for i in range(5)] + [({"host": "h0", "cpu": "1"}, "2")]
    stub = outside(Stub, lambda path, body: vector(samples))
    server = serve(*configure(stub.address, {"up": "up"}, key=["host"], settings={"max-keys": most}))
    wait_for(lambda: rows_of(server) >= 6, "two steps are taken")
    assert server.get(STREAM + "/keys").json["total"] == 3
    said = [line for line in server.log if "left out" in line]
    assert len(said) == 2 and "more than 3 keys" in said[0] and "same key" in said[1], said
    assert metrics_of(server)['oif_pull_left_out_total{stream="hosts"}'] % 3 == 0


def test_an_answer_without_series_makes_no_rows(serve, outside, configure):  # noqa: F811
    stub = outside(Stub, lambda path, body: vector([]))
    server = serve(*configure(stub.address, {"up": "up"}))
    wait_for(lambda: len(stub.requests) >= 4, "three steps are taken")
    assert rows_of(server) == 0


def test_the_address_on_the_command_line_wins(serve, outside, configure):  # noqa: F811
    stub = outside(Stub, lambda path, body: vector([({"host": "x"}, "1")]))
    server = serve(*configure("http://127.0.0.1:1", {"up": "up"}), "--prometheus", stub.address)
    wait_for(lambda: rows_of(server) >= 1, "a row comes")


def test_a_restart_goes_on_with_the_same_stream(serve, outside, configure, tmp_path):  # noqa: F811
    stub = outside(Stub, lambda path, body: vector([({"host": "x"}, "1")]))
    options = (*configure(stub.address, {"up": "up"}), "--data", str(tmp_path / "data"))
    server = serve(*options)
    wait_for(lambda: rows_of(server) >= 3, "rows come")
    assert server.stop() == 0
    server = serve(*options)
    before = rows_of(server)
    assert before >= 3
    wait_for(lambda: rows_of(server) > before, "more rows come")
    assert server.stop() == 0
    other = serve(*configure(stub.address, {"up": "up"}, settings={"alert-rate": 0.01}), "--data", str(tmp_path / "data"))
    assert other.get(STREAM).json["settings"]["alert-rate"] == 0.01


def test_the_past_is_filled_at_the_start_and_resumed_after_a_crash(serve, outside, configure, tmp_path):  # noqa: F811
    hold, seen = threading.Event(), []

    def answer(path, body):
        at = float(dict(urllib.parse.parse_qsl(body))["time"])
        if len(seen) == 40 and not hold.is_set():
            hold.wait(60)  # the crash comes in the middle
        if at % 100 == 50:
            return 422, '{"status": "error", "errorType": "execution", "error": "many-to-many matching"}'
        seen.append(at)
        return vector([({"host": host}, str(at % 97)) for host in "xy"])

    stub = outside(Stub, answer)
    began = time.time()
    options = (*configure(stub.address, {"load": "load"}, past="190s", key=["host"]), "--data", str(tmp_path / "data"), "--save-every", "0")
    server = serve(*options)
    wait_for(lambda: len(seen) == 40 and rows_of(server) == 80, "a part is filled")
    server.kill()
    hold.set()
    server = serve(*options)
    wait_for(lambda: any("steps of the past" in line for line in server.log), "the rest is filled")
    filled = time.time()
    wait_for(lambda: server.get(STREAM + "/points?key=x").json["times"][-1] > filled, "live steps follow")
    times = server.get(STREAM + "/points?key=x").json["times"]
    assert times == sorted(set(times)) and began - 190 <= times[0] < began - 180
    missing = [at for at in range(int(times[0]), int(filled), 2) if at not in times]
    assert missing == [at for at in missing if at % 100 == 50] and 1 <= len(missing) <= 3, missing


def test_a_past_of_too_many_steps_is_refused(serve, configure):
    with pytest.raises(RuntimeError, match="'past' has more than 100000 steps"):
        serve(*configure("http://127.0.0.1:1", {"up": "up"}, past="300000s"))
    with pytest.raises(RuntimeError, match="at most 366 days"):
        serve(*configure("http://127.0.0.1:1", {"up": "up"}, past="400d"))

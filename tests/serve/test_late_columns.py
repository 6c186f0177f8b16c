"""A column that appears in a living stream: one that was declared is learned whenever it comes, another one is left out and said."""

import random

import pytest
from conftest import Server, to_ndjson

BATCH = 500
NDJSON = {"Content-Type": "application/x-ndjson"}


@pytest.fixture(scope="module")
def running():
    server = Server()
    yield server
    assert server.stop() == 0


def rows_until_mem(before, both):
    """cpu alone, then cpu and mem, then ten bad rows: mem is far too high, and cpu is gone."""
    chance = random.Random(0)
    rows = [{"cpu": round(chance.gauss(30, 3), 3)} for _ in range(before + both)]
    for row in rows[before:]:
        row["mem"] = round(chance.gauss(60, 2), 3)
    return rows + [{"mem": 1000}] * 10


def feed(server, name, rows, query="answer=count"):
    answers = [
        server.post(f"/api/v1/streams/{name}/rows?create=true&{query}", to_ndjson(rows[at : at + BATCH]), headers=NDJSON)
        for at in range(0, len(rows), BATCH)
    ]
    assert {answer.status for answer in answers} == {200}
    return "".join(answer.text for answer in answers)


def alerts_of(server, name):
    return {alert["row"]: alert for alert in server.get(f"/api/v1/streams/{name}/alerts?limit=1000").json["alerts"]}


@pytest.mark.parametrize("before", [700, 2500])
def test_a_declared_column_is_learned_whenever_it_comes(running, before):
    name, begin = f"declared-{before}", before + 700
    assert running.put(f"/api/v1/streams/{name}", {"columns": "cpu,mem"}).status == 201
    feed(running, name, rows_until_mem(before, 700))
    alerts = alerts_of(running, name)
    assert [row for row in alerts if before < row < begin] == [], "only its first value is new"
    assert sorted(row for row in alerts if row >= begin) == list(range(begin, begin + 10))
    expected = running.get(f"/api/v1/streams/{name}/points?limit=20&expected=true").json["expected"]["mem"][0]
    assert 50 < expected[0] < 60 < expected[1] < 70


@pytest.mark.parametrize("before", [700, 2500])
def test_another_column_is_left_out_and_said(running, before):
    name = f"open-{before}"
    rows = rows_until_mem(before, 700)[:-10]
    fields = [line.split('"oif":')[1] for line in feed(running, name, rows, "answer=results").splitlines()]
    alone = feed(running, name + "-alone", [{"cpu": row["cpu"]} for row in rows], "answer=results")
    assert fields == [line.split('"oif":')[1] for line in alone.splitlines()], "what is left out changes no score"
    stream = running.get(f"/api/v1/streams/{name}").json
    assert stream["columns"] == ["cpu"]
    (note,) = stream["notes"]
    assert note.startswith("mem appears too late to be learned") and '"columns"' in note
    refused = running.ask("PATCH", f"/api/v1/streams/{name}", {"columns": "cpu,mem"})
    assert refused.status == 409 and "another stream" in refused.error["remedy"]

"""Never green without a reason: one word for what a stream is, the same in the API, in the metrics and at Alertmanager."""

import json
import time

from conftest import read_events, to_ndjson
from fleet_rows import SETTINGS, STREAM, Fleet, metrics_of, post, start_fleet
from outside_programs import Stub, outside, wait_for  # noqa: F401

WORDS = ("quiet", "learning", "recovering", "no data", "alert", "damaged")


def state_of(server, name="fleet"):
    """The word that every place has for the stream."""
    figures = metrics_of(server)
    words = {word for word in WORDS if figures[f'oif_stream_state{{stream="{name}",state="{word}"}}'] == 1}
    words.add(server.get(f"/api/v1/streams/{name}").json["state"])
    words |= {one["state"] for one in server.get("/api/v1/streams").json["streams"] if one["name"] == name}
    words |= {one["state"] for one in server.get("/api/v1/now").json["streams"] if one["name"] == name}
    assert len(words) == 1, words
    return words.pop()


def keys_of(server):
    return {key["key"]: key for key in server.get(STREAM + "/keys").json["keys"]}


def taken(stub):
    return [alert for _, body, _ in list(stub.requests) for alert in json.loads(body)]


def config_of(tmp_path, address):
    path = tmp_path / "serve.json"
    path.write_text(json.dumps({"alertmanager": {"url": address, "resend_seconds": 1}}))
    return "--config", str(path)


def test_a_stream_is_learning_then_quiet_then_in_an_alert_then_recovering(server):
    fleet = Fleet()
    assert server.put(STREAM, SETTINGS).status == 201
    assert state_of(server) == "no data"
    post(server, fleet.rows(20))
    assert state_of(server) == "learning"
    stream = server.get(STREAM).json
    assert stream["learning"]["rows"] == 20 and stream["learning"]["of"] == 49
    assert abs(stream["learning"]["seconds_left"] - 29) <= 2  # a row per second
    assert stream["learning_keys"] == 2
    assert {key["state"] for key in keys_of(server).values()} == {"learning"}
    post(server, fleet.rows(600))
    assert state_of(server) == "quiet"
    assert server.get(STREAM).json["learning"] is None
    assert 0 <= metrics_of(server)['oif_last_row_age_seconds{stream="fleet"}'] < 300
    post(server, fleet.rows(3, bad=["web-2"]))
    assert state_of(server) == "alert"
    keys = keys_of(server)
    assert keys["web-1"]["state"] == "quiet" and keys["web-2"]["state"] == "alert"
    stream, (episode,) = server.get(STREAM).json, server.get(STREAM + "/episodes?open=true").json["episodes"]
    assert stream["state_grade"] == episode["grade"] and stream["state_severity"] == episode["peak_severity"]
    assert stream["state_since"] == episode["began"] and episode["state"] == "alert"
    post(server, fleet.rows(12))  # of the sixteen that end it
    assert state_of(server) == "recovering"
    assert server.get(STREAM + "/episodes").json["episodes"][0]["state"] == "recovering"
    assert server.get(STREAM).json["state_severity"] == stream["state_severity"]
    post(server, fleet.rows(12))
    assert state_of(server) == "quiet"


def test_a_dead_feed_is_no_data_everywhere_and_one_alert(serve, outside, tmp_path):  # noqa: F811
    stub = outside(Stub, lambda path, body: (200, ""))
    server = serve("--data", str(tmp_path / "data"), *config_of(tmp_path, stub.address))
    fleet = Fleet(hosts=[f"web-{i}" for i in range(20)], first=time.time() - 600)
    start_fleet(server, fleet, {**SETTINGS, "silence": 2, "mute": "column=*"})  # an alert would come before no data
    wait_for(lambda: server.get(STREAM).json["state"] == "no data", "the feed is dead")
    assert state_of(server) == "no data"
    stream = server.get(STREAM).json
    assert stream["state_keys"] == 20 and abs(stream["state_since"] - stream["last_row_at"]) < 1
    wait_for(lambda: server.get(STREAM).json["silent_keys"] == 20, "every key is silent")
    assert {key["state"] for key in keys_of(server).values()} == {"no data"}
    (incident,) = server.get("/api/v1/incidents").json["incidents"]
    assert incident["reason"] == "no data" and incident["open"] == 1
    assert incident["grade"] == incident["worst"]["grade"] == "warning"

    def of_feed():
        return [alert for alert in taken(stub) if alert["labels"].get("stream") == "fleet" and "key" not in alert["labels"]]

    alert = wait_for(of_feed, "the alert is sent")[-1]
    assert alert["labels"]["alertname"] == "OifSilence" and alert["labels"]["severity"] == "warning"
    assert alert["annotations"]["state"] == alert["annotations"]["reason"] == "no data"
    wait_for(lambda: len(json.loads(stub.requests[-1][1])) == 1, "keys have no alerts of their own beside it")
    server.kill()
    server.start()
    assert state_of(server) == "no data", "it still is"
    fleet.time = time.time()
    post(server, fleet.rows(1))
    assert state_of(server) == "quiet"
    assert server.get("/api/v1/incidents").json["incidents"][0]["open"] == 0


def test_times_that_jump_are_noted(server):
    times = [1_700_000_000 + 10 * i for i in range(100)]
    server.put("/api/v1/streams/clock", {"time": "at"})

    def notes_after(more):
        rows = to_ndjson([{"at": at, "a": at % 7} for at in more])
        assert server.post("/api/v1/streams/clock/rows?answer=count", rows).status == 200
        return server.get("/api/v1/streams/clock").json["notes"]

    assert notes_after(times) == []
    (note,) = notes_after([times[-1] - 5000])
    assert note.startswith("times in 'at': 1 jumps back, at most by 83.3 min. ")
    (note,) = notes_after([times[-1] + 400 * 86400])
    assert note.startswith("times in 'at': 1 jumps back, at most by 83.3 min, 1 jumps ahead, at most by 400.0 days. ")


def test_a_damaged_stream_is_damaged_everywhere(serve, outside, tmp_path):  # noqa: F811
    stub = outside(Stub, lambda path, body: (200, ""))
    options = ("--data", str(tmp_path / "data"), *config_of(tmp_path, stub.address))
    server = serve(*options)
    fleet = Fleet()
    start_fleet(server, fleet)
    server.stop()
    (tmp_path / "data/streams/fleet/state").write_bytes(b"not a snapshot")
    again = serve(*options)
    assert state_of(again) == "damaged"
    (alert,) = wait_for(lambda: taken(stub)[-1:], "the alert is sent")
    assert alert["labels"] == {"alertname": "OifDamaged", "stream": "fleet", "severity": "critical"}
    assert alert["annotations"]["state"] == "damaged" and "state" in alert["annotations"]["summary"]


def test_an_episode_that_the_next_one_replaces_is_ended(serve, tmp_path):
    """A row much worse than a long episode begins the next one: no row says that the one before has ended."""
    server, fleet = serve("--data", str(tmp_path / "data")), Fleet()
    start_fleet(server, fleet)
    connection = server.connect()
    connection.request("GET", "/api/v1/events?stream=fleet")
    events = connection.getresponse()
    rows = fleet.rows(31, bad=["web-2"])
    for row in rows[:-2]:
        row["load"] -= 59 if row["host"] == "web-2" else 0
    rows[-1]["load"] += 5000
    post(server, rows)

    def replaced():
        (now,) = server.get(STREAM + "/episodes?open=true&key=web-2").json["episodes"]
        return now, [one for one in server.get(STREAM + "/episodes?key=web-2").json["episodes"] if one["number"] != now["number"]]

    now, past = replaced()
    before = past[0]
    assert before["open"] is False and before["ended"] is not None and before["last_seen"] < now["began"]
    told = read_events(events, lambda line: f'"number":{now["number"]},' in line)
    connection.close()
    assert any(f'"number":{before["number"]},' in line and '"open":false' in line for line in told)
    server.kill()
    server.start()
    assert replaced() == (now, past)

"""Episodes that do not wait for their rows: acknowledged, closed by a person, or ended because their source has stopped."""

import json
import random
import time
from datetime import datetime

from conftest import SECONDS, to_ndjson
from outside_programs import Stub, outside  # noqa: F401

STREAM = "/api/v1/streams/web"
ACKNOWLEDGE, EPISODES = STREAM + "/acknowledge", STREAM + "/episodes"
SETTINGS = {"key": "host", "time": "t", "calm": 10}


class Source:
    """One host's rows, calm or bad."""

    def __init__(self, server, host="web-1"):
        self.server, self.host, self.chance, self.at = server, host, random.Random(3), 1_700_000_000

    def send(self, count, bad=False, key=True):
        rows = []
        for _ in range(count):
            self.at += 10
            row = {"host": self.host} if key else {}
            rows.append({**row, "load": round(self.chance.gauss(10, 1) + (80 if bad else 0), 3), "t": self.at})
        answer = self.server.post(STREAM + "/rows", to_ndjson(rows))
        assert answer.status == 200, answer.text


def begin(server, settings=SETTINGS):
    """A source whose episode is open, and the body that names it."""
    assert server.put(STREAM, settings).status == 201
    source = Source(server)
    source.send(1000)
    source.send(5, bad=True)
    (one,) = server.get(EPISODES + "?open=true").json["episodes"]
    assert one["open"] and one["acknowledged"] is None and one["closed"] is False and one["ended_by"] is None
    return source, {"episode": one["number"], "key": "web-1", "by": "ana"}


def latest(server):
    return server.get(EPISODES + "?key=web-1&limit=1").json["episodes"][0]


def wait_for(found):
    for _ in range(SECONDS * 20):
        if found():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def test_an_acknowledgement_is_in_the_episode_and_survives_kills(server):
    source, body = begin(server)
    before = time.time()
    answer = server.post(ACKNOWLEDGE, {**body, "note": "disk <b>replaced</b> \u2028 \"x\""})
    assert answer.status == 200, answer.text
    said = answer.json["acknowledged"]
    assert said["by"] == "ana" and said["note"] == "disk <b>replaced</b> \u2028 \"x\"" and before - 1 <= said["at"] <= time.time() + 1
    assert answer.json["open"] and not answer.json["closed"]
    assert latest(server)["acknowledged"] == said == server.get("/api/v1/now").json["episodes"][0]["acknowledged"]
    source.send(3, bad=True)
    assert latest(server)["acknowledged"] == said and latest(server)["open"], "later rows of the episode keep it"
    server.kill()
    server.start()
    assert latest(server)["acknowledged"] == said
    assert server.stop() == 0
    server.start()
    assert latest(server)["acknowledged"] == said, "from the history file"
    assert server.post(ACKNOWLEDGE, {**body, "by": "bob"}).json["acknowledged"]["note"] == ""
    assert latest(server)["acknowledged"]["by"] == "bob"


def test_a_closed_episode_stays_closed_and_a_new_one_opens(server):
    source, body = begin(server)
    answer = server.post(ACKNOWLEDGE, {**body, "close": True}).json
    assert answer["closed"] and answer["open"] is False and answer["ended"] == answer["last_seen"] and answer["ended_by"] == "person"
    assert server.get("/api/v1/now").json["open"] == 0
    (incident,) = server.get(f"/api/v1/incidents?id={answer['incident']}").json["incidents"]
    assert incident["members"] == 1 and incident["open"] == 0, "the incident's member has ended, too"
    for restart in (server.kill, server.stop):
        source.send(3, bad=True)
        assert server.get(EPISODES + "?open=true").json["episodes"] == [], "rows of the same episode do not open it"
        restart()
        server.start()
        assert latest(server)["closed"] and latest(server)["number"] == body["episode"]
    source.send(400)
    assert latest(server)["closed"] and latest(server)["number"] == body["episode"]
    source.send(5, bad=True)
    (one,) = server.get(EPISODES + "?open=true").json["episodes"]
    assert one["number"] == body["episode"] + 1 and one["acknowledged"] is None and one["closed"] is False
    source.send(400)
    over = latest(server)
    assert not over["open"] and not over["closed"]
    answer = server.post(ACKNOWLEDGE, {**body, "episode": over["number"], "close": True}).json
    assert answer["acknowledged"]["by"] == "ana" and not answer["closed"], "its rows have ended it"


def test_the_end_is_an_event(server):
    source, body = begin(server)
    connection = server.connect()
    connection.request("GET", "/api/v1/events?stream=web")
    events = connection.getresponse()
    assert server.post(ACKNOWLEDGE, {**body, "close": True}).status == 200
    lines = []
    while not lines or not lines[-1].startswith("data: {"):
        lines.append(events.readline().decode())
    assert any(line == "event: episode\n" for line in lines) and '"open":false' in lines[-1] and '"closed":true' in lines[-1]
    connection.close()


def test_alertmanager_gets_the_end_of_a_closed_episode(serve, outside, tmp_path):  # noqa: F811
    stub = outside(Stub, lambda path, body: (200, ""))
    config = tmp_path / "serve.json"
    config.write_text(json.dumps({"alertmanager": {"url": stub.address, "resend_seconds": 1, "min_grade": "note"}}))
    server = serve("--config", str(config))
    source, body = begin(server)
    ends = lambda: [datetime.fromisoformat(alert["endsAt"].replace("Z", "+00:00")).timestamp() for _, text, _ in list(stub.requests) for alert in json.loads(text)]  # noqa: E731
    wait_for(lambda: any(end > time.time() for end in ends()))
    assert server.post(ACKNOWLEDGE, {**body, "note": "<&>", "close": True}).json["closed"]
    wait_for(lambda: ends()[-1] <= time.time() - 1_000_000)


def test_what_is_wrong_gets_a_remedy(server):
    source, body = begin(server)
    unknown = server.post(ACKNOWLEDGE, {**body, "episode": 99})
    assert unknown.status == 404 and "episodes" in unknown.error["remedy"]
    assert server.post(ACKNOWLEDGE, {**body, "key": "other"}).status == 404
    for wrong in (
        {"by": ""}, {"by": None}, {"by": 1}, {"by": "a\nb"}, {"by": "a\x1b[2J"}, {"by": "a\0"}, {"by": "x" * 101}, {"note": "x" * 1001},
        {"note": 3}, {"note": "a\tb"}, {"note": "\x7f"}, {"close": "yes"}, {"close": 1}, {"episode": 0}, {"key": None}, {"else": 1},
    ):  # fmt: skip
        answer = server.post(ACKNOWLEDGE, {**body, **wrong})
        assert answer.status == 400 and answer.error["message"], wrong
    assert latest(server)["acknowledged"] is None
    assert server.post(ACKNOWLEDGE, {**body, "by": "\u00e4" * 50, "note": "x" * 1000}).status == 200


def test_the_episode_of_a_stopped_source_ends_and_opens_again(server):
    source, body = begin(server, {**SETTINGS, "end_after": "2s"})
    other = Source(server, "web-2")
    other.send(100)
    wait_for(lambda: not latest(server)["open"])
    ended = latest(server)
    assert ended["ended_by"] == "silence" and ended["ended"] == ended["last_seen"] and not ended["closed"]
    assert server.get("/api/v1/now").json["open"] == 0
    server.kill()
    server.start()
    assert latest(server) == ended
    source.send(1)
    assert latest(server) == ended, "a calm row leaves it ended"
    source.send(2, bad=True)
    again = latest(server)
    assert again["open"] and again["number"] == ended["number"] and again["first_row"] == ended["first_row"] and again["ended_by"] is None
    assert len([one for one in server.get(EPISODES + "?key=web-1").json["episodes"] if one["number"] == ended["number"]]) == 1
    server.kill()
    server.start()
    assert {**latest(server), "open": None, "ended": None, "ended_by": None} == {**again, "open": None, "ended": None, "ended_by": None}
    wait_for(lambda: not latest(server)["open"])
    assert server.post(ACKNOWLEDGE, {**body, "close": True}).json["closed"], "a person may close what a silence has ended"
    source.send(2, bad=True)
    assert latest(server)["closed"]


def test_how_long_is_a_setting(server):
    source, body = begin(server, {**SETTINGS, "end-after": "never"})
    assert server.get(STREAM).json["settings"]["end-after"] == "never"
    time.sleep(2.5)
    assert latest(server)["open"]
    for wrong in ("soon", "-1s", 0, -3, True, [], {}, "1e999"):
        answer = server.ask("PATCH", STREAM, {"end_after": wrong})
        assert answer.status == 400 and "end-after" in answer.error["message"], (wrong, answer.text)
    assert server.ask("PATCH", STREAM, {"end_after": 1}).status == 200
    wait_for(lambda: not latest(server)["open"])
    assert server.ask("PATCH", STREAM, {"end_after": None}).status == 200
    assert "end-after" not in server.get(STREAM).json["settings"]


def test_a_stopped_server_is_not_a_stopped_source(server):
    source, body = begin(server, {**SETTINGS, "end-after": "3s"})
    server.kill()
    time.sleep(3.2)
    server.start()
    assert latest(server)["open"], "it could not receive rows meanwhile"
    wait_for(lambda: not latest(server)["open"])


def test_a_stream_without_keys(server):
    assert server.put(STREAM, {"time": "t"}).status == 201
    source = Source(server)
    source.send(1000, key=False)
    source.send(5, bad=True, key=False)
    number = server.get(EPISODES).json["episodes"][0]["number"]
    assert server.post(ACKNOWLEDGE, {"episode": number, "key": "x", "by": "ana"}).status == 400
    assert server.post(ACKNOWLEDGE, {"episode": number, "by": "ana", "close": True}).json["closed"]
    server.kill()
    server.start()
    assert server.get(EPISODES).json["episodes"][0]["closed"]

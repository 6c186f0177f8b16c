"""Episodes that do not wait for their rows: they end because their source has stopped."""

import json
import random
import time
from datetime import datetime

from conftest import SECONDS, read_events, to_ndjson
from outside_programs import Stub, outside  # noqa: F401

STREAM = "/api/v1/streams/web"
EPISODES = STREAM + "/episodes"
SETTINGS = {"key": "host", "time": "t"}


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
    """A source whose episode is open, though its latest rows are calm."""
    assert server.put(STREAM, settings).status == 201
    source = Source(server)
    source.send(1000)
    source.send(1, bad=True)
    source.send(3)
    (one,) = server.get(EPISODES + "?open=true").json["episodes"]
    assert one["open"] and one["ended_by"] is None
    return source


def latest(server):
    return server.get(EPISODES + "?key=web-1&limit=1").json["episodes"][0]


def wait_for(found):
    for _ in range(SECONDS * 20):
        if found():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def test_the_end_is_an_event(server):
    begin(server, {**SETTINGS, "end_after": "2s"})
    connection = server.connect()
    connection.request("GET", "/api/v1/events?stream=web")
    events = connection.getresponse()
    lines = read_events(events, lambda line: '"open":false' in line)
    assert '"ended_by":"silence"' in lines[-1] and any(line == "event: episode\n" for line in lines)
    connection.close()


def test_alertmanager_gets_the_end(serve, outside, tmp_path):  # noqa: F811
    stub = outside(Stub, lambda path, body: (200, ""))
    config = tmp_path / "serve.json"
    config.write_text(json.dumps({"alertmanager": {"url": stub.address, "resend_seconds": 1, "min_grade": "note"}}))
    server = serve("--config", str(config))
    begin(server, {**SETTINGS, "end_after": "3s"})
    ends = lambda: [datetime.fromisoformat(alert["endsAt"].replace("Z", "+00:00")).timestamp() for _, text, _ in list(stub.requests) for alert in json.loads(text)]  # noqa: E731
    wait_for(lambda: any(end > time.time() for end in ends()))
    wait_for(lambda: ends()[-1] <= time.time() - 1_000_000)


def test_the_episode_of_a_stopped_source_ends_and_opens_again(server):
    source = begin(server, {**SETTINGS, "end_after": "2s"})
    other = Source(server, "web-2")
    other.send(100)
    wait_for(lambda: not latest(server)["open"])
    ended = latest(server)
    assert ended["ended_by"] == "silence" and ended["ended"] == ended["last_seen"]
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


def test_how_long_is_a_setting(server):
    source = begin(server, {**SETTINGS, "end-after": "never"})
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
    source = begin(server, {**SETTINGS, "end-after": "3s"})
    server.kill()
    time.sleep(3.2)
    server.start()
    assert latest(server)["open"], "it could not receive rows meanwhile"
    wait_for(lambda: not latest(server)["open"])

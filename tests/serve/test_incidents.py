"""Incidents of the service: which episodes belong together, over restarts and crashes, in the API, at Alertmanager, as a webhook."""

import hmac
import json
import re
import subprocess
import threading
import time

import pytest
from conftest import OIF, SECONDS
from fleet_rows import LEARNED, SETTINGS, Fleet, is_high_load, metrics_of, post, raise_load, recover
from outside_programs import Alertmanager, Stub, free_port, need, outside, wait_for  # noqa: F401

HOSTS = tuple(f"rack-{1 + i // 3}/host-{i}" for i in range(6))


def stream(name):
    return f"/api/v1/streams/{name}"


def start(server, name="fleet", hosts=HOSTS, settings=SETTINGS):
    """A stream that has learned, with the rows that follow."""
    fleet = Fleet(hosts=hosts)
    assert server.put(stream(name), settings).status == 201
    post(server, fleet.rows(LEARNED), stream(name))
    return fleet


def fail(server, fleet, hosts, name="fleet"):
    """The hosts go bad one after the other."""
    for count in range(len(hosts)):
        post(server, fleet.rows(1, bad=hosts[: count + 1]), stream(name))


def incidents(server, **parameters):
    query = "&".join(f"{key}={value}" for key, value in parameters.items())
    return server.get(f"/api/v1/incidents?{query}").json["incidents"]


def keys(incident):
    return [member["key"] for member in incident["order"]]


def saved(server):
    """Waits until all rows and incidents are on disk, which takes a round of the saver or two."""
    wait_for(lambda: all(one["saved"] == one["rows"] for one in server.get("/api/v1/streams").json["streams"]), "rows are saved")
    time.sleep(2.5)


# ---- One incident ----


def test_hosts_that_fail_together_are_one_incident(server):
    fleet = start(server)
    fail(server, fleet, HOSTS[:3])
    answer = server.get("/api/v1/incidents?open=true").json
    assert answer["open"] == 1
    (one,) = answer["incidents"]
    assert keys(one) == list(HOSTS[:3])
    assert [member["stream"] for member in one["order"]] == ["fleet"] * 3
    assert (one["members"], one["open"], one["grade"], one["incident"]) == (3, 3, "critical", "lasts")
    assert {"part": "rack-1"} in one["shared"] and {"column": "load"} in one["shared"]
    episodes = server.get(stream("fleet") + "/episodes").json["episodes"]
    assert {episode["incident"] for episode in episodes} == {one["id"]}
    now = server.get("/api/v1/now").json
    assert now["incidents"] == 1 and {episode["incident"] for episode in now["episodes"]} == {one["id"]}


def test_faults_of_two_streams_are_two_incidents_and_both_are_sent(serve, outside, hooked):  # noqa: F811
    """They have nothing in common, even if they begin at the same time with the same key."""
    stub = outside(Stub, lambda path, body: (200, ""))
    server = serve(*hooked(stub.address))
    billing, freezer = start(server, "billing", HOSTS[:1]), start(server, "freezer", HOSTS[:1])
    fail(server, billing, HOSTS[:1], "billing")
    freezer.time = billing.time
    fail(server, freezer, HOSTS[:1], "freezer")
    assert len(incidents(server, open="true")) == 2
    wait_for(lambda: len(stub.requests) >= 2, "both are sent")
    assert told(stub) == [("begins", 1, 1), ("begins", 1, 1)], "each stream counts its own"
    assert [one["worst"]["stream"] for one in hooks(stub)] == ["billing", "freezer"]
    (one,) = incidents(server, stream="freezer", id=1)
    assert one["worst"]["stream"] == "freezer" and len(incidents(server, id=1)) == 2
    assert server.get("/api/v1/incidents?stream=freezer&id=2").status == 404


def bad_rows(fleet, loads):
    return [{**row, "load": loads.get(row["host"], row["load"])} for row in fleet.rows(1)]


def find_mild(server, fleet, host):
    """Raises the load until an episode of a lower grade than critical is open."""
    (found,), load = raise_load(server, fleet, host, lambda: incidents(server, open="true"))
    assert keys(found) == [host] and found["grade"] in ("note", "warning")
    return found, load


def test_a_record_is_sent_when_an_incident_gains_a_member_of_a_higher_grade(serve, outside, hooked):  # noqa: F811
    stub = outside(Stub, lambda path, body: (200, ""))
    server = serve(*hooked(stub.address))
    fleet = start(server)
    mild, load = find_mild(server, fleet, HOSTS[0])
    wait_for(lambda: mild["id"] in [one["id"] for one in hooks(stub)], "the begin is sent")
    post(server, bad_rows(fleet, {HOSTS[0]: load, HOSTS[1]: 60}), stream("fleet"))
    wait_for(lambda: ("grows", mild["id"], 2) in told(stub), "the critical member is sent")
    grown = next(one for one in hooks(stub) if one["incident"] == "grows")
    assert grown["grade"] == "critical" and grown["worst"]["key"] == HOSTS[1]


def test_an_incident_is_headed_by_its_worst_open_member(server):
    """A chance note came first; the headline is about the fault, and its severity is its own."""
    fleet = start(server)
    mild, load = find_mild(server, fleet, HOSTS[0])
    for _ in range(3):
        post(server, bad_rows(fleet, {HOSTS[0]: load, HOSTS[1]: 60}), stream("fleet"))
    (one,) = incidents(server, id=mild["id"])
    assert one["worst"]["key"] == HOSTS[1] and one["grade"] == "critical" and is_high_load(one["reason"]), one
    assert one["peak"] == one["worst"]["peak"] > mild["peak"]
    assert f"fleet / {HOSTS[1]}: {one['reason']}" in one["text"]
    for _ in range(40):  # the worst recovers; the first one is bad for longer
        post(server, bad_rows(fleet, {HOSTS[0]: 60}), stream("fleet"))
    (one,) = incidents(server, id=mild["id"])
    assert one["open"] == 1 and one["worst"]["key"] == HOSTS[0] and one["worst"]["end"] is None


def test_an_incident_is_over_with_its_last_episode_and_everything_counts_the_same(server):
    fleet = start(server)
    fail(server, fleet, HOSTS[:2])
    assert len(incidents(server, open="true")) == server.get("/api/v1/now").json["incidents"] == metrics_of(server)["oif_incidents_open"] == 1
    recover(server, fleet)
    (ended,) = incidents(server)
    assert ended["incident"] == "ends" and ended["end"] is not None and ended["members"] == 2
    assert ended["text"].startswith("incident 1 is over: fleet / rack-1/host-")
    assert incidents(server, open="true") == []
    assert incidents(server, id=1) == [ended] and server.get("/api/v1/incidents?id=2").status == 404
    assert incidents(server, since="2100-01-01T00:00:00Z") == []
    assert server.get("/api/v1/now").json["incidents"] == metrics_of(server)["oif_incidents_open"] == 0


def test_an_incident_becomes_as_bad_as_its_worst_episode(server):
    fleet = start(server)
    mild, _ = find_mild(server, fleet, HOSTS[0])
    post(server, fleet.rows(1, bad=HOSTS[:1]), stream("fleet"))
    assert incidents(server, id=mild["id"])[0]["grade"] == "critical"


def moment(text):
    from datetime import datetime

    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def test_a_stream_without_times_has_those_of_the_arrival(server):
    plain = {"key": "host", "exclude": "time"}
    fleet = start(server, settings=plain)
    before = time.time()
    fail(server, fleet, HOSTS[:2])
    (one,) = incidents(server)
    assert keys(one) == list(HOSTS[:2])
    assert before - 1 < moment(one["start"]) < time.time()


# ---- Ends without rows ----


def test_the_members_of_a_removed_stream_and_key_end(server):
    fleet = start(server)
    other = start(server, "other", hosts=("rack-1/a", "rack-1/b"))
    fail(server, fleet, HOSTS[:2])
    other.time = fleet.time
    post(server, other.rows(2, bad=["rack-1/a"]), stream("other"))
    assert len(incidents(server, open="true")) == 2
    assert server.ask("DELETE", stream("other")).status == 204
    (one,) = incidents(server)
    assert server.ask("DELETE", stream("fleet") + f"/keys?key={HOSTS[0]}").status == 204
    (one,) = incidents(server)
    assert one["open"] == 1 and [member["key"] for member in one["order"] if not member["end"]] == [HOSTS[1]]


def test_keys_with_odd_and_with_long_names(server):
    odd, long = 'a"b\\c\n\x1b<b>é', "x" * 300
    fleet = start(server, hosts=(odd, long, long + "y"))
    fail(server, fleet, [odd, long, long + "y"])
    (one,) = incidents(server)
    assert one["members"] == 3 and keys(one) == [odd, long[:96], long[:96]]
    recover(server, fleet)
    assert incidents(server)[0]["incident"] == "ends"


# ---- Restarts ----


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_incidents_continue_after_a_restart(serve, tmp_path, how):
    options = ("--data", str(tmp_path / "data"))
    server = serve(*options)
    fleet = start(server)
    fail(server, fleet, HOSTS[3:4])
    recover(server, fleet)
    fail(server, fleet, HOSTS[:2])
    before = incidents(server)
    of_episodes = {e["key"]: e["incident"] for e in server.get(stream("fleet") + "/episodes").json["episodes"]}
    assert [one["incident"] for one in before] == ["lasts", "ends"]
    saved(server)
    server.stop() if how == "stop" else server.kill()
    server = serve(*options)
    assert incidents(server) == before
    assert {e["key"]: e["incident"] for e in server.get(stream("fleet") + "/episodes").json["episodes"]} == of_episodes
    fail(server, fleet, HOSTS[:3])
    (one,) = incidents(server, open="true")
    assert keys(one) == list(HOSTS[:3]) and one["id"] == before[0]["id"]


def test_a_stream_that_is_gone_at_the_start_has_no_incidents(serve, tmp_path):
    options = ("--data", str(tmp_path / "data"))
    server = serve(*options)
    fail(server, start(server), HOSTS[:2])
    saved(server)
    server.kill()
    (tmp_path / "data" / "streams" / "fleet").rename(tmp_path / "gone")
    server = serve(*options)
    assert server.get("/api/v1/incidents").json == {"open": 0, "outside": 0, "incidents": []}


def test_a_damaged_stream_has_no_incident_in_the_headline(serve, tmp_path):
    """Its episodes are not known, so nobody can say that they last. Its history is whole; its journal is not."""
    options = ("--data", str(tmp_path / "data"))
    server = serve(*options)
    fleet = start(server)
    fail(server, fleet, HOSTS[:2])
    assert server.stop() == 0  # with a snapshot
    server = serve(*options)
    assert len(incidents(server, open="true")) == 1
    for _ in range(2):
        post(server, fleet.rows(1, bad=HOSTS[:2]), stream("fleet"))
    saved(server)
    server.kill()
    journal = tmp_path / "data" / "streams" / "fleet" / "journal"
    whole = bytearray(journal.read_bytes())
    whole[len(whole) // 4] ^= 1
    journal.write_bytes(whole)
    server = serve(*options)
    assert server.get(stream("fleet")).json["error"]
    assert server.get("/api/v1/incidents").json == {"open": 0, "outside": 0, "incidents": []}
    assert server.get("/api/v1/now").json["incidents"] == metrics_of(server)["oif_incidents_open"] == 0


def test_open_episodes_begin_again_without_the_history(serve, tmp_path):
    options = ("--data", str(tmp_path / "data"))
    server = serve(*options)
    fleet = start(server)
    fail(server, fleet, HOSTS[:2])
    assert server.stop() == 0
    (tmp_path / "data" / "streams" / "fleet" / "history").write_bytes(b"hello")
    server = serve(*options)
    assert incidents(server) == []
    post(server, fleet.rows(1, bad=HOSTS[:2]), stream("fleet"))
    (one,) = incidents(server)
    assert sorted(keys(one)) == sorted(HOSTS[:2]) and one["open"] == 2
    episodes = server.get(stream("fleet") + "/episodes?open=true").json["episodes"]
    assert {episode["incident"] for episode in episodes} == {one["id"]}


# ---- Events ----


def test_events_say_when_an_incident_begins_grows_and_ends(server):
    fleet = start(server)
    connection = server.connect()
    connection.request("GET", "/api/v1/events")
    answer = connection.getresponse()
    heard = []

    def listen():
        kind = None
        while not any(one["incident"] == "ends" for one in heard):
            line = answer.readline().decode().strip()
            if line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: ") and kind == "incident":
                heard.append(json.loads(line[6:]))

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    fail(server, fleet, HOSTS[:3])
    recover(server, fleet)
    listener.join(timeout=300)
    assert not listener.is_alive(), heard
    assert [(one["incident"], one["members"]) for one in heard] == [("begins", 1), ("grows", 2), ("grows", 3), ("ends", 3)]
    assert all("order" not in one for one in heard)


# ---- Alertmanager ----


def test_alertmanager_makes_one_group_of_one_incident(serve, outside, tmp_path):  # noqa: F811
    need("prometheus-alertmanager")
    manager = outside(Alertmanager, None, "  group_by: [incident]\n")
    config = tmp_path / "serve.json"
    config.write_text(json.dumps({"alertmanager": {"url": manager.address, "resend_seconds": 1}}))
    server = serve("--config", str(config))
    fleet = start(server)
    fail(server, fleet, HOSTS[:2])
    assert wait_for(lambda: [one for one in manager.groups() if len(one[1]) == 2], "both are in one group") == [
        ({"incident": "fleet/1"}, list(HOSTS[:2]))
    ]
    recover(server, fleet)
    fleet.time += 3700
    post(server, fleet.rows(5), stream("fleet"))
    fail(server, fleet, HOSTS[4:5])
    assert wait_for(lambda: [one for one in manager.groups() if one[0] == {"incident": "fleet/2"}], "another incident is another group")


# ---- The webhook ----


@pytest.fixture
def hooked(tmp_path):
    """Options of a server that sends incidents to this address, and keeps its data."""

    def write(address, **more):
        path = tmp_path / "serve.json"
        path.write_text(json.dumps({"webhook": {"url": address, **more}}))
        return "--config", str(path), "--data", str(tmp_path / "data")

    return write


def hooks(stub):
    return [json.loads(body) for _, body, _ in list(stub.requests)]


def told(stub):
    return [(one["incident"], one["id"], one["members"]) for one in hooks(stub)]


def test_the_webhook_gets_one_record_of_the_begin_and_one_of_the_end(serve, outside, hooked, tmp_path):  # noqa: F811
    stub = outside(Stub, lambda path, body: (200, ""))
    (tmp_path / "token").write_text("sesame\n")
    (tmp_path / "secret").write_text("shared secret\n")
    server = serve(*hooked(stub.address + "/hook?team=a", token_file=str(tmp_path / "token"), secret_file=str(tmp_path / "secret")))
    fleet = start(server)
    fail(server, fleet, HOSTS[:3])
    wait_for(lambda: stub.requests, "the begin is sent")
    recover(server, fleet)
    wait_for(lambda: len(stub.requests) >= 2, "the end is sent")
    time.sleep(0.6)
    assert told(stub) == [("begins", 1, 1), ("ends", 1, 3)]
    path, _, headers = stub.requests[0]
    assert path == "/hook?team=a" and headers["Authorization"] == "Bearer sesame" and headers["Content-Type"] == "application/json"
    for _, body, headers in stub.requests:
        moment, signature = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", headers["Oif-Signature"]).groups()
        assert abs(int(moment) - time.time()) < SECONDS
        assert signature == hmac.new(b"shared secret", f"{moment}.{body}".encode(), "sha256").hexdigest()
    begin, end = hooks(stub)
    assert is_high_load(begin["reason"]) and begin["text"].startswith(f"incident 1: fleet / rack-1/host-0: {begin['reason']}"), begin
    assert keys(end) == list(HOSTS[:3]) and end == incidents(server)[0]
    figures = metrics_of(server)
    assert figures["oif_webhook_queue"] == 0 and figures["oif_webhook_up"] == 1


def test_the_webhook_is_tried_again_and_nothing_waits_for_it(serve, outside, hooked):  # noqa: F811
    port = free_port()
    server = serve(*hooked(f"http://user:secret@127.0.0.1:{port}/"))
    fleet = start(server)
    fail(server, fleet, HOSTS[:2])
    recover(server, fleet)
    wait_for(lambda: metrics_of(server)["oif_webhook_up"] == 0, "an attempt failed")
    assert metrics_of(server)["oif_webhook_queue"] == 2
    stub = outside(Stub, lambda path, body: (200, ""), port)
    wait_for(lambda: len(stub.requests) >= 2, "both arrive")
    assert told(stub) == [("begins", 1, 1), ("ends", 1, 2)]
    assert len([line for line in server.log if "webhook" in line and "tried again" in line]) == 1
    assert not any("secret" in line for line in server.log)


def test_the_webhook_hears_after_a_crash_what_it_has_not_heard(serve, outside, hooked):  # noqa: F811
    answers = {"status": 500}
    stub = outside(Stub, lambda path, body: (answers["status"], ""))
    options = hooked(stub.address)
    server = serve(*options)
    fleet = start(server)
    fail(server, fleet, HOSTS[:2])
    saved(server)
    server.kill()
    answers["status"] = 200
    stub.requests.clear()
    server = serve(*options)
    recover(server, fleet)
    wait_for(lambda: len(stub.requests) >= 2, "both arrive")
    assert told(stub) == [("begins", 1, 1), ("ends", 1, 2)]
    saved(server)
    server.kill()
    stub.requests.clear()
    serve(*options)
    time.sleep(1)
    assert stub.requests == []


def test_incidents_that_only_the_journal_has_are_sent_after_a_crash(serve, outside, hooked):  # noqa: F811
    """The crash came before a snapshot."""
    answers = {"status": 500}
    stub = outside(Stub, lambda path, body: (answers["status"], ""))
    options = hooked(stub.address)
    server = serve(*options)
    fleet = start(server)
    fail(server, fleet, HOSTS[:2])
    recover(server, fleet)
    fail(server, fleet, HOSTS[3:4])
    expected = incidents(server)
    wait_for(lambda: server.get(stream("fleet")).json["saved"] == server.get(stream("fleet")).json["rows"], "rows are saved")
    server.kill()
    answers["status"] = 200
    stub.requests.clear()
    server = serve(*options)
    assert incidents(server) == expected
    wait_for(lambda: len(stub.requests) >= 3, "all arrive")
    assert told(stub) == [("begins", 1, 1), ("ends", 1, 2), ("begins", 2, 1)]
    assert metrics_of(server)["oif_webhook_queue"] == 0


def test_the_webhook_hears_that_the_incidents_of_a_removed_stream_are_over(serve, outside, hooked):  # noqa: F811
    stub = outside(Stub, lambda path, body: (200, ""))
    server = serve(*hooked(stub.address))
    fail(server, start(server), HOSTS[:2])
    wait_for(lambda: stub.requests, "the begin is sent")
    assert server.ask("DELETE", stream("fleet")).status == 204
    wait_for(lambda: len(stub.requests) >= 2 and metrics_of(server)["oif_webhook_queue"] == 0, "the end is sent")
    assert told(stub) == [("begins", 1, 1), ("ends", 1, 2)]


def test_a_record_that_the_webhook_refuses_is_dropped(serve, outside, hooked):  # noqa: F811
    stub = outside(Stub, lambda path, body: (422, "no"))
    server = serve(*hooked(stub.address))
    fail(server, start(server), HOSTS[:1])
    wait_for(lambda: stub.requests and metrics_of(server)["oif_webhook_queue"] == 0, "it is dropped")
    time.sleep(1.5)
    assert len(stub.requests) == 1


def test_a_slow_webhook_blocks_neither_rows_nor_the_end(serve, outside, hooked):  # noqa: F811
    hold = threading.Event()
    stub = outside(Stub, lambda path, body: (200, "") if hold.wait(60) else (200, ""))
    server = serve(*hooked(stub.address))
    fleet = start(server)
    fail(server, fleet, HOSTS[:1])
    wait_for(lambda: stub.requests, "a request is under way")
    recover(server, fleet)
    assert incidents(server)[0]["incident"] == "ends" and len(stub.requests) == 1
    began = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - began < 9  # the request has 10 s
    hold.set()


def test_a_secret_that_cannot_be_read_is_not_left_out(serve, outside, hooked, tmp_path):  # noqa: F811
    stub = outside(Stub, lambda path, body: (200, ""))
    server = serve(*hooked(stub.address, secret_file=str(tmp_path / "none")))
    fail(server, start(server), HOSTS[:1])
    wait_for(lambda: any("the secret cannot be read" in line for line in server.log), "it is reported")
    assert stub.requests == [] and metrics_of(server)["oif_webhook_queue"] == 1

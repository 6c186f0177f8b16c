"""Episodes at Alertmanager: the real one, and one that is down, slow, or answers with errors."""

import json
import threading
import time
from datetime import datetime

import pytest
from fleet_rows import SETTINGS, STREAM, Fleet, is_high_load, metrics_of, post, raise_load, recover, start_fleet
from outside_programs import Alertmanager, Stub, free_port, need, outside, wait_for  # noqa: F401


@pytest.fixture
def configure(tmp_path):
    """Writes a configuration and returns the options that name it."""

    def write(address, **more):
        path = tmp_path / "serve.json"
        path.write_text(json.dumps({"alertmanager": {"url": address, "resend_seconds": 1, "min_grade": "critical", **more}}))
        return "--config", str(path)

    return write


def taken(stub):
    """All alerts that were posted, by their labels' host and grade."""
    return [alert for _, body, _ in list(stub.requests) for alert in json.loads(body)]


def moment(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def test_an_episode_fires_and_is_resolved_in_the_real_alertmanager(serve, outside, configure):  # noqa: F811
    need("prometheus-alertmanager")
    manager = outside(Alertmanager)
    server = serve(*configure(manager.address, labels={"team": "infra"}), "--external-url", "https://oif.example/")
    fleet = Fleet()
    start_fleet(server, fleet)
    assert manager.alerts() == []
    bad = fleet.rows(3, bad=["web-2"])
    post(server, bad)
    (alert,) = wait_for(manager.alerts, "an alert fires")
    assert alert["labels"] == {
        "alertname": "OifAnomaly", "stream": "fleet", "key": "web-2", "column": "load", "severity": "critical", "team": "infra",
        "incident": "fleet/1",
    }  # fmt: skip
    reason = alert["annotations"]["reason"]
    assert is_high_load(reason), reason
    assert alert["annotations"]["summary"].startswith(f"fleet, web-2: {reason} since {alert['startsAt'][:19]}")
    assert float(alert["annotations"]["peak_score"]) > 0.5
    assert alert["generatorURL"] == "https://oif.example/#stream=fleet&key=web-2"
    assert moment(alert["startsAt"]) == pytest.approx(bad[0]["time"], abs=0.01)
    assert moment(alert["endsAt"]) > time.time()
    recover(server, fleet)
    wait_for(lambda: not manager.alerts(), "the alert is resolved")
    wait_for(lambda: metrics_of(server)["oif_alertmanager_queue"] == 0, "nothing waits")
    assert metrics_of(server)["oif_alertmanager_up"] == 1


def test_an_episode_that_becomes_worse_is_one_alert_of_the_new_grade(serve, outside, configure):  # noqa: F811
    need("prometheus-alertmanager")
    manager = outside(Alertmanager)
    server = serve(*configure(manager.address, min_grade="note"))
    fleet = Fleet()
    start_fleet(server, fleet)

    def grade():
        episodes = server.get(STREAM + "/episodes?open=true&key=web-2").json["episodes"]
        return episodes[0]["grade"] if episodes else None

    def severities():
        return [alert["labels"]["severity"] for alert in manager.alerts() if alert["labels"]["key"] == "web-2"]

    first, _ = raise_load(server, fleet, "web-2", grade)
    assert first in ("note", "warning")
    wait_for(lambda: severities() == [first], f"a {first} fires")
    post(server, fleet.rows(1, bad=["web-2"]))
    assert grade() == "critical"
    wait_for(lambda: severities() == ["critical"], "it fires as critical, and the other one ends")


def test_the_alert_of_a_server_that_died_ends_by_itself(serve, outside, configure):  # noqa: F811
    need("prometheus-alertmanager")
    manager = outside(Alertmanager)
    server = serve(*configure(manager.address))
    fleet = Fleet()
    start_fleet(server, fleet)
    post(server, fleet.rows(3, bad=["web-1"]))
    (alert,) = wait_for(manager.alerts, "an alert fires")
    first_end = alert["endsAt"]
    wait_for(lambda: any(one["endsAt"] != first_end for one in manager.alerts()), "its end moves on")
    server.kill()
    wait_for(lambda: not manager.alerts(), "the alert ends")


def test_alerts_wait_while_alertmanager_is_down(serve, outside, configure):  # noqa: F811
    need("prometheus-alertmanager")
    port = free_port()
    server = serve(*configure(f"http://user:secret@127.0.0.1:{port}"))
    fleet = Fleet()
    start_fleet(server, fleet)
    post(server, fleet.rows(3, bad=["web-1"]))
    wait_for(lambda: metrics_of(server)["oif_alertmanager_up"] == 0, "an attempt failed")
    assert metrics_of(server)["oif_alertmanager_queue"] == 1
    time.sleep(2)  # another attempt fails
    manager = outside(Alertmanager, port)
    assert len(wait_for(manager.alerts, "the alert arrives")) == 1
    wait_for(lambda: any("takes alerts again" in line for line in server.log), "the server has had its answer")
    said = [line for line in server.log if "Alertmanager" in line]
    assert len(said) == 2, said
    assert said[0].startswith(f"oif: Alertmanager http://127.0.0.1:{port}: ") and "tried again" in said[0]
    assert said[1] == f"oif: Alertmanager http://127.0.0.1:{port}: takes alerts again"
    assert not any("secret" in line for line in server.log)


def test_errors_are_answered_with_longer_pauses(serve, outside, configure):  # noqa: F811
    stub = outside(Stub, lambda path, body: (500, "not today"))
    server = serve(*configure(stub.address))
    fleet = Fleet()
    start_fleet(server, fleet)
    start = time.monotonic()
    post(server, fleet.rows(3, bad=["web-1"]))
    wait_for(lambda: len(stub.requests) >= 3, "it is tried again")
    assert time.monotonic() - start > 2.5  # 1 s, then 2 s
    assert len({json.loads(body)[0]["startsAt"] for _, body, _ in stub.requests}) == 1
    assert [line for line in server.log if "answers 500: not today" in line] != []
    assert all(path == "/api/v2/alerts" for path, _, _ in stub.requests)


def test_alerts_that_are_refused_are_not_repeated_at_once(serve, outside, configure):  # noqa: F811
    stub = outside(Stub, lambda path, body: (400, "bad labels"))
    server = serve(*configure(stub.address, resend_seconds=60))
    fleet = Fleet()
    start_fleet(server, fleet)
    post(server, fleet.rows(3, bad=["web-1"]))
    wait_for(lambda: metrics_of(server)["oif_alertmanager_up"] == 0, "it is refused")
    wait_for(lambda: metrics_of(server)["oif_alertmanager_queue"] == 0, "it does not wait")
    time.sleep(1.5)
    assert len(stub.requests) == 1


def test_a_slow_alertmanager_blocks_neither_the_stream_nor_the_end(serve, outside, configure):  # noqa: F811
    hold = threading.Event()
    stub = outside(Stub, lambda path, body: (200, "") if hold.wait(60) else (200, ""))
    server = serve(*configure(stub.address))
    fleet = Fleet()
    start_fleet(server, fleet)
    post(server, fleet.rows(3, bad=["web-1"]))
    wait_for(lambda: stub.requests, "a request is under way")
    for _ in range(20):
        post(server, fleet.rows(5, bad=["web-2"]))
    assert len(stub.requests) == 1  # still the same
    assert server.get("/metrics").status == 200
    start = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - start < 9  # the request has 10 s
    hold.set()


def test_after_a_restart_open_episodes_go_on_and_ended_ones_are_not_sent(serve, outside, configure, tmp_path):  # noqa: F811
    stub = outside(Stub, lambda path, body: (200, ""))
    options = (*configure(stub.address), "--data", str(tmp_path / "data"), "--save-every", "0")
    server = serve(*options)
    fleet = Fleet()
    start_fleet(server, fleet)
    post(server, fleet.rows(3, bad=["web-1"]))
    recover(server, fleet)
    bad = fleet.rows(3, bad=["web-2"])
    post(server, bad)
    wait_for(lambda: any(a["labels"]["key"] == "web-2" for a in taken(stub)), "the second episode is sent")
    first = next(a for a in taken(stub) if a["labels"]["key"] == "web-2")
    server.kill()
    stub.requests.clear()
    server = serve(*options)
    wait_for(lambda: len(taken(stub)) >= 2, "it is sent again, and again")
    for alert in taken(stub):
        assert alert["labels"] == first["labels"]
        assert alert["startsAt"] == first["startsAt"]
        assert moment(alert["endsAt"]) > time.time() - 1
    recover(server, fleet)
    wait_for(lambda: moment(taken(stub)[-1]["endsAt"]) <= fleet.time, "its end is sent")
    wait_for(lambda: metrics_of(server)["oif_alertmanager_queue"] == 0, "nothing waits")


def alerts_of(stub, host):
    return [alert for alert in taken(stub) if alert["labels"].get("key") == host]


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_an_open_episode_that_alertmanager_could_not_take_is_sent_after_a_restart(serve, outside, configure, tmp_path, end):  # noqa: F811
    is_up = threading.Event()
    stub = outside(Stub, lambda path, body: (200, "") if is_up.is_set() else (503, "down"))
    options = (*configure(stub.address), "--data", str(tmp_path / "data"), "--save-every", "0")
    server = serve(*options)
    fleet = Fleet()
    start_fleet(server, fleet)
    post(server, fleet.rows(3, bad=["web-1"]))
    recover(server, fleet)  # web-1 has begun and ended, unseen
    bad = fleet.rows(3, bad=["web-2"])
    post(server, bad)
    wait_for(lambda: alerts_of(stub, "web-2"), "it is not taken")
    server.stop() if end == "stop" else server.kill()
    stub.requests.clear()
    is_up.set()
    server = serve(*options)
    (alert, *_) = wait_for(lambda: alerts_of(stub, "web-2"), "it is sent after the restart")
    assert moment(alert["startsAt"]) == pytest.approx(bad[0]["time"], abs=0.01)
    assert moment(alert["endsAt"]) > time.time()
    wait_for(lambda: metrics_of(server)["oif_alertmanager_queue"] == 0, "nothing waits")
    assert not alerts_of(stub, "web-1")
    assert sorted(one.name for one in (tmp_path / "data").iterdir() if "alert" in one.name) == []


def test_the_alert_of_a_removed_stream_ends(serve, outside, configure):  # noqa: F811
    stub = outside(Stub, lambda path, body: (200, ""))
    server = serve(*configure(stub.address))
    fleet = Fleet()
    start_fleet(server, fleet)
    post(server, fleet.rows(3, bad=["web-1"]))
    wait_for(lambda: taken(stub), "it is sent")
    assert server.ask("DELETE", STREAM).status == 204
    removed = time.time()
    wait_for(lambda: metrics_of(server)["oif_alertmanager_queue"] == 0, "nothing waits")
    wait_for(lambda: moment(taken(stub)[-1]["endsAt"]) <= removed + 1, "its end is sent")


def test_names_are_escaped(serve, outside, configure):  # noqa: F811
    stub = outside(Stub, lambda path, body: (200, ""))
    server = serve(*configure(stub.address))
    odd = 'a"b\\c\n\x1b[31m<b>/ü&key=x'
    fleet = Fleet(hosts=("web-1", odd))
    start_fleet(server, fleet)
    post(server, fleet.rows(3, bad=[odd]))
    wait_for(lambda: taken(stub), "it is sent")
    alert = taken(stub)[0]
    assert alert["labels"]["key"] == odd
    assert alert["generatorURL"].endswith("/#stream=fleet&key=a%22b%5Cc%0A%1B%5B31m%3Cb%3E%2F%C3%BC%26key%3Dx")


def test_a_token_is_read_for_each_request_and_not_logged(serve, outside, configure, tmp_path):  # noqa: F811
    stub = outside(Stub, lambda path, body: (200, ""))
    token = tmp_path / "token"
    token.write_text("first-secret\n")
    server = serve(*configure(stub.address, token_file=str(token)))
    fleet = Fleet()
    start_fleet(server, fleet)
    post(server, fleet.rows(3, bad=["web-1"]))
    wait_for(lambda: stub.requests, "it is sent")
    assert stub.requests[0][2]["Authorization"] == "Bearer first-secret"
    token.write_text("second-secret")
    wait_for(lambda: stub.requests[-1][2]["Authorization"] == "Bearer second-secret", "the new one is sent")
    token.unlink()
    wait_for(lambda: any("token cannot be read" in line for line in server.log), "it is said that there is none")
    assert not any("secret" in line for line in server.log)


def test_a_proxy_of_the_environment_is_not_for_this_machine(serve, outside, configure):  # noqa: F811
    stub = outside(Stub, lambda path, body: (200, ""))
    proxies = {name: "http://127.0.0.1:1" for name in ("http_proxy", "all_proxy", "ALL_PROXY")}
    server = serve(*configure(stub.address), env={**proxies, "no_proxy": "", "NO_PROXY": ""})
    fleet = Fleet()
    start_fleet(server, fleet)
    post(server, fleet.rows(3, bad=["web-1"]))
    wait_for(lambda: stub.requests, "it is sent")


def test_a_silent_key_is_an_alert(serve, outside, configure):  # noqa: F811
    stub = outside(Stub, lambda path, body: (200, ""))
    server = serve(*configure(stub.address, min_grade="warning"))
    fleet = Fleet()
    start_fleet(server, fleet, {**SETTINGS, "silence": 30})
    fleet.hosts = ("web-1",)
    post(server, fleet.rows(40))
    wait_for(lambda: any(a["labels"]["alertname"] == "OifSilence" for a in taken(stub)), "the silence is sent")
    alert = next(a for a in taken(stub) if a["labels"]["alertname"] == "OifSilence")
    assert alert["labels"] == {"alertname": "OifSilence", "stream": "fleet", "key": "web-2", "severity": "warning"}
    assert alert["annotations"]["summary"].startswith("fleet, web-2: no row since ")
    fleet.hosts = ("web-1", "web-2")
    post(server, fleet.rows(2))
    wait_for(lambda: moment([a for a in taken(stub) if a["labels"]["key"] == "web-2"][-1]["endsAt"]) <= time.time(), "its end is sent")

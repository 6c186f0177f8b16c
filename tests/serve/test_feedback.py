"""Feedback by the API: rules are proposed from episodes and are a setting, and nothing of it is lost by kill -9."""

import random
import re
import subprocess
import threading
import urllib.parse

from conftest import OIF, to_ndjson

STREAM = "/api/v1/streams/web"
SETTINGS = {"key": "host", "time": "t"}
LATENCY = '"column":"latency","direction":"high"'


def make_hosts(first=0, last=2500):
    """Two hosts: the latency of web-1 is high now and then, the errors of web-2 are, too."""
    chance = random.Random(5)
    rows = []
    for i in range(last):
        for k in (1, 2):
            latency, errors = 100 + 2 * chance.random(), 10 * chance.random()
            if i > 1000 and i % 300 == 0 and k == 1:
                latency += 30
            if i > 1000 and i % 700 == 0 and k == 2:
                errors += 80
            rows.append({"host": f"web-{k}", "latency": round(latency, 3), "errors": round(errors, 3), "t": 1_700_000_000 + 10 * i})
    return rows[2 * first :]


def learn(server, settings=SETTINGS):
    assert server.put(STREAM, settings).status == 201
    assert server.post(STREAM + "/rows", to_ndjson(make_hosts())).status == 200


def episodes(server, column="latency"):
    """The key and the number of each past episode of this column, as parameters."""
    past = server.get(STREAM + "/episodes?limit=1000").json["episodes"]
    return [{"episode": e["number"], "key": e["key"]} for e in past if e["reason"].startswith(column + " ")]


def propose(server, connection=None, **episode):
    return server.get(f"{STREAM}/proposal?{urllib.parse.urlencode(episode)}", connection=connection)


def mute(server, rules, connection=None):
    return server.ask("PATCH", STREAM, {"mute": rules}, connection=connection)


def proposal(server):
    """The widest of the rules that are proposed."""
    rules = [propose(server, **one).json["rule"] for one in episodes(server)]
    return max(rules, key=lambda rule: float(re.search(r"change<([0-9.]+)", rule)[1]))


def rule_texts(server):
    return [one["rule"] for one in server.get(STREAM).json["rules"]]


def test_the_api_proposes_what_the_shell_proposes(server, tmp_path):
    learn(server)
    one = episodes(server)[0]
    answer = propose(server, **one)
    assert answer.status == 200 and set(answer.json) == {"rule"}
    rule = answer.json["rule"]
    assert rule.startswith("mute column=latency direction=high change<") and rule.endswith(" key=web-1")
    assert rule_texts(server) == [], "a proposal changes nothing"
    assert server.stop() == 0
    path = str(tmp_path / "data" / "streams" / "web" / "state")
    name = f"{one['key']}#{one['episode']}"
    assert subprocess.run([OIF, "state", "feedback", "--propose", name, path], capture_output=True, check=True).stdout.decode() == rule + "\n"


def test_a_rule_mutes_its_kind_until_it_is_removed(server):
    learn(server)
    rule = proposal(server)
    answer = mute(server, [rule])
    assert answer.status == 200, answer.text
    assert [one["rule"] for one in answer.json["rules"]] == [rule]
    later = make_hosts(2500, 4000)
    alerts = server.post(STREAM + "/rows?answer=alerts", to_ndjson(later)).text
    assert '"web-2"' in alerts and LATENCY not in alerts
    rules = server.get(STREAM).json["rules"]
    assert rules[0]["held"] >= 3 and rules[0]["rule"] == rule
    assert mute(server, [rule]).json["rules"] == rules, "the same rule again changes nothing, not even its count"
    assert mute(server, None).json["rules"] == []
    alerts = server.post(STREAM + "/rows?answer=alerts", to_ndjson(make_hosts(4000, 4600))).text
    assert LATENCY in alerts and rule_texts(server) == []


def test_rules_are_the_setting_mute(server):
    settings = {**SETTINGS, "mute": "column=errors change<5"}
    learn(server, settings)
    zoned = "mute key=web-2 time=02:00-04:00 zone=Europe/Berlin"
    assert mute(server, ["column=errors change<5", zoned]).status == 200
    assert server.get(STREAM).json["settings"]["mute"] == ["column=errors change<5", zoned]
    assert server.ask("PATCH", STREAM, {"alert-rate": 0.01}).status == 200
    rules = rule_texts(server)
    assert len(rules) == 2 and rules[0] == "mute column=errors change<5" and "zone=CET" in rules[1]
    same = {**settings, "alert-rate": 0.01}
    assert server.put(STREAM, same).status == 200, "who makes the stream need not know the rules that were added"
    assert server.put(STREAM, {name: value for name, value in same.items() if name != "mute"}).status == 200
    assert server.put(STREAM, {**same, "mute": ["key=other"]}).status == 409
    assert [one["rule"] for one in mute(server, rules[:1]).json["rules"]] == rules[:1]
    assert mute(server, None).json["rules"] == []
    assert "mute" not in server.get(STREAM).json["settings"]


def test_what_is_wrong_gets_a_remedy(server):
    assert propose(server, episode=1, key="a").status == 404
    assert server.put(STREAM, SETTINGS).status == 201
    assert propose(server, episode=1, key="a").status == 404
    assert server.post(STREAM + "/rows", to_ndjson(make_hosts())).status == 200
    unknown = propose(server, episode=999, key="web-1")
    assert unknown.status == 404 and "episodes" in unknown.error["remedy"] and unknown.error["cause"] == "unknown_episode"
    one = episodes(server)[0]
    for asked in ({**one, "other": 1}, {**one, "episode": -1}, {**one, "episode": 1.5}, {**one, "episode": 10**30}, {**one, "episode": ""}):
        answer = propose(server, **asked)
        assert answer.status == 400 and answer.error["message"], asked
    for asked in ({**one, "episode": 0}, {"episode": 10**15, "key": "web-1\0"}, {"episode": one["episode"]}, {"key": one["key"]}, {}):
        assert propose(server, **asked).status == 404, asked
    for rules in ("nonsense", "mute column=nothing", 3, "mute column=a\0", "mute change<-1", ["mute column=latency", "mute column=nothing"], [7], {}):
        assert mute(server, rules).status == 400, rules
    assert mute(server, "mute column=" + "x" * 1_000_000).status == 413
    assert rule_texts(server) == []


def test_a_stream_without_keys_needs_none(server):
    assert server.put(STREAM, {"time": "t"}).status == 201
    rows = [{name: row[name] for name in ("latency", "t")} for row in make_hosts() if row["host"] == "web-1"]
    assert server.post(STREAM + "/rows", to_ndjson(rows)).status == 200
    number = episodes(server)[0]["episode"]
    assert propose(server, episode=number, key="a").status == 404
    rule = propose(server, episode=number).json["rule"]
    assert rule.startswith("mute column=latency") and "key=" not in rule


def test_the_most_rules_are_a_thousand(server):
    rules = [f"key=k{i}" for i in range(1000)]
    learn(server, {**SETTINGS, "mute": rules[:995]})
    assert mute(server, rules).status == 200
    answer = mute(server, [*rules, "mute key=one-more"])
    assert answer.status == 400 and "1000 rules" in answer.error["message"]
    assert len(server.get(STREAM).json["rules"]) == 1000
    answer = mute(server, "mute key=" + "y" * 60_000)
    assert answer.status == 400 and len(answer.error["message"]) < 400, "a line of the core has its own limit"
    assert len(server.get(STREAM).json["rules"]) == 1000


def test_many_changes_of_two_clients_at_once(server):
    learn(server)
    past = episodes(server)
    statuses = set()

    def change(seed):
        chance, connection = random.Random(seed), server.connect()
        for _ in range(100):
            statuses.add(propose(server, connection, **chance.choice(past)).status)
            statuses.add(mute(server, [f"key=k{seed}-{i}" for i in range(chance.randrange(3))], connection).status)

    threads = [threading.Thread(target=change, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == {200}
    before = server.get(STREAM).json["rules"]
    assert len({one["rule"].split("-")[0] for one in before}) <= 1, "the rules of one of them: the last change wins"
    server.kill()
    server.start()
    assert server.get(STREAM).json["rules"] == before


def test_a_kill_loses_nothing_and_the_rows_after_it_get_the_same_results(serve, tmp_path):
    """Changes between rows, kills between changes: the state is that of a server that was not disturbed."""
    rows = make_hosts(0, 4000)
    parts = [rows[:5000], rows[5000:6000], rows[6000:7000], rows[7000:]]

    def change(server, step):
        if step == 1:
            assert mute(server, proposal(server)).status == 200
        if step == 2:
            assert mute(server, [*rule_texts(server), "mute column=errors change<100"]).status == 200
            assert server.ask("PATCH", STREAM, {"alert-rate": 0.002}).status == 200
        if step == 3:
            assert mute(server, [rule_texts(server)[0], "mute column=latency time=01:00-02:00"]).status == 200

    def run(folder, is_killed):
        server = serve("--data", str(folder / "data"))
        assert server.put(STREAM, SETTINGS).status == 201
        lines = ""
        for step, part in enumerate(parts):
            lines += server.post(STREAM + "/rows?durable=true", to_ndjson(part)).text
            if is_killed:
                server.kill()
                server.start()
            change(server, step)
            if is_killed:
                server.kill()
                server.start()
        rules = server.get(STREAM).json["rules"]
        assert server.stop() == 0
        return lines, rules, (folder / "data" / "streams" / "web" / "state").read_bytes()

    calm, killed = tmp_path / "calm", tmp_path / "killed"
    calm.mkdir()
    killed.mkdir()
    expected, got = run(calm, False), run(killed, True)
    assert got[1][0]["held"] > 0 and len(got[1]) == 2
    assert got == expected


def test_changes_that_the_snapshot_has_already_change_nothing(server, tmp_path):
    """A crash between writing a snapshot and emptying the journal: the records come again."""
    folder = tmp_path / "data" / "streams" / "web"
    learn(server)
    kept = ["key=a", "key=b", "key=web-1 change<30%"]
    for rules in (kept[:1], kept, ["key=q", *kept], ["column=errors", *kept]):
        assert mute(server, rules).status == 200
    assert server.post(STREAM + "/rows", to_ndjson(make_hosts(2500, 4000))).status == 200
    kept = ["column=errors", "key=web-1 change<30%"]
    for added in ([], ["key=b", "key=c", "key=a"], ["key=b", "key=a"], ["key=b", "key=a", "key=d"]):
        assert mute(server, kept + added).status == 200
    assert mute(server, [*rule_texts(server), "key=r"]).status == 200

    def now():
        return [server.get(STREAM + rest).json for rest in ("/episodes?limit=1000",)] + [server.get(STREAM).json["rules"]]

    expected, journal = now(), (folder / "journal").read_bytes()
    assert server.stop() == 0
    state = (folder / "state").read_bytes()
    assert len((folder / "journal").read_bytes()) < 100 < len(journal)
    (folder / "journal").write_bytes(journal)
    server.start()
    assert now() == expected
    rules = [(one["rule"].split()[1], one["held"] > 0) for one in expected[1]]
    assert rules == [("column=errors", True), ("key=web-1", True), ("key=b", False), ("key=a", False), ("key=d", False), ("key=r", False)]
    assert server.stop() == 0
    assert (folder / "state").read_bytes() == state

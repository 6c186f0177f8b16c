"""Hours and days: GET .../history answers from disk what the rows were, after crashes and damage, in bounded space."""

import math
import os
import random
import subprocess
from pathlib import Path

import pytest
from fleet_rows import metrics_of

STREAM = "/api/v1/streams/days"
START, DAY = 1767225600, 86400
STEP, DAYS, SPIKE = 30, 6, 9000  # a row per key every half minute; the row of the spike
ROWS_IN_MEMORY = 4096


def make_rows(first=0, count=DAYS * DAY // STEP):
    chance = random.Random(first)
    rows = []
    for i in range(first, first + count):
        for key in ("a", "b"):
            load = 5 + 3 * math.sin(i * STEP / DAY * 2 * math.pi) + chance.gauss(0, 0.1)
            rows.append((START + i * STEP, key, 1000 if (i, key) == (SPIKE, "a") else round(load, 3), round(chance.gauss(20, 1), 3)))
    return rows


def post(server, rows, durable="true"):
    text = "time,host,load,temp\n" + "".join(f"{time},{host},{load},{temp}\n" for time, host, load, temp in rows)
    answer = server.post(STREAM + f"/rows?answer=count&durable={durable}", text, headers={"Content-Type": "text/csv"})
    assert answer.status == 200, answer.text


def ask(server, **parameters):
    query = "&".join(f"{name}={value}" for name, value in parameters.items())
    answer = server.get(f"{STREAM}/history?{query}")
    assert answer.status == 200, answer.text
    return answer.json


def start(serve, tmp_path, *options):
    server = serve("--data", str(tmp_path / "data"), *options)
    assert server.put(STREAM, {"key": "host", "time": "time", "silence": -1}).status == 201
    return server


def check(answer, rows):
    """Each bucket is what its rows are: those in memory one by one, older ones in five minutes each."""
    seconds, values = answer["seconds"], answer["values"]["load"]
    in_memory = math.ceil(rows[-ROWS_IN_MEMORY][0] / 300) * 300 if len(rows) > ROWS_IN_MEMORY else 0
    by_bucket = {}
    for time, _, load, _ in rows:
        place = time if time >= in_memory else time // 300 * 300
        by_bucket.setdefault(math.floor(place / seconds) * seconds, []).append(load)
    assert answer["times"] == sorted(t for t in by_bucket if answer["from"] <= t < answer["to"])
    for i, time in enumerate(answer["times"]):
        loads = by_bucket[time]
        assert answer["rows"][i] == len(loads), time
        assert abs(values["low"][i] - min(loads)) < 1e-3 and abs(values["high"][i] - max(loads)) < 1e-3
        assert abs(values["mean"][i] - sum(loads) / len(loads)) < 1e-2


def test_a_week_is_a_few_hundred_points_and_a_spike_of_one_row_stays_visible(serve, tmp_path):
    server = start(serve, tmp_path)
    rows = make_rows()
    for i in range(0, len(rows), 8000):
        post(server, rows[i : i + 8000])
    of_a = [row for row in rows if row[1] == "a"]
    end = START + DAYS * DAY
    for hours, points in ((24 * DAYS, 300), (24 * DAYS, 5000), (24, 500), (6, 400), (1, 60)):
        answer = ask(server, key="a", **{"from": end - hours * 3600, "to": end, "points": points})
        assert len(answer["times"]) <= points + 1
        check(answer, of_a)
        assert len(answer["severities"]["high"]) == len(answer["thresholds"]) == len(answer["grades"]) == len(answer["times"])
    week = ask(server, key="a", **{"from": START, "to": end, "points": 200})
    assert max(week["values"]["load"]["high"]) == 1000 and max(week["values"]["load"]["mean"]) < 100
    at = week["values"]["load"]["high"].index(1000)
    assert week["times"][at] <= START + SPIKE * STEP < week["times"][at] + week["seconds"]
    assert week["anomalies"][at] >= 1 and week["grades"][at] == 3
    assert 1000 not in ask(server, key="b", **{"from": START, "to": end})["values"]["load"]["high"]
    # without a range: the day before the latest row
    latest = ask(server, key="a")
    hour = ask(server, key="a", span=3600, points=60)
    assert hour["to"] >= rows[-1][0] and 3600 <= hour["to"] - hour["from"] <= 3600 + 2 * hour["seconds"]
    [only] = server.get(STREAM + "/keys?key=a").json["keys"]
    assert only["key"] == "a" and server.get(STREAM + "/keys?key=aa").json == {"keys": [], "total": 0}
    assert latest["to"] >= rows[-1][0] and DAY <= latest["to"] - latest["from"] <= DAY + latest["seconds"]


def test_it_is_the_same_after_kills_and_a_restart(serve, tmp_path):
    server = start(serve, tmp_path)
    rows = make_rows()
    for i in range(0, len(rows), 6000):
        post(server, rows[i : i + 6000])
        if i % 12000 == 0:
            server.kill() if i % 24000 else server.stop()
            server.start()
    questions = [{"key": key, "from": START, "to": START + DAYS * DAY, "points": points} for key in "ab" for points in (100, 1000, 5000)]
    before = [ask(server, **question) for question in questions]
    for question, answer in zip(questions, before):
        check(answer, [row for row in rows if row[1] == question["key"]])
    server.kill()
    server.start()
    assert [ask(server, **question) for question in questions] == before
    assert server.stop() == 0
    server.start()
    assert [ask(server, **question) for question in questions] == before


def test_a_damaged_header_starts_again_and_a_damaged_bucket_is_left_out(serve, tmp_path):
    server = start(serve, tmp_path)
    rows = make_rows()
    post(server, rows)
    question = {"key": "a", "from": START, "to": START + DAYS * DAY, "points": 5000}
    whole = ask(server, **question)
    assert server.stop() == 0
    file = Path(tmp_path / "data/streams/days/days")
    used = 4 * DAYS * DAY // 300 * 100  # most of it, and one key in two
    content = bytearray(file.read_bytes())
    chance = random.Random(3)
    for damage in ("buckets", "header", "older", "gone"):
        if damage == "buckets":
            damaged = bytearray(content)
            for _ in range(2000):
                damaged[chance.randrange(64, used)] ^= 0x10
            file.write_bytes(damaged)
        elif damage == "gone":
            file.unlink()
        else:
            file.write_bytes(b"junk" if damage == "header" else b"oiftrnd1" + content[8:])
        server.start()
        found = ask(server, **question)
        for i, time in enumerate(found["times"]):
            at = whole["times"].index(time)
            assert found["rows"][i] <= whole["rows"][at], damage
            assert found["values"]["load"]["high"][i] <= whole["values"]["load"]["high"][at], damage
        assert found["times"], "the recent rows are in memory"
        assert len(ask(server, **question)["times"]) < len(whole["times"]), "the older ones are lost"
        assert server.stop() == 0
        is_made_again = damage in ("header", "older")
        assert any("event=history" in line for line in server.log) == is_made_again, server.log


def test_space_is_fixed_and_the_oldest_buckets_go_first(serve, tmp_path):
    limit = 1 << 17
    server = start(serve, tmp_path, "--history-disk", "128K")
    post(server, make_rows())
    assert server.stop() == 0
    file = Path(tmp_path / "data/streams/days/days")
    assert limit - 200 < file.stat().st_size <= limit
    server.start()
    end = START + DAYS * DAY
    week = ask(server, key="a", **{"from": START, "to": end, "points": 5000})
    assert START + DAY < week["times"][0] < end - DAY
    assert week["times"][-1] > end - 600
    assert server.stop() == 0
    server.options[-1] = "0"
    server.start()
    recent = ask(server, key="a", **{"from": START, "to": end, "points": 5000})
    assert sum(recent["rows"]) == ROWS_IN_MEMORY, "the recent rows are in memory"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount a small disk")
def test_it_never_fills_the_disk(serve, tmp_path):
    """The rows are on the same disk, and matter more."""
    disk = tmp_path / "data"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", disk], capture_output=True).returncode != 0:
        pytest.skip("no permission to mount a small disk")
    try:
        server = start(serve, tmp_path)
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(5 << 20))
        rows = make_rows()
        for i in range(0, len(rows), 8000):
            post(server, rows[i : i + 8000])
        assert metrics_of(server)['oif_history_lost_total{stream="days"}'] == 0
        room = os.statvfs(disk)
        ballast.write_bytes(bytes((5 << 20) + (room.f_bavail * room.f_frsize) - (1 << 20)))
        before = (disk / "streams/days/days").stat().st_blocks
        post(server, make_rows(DAYS * DAY // STEP, 5000))
        assert metrics_of(server)['oif_history_lost_total{stream="days"}'] > 100
        assert (disk / "streams/days/days").stat().st_blocks <= before
        ballast.unlink()
        lost = metrics_of(server)['oif_history_lost_total{stream="days"}']
        post(server, make_rows(DAYS * DAY // STEP + 5000, 5000))
        assert metrics_of(server)['oif_history_lost_total{stream="days"}'] == lost
        server.stop()
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_a_forgotten_key_and_a_removed_stream_leave_nothing(serve, tmp_path):
    server = start(serve, tmp_path)
    post(server, make_rows(count=2000))
    post(server, make_rows(2000, 2000))
    server.kill()
    server.start()
    assert server.ask("DELETE", STREAM + "/keys?key=a").status == 204
    assert server.get(f"{STREAM}/history?key=a&from={START}&to={START + DAY}").status == 404
    assert len(ask(server, key="b", **{"from": START, "to": START + DAY})["times"]) > 100
    assert server.stop() == 0
    server.start()
    assert server.get(f"{STREAM}/history?key=a&from={START}&to={START + DAY}").status == 404
    assert server.ask("DELETE", STREAM).status == 204
    assert not (tmp_path / "data/streams/days").exists()


def test_questions_that_make_no_sense_are_refused(server):
    assert server.get(STREAM + "/history").status == 404
    assert server.put(STREAM, {"key": "host", "time": "time"}).status == 201
    assert server.get(STREAM + "/history").error["message"] == "the stream has no rows yet"
    post(server, make_rows(count=10))
    for query, status in (("key=x", 404), ("key=a&from=5&to=4", 400), ("key=a&from=x", 400), ("key=a&points=99999", 400), ("key=a&from=1e999", 400)):
        assert server.get(f"{STREAM}/history?{query}").status == status, query
    assert server.get(f"{STREAM}/history?key=a&from=-1e15&to=1e15&points=3").status == 200
    assert server.get(f"{STREAM}/history?key=a&from=2025-12-31T00:00:00Z&to=2026-01-02T00:00:00Z").json["rows"]
    form = server.post(STREAM + "/history", "key=a&points=50", headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert form.status == 200 and sum(form.json["rows"]) == 10


def test_few_rows_are_all_there_up_to_the_latest(serve, tmp_path):
    server = start(serve, tmp_path)
    rows = [(START + 60 * i, "a", i % 7, 20) for i in range(6000)]
    post(server, rows)
    for hours, points in ((24, 500), (6, 300), (96, 400)):
        answer = ask(server, key="a", span=hours * 3600, points=points)
        if hours < 48:
            check(answer, rows)
        missing = len([row for row in rows if row[0] >= answer["from"]]) - sum(answer["rows"])
        assert 0 <= missing <= (10 if hours > 48 else 0), "but for a bucket that begins before the range"


def test_without_a_folder_the_recent_rows_are_there(serve):
    server = serve()
    assert server.put(STREAM, {"key": "host", "time": "time", "silence": -1}).status == 201
    post(server, [(START + 60 * i, "a", i % 7, 20) for i in range(6000)], durable="false")
    answer = ask(server, key="a", span=7 * DAY, points=4000)
    assert sum(answer["rows"]) == ROWS_IN_MEMORY and answer["times"][0] <= START + 60 * (6000 - ROWS_IN_MEMORY)


def test_rows_without_times_have_the_time_of_their_arrival(server):
    assert server.post("/api/v1/streams/plain/rows?create=true", "a\n" + "".join(f"{i % 7}\n" for i in range(300))).status == 200
    answer = server.get("/api/v1/streams/plain/history").json
    assert sum(answer["rows"]) == 300 and answer["to"] - answer["times"][-1] < 2 * answer["seconds"]

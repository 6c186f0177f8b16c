"""What agents send becomes rows by one rule: Influx lines, Prometheus, OpenTelemetry."""

import gzip
import json
import time

import agent_messages as make
import pytest

TIME = 1_794_970_649
STREAM = "/api/v1/streams/pump"
PLAIN = {"Content-Type": "text/plain; charset=utf-8"}
JSON = {"Content-Type": "application/json"}
PROTOBUF = {"Content-Type": "application/x-protobuf"}
REMOTE = {**PROTOBUF, "Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "0.1.0"}


def put(server, settings, stream=STREAM):
    assert server.put(stream, settings).status == 201


def rows_of(answer):
    """The rows of an answer, without what was added."""
    assert answer.status == 200, answer.text
    rows = [json.loads(line) for line in answer.text.splitlines()]
    for row in rows:
        del row["oif"]
    return rows


def post(server, body, headers, query="create=true", stream=STREAM):
    return server.post(f"{stream}/rows?{query}", body, headers=headers)


def influx(server, text, settings=None, query=""):
    put(server, settings or {})
    return rows_of(post(server, text, PLAIN, query))


# ---- Influx ----


def test_fields_of_a_key_and_a_time_are_one_row(server):
    text = f"cpu,cpu=cpu0,host=a usage_idle=97.5,n=3i {TIME}000000000\nmem,host=a used=5u,ok=true {TIME}000000000\ncpu,cpu=cpu0,host=b usage_idle=1 {TIME}000000000\n"
    assert influx(server, text, {"key": "host"}) == [
        {"time": TIME, "host": "a", 'cpu_usage_idle{cpu="cpu0"}': 97.5, 'cpu_n{cpu="cpu0"}': 3, "mem_used": 5, "mem_ok": 1},
        {"time": TIME, "host": "b", 'cpu_usage_idle{cpu="cpu0"}': 1},
    ]


def test_the_usual_key_of_influx_is_the_host(server):
    assert post(server, f"cpu,host=a x=1 {TIME}000000000\ncpu,host=b x=1 {TIME}000000000\n", PLAIN).status == 200
    stream = server.get(STREAM).json
    assert stream["settings"] == {"time": "time", "key": ["host"]} and stream["keys"] == 2


def test_without_a_usual_label_there_is_no_key(server):
    assert post(server, f"weather,place=x t=1,t2=5 {TIME}000000000\nweather,place=y t=2 {TIME}000000000\n", PLAIN).status == 200
    stream = server.get(STREAM).json
    assert stream["settings"] == {"time": "time"} and stream["rows"] == 1
    assert stream["columns"] == ['weather_t{place="x"}', 'weather_t2{place="x"}', 'weather_t{place="y"}']


def test_a_key_may_be_the_measurement_or_the_whole_series(server):
    text = f"cpu,host=a,cpu=0 x=1,y=2 {TIME}000000000\nmem,host=a x=3 {TIME}000000000\n"
    assert influx(server, text, {"key": ["host", "measurement"]}) == [
        {"time": TIME, "host": "a", "measurement": "cpu", 'x{cpu="0"}': 1, 'y{cpu="0"}': 2},
        {"time": TIME, "host": "a", "measurement": "mem", "x": 3},
    ]
    put(server, {"key": "series"}, "/api/v1/streams/all")
    assert rows_of(post(server, text, PLAIN, stream="/api/v1/streams/all")) == [
        {"time": TIME, "series": 'cpu{cpu="0",host="a"}', "x": 1, "y": 2},
        {"time": TIME, "series": 'mem{host="a"}', "x": 3},
    ]


def test_names_are_those_of_prometheus_and_values_stay(server):
    text = 'my\\ cpu,a\\ tag=x\\,\\"y\\=1 free\\ space=1,a.b=2 5000000000\n'
    assert influx(server, text) == [{"time": 5, 'my_cpu_free_space{a_tag="x,\\\\\\"y=1"}': 1, 'my_cpu_a_b{a_tag="x,\\\\\\"y=1"}': 2}]


def test_times_have_a_precision(server):
    put(server, {})
    for number, (precision, unit) in enumerate((("ns", 10**9), ("n", 10**9), ("us", 10**6), ("u", 10**6), ("ms", 1000), ("s", 1))):
        text = f"a x={number} {TIME * unit}\n"
        assert rows_of(post(server, text, PLAIN, f"precision={precision}"))[0]["time"] == TIME
    assert post(server, "a x=1 5\n", PLAIN, "precision=day").status == 400


def test_a_line_without_a_time_has_that_of_its_arrival(server):
    before = time.time()
    (row,) = influx(server, "a x=1\nb y=2\n")
    assert before - 1 <= row["time"] <= time.time() + 1 and row["a_x"] == 1 and row["b_y"] == 2


def test_samples_close_in_time_are_one_row_and_a_column_that_comes_again_begins_another(server):
    text = "".join(f"a {name}={value} {milliseconds}\n" for name, value, milliseconds in (("x", 1, 5000), ("y", 2, 5400), ("x", 3, 5500), ("z", 4, 6700), ("y", 5, 6100)))
    put(server, {"row-span": "1s"})
    assert rows_of(post(server, text, PLAIN, "precision=ms")) == [{"time": 5, "a_x": 1, "a_y": 2}, {"time": 5.5, "a_x": 3, "a_y": 5}, {"time": 6.7, "a_z": 4}]
    put(server, {"row-span": 0}, "/api/v1/streams/exact")
    rows = rows_of(post(server, text, PLAIN, "precision=ms", "/api/v1/streams/exact"))
    assert [row["time"] for row in rows] == [5, 5.4, 5.5, 6.1, 6.7]


def test_of_a_sample_that_comes_twice_the_last_one_counts(server):
    put(server, {})
    answer = post(server, "a x=1,y=5 5000000000\na x=2 5000000000\n", PLAIN)
    assert rows_of(answer) == [{"time": 5, "a_x": 2, "a_y": 5}] and answer.headers["Oif-Left-Out"] == "repeated 1"


def test_bad_lines_are_reported_and_the_others_taken(server):
    put(server, {"key": "host"})
    answer = post(server, "a,host=x v=1 5000000000\na,host=x v= 6000000000\n# fine\na,host=x v=2 7000000000\noops\n", PLAIN)
    assert answer.status == 400 and answer.error["line"] == 2 and answer.json["rows"] == 2, answer.text
    assert "2 of this kind" in answer.error["remedy"]
    assert server.get(STREAM).json["rows"] == 2


@pytest.mark.parametrize("body", ["a,host=x state=\"up\" 5\n", "a v= 5\n", "oops\n"])
def test_lines_without_a_number_are_refused(server, body):
    answer = server.post(STREAM + "/rows?create=true&format=influx", body, headers=PLAIN)
    assert answer.status == 400 and server.get("/api/v1/streams").json["streams"] == [], answer.text


def test_strings_are_left_out_and_said(server):
    put(server, {})
    answer = post(server, 'a x=1,state="up, and \\"more\\" x=5" 5000000000\n', PLAIN, "answer=count")
    assert answer.json["accepted"] == 1 and answer.json["left_out"] == {"text": 1}


def test_settings_of_the_rule_choose_metrics_and_drop_labels(server):
    put(server, {"key": "host", "metrics": ["cpu_*", "mem_used"], "drop-labels": "dc"})
    answer = post(server, "cpu,host=a,dc=x,cpu=0 u=1,v=2 5000000000\nmem,host=a,dc=x used=3,free=4 5000000000\nnet,host=a in=5 5000000000\n", PLAIN)
    assert rows_of(answer) == [{"time": 5, "host": "a", 'cpu_u{cpu="0"}': 1, 'cpu_v{cpu="0"}': 2, "mem_used": 3}]
    assert answer.headers["Oif-Left-Out"] == "metric 2"
    assert server.ask("PATCH", STREAM, {"metrics": None}).status == 200
    assert rows_of(post(server, "net,host=a in=5 6000000000\n", PLAIN)) == [{"time": 6, "host": "a", "net_in": 5}]
    for settings in ({"row-span": "soon"}, {"row-wait": -1}, {"buckets": "yes"}, {"metrics": {"a": 1}}, {"row-wait": "2h"}):
        assert server.put("/api/v1/streams/other", settings).status == 400, settings


def test_a_column_may_be_called_as_the_time_or_a_key(server):
    put(server, {"key": "host", "time": "a_time"})
    assert rows_of(post(server, "a,host=x time=1 5000000000\n", PLAIN)) == [{"a_time": 5, "host": "x", "a_time_": 1}]


# ---- The paths of InfluxDB ----


def test_the_paths_of_influxdb(server):
    assert server.post("/query?q=CREATE%20DATABASE%20telegraf").json == {"results": [{"statement_id": 0}]}
    assert server.post("/query", "q=CREATE+DATABASE+%22telegraf%22", headers={"Content-Type": "application/x-www-form-urlencoded"}).status == 200
    assert "answers no query" in server.post("/query?q=SHOW%20DATABASES").json["error"]
    for number, path in enumerate(("/write?db=telegraf&rp=autogen&precision=s&consistency=any", "/api/v2/write?bucket=telegraf&org=us&precision=s")):
        answer = server.post(path, f"cpu,host=a x=1 {TIME + number}\n", headers=PLAIN)
        assert answer.status == 204 and answer.body == b"", answer.text
    stream = server.get("/api/v1/streams/telegraf").json
    assert stream["rows"] == 2 and stream["settings"] == {"time": "time", "key": ["host"]}


def test_influxdbs_errors_are_those_that_telegraf_prints(server):
    for path in ("/write?db=t", "/api/v2/write?bucket=t"):
        answer = server.post(path, "oops\n", headers=PLAIN)
        assert answer.status == 400 and "line 1" in answer.json["error"] and answer.json["error"] == answer.json["message"] and answer.json["code"] == "invalid"
    assert server.post("/write", "a x=1\n").status == 400
    assert server.post("/write?db=a/b", "a x=1\n").status == 400
    assert server.post("/write?db=t&create=false", "a x=1\n").status == 404
    assert server.post("/write?db=t", "").status == 400
    assert server.get("/api/v1/streams").json["streams"] == []


def test_a_body_of_influx_may_be_compressed(server):
    assert server.post("/write?db=t", gzip.compress(b"a,host=x v=1\n"), headers={"Content-Encoding": "gzip"}).status == 204


# ---- Prometheus ----


def remote(server, *series, settings=None):
    put(server, settings or {})
    return post(server, make.snappy(b"".join(series)), REMOTE, "format=remote-write")


def test_series_of_remote_write_become_columns(server):
    node = {"job": "node", "instance": "a:9100"}
    answer = remote(
        server,
        make.series("load1", node, [(0.5, TIME)]),
        make.series("cpu_seconds_total", {**node, "mode": "idle"}, [(7, TIME), (8, TIME + 15)]),
        make.series("load1", {"job": "node", "instance": "b:9100"}, [(0.25, TIME + 1)]),
        settings={"key": ["job", "instance"]},
    )
    assert rows_of(answer) == [
        {"time": TIME, **node, "load1": 0.5, 'cpu_seconds_total{mode="idle"}': 7},
        {"time": TIME + 1, "job": "node", "instance": "b:9100", "load1": 0.25},
        {"time": TIME + 15, **node, 'cpu_seconds_total{mode="idle"}': 8},
    ]


def test_stale_markers_missing_numbers_and_buckets_are_left_out(server):
    answer = remote(
        server,
        make.series("a", {}, [(make.STALE, TIME)]),
        make.series("b", {}, [(float("nan"), TIME), (float("inf"), TIME), (2, TIME)]),
        make.series("c_bucket", {"le": "0.5"}, [(3, TIME)]),
        make.series("c_bucket", {}, [(4, TIME)]),
    )
    assert rows_of(answer) == [{"time": TIME, "b": 2, "c_bucket": 4}]
    assert answer.headers["Oif-Left-Out"] == "stale 1, not_finite 2, bucket 1"


def test_buckets_may_be_kept(server):
    answer = remote(server, make.series("c_bucket", {"le": "0.5"}, [(3, TIME)]), settings={"buckets": True})
    assert rows_of(answer) == [{"time": TIME, 'c_bucket{le="0.5"}': 3}]


def test_native_histograms_are_left_out(server):
    native = make.series("h", {"a": "b"}, histograms=[(5, 2.5, TIME), (6, 3.5, TIME + 1)])
    answer = remote(server, native, make.series("load", {}, [(1, TIME)]))
    assert rows_of(answer) == [{"time": TIME, "load": 1}]
    assert answer.headers["Oif-Left-Out"] == "unknown 2"
    alone = server.post(STREAM + "/write", make.snappy(native), headers=REMOTE)
    assert alone.status == 400 and "unknown 2" in alone.text


def test_a_stream_of_remote_write_gets_usual_settings(server):
    node = {"job": "node", "instance": "a:9100"}
    body = make.series("up", node, [(1, TIME)]) + make.series("x_total", node, [(1, TIME)]) + make.series("y_total", {**node, "code": "200"}, [(1, TIME)])
    answer = server.post(STREAM + "/write?create=true", make.snappy(body), headers=REMOTE)
    assert answer.status == 204 and answer.body == b"", answer.text
    assert server.get(STREAM).json["settings"] == {"time": "time", "row-wait": "10s", "key": ["job", "instance"], "rate": ["*_total", "*_total{*"]}


def test_the_answers_that_prometheus_expects(server):
    assert server.post(STREAM + "/write", make.snappy(make.series("up", {}, [(1, TIME)])), headers=REMOTE).status == 404
    put(server, {})

    def write(body, headers=REMOTE):
        return server.post(STREAM + "/write", body, headers=headers)

    assert write(make.snappy(b"")).status == 204
    assert write(make.snappy(make.block(3, make.block(2, "up")))).status == 204  # metadata alone
    stale = write(make.snappy(make.series("up", {}, [(make.STALE, TIME)])))
    assert stale.status == 204 and stale.headers["Oif-Left-Out"] == "stale 1"
    assert write(make.snappy(make.series("up", {}, [(1, TIME)]))).status == 204
    assert write(b"\xff\xff\xff\xff\x0f").status == 400
    assert write(b"not snappy at all").status == 400
    assert write(make.snappy(b"\x0a\xff\xff\xff\xff\x0f")).status == 400
    assert write(make.snappy(b"{}")).status == 400
    unnamed = make.block(1, make.block(2, make.sample(1, TIME)))
    assert write(make.snappy(unnamed)).status == 400
    both = write(make.snappy(unnamed + make.series("up", {}, [(2, TIME + 1)])))
    assert both.status == 400 and both.json["rows"] == 2
    assert write(make.snappy(b""), {**REMOTE, "Content-Type": "application/x-protobuf;proto=prometheus.Other"}).status == 415
    assert write("x\n1\n", {"Content-Type": "text/csv"}).status in (204, 409)


def test_a_snappy_bomb_is_cut_off(serve):
    server = serve("--max-body", "1M")
    put(server, {})
    for claimed in (2**20 + 1, 2**31, 2**32 - 1):
        assert server.post(STREAM + "/write", make.varint(claimed) + b"\xfe\x01\x00" * 100_000, headers=REMOTE).status in (400, 413), claimed
    assert server.post(STREAM + "/write", make.varint(900_000) + b"\x00a", headers=REMOTE).status == 400


def test_remote_write_2_is_refused_with_the_message_to_send(server):
    headers = {**REMOTE, "Content-Type": "application/x-protobuf;proto=io.prometheus.write.v2.Request", "X-Prometheus-Remote-Write-Version": "2.0.0"}
    for path in ("/write?create=true", "/rows?create=true"):
        answer = server.post(STREAM + path, make.snappy(make.block(4, "") + make.block(5, make.block(1, b""))), headers=headers)
        assert answer.status == 415 and "prometheus.WriteRequest" in answer.error["remedy"], answer.text
    named = {**REMOTE, "Content-Type": "application/x-protobuf;proto=prometheus.WriteRequest"}
    assert post(server, make.snappy(make.series("up", {}, [(1, TIME)])), named).status == 200


TEXT = """# HELP a Something
# TYPE a gauge
a{x="1\\n\\"2"} 5 1794970649000
b_total 7 1794970649000
b_bucket{le="1"} 3 1794970649000
"""


@pytest.mark.parametrize("headers", [PLAIN, {"Content-Type": "text/plain; version=0.0.4"}, {"Content-Type": "application/openmetrics-text; version=1.0.0"}, {}], ids=str)
def test_text_of_an_exporter_is_rows(server, headers):
    put(server, {})
    assert rows_of(post(server, TEXT, headers)) == [{"time": TIME, 'a{x="1\\n\\"2"}': 5, "b_total": 7}]
    assert post(server, TEXT + "oops\n", headers).error["line"] == 6


# ---- OTLP ----

RESOURCE = {"service.name": "shop", "host.name": "web-1", "process.pid": 5}


def otlp(server, *metrics, settings=None, resource=RESOURCE):
    put(server, settings if settings is not None else {"key": ["service.name", "host.name"]})
    return post(server, make.resource_metrics(resource, *metrics), PROTOBUF, "format=otlp")


def test_points_of_otlp_become_columns(server):
    answer = otlp(
        server,
        make.gauge("queue.size", make.number_point(5, TIME, {"queue": "a"}), make.number_point(6.5, TIME, {"queue": "b", "n": 1, "on": True, "f": 0.5})),
        make.total("http.requests", make.number_point(7, TIME + 0.25)),
        make.total("jobs.active", make.number_point(-2, TIME), monotonic=False),
        make.total("bytes", make.number_point(9, TIME), temporality=1),
    )
    (row,) = rows_of(answer)
    assert row == {
        "time": TIME,
        "service": {"name": "shop"},
        "host": {"name": "web-1"},
        'queue_size{queue="a"}': 5,
        'queue_size{f="0.5",n="1",on="true",queue="b"}': 6.5,
        "http_requests_total": 7,
        "jobs_active": -2,
        "bytes": 9,
    }
    assert [key["key"] for key in server.get(STREAM + "/keys").json["keys"]] == ["shop/web-1"]


def test_histograms_and_summaries_of_otlp(server):
    metrics = (
        make.distribution("h", TIME, 6, 2.5, (0.5, 1), (1, 2, 3), low=0.1, high=4.0),
        make.distribution("d", TIME, 2, 1.5, temporality=1),
        make.exponential("e", TIME, 3, 4.5),
        make.summary("s", TIME, 4, 8.0, {0.5: 1.5, 0.99: 3.5}),
    )
    counts = {"h_count": 6, "h_sum": 2.5, "h_min": 0.1, "h_max": 4, "d_count": 2, "d_sum": 1.5, "e_count": 3, "e_sum": 4.5, "s_count": 4, "s_sum": 8}
    quantiles = {'s{quantile="0.5"}': 1.5, 's{quantile="0.99"}': 3.5}
    answer = otlp(server, *metrics, settings={})
    assert rows_of(answer) == [{"time": TIME, **counts, **quantiles}] and answer.headers["Oif-Left-Out"] == "bucket 3"
    put(server, {"buckets": True}, "/api/v1/streams/b")
    buckets = {'h_bucket{le="0.5"}': 1, 'h_bucket{le="1"}': 3, 'h_bucket{le="+Inf"}': 6}
    assert rows_of(post(server, make.resource_metrics(RESOURCE, *metrics), PROTOBUF, "format=otlp", "/api/v1/streams/b")) == [{"time": TIME, **counts, **buckets, **quantiles}]


def test_the_path_of_otlp(server):
    body = make.resource_metrics(RESOURCE, make.gauge("a", make.number_point(1, TIME)), make.distribution("h", TIME, 6, 2.5), make.gauge("x.count", make.number_point(1, TIME)))
    for headers, stream in ((PROTOBUF, "otlp"), ({**PROTOBUF, "Oif-Stream": "shop"}, "shop")):
        answer = server.post("/v1/metrics", body, headers=headers)
        assert answer.status == 200 and answer.body == b"" and answer.headers["Content-Type"] == "application/x-protobuf", answer.text
        settings = server.get("/api/v1/streams/" + stream).json["settings"]
        assert settings == {"time": "time", "key": ["service_name", "host_name"], "rate": ["*_sum", "h_count"]}
    assert server.post("/v1/metrics?stream=third", gzip.compress(body), headers={**PROTOBUF, "Content-Encoding": "gzip"}).status == 200
    assert server.get("/api/v1/streams/third").json["rows"] == 1


def test_errors_of_otlp_are_statuses(server):
    bad = server.post("/v1/metrics", b"\xff\xff", headers=PROTOBUF)
    assert bad.status == 400 and bad.headers["Content-Type"] == "application/x-protobuf" and bad.body.startswith(b"\x08\x03\x12") and b"OTLP" in bad.body
    other = server.post("/v1/metrics", "x", headers=PLAIN)
    assert other.status == 415
    nameless = make.resource_metrics({}, make.gauge("", make.number_point(1, TIME)), make.gauge("a", make.number_point(1, TIME)))
    part = server.post("/v1/metrics", nameless, headers=PROTOBUF)
    assert part.status == 200 and part.body[:1] == b"\x0a" and b"no name" in part.body
    assert server.get("/api/v1/streams/otlp").json["rows"] == 1


@pytest.mark.parametrize("headers", [JSON, PLAIN], ids=str)
@pytest.mark.parametrize("key", ["resourceMetrics", "resourceLogs", "resourceSpans"])
def test_otlp_as_json_is_refused_with_the_exporter_to_use(server, key, headers):
    body = json.dumps({key: [{"resource": {"attributes": []}, "count": 7, "timeUnixNano": 5}]})
    for answer in (server.post("/v1/metrics", body, headers=headers), post(server, body, headers)):
        assert answer.status == 415 and "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf" in answer.error["remedy"], answer.text
    assert server.get("/api/v1/streams").json["streams"] == []


# ---- Nothing is not 200 ----


@pytest.mark.parametrize(
    ("body", "headers", "query"),
    [
        (make.resource_metrics({}), PROTOBUF, "format=otlp"),
        (make.resource_metrics({}, make.gauge("a")), PROTOBUF, "format=otlp"),
        (b"# HELP a b\n# TYPE a gauge\n", PLAIN, ""),
    ],
)
def test_a_body_without_any_sample_is_refused_as_rows(server, body, headers, query):
    answer = post(server, body, headers, "create=true&" + query)
    assert answer.status == 400 and "no sample" in answer.error["message"], answer.text
    put(server, {})
    assert post(server, body, headers, query).status == 400
    assert server.get(STREAM).json["columns"] is None


def test_agents_may_send_a_message_without_samples_to_their_own_path(server):
    assert server.post("/v1/metrics", make.resource_metrics({}), headers=PROTOBUF).status == 200
    put(server, {})
    assert server.post(STREAM + "/write", make.snappy(b""), headers=REMOTE).status == 204


# ---- Later bodies ----


def test_a_later_body_may_lack_all_columns_of_a_pattern(server):
    """The SDK of OpenTelemetry sends such bodies: a counter that nobody has added to is not there."""
    first = f'# TYPE a_total counter\na_total{{c="1"}} 5 {TIME}000\nload 3 {TIME}000\ntmp{{c="1"}} 1 {TIME}000\n'
    assert post(server, first, {"Content-Type": "text/plain; version=0.0.4"}).status == 200
    settings = {"rate": ["*_total{*"], "exclude": ["tmp{*"], "time": "time"}
    assert server.get(STREAM).json["settings"]["rate"] == settings["rate"]
    put(server, settings, "/api/v1/streams/b")
    for number in range(3):
        texts = [f"load 3 {TIME + 10 * number}000\n", f'a_total{{c="1"}} {number} {TIME + 10 * number + 5}000\n']
        for text in [first, *texts] if number == 0 else texts:
            assert post(server, text, PLAIN, "format=prometheus", "/api/v1/streams/b").status == 200
        assert post(server, f"load 4 {TIME + 60 + number}000\n", PLAIN, "format=prometheus").status == 200
    assert server.get("/api/v1/streams/b").json["rows"] == 7
    assert server.get("/api/v1/streams/b").json["columns"] == server.get(STREAM).json["columns"][:2]


# ---- Names ----


def test_names_that_are_written_alike_are_one_column_and_one_key(server):
    """Bytes that are not UTF-8 become U+FFFD, so texts that differ only there are the same."""
    body = b"".join(
        b"m%b,host=h%b,t%b=v%b x=%d,y\xc3\xa9=1 %d000000000\n" % (bad, bad, bad, bad, number, TIME) for number, bad in enumerate((b"\xff", b"\xfe", b"\x80"))
    )
    put(server, {"key": "host"})
    answer = post(server, body, PLAIN, "")
    assert answer.headers["Oif-Left-Out"] == "repeated 4"
    (line,) = answer.text.splitlines()
    names = [name for name, _ in json.loads(line, object_pairs_hook=list)]
    assert names == ["time", "host", 'm\ufffd_x{t\ufffd="v\ufffd"}', 'm\ufffd_y\u00e9{t\ufffd="v\ufffd"}', "oif"]
    assert json.loads(line)["host"] == "h\ufffd" and json.loads(line)['m\ufffd_x{t\ufffd="v\ufffd"}'] == 2
    assert server.get(STREAM).json["keys"] == 1


def test_a_metric_with_the_name_of_the_time_or_the_key_has_another_one(server):
    put(server, {"key": ["host.name", "host_"]})
    body = make.resource_metrics({"host.name": "a", "host_": "b"}, *(make.gauge(name, make.number_point(5, TIME)) for name in ("time", "time_", "host", "load")))
    answer = post(server, body, PROTOBUF, "format=otlp")
    (line,) = answer.text.splitlines()
    assert [name for name, _ in json.loads(line, object_pairs_hook=list)] == ["time", "host", "host_", "time_", "host__", "load", "oif"]
    assert answer.headers["Oif-Left-Out"] == "repeated 1"


# ---- Limits ----


def test_protobuf_without_a_hint_is_refused(server):
    answer = post(server, make.resource_metrics(RESOURCE, make.gauge("a", make.number_point(1, TIME))), PROTOBUF)
    assert answer.status == 415 and "/v1/metrics" in answer.error["remedy"] and server.get("/api/v1/streams").json["streams"] == []


def test_rows_cannot_grow_beyond_the_limit_of_bodies(serve):
    server = serve("--max-body", "100K")
    put(server, {})
    name = "n" * 900
    body = make.series(name, {}, [(number, TIME + 5 * number) for number in range(1000)])
    assert len(body) < 20_000
    answer = server.post(STREAM + "/write", make.snappy(body), headers=REMOTE)
    assert answer.status == 413, answer.text


def test_long_names_and_many_labels_are_left_out(server):
    put(server, {"key": "k"})
    answer = remote_many(server)
    assert answer.headers["Oif-Left-Out"] == "too_long 3" and rows_of(answer) == [{"time": TIME, "k": "", "a": 1}]


def remote_many(server):
    body = b"".join(
        [
            make.series("a" * 2000, {}, [(1, TIME)]),
            make.series("b", {f"l{i}": "x" for i in range(200)}, [(1, TIME)]),
            make.series("c", {"k": "x" * 70_000}, [(1, TIME)]),
            make.series("a", {}, [(1, TIME)]),
        ]
    )
    return post(server, make.snappy(body), REMOTE, "format=remote-write")


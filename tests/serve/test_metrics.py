"""GET /metrics: what promtool thinks of it, and whether its figures are those of the streams."""

import subprocess

from fleet_rows import LEARNED, STREAM, Fleet, metrics_of, post, start_fleet
from outside_programs import Prometheus, need, outside, wait_for  # noqa: F401


def check(text):
    need("promtool")
    done = subprocess.run(["promtool", "check", "metrics"], input=text.encode(), capture_output=True, timeout=300)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    assert done.stderr == b"" and done.stdout == b""


def test_figures_are_those_of_the_stream(serve):
    server = serve()
    fleet = Fleet()
    check(server.get("/metrics").text)
    start_fleet(server, fleet)
    post(server, fleet.rows(5, bad=["web-2"]))
    answer = server.get("/metrics")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    check(answer.text)
    figures, stream = metrics_of(server), server.get(STREAM).json
    assert figures['oif_rows_total{stream="fleet"}'] == stream["rows"] == 1210
    assert figures['oif_keys{stream="fleet"}'] == 2
    assert figures['oif_episodes_open{stream="fleet"}'] == stream["episodes_open"] == 1
    alerts = sum(figures[f'oif_alerts_total{{stream="fleet",grade="{grade}"}}'] for grade in ("note", "warning", "critical"))
    assert alerts == stream["alerts"] >= 5
    assert "web-" not in answer.text and answer.text.count("# TYPE ") <= 22, "keys have no series of their own"
    assert figures['oif_http_requests_total{code="200"}'] >= 4  # two batches, metrics twice
    assert figures['oif_http_requests_total{code="201"}'] == 1
    assert figures["oif_http_request_seconds_count"] == figures['oif_http_request_seconds_bucket{le="+Inf"}']
    assert figures["oif_http_request_seconds_count"] == sum(v for n, v in figures.items() if n.startswith("oif_http_requests_total"))
    assert 0 < figures["oif_http_request_seconds_sum"] < 60
    assert figures["process_resident_memory_bytes"] > 1e6
    assert figures[f'oif_build_info{{version="{server.get("/api/v1").json["version"]}"}}'] == 1


def test_the_rate_is_that_of_the_last_seconds(serve):
    server = serve()
    start_fleet(server, Fleet())
    rates = [server.get(STREAM).json["rows_per_second"]]
    assert 0 < rates[0] <= 2 * LEARNED / 10, "rows count for about ten seconds"
    wait_for(lambda: rates.append(server.get(STREAM).json["rows_per_second"]) or rates[-1] < rates[0], "it falls when no row comes")
    assert rates == sorted(rates, reverse=True)


def test_buckets_add_up(serve):
    server = serve()
    fleet = Fleet()
    start_fleet(server, fleet)
    for _ in range(10):
        post(server, fleet.rows(1))
    buckets = [value for name, value in metrics_of(server).items() if name.startswith("oif_http_request_seconds_bucket")]
    assert buckets == sorted(buckets) and buckets[-1] >= 12 and len(buckets) > 5


def test_the_real_prometheus_scrapes_it(serve, outside):  # noqa: F811
    need("prometheus")
    server = serve()
    fleet = Fleet()
    start_fleet(server, fleet)
    post(server, fleet.rows(3, bad=["web-2"]))
    prometheus = outside(Prometheus, {"oif": server.port})
    (found,) = wait_for(lambda: prometheus.query('oif_rows_total{job="oif",stream="fleet"}'), "the rows are scraped")
    assert found["value"][1] == "1206"
    wait_for(lambda: prometheus.query('oif_episodes_open{stream="fleet"} == 1'), "the episode is scraped")
    wait_for(lambda: prometheus.query("histogram_quantile(0.99, oif_http_request_seconds_bucket)"), "the buckets are scraped")

"""A real sender: the SDK of OpenTelemetry exports to a real server, with and without gzip."""

import pytest
from conftest import SECONDS
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource

STREAM = "/api/v1/streams/shop"


class Sender:
    """A service that is measured by the SDK, which exports when it is told to."""

    def __init__(self, server, host, compression=Compression.NoCompression):
        exporter = OTLPMetricExporter(endpoint=server.address + "/v1/metrics", headers={"Oif-Stream": "shop"}, compression=compression, timeout=SECONDS)
        reader = PeriodicExportingMetricReader(exporter, export_interval_millis=float("inf"), export_timeout_millis=1000 * SECONDS)
        self.provider = MeterProvider([reader], resource=Resource.create({"service.name": "shop", "host.name": host}))
        meter = self.provider.get_meter("tests")
        self.requests = meter.create_counter("http.requests", unit="1")
        self.queue = meter.create_gauge("queue.size")
        self.jobs = meter.create_up_down_counter("jobs.active")
        self.latency = meter.create_histogram("latency", unit="ms")

    def measure(self, number):
        self.requests.add(5, {"code": "200"})
        self.requests.add(1, {"code": "500"})
        self.queue.set(number + 0.5, {"queue": "mail"})
        self.jobs.add(-2)
        self.latency.record(3)
        self.export()

    def export(self):
        assert self.provider.force_flush(1000 * SECONDS)


@pytest.fixture
def sender():
    started = []

    def start(*arguments):
        started.append(Sender(*arguments))
        return started[-1]

    yield start
    for one in started:
        one.provider.shutdown()


EXPECTED = {
    'http_requests_total{code="200"}': [5, 10, 15],
    'http_requests_total{code="500"}': [1, 2, 3],
    'queue_size{queue="mail"}': [0.5, 1.5, 2.5],
    "jobs_active": [-2, -4, -6],
    "latency_count": [1, 2, 3],
    "latency_sum": [3, 6, 9],
    "latency_min": [3, 3, 3],
    "latency_max": [3, 3, 3],
}


@pytest.mark.parametrize("compression", [Compression.NoCompression, Compression.Gzip], ids=str)
def test_the_sdk_feeds_a_stream_of_two_hosts(server, sender, compression):
    hosts = [sender(server, host, compression) for host in ("web-1", "web-2")]
    for number in range(3):
        for host in hosts:
            host.measure(number)
    stream = server.get(STREAM).json
    assert (stream["rows"], stream["bad_rows"], stream["keys"]) == (6, 0, 2), server.log
    assert stream["settings"]["key"] == ["service_name", "host_name"]
    assert sorted(stream["settings"]["rate"]) == ["*_count", "*_sum", "*_total{*"]
    for host in ("web-1", "web-2"):
        assert server.get(f"{STREAM}/points?key=shop/{host}").json["values"] == EXPECTED

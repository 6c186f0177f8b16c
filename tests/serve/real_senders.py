"""Programs that send metrics to a real `oif serve`: tools/test/long.sh senders. tools/test/get_senders.sh builds them in build/senders."""

import subprocess

import pytest
from conftest import CHECKOUT, SECONDS
from outside_programs import free_port, wait_for
from test_opentelemetry import EXPECTED, Sender

TIME = 1_794_970_640
TEXT = '[outputs.http.headers]\nContent-Type = "text/plain; charset=utf-8"\n'
REMOTE = '[outputs.http.headers]\nContent-Type = "application/x-protobuf"\nContent-Encoding = "snappy"\nX-Prometheus-Remote-Write-Version = "0.1.0"\n'
OUTPUTS = {
    "influxdb": '[[outputs.influxdb]]\nurls = ["ADDRESS"]\ndatabase = "hosts"\n',
    "influxdb with gzip": '[[outputs.influxdb]]\nurls = ["ADDRESS"]\ndatabase = "hosts"\ncontent_encoding = "gzip"\n',
    "influxdb_v2": '[[outputs.influxdb_v2]]\nurls = ["ADDRESS"]\nbucket = "hosts"\norganization = "o"\ntoken = ""\n',
    "http, lines": '[[outputs.http]]\nurl = "ADDRESS/api/v1/streams/hosts/rows"\ndata_format = "influx"\n' + TEXT,
    "http, remote write": '[[outputs.http]]\nurl = "ADDRESS/api/v1/streams/hosts/write"\ndata_format = "prometheusremotewrite"\n' + REMOTE,
}


def sender(name):
    path = CHECKOUT / "build" / "senders" / name
    if not path.exists():
        pytest.skip(f"{name} was not built; tools/test/get_senders.sh says why")
    return path


def points(server, stream, key):
    """The values of each column, in the order of the rows."""
    answer = server.get(f"/api/v1/streams/{stream}/points?key={key}")
    return answer.json["values"] if answer.status == 200 else {}


@pytest.mark.parametrize("output", OUTPUTS)
def test_telegraf(server, tmp_path, output):
    telegraf = sender("telegraf")
    lines = [
        f"cpu,cpu=cpu0,host=web-{host} usage_idle={90 + host + number / 2} {TIME + 10 * number}000000000\nmem,host=web-{host} used={number}i {TIME + 10 * number}000000000\n"
        for number in range(3)
        for host in (1, 2)
    ]
    (tmp_path / "lines").write_text("".join(lines))
    settings = '[agent]\nomit_hostname = true\n[[inputs.file]]\nfiles = ["lines"]\ndata_format = "influx"\n'
    (tmp_path / "telegraf.conf").write_text(settings + OUTPUTS[output].replace("ADDRESS", server.address))
    is_remote = "remote" in output  # Telegraf then sends only the last sample of each series in a batch
    wait = {"row-wait": "1s"} if is_remote else {}
    assert server.put("/api/v1/streams/hosts", {"key": "host", "time": "time", **wait}).status == 201
    done = subprocess.run([telegraf, "--config", "telegraf.conf", "--once"], cwd=tmp_path, capture_output=True, timeout=SECONDS)
    assert done.returncode == 0 and b" E! " not in done.stderr, done.stderr.decode()
    first = 2 if is_remote else 0
    wait_for(lambda: server.get("/api/v1/streams/hosts").json["rows"] == 2 * (3 - first), "all rows are there")
    for host in (1, 2):
        expected = {'cpu_usage_idle{cpu="cpu0"}': [90 + host, 90.5 + host, 91 + host][first:], "mem_used": [0, 1, 2][first:]}
        assert points(server, "hosts", f"web-{host}") == expected
    assert server.get("/api/v1/streams/hosts").json["bad_rows"] == 0


COLLECTOR = """receivers:
  otlp: {protocols: {http: {endpoint: "127.0.0.1:PORT"}}}
exporters:
  otlphttp: {endpoint: "ADDRESS", headers: {Oif-Stream: shop}, sending_queue: {enabled: false}}
service:
  telemetry: {metrics: {level: none}}
  pipelines: {metrics: {receivers: [otlp], exporters: [otlphttp]}}
"""


class Receiver:
    """Where the SDK sends to, as a server of the tests."""

    def __init__(self, port):
        self.address = f"http://127.0.0.1:{port}"


def test_the_collector_of_opentelemetry(server, tmp_path):
    program, port = sender("collector"), free_port()
    text = COLLECTOR.replace("PORT", str(port)).replace("ADDRESS", server.address)
    (tmp_path / "collector.yaml").write_text(text)
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([program, "--config", "file:collector.yaml"], cwd=tmp_path, stdout=log, stderr=log)
    try:
        wait_for(lambda: process.poll() is not None or b"Everything is ready" in (tmp_path / "log").read_bytes(), "the collector is ready")
        assert process.poll() is None, (tmp_path / "log").read_text()
        one = Sender(Receiver(port), "web-1")
        for number in range(3):
            one.measure(number)
        wait_for(lambda: points(server, "shop", "shop/web-1") == EXPECTED, "all rows are there")
        one.provider.shutdown()
    finally:
        process.terminate()
        process.wait(timeout=SECONDS)

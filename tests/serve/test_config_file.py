"""oif serve --config FILE: what it makes, and what is said about mistakes."""

import json
import subprocess

import pytest
from conftest import OIF


def fails(*options):
    done = subprocess.run([OIF, "serve", *options], capture_output=True, timeout=300)
    assert done.returncode in (1, 2), done.stderr
    return done.stderr.decode()


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "serve.json"

    def write(content):
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return "--config", str(path)

    return write


def test_streams_are_made_and_found_again(serve, config, tmp_path):
    streams = [{"name": "pumps", "settings": {"key": "pump", "alert-rate": 0.001}}, {"name": "plain"}]
    options = config({"streams": streams, "data": str(tmp_path / "data"), "save-every": "0.5s"})
    server = serve(*options)
    assert [stream["name"] for stream in server.get("/api/v1/streams").json["streams"]] == ["plain", "pumps"]
    assert server.stop() == 0
    streams[0]["settings"]["alert-rate"] = 0.002
    config({"streams": streams, "data": str(tmp_path / "data")})
    server = serve(*options)
    assert server.get("/api/v1/streams/pumps").json["settings"]["alert-rate"] == 0.002
    assert server.stop() == 0
    streams[0]["settings"]["key"] = "other"
    config({"streams": streams, "data": str(tmp_path / "data")})
    assert "stream pumps: " in fails("--listen", "127.0.0.1:0", *options)


def test_a_damaged_stream_leaves_the_others_alone(serve, config, tmp_path):
    data = tmp_path / "data"
    options = config({"streams": [{"name": "good"}, {"name": "hurt"}], "data": str(data)})
    server = serve(*options)
    for name in ("good", "hurt"):
        assert server.post(f"/api/v1/streams/{name}/rows", "a,b\n1,2\n").status == 200
    assert server.stop() == 0
    (data / "streams" / "hurt" / "state").unlink()
    server = serve(*options)
    assert server.post("/api/v1/streams/good/rows", "3,4\n").status == 200
    for answer in (
        server.post("/api/v1/streams/hurt/rows", "3,4\n"),
        server.put("/api/v1/streams/hurt", {}),
        server.get("/api/v1/streams/hurt/ready"),
    ):
        assert answer.status == 503 and "state: is missing" in answer.error["message"], answer.text
        assert "backup of the whole folder" in answer.error["remedy"]
    assert server.ask("DELETE", "/api/v1/streams/hurt").status == 204
    assert server.get("/readyz").json == {"status": "ready"}


def test_the_command_line_wins(serve, config):
    server = serve(*config({"listen": "127.0.0.1:1", "max-streams": 1}), "--listen", "127.0.0.1:0")
    assert server.port != 1
    assert server.put("/api/v1/streams/a", {}).status == 201
    assert server.put("/api/v1/streams/b", {}).status in (403, 409, 429, 507)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "serve.json: line 1"),
        ({"lisen": "x"}, '"lisen" is not a setting; did you mean "listen"?'),
        ({"max_streams": 1}, '"max_streams" is not a setting; did you mean "max-streams"?'),
        ({"limits": {"max-streams": 1}}, "'limits' must be "),
        ({"max-streams": "many"}, '"max-streams": expected a whole number from 1 to 1000000, not "many"'),
        ({"help": True}, '"help" is not a setting'),
        ({"help-all": True}, "is not a setting"),
        ({"streams": [{"name": "../x"}]}, "stream ../x: "),
        ({"streams": [{"name": "a", "settings": {"colour": 1}}]}, "stream a: "),
        ({"prometheus": {"streams": [{"name": "a", "queries": {"up": "up"}}]}}, "prometheus has no 'url'"),
        ({"alertmanager": {"url": "ftp://x"}}, "http:// or https://"),
    ],
)
def test_mistakes_are_said_with_the_file(config, content, said):
    message = fails("--listen", "127.0.0.1:0", *config(content))
    assert said in message and "serve.json" in message


def test_options_need_what_belongs_to_them():
    assert "there are no queries" in fails("--listen", "127.0.0.1:0", "--prometheus", "http://127.0.0.1:9090")
    assert "--alertmanager: 'h:9093' must begin with" in fails("--listen", "127.0.0.1:0", "--alertmanager", "h:9093")
    assert "No such file" in fails("--config", "no/such/file")

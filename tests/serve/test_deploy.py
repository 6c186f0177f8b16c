"""What is in deploy/: the rules and queries work with a real Prometheus, and the manifests with the real program."""

import gzip
import hashlib
import http.client
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml
from conftest import CHECKOUT, IS_SANITIZED, OIF, SECONDS
from fleet_rows import LEARNED, Fleet, post
from outside_programs import Prometheus, Stub, need, outside, wait_for  # noqa: F401

DEPLOY = CHECKOUT / "deploy"
RULES = DEPLOY / "prometheus" / "oif_rules.yml"
DASHBOARD = json.loads((DEPLOY / "grafana" / "oif_serve.json").read_text())
MANIFESTS = {one["kind"]: one for one in yaml.safe_load_all((DEPLOY / "kubernetes" / "oif_serve.yaml").read_text())}
METRIC = re.compile(r"\b(?:oif|process)_[a-z_]+\b")


def queries():
    """(title, PromQL) of all panels, with Grafana's variables replaced."""
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$stream", ".*").replace("$__rate_interval", "1m")


def rules():
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def test_the_rules_fire_as_their_tests_say():
    need("promtool")
    done = subprocess.run(["promtool", "test", "rules", "oif_rules_test.yml"], cwd=RULES.parent, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    tested = (RULES.parent / "oif_rules_test.yml").read_text()
    for rule in rules():
        assert re.search(rf"alertname: {rule['alert']}\n *exp_alerts:\n", tested), f"{rule['alert']} has no test that it fires"


@pytest.fixture
def watched(serve, outside, tmp_path):  # noqa: F811
    """A server with an incident and all receivers, and a Prometheus that scrapes it and has the rules."""
    need("prometheus")
    stub = outside(Stub, lambda path, body: (200, ""))
    config = {"webhook": {"url": stub.address}, "alertmanager": {"url": stub.address}}
    (tmp_path / "serve.json").write_text(json.dumps(config))
    server = serve("--data", str(tmp_path / "data"), "--config", str(tmp_path / "serve.json"))
    fleet = Fleet()
    assert server.put("/api/v1/streams/fleet", {"key": "host", "time": "time", "silence": -1}).status == 201
    post(server, fleet.rows(LEARNED))
    prometheus = outside(Prometheus, {"oif": server.port}, f"rule_files: ['{RULES}']\n")
    wait_for(lambda: prometheus.query("oif_rows_total"), "it is scraped")
    post(server, fleet.rows(30, bad=["web-1"]))
    return server, prometheus


def test_every_query_of_the_dashboard_has_an_answer(watched):
    server, prometheus = watched
    known = set(METRIC.findall(server.get("/metrics").text))
    wait_for(lambda: prometheus.query('oif_stream_state{state="alert"} == 1'), "the alert is scraped")
    for title, query in queries():
        assert set(METRIC.findall(query)) <= known, f"{title}: a metric that the server does not have: {query}"
        wait_for(lambda query=query: prometheus.query(query), f"{title}: {query}")
    for rule in rules():
        assert set(METRIC.findall(rule["expr"])) <= known, rule
    wait_for(lambda: prometheus.query('ALERTS{alertname="OifAnomaly",stream="fleet",alertstate="firing"}'), "the rule fires")


def test_panels_have_room_of_their_own():
    taken = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken and place["x"] + place["w"] <= 24, panel["title"]
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_the_manifests_fit_together_and_start_the_program(serve, tmp_path):
    pod = MANIFESTS["StatefulSet"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    labels = MANIFESTS["StatefulSet"]["spec"]["template"]["metadata"]["labels"]
    assert MANIFESTS["StatefulSet"]["spec"]["selector"]["matchLabels"] == MANIFESTS["Service"]["spec"]["selector"] == labels
    (port,) = container["ports"]
    assert MANIFESTS["Service"]["spec"]["ports"][0]["targetPort"] == port["name"]
    volumes = {one["name"] for one in pod["volumes"]} | {one["metadata"]["name"] for one in MANIFESTS["StatefulSet"]["spec"]["volumeClaimTemplates"]}
    mounts = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    assert volumes == set(mounts)

    (tmp_path / "token").write_text("w" * 20)
    (tmp_path / "read-token").write_text("r" * 20)
    (tmp_path / "serve.json").write_text(MANIFESTS["ConfigMap"]["data"]["serve.json"])
    options = dict(one[2:].split("=", 1) for one in container["args"])
    assert options["listen"] == f"0.0.0.0:{port['containerPort']}" and options["data"] == mounts["data"] and options["config"] == mounts["config"]
    here = {"listen": "127.0.0.1:0", "data": str(tmp_path / "data"), "config": str(tmp_path / "serve.json")}
    for option, name in (("token-file", "token"), ("read-token-file", "read-token")):
        assert options[option] == f"{mounts['tokens']}/{name}"
        here[option] = str(tmp_path / name)
    server = serve(*(word for name in options for word in (f"--{name}", here[name])))
    for probe in ("livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["port"] == port["name"]
        assert server.get(container[probe]["httpGet"]["path"]).status == 200


# ---- The image


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """The members of the archive: {name: bytes}. The build folder is not installed, so its programs are laid out as they would be."""
    if IS_SANITIZED:
        pytest.skip("an image has no sanitizer")
    folder = tmp_path_factory.mktemp("image")
    for program, place in (("oif", "bin"), ("oif-serve", "libexec/oif")):
        (folder / "installed" / place).mkdir(parents=True)
        (folder / "installed" / place / program).symlink_to(Path(OIF).parent / program)
    command = [sys.executable, str(CHECKOUT / "tools/build/make_image.py"), str(folder / "installed"), str(folder / "image.tar"), "--tag", "oif-serve:test"]
    subprocess.run(command, check=True, timeout=SECONDS, stdout=subprocess.DEVNULL)
    with tarfile.open(folder / "image.tar") as archive:
        assert {member.mtime for member in archive} == {0}, "the same input gives the same bytes"
        return {member.name: archive.extractfile(member).read() for member in archive}


def blob(image, described):
    kind, digest = described["digest"].split(":")
    content = image[f"blobs/{kind}/{digest}"]
    assert hashlib.new(kind, content).hexdigest() == digest and len(content) == described["size"]
    return content


def test_the_image_is_whole(image):
    manifest = json.loads(blob(image, json.loads(image["index.json"])["manifests"][0]))
    config = json.loads(blob(image, manifest["config"]))
    (layer,) = (gzip.decompress(blob(image, one)) for one in manifest["layers"])
    assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(layer).hexdigest()]
    (older,) = json.loads(image["manifest.json"])
    assert older["RepoTags"] == ["oif-serve:test"] and all(name in image for name in (older["Config"], *older["Layers"]))


def test_the_image_starts_without_anything_else(image, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can change the root folder")
    manifest = json.loads(blob(image, json.loads(image["index.json"])["manifests"][0]))
    config = json.loads(blob(image, manifest["config"]))["config"]
    root = tmp_path / "root"
    with tarfile.open(fileobj=io.BytesIO(blob(image, manifest["layers"][0])), mode="r:gz") as layer:
        layer.extractall(root)  # as root it keeps owners and modes
    assert not (root / "bin/sh").exists()
    user = config["User"]
    command = [shutil.which("chroot"), f"--userspec={user}", str(root), *config["Entrypoint"], "--listen=127.0.0.1:0", *config["Cmd"]]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={})
    try:
        line = process.stderr.readline()
        port = re.fullmatch(r"oif: listening on http://127.0.0.1:(\d+)\n", line)
        assert port, line + process.stderr.read()
        connection = http.client.HTTPConnection("127.0.0.1", int(port[1]), timeout=SECONDS)
        wait_for(lambda: ask(connection, "GET", "/readyz") == 200, "it is ready")
        assert ask(connection, "POST", "/api/v1/streams/a/rows?create=true&durable=true", "x\n1\n2\n", {"Content-Type": "text/csv"}) == 200
        connection.close()
        process.terminate()
        assert process.wait(timeout=SECONDS) == 0
        assert (root / "var/lib/oif/streams/a/state").exists()
    finally:
        process.kill()
        process.wait(timeout=SECONDS)


def ask(connection, method, path, body=None, headers=None):
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    answer.read()
    return answer.status

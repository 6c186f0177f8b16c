"""The examples run, and find what they say they find."""

import asyncio
import importlib.util
import json
import sys
import types

import numpy as np
import pytest
from conftest import CHECKOUT

import oif

FOLDER = CHECKOUT / "examples" / "python"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if importlib.util.find_spec("matplotlib"):
        import matplotlib

        matplotlib.use("Agg")


def example(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # FastAPI looks for the types of annotations there
    spec.loader.exec_module(module)
    return module


def test_every_example_is_in_the_list():
    listed = (FOLDER / "README.md").read_text()
    tested = (CHECKOUT / "python" / "tests" / "test_examples.py").read_text()
    for path in FOLDER.iterdir():
        if path.suffix in (".py", ".ipynb"):
            assert path.name in listed and path.stem in tested


def test_the_notebook(tmp_path):
    for package in ("pandas", "matplotlib"):
        pytest.importorskip(package)
    notebook = json.loads((FOLDER / "quickstart.ipynb").read_text())
    session = {}
    for cell in notebook["cells"]:
        assert not cell.get("outputs"), "without outputs in the repository"
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), cell["id"], "exec"), session)
    assert session["table"][0].auc > 0.7 and session["table"][0].events == 1 and session["result"].anomaly
    assert (tmp_path / "pump.oif").exists()
    from matplotlib import pyplot

    pyplot.close("all")


def test_pandas_batch(tmp_path):
    pytest.importorskip("pandas")
    module = example("pandas_batch")
    alerts = module.find_alerts(module.synthetic_metrics(), str(tmp_path / "metrics.oif"))
    assert set(alerts["host"]) >= {"web-1", "web-2", "db-1"} and (alerts["because"][:2] == "latency_ms").all()
    assert set(range(7999, 8005)) <= set(alerts.index)
    assert oif.Pipeline.load(tmp_path / "metrics.oif").rows == 9000


def test_kafka_consumer(tmp_path):
    module = example("kafka_consumer")
    random = np.random.default_rng(1)

    def messages():
        for i in range(6000):
            row = {"host": f"web-{i % 2}", "time": 1.79e9 + i, "cpu": random.normal(), "latency_ms": random.normal()}
            if i == 5500:
                row["latency_ms"] = 60.0
            yield types.SimpleNamespace(value=json.dumps(row).encode())

    found, commits = [], []
    with oif.Pipeline.open(tmp_path / "topic.oif", key="host", time="time", alert_rate=0.0005) as pipeline:
        module.watch(messages(), pipeline, found.append, lambda: commits.append(pipeline.rows), save_every=2000)
    assert commits == [2000, 4000, 6000]
    (incident,) = (one for one in found if one["latency_ms"] == 60.0)
    assert incident["why"][0]["column"] == "latency_ms" and incident["episode"] == "begins"
    assert json.dumps(found, allow_nan=False)


def test_fastapi_service(tmp_path, monkeypatch):
    pytest.importorskip("fastapi")
    pytest.importorskip("httpx")
    from fastapi.testclient import TestClient

    monkeypatch.setenv("STATE", str(tmp_path / "service.oif"))
    with TestClient(example("fastapi_service").app) as client:
        first = client.post("/rows", json={"host": "web-1", "cpu": 40, "latency_ms": 20})
        assert first.status_code == 200 and first.json()["threshold"] is None and first.json()["why"] == []
        assert client.post("/rows", json={"host": "web-1", "cpu": "high"}).status_code == 422
        assert client.post("/rows", json={"cpu": 40}).status_code == 422
        assert [host["key"] for host in client.get("/hosts").json()] == ["web-1"]
        assert client.delete("/hosts/web-1").status_code == 200 and client.delete("/hosts/web-1").status_code == 404
    assert oif.Pipeline.load(tmp_path / "service.oif").rows == 1


def test_asyncio_stream():
    found = asyncio.run(example("asyncio_stream").main())
    assert 900 in found and len(found) < 3


def test_sensor_series(tmp_path):
    lines = example("sensor_series").main()
    assert any("2026-02-20T02:00" in line and "season" in line for line in lines) and len(lines) < 8
    if importlib.util.find_spec("matplotlib"):
        assert (tmp_path / "sensor.png").stat().st_size > 5000

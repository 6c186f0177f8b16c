"""The description of the API is valid and complete, and the server does what it says: schemathesis asks it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from conftest import CHECKOUT, make_rows, to_ndjson
from openapi_spec_validator import validate

DOCUMENT = CHECKOUT / "serve" / "api" / "openapi.json"
FOLDER = Path(__file__).parent
ROUTE = re.compile(r'^\s*\{"([A-Z]+)", (STREAM)?\s*(?:"([^"]*)")?,', re.MULTILINE)


def test_the_document_is_valid_and_served(server):
    validate(json.loads(DOCUMENT.read_text()))
    assert server.get("/api/v1/openapi.json").body == DOCUMENT.read_bytes()


def test_every_route_is_described():
    source = (CHECKOUT / "serve" / "api" / "routes.c").read_text()
    routes = {(method, ("/api/v1/streams/{name}" if stream else "") + (rest or "")) for method, stream, rest in ROUTE.findall(source)}
    assert len(routes) > 20
    described = {(method.upper(), path) for path, item in json.loads(DOCUMENT.read_text())["paths"].items() for method in item if method != "parameters"}
    assert routes - {("GET", "/"), ("GET", "/FILE")} == described


def parameter(document, one):
    """It, or what it refers to."""
    return document["components"]["parameters"][one["$ref"].rsplit("/", 1)[1]] if "$ref" in one else one


def test_parameters_are_those_of_the_routes():
    source = (CHECKOUT / "serve" / "api" / "routes.c").read_text()
    document = json.loads(DOCUMENT.read_text())
    for method, stream, rest, parameters in re.findall(
        r'\{"([A-Z]+)", (STREAM)?\s*(?:"([^"]*)")?,\s*ACCESS_\w+, \w+,\s*"([^"]*)"', source
    ):
        path = ("/api/v1/streams/{name}" if stream else "") + rest
        if path in ("/", "/FILE"):
            continue
        described = [parameter(document, one) for one in document["paths"][path][method.lower()].get("parameters", [])]
        assert {one["name"] for one in described if one["in"] == "query"} == set(parameters.split()), path


def test_metrics_have_the_type_that_is_promised(server):
    (promised,) = json.loads(DOCUMENT.read_text())["paths"]["/metrics"]["get"]["responses"]["200"]["content"]
    for accepted in ("*/*", "application/openmetrics-text; version=1.0.0"):
        assert server.get("/metrics", headers={"Accept": accepted}).headers["Content-Type"].startswith(promised + ";")


def test_schemathesis_finds_nothing(serve, tmp_path):
    server = serve("--max-streams", "50", "--timeout", "15s")
    assert server.put("/api/v1/streams/a", {"key": "host"}).status == 201
    assert server.post("/api/v1/streams/a/rows", to_ndjson(make_rows(500, keys=2))).status == 200
    # Events have no end; test_api.py reads them.
    done = subprocess.run(
        [str(Path(sys.executable).parent / "schemathesis"), "--config-file", str(FOLDER / "schemathesis.toml"), "run", server.address + "/api/v1/openapi.json", "--max-examples", "15",
         "--seed", "1", "--phases", "examples,coverage,fuzzing", "--exclude-operation-id", "getEvents", "--generation-database", "none",
         "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance",
         "--no-color", "--request-timeout", "120", "--suppress-health-check", "all"],
        capture_output=True, timeout=600, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(FOLDER), "SCHEMATHESIS_HOOKS": "schemathesis_hooks"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout.decode()[-6000:] + done.stderr.decode()[-2000:]
    assert server.get("/healthz").status == 200

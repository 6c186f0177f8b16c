"""An endpoint that scores rows as they come.

pip install fastapi uvicorn
uvicorn fastapi_service:app
curl -d '{"host": "web-1", "cpu": 40, "latency_ms": 20}' -H 'Content-Type: application/json' localhost:8000/rows

One process holds the state; threads of the server take turns with the pipeline.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, HTTPException, Request

import oif


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    with oif.Pipeline.open(os.environ.get("STATE", "service.oif"), key="host", alert_rate=0.001) as pipeline:
        app.state.pipeline = pipeline
        yield  # the state is saved when the server ends


app = FastAPI(lifespan=lifespan)


@app.post("/rows")
async def take(row: dict[str, Any], request: Request) -> dict[str, Any]:
    pipeline: oif.Pipeline = request.app.state.pipeline
    try:
        result = pipeline.process_one(row)  # some microseconds: no thread is needed
    except oif.DataError as error:
        raise HTTPException(422, str(error)) from error
    reasons = [why.to_dict() for why in pipeline.explain()] if result.anomaly else []
    return {**result.to_dict(), "why": reasons}


@app.get("/hosts")
async def hosts(request: Request) -> list[dict[str, Any]]:
    pipeline: oif.Pipeline = request.app.state.pipeline
    return [info.to_dict() for info in pipeline.list_keys()]


@app.delete("/hosts/{host}")
async def drop(host: str, request: Request) -> None:
    pipeline: oif.Pipeline = request.app.state.pipeline
    if host not in pipeline:
        raise HTTPException(404, f"there is no model of {host}")
    pipeline.drop(host)

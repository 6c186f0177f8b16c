"""Alerts in a CSV of many hosts, with reasons, as a table; the state is kept for the next file.

python pandas_batch.py [metrics.csv]     columns: time, host, and numbers
"""

import os
import sys

import numpy as np
import pandas as pd

import oif


def synthetic_metrics(rows: int = 9000) -> pd.DataFrame:
    random = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "time": pd.date_range("2026-11-01", periods=rows, freq="20s"),
            "host": np.array(["web-1", "web-2", "db-1"])[np.arange(rows) % 3],
            "cpu": random.normal(40, 5, rows),
            "latency_ms": random.lognormal(3, 0.2, rows),
        }
    )
    frame.loc[7999:8004, "latency_ms"] *= 12  # an incident on all hosts
    return frame


def find_alerts(frame: pd.DataFrame, state: str) -> pd.DataFrame:
    """The anomalous rows, the worst first, each with the column that explains it."""
    with oif.Pipeline.open(state, key="host", time="time", alert_rate=0.002) as pipeline:
        results = pipeline.process(frame, explain="anomalies")
    shares = results.filter(like="share_").rename(columns=lambda name: name.removeprefix("share_"))
    alerts = frame.assign(severity=results["severity"], because=shares.idxmax(axis=1))[results["anomaly"]]
    return alerts.sort_values("severity", ascending=False)


def main() -> None:
    frame = pd.read_csv(sys.argv[1], parse_dates=["time"]) if len(sys.argv) > 1 else synthetic_metrics()
    print(find_alerts(frame, os.environ.get("STATE", "metrics.oif")).head(10).to_string(index=False))


if __name__ == "__main__":
    main()

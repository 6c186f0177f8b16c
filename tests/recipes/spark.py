#!/usr/bin/env python3
"""Runs examples/spark/score_keys.py, kills it with all its processes after the first batches, runs it again, and compares every
result bit for bit with `oif score --key`.

usage: spark.py OIF FOLDER [ROWS KEYS]
"""

import csv
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "spark" / "score_keys.py"
FILES = 4


def make_rows(rows, keys):
    random = np.random.default_rng(1)
    pump = random.integers(keys, size=rows)
    flow = 10 + pump % 7 + random.random(rows)
    pressure = np.where(random.random(rows) < 0.001, 1, 3 + flow / 10 + random.random(rows) / 10)
    return pd.DataFrame({
        "row": np.arange(rows), "pump": [f"pump-{each}" for each in pump], "time": 1.7e9 + np.arange(rows) / 10,
        "flow": flow, "pressure": pressure, "temperature": 40 + 2 * random.random(rows),
    })


def write_files(frame, folder):
    (folder / "readings").mkdir(parents=True)
    frame.to_csv(folder / "all.csv", index=False)
    for number, part in enumerate(np.array_split(np.arange(len(frame)), FILES)):
        file = folder / "readings" / f"{number}.csv"
        frame.iloc[part].to_csv(file, index=False)
        os.utime(file, (1_700_000_000 + number,) * 2)  # Spark takes the oldest first


def start(folder):
    arguments = [folder / name for name in ("readings", "results", "checkpoint")]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    return subprocess.Popen([sys.executable, SCRIPT, *arguments], env=environment, start_new_session=True,
                            stdout=subprocess.PIPE, stderr=open(folder / "spark.log", "ab"), text=True)


def run_and_kill(folder):
    program = start(folder)
    while program.poll() is None and not (folder / "checkpoint" / "commits" / "1").exists():
        time.sleep(0.05)
    was_running = program.poll() is None
    os.killpg(program.pid, signal.SIGKILL)
    program.wait()
    assert was_running, f"it ended by itself: {(folder / 'spark.log').read_text()[-3000:]}"


def bits(number):
    return struct.pack(">d", number) if np.isfinite(number) else None


def expected(program, folder):
    lines = subprocess.run(
        [program, "score", "--detector", "online-iforest", "--key", "pump", "--time", "time", "--columns", "flow,pressure,temperature",
         "--fields", "score,threshold,anomaly", folder / "all.csv"], check=True, capture_output=True, text=True).stdout
    return {int(line["row"]): (*(bits(float(line[name] or "nan")) for name in ("score", "threshold")), line["anomaly"] == "1")
            for line in csv.DictReader(lines.splitlines())}


def results(folder):
    """Of the files that were committed."""
    import pyspark.sql

    spark = pyspark.sql.SparkSession.builder.getOrCreate()
    rows = spark.read.parquet(str(folder / "results")).collect()
    found = {row["row"]: (bits(row["score"]), bits(row["threshold"]), row["anomaly"]) for row in rows}
    assert len(found) == len(rows), "every row once"
    return found


def main():
    program, folder = sys.argv[1], Path(sys.argv[2]).absolute()
    rows, keys = (int(each) for each in sys.argv[3:5] or ("100000", "100"))
    shutil.rmtree(folder, ignore_errors=True)
    write_files(make_rows(rows, keys), folder)
    run_and_kill(folder)
    done = start(folder)
    output, _ = done.communicate(timeout=1800)
    assert done.returncode == 0, (folder / "spark.log").read_text()[-3000:]
    print(output, end="")
    right, found = expected(program, folder), results(folder)
    differ = sum(found.get(row) != result for row, result in right.items())
    anomalies = sum(result[2] for result in right.values())
    print(f"{rows} rows, {keys} keys, {anomalies} anomalies, killed once: {len(found)} results, {differ} differ")
    sys.exit(differ > 0 or len(found) != rows or not anomalies)


if __name__ == "__main__":
    main()

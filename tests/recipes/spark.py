#!/usr/bin/env python3
"""Runs examples/spark/score_keys.py, kills all its processes after the first batches, runs it again, and compares every result
bit for bit with `oif score --key`.

usage: spark.py OIF FOLDER [ROWS KEYS]
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "flink"))
from one_process import FIELDS, bits, count_anomalies, expected_results  # noqa: E402

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
        os.utime(file, (1_700_000_000 + number,) * 2)  # Spark reads the oldest file first


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
    assert was_running, f"the job ended before it was killed: {(folder / 'spark.log').read_text()[-3000:]}"


def results(folder):
    """Reads the committed files."""
    import pyspark.sql

    spark = pyspark.sql.SparkSession.builder.getOrCreate()
    rows = spark.read.parquet(str(folder / "results")).collect()
    found = {row["row"]: tuple(bits(row[name]) for name in FIELDS) for row in rows}
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
    right, found = expected_results(program, folder / "all.csv"), results(folder)
    differ = sum(found.get(row) != result for row, result in right.items())
    anomalies = count_anomalies(right)
    print(f"{rows} rows, {keys} keys, {anomalies} anomalies, killed once: {len(found)} results, {differ} differ")
    sys.exit(differ > 0 or len(found) != rows or not anomalies)


if __name__ == "__main__":
    main()

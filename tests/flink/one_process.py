"""The results of one process for the readings of the pumps. Tests compare them bit for bit with those of a job."""

import csv
import math
import struct
import subprocess

FIELDS = ("score", "threshold", "anomaly")
EMPTY = {"score": "nan", "threshold": "nan", "anomaly": "0"}


def bits(value):
    """Returns the bits of a number; None for NaN and infinities, which oif leaves out and Java writes as words."""
    number = float(value.replace("Infinity", "inf")) if isinstance(value, str) else float(value)
    return struct.pack(">d", number) if math.isfinite(number) else None


def write_readings(jar, rows, pumps, file):
    """Writes the readings that the jobs generate as CSV."""
    subprocess.run(["java", "-cp", jar, "oif.flink.demo.Pumps", str(rows), str(pumps), file], check=True)


def score_command(detector="online-iforest"):
    return ["score", "--detector", detector, "--key", "pump", "--time", "time", "--columns", "flow,pressure,temperature",
            "--fields", ",".join(FIELDS)]


def expected_results(program, readings, detector="online-iforest"):
    """Runs `oif score`. Returns a dict: row -> bits of its fields.

    The tool leaves `anomaly` empty before a model is ready, where a job writes 0.
    """
    text = subprocess.run([program, *score_command(detector), readings], check=True, capture_output=True, text=True).stdout
    return {int(line["row"]): tuple(bits(line[name] or EMPTY[name]) for name in FIELDS) for line in csv.DictReader(text.splitlines())}


def results_of(lines):
    """Returns the same dict for the output of a job: lines of a row number and fields."""
    return {int(line[0]): tuple(map(bits, line[1:])) for line in lines}


def complete_results(lines, rows):
    """Returns the same dict for an output that must contain every row exactly once."""
    results = results_of(lines)
    assert len(lines) == rows and len(results) == rows, f"every row once: {len(lines)} lines, {len(results)} of {rows} rows"
    return results


def count_anomalies(results):
    return sum(result[FIELDS.index("anomaly")] == bits("1") for result in results.values())

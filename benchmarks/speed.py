#!/usr/bin/env python3
"""Times ours and the plain literal translation on the data sets (bench_speed), and text in and out (bench_text).

    benchmarks/speed.py                     the six sets, at most 100,000 rows each: about a minute
    benchmarks/speed.py Shuttle --repeats 9
    benchmarks/speed.py --detector hst      another detector, without a plain translation
    benchmarks/speed.py --text              only bench_text, on the whole of Http
    benchmarks/speed.py --json FILE         everything that was measured
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CHECKOUT / "tools" / "measure"))

import datasets  # noqa: E402  (tools/measure is on the path only now)

PROGRAMS = CHECKOUT / "build" / "benchmarks" / "benchmarks"
SETS = ("Smtp", "Http", "Shuttle", "Donors", "ForestCover", "Satellite")
LONG_ENOUGH = 40_000  # rows; a shorter set is repeated
SEED = 0


def long_enough(name, limit):
    """The rows of a set in a random order that is always the same, repeated if they are few, at most `limit`."""
    rows, anomalous = datasets.shuffle(*datasets.load(name), SEED)
    times = max(1, -(-LONG_ENOUGH // len(rows)))
    return np.tile(rows, (times, 1))[:limit], np.tile(anomalous, times)[:limit]


def write_csv(rows, path):
    """As pandas would: the shortest digits that read back as the same number."""
    with open(path, "w", encoding="ascii") as file:
        file.writelines(",".join(map(repr, row)) + "\n" for row in rows.tolist())


def run_program(name, *arguments):
    """What a benchmark program prints."""
    return subprocess.run([PROGRAMS / name, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def measure_speed(sets, limit, folder, options):
    arguments = []
    for name in sets:
        rows, _ = long_enough(name, limit)
        path = Path(folder) / f"{name}.f64"
        rows.tofile(path)
        arguments += [name, rows.shape[1], path]
    return run_program("bench_speed", *options, *arguments)


def measure_text(folder, options):
    path = Path(folder) / "Http.csv"
    write_csv(datasets.load("Http")[0], path)
    return run_program("bench_text", *options, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"default: {', '.join(SETS)}")
    parser.add_argument("--detector", default="online-iforest", metavar="NAME", help="default: online-iforest")
    parser.add_argument("--rows", type=int, default=100_000, metavar="N", help="at most of each set (default: 100,000)")
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="the best of which counts (default: 5)")
    parser.add_argument("--text", action="store_true", help="only text in and out")
    parser.add_argument("--json", metavar="FILE", help="write the measurements there instead of a table")
    arguments = parser.parse_args()

    options = ["--repeats", arguments.repeats] + (["--json"] if arguments.json else [])
    speed_options = ["--detector", arguments.detector, *options]
    with tempfile.TemporaryDirectory(prefix="oif_bench_") as folder:
        speed = "" if arguments.text else measure_speed(arguments.sets or SETS, arguments.rows, folder, speed_options)
        text = measure_text(folder, options) if arguments.text or not arguments.sets else ""
    if arguments.json:
        measured = {name: json.loads(found) for name, found in (("speed", speed), ("text", text)) if found}
        Path(arguments.json).write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    else:
        print("\n".join(part for part in (speed, text) if part), end="")


if __name__ == "__main__":
    try:
        main()
    except datasets.DataMissing as missing:
        sys.exit(f"speed not measured: {missing}")

#!/usr/bin/env python3
"""Times this checkout beside an earlier commit in one run: benchmarks/run.sh compare COMMIT.

    benchmarks/compare.py COMMIT
    benchmarks/compare.py COMMIT --sets Shuttle --detectors hst,loda --repeats 9

Both builds get the same rows, learned and scored one by one. They take turns, so that whatever else the machine does
meets both; the best turn of each counts. Prints nanoseconds per row and how many times as fast the row is now.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import speed  # beside this file; puts tools/measure on the path
import datasets

CHECKOUT = speed.CHECKOUT
DETECTORS = "rolling-iforest,online-iforest,iforest-asd,hst,loda,sdo,rrcf"
SETS = ("Http", "ForestCover", "Satellite")  # 3, 10 and 36 columns
ROWS = {"rrcf": 10_000}  # ten times as slow as the others


def build_commit(commit):
    """bench_speed of the commit, built as tools/build/build.sh benchmarks does, from a copy of its files."""
    name = subprocess.run(["git", "rev-parse", "--short", commit], cwd=CHECKOUT, check=True, capture_output=True, text=True)
    folder = CHECKOUT / "build" / "compare" / name.stdout.strip()
    program = folder / "build" / "benchmarks" / "benchmarks" / "bench_speed"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        archive = subprocess.Popen(["git", "archive", commit], cwd=CHECKOUT, stdout=subprocess.PIPE)
        subprocess.run(["tar", "x", "-C", folder], stdin=archive.stdout, check=True)
        if archive.wait() != 0:
            sys.exit(f"git archive {commit} failed")
        subprocess.run(["cmake", "--preset", "benchmarks"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", "--preset", "benchmarks", "--", "--quiet"], cwd=folder, check=True)
    return program


def time_rows(program, detector, columns, path):
    """Nanoseconds per row of one run."""
    command = [program, "--json", "--detector", detector, "--only", "one-by-one", "--repeats", 1, "set", columns, path]
    printed = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout
    measured = json.loads(printed)["sets"][0]
    return 1e9 * measured["ways"]["one-by-one"]["cpu_seconds"] / measured["rows"]


def compare(programs, detector, rows, repeats, folder):
    path = Path(folder) / "rows.f64"
    rows[: ROWS.get(detector)].tofile(path)
    best = [float("inf")] * len(programs)
    for _ in range(repeats):
        for i, program in enumerate(programs):
            best[i] = min(best[i], time_rows(program, detector, rows.shape[1], path))
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", help="the earlier commit")
    parser.add_argument("--sets", default=",".join(SETS), metavar="SET,...", help=f"default: {','.join(SETS)}")
    parser.add_argument("--detectors", default=DETECTORS, metavar="NAME,...", help=f"default: {DETECTORS}")
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="turns of each (default: 5)")
    arguments = parser.parse_args()
    programs = (build_commit(arguments.commit), speed.PROGRAMS / "bench_speed")
    sets = {name: speed.long_enough(name, speed.LONG_ENOUGH)[0] for name in arguments.sets.split(",")}
    print("| detector | " + " | ".join(f"{name} ({rows.shape[1]})" for name, rows in sets.items()) + " |")
    print("| --- |" + " --- |" * len(sets))
    with tempfile.TemporaryDirectory(prefix="oif_compare_") as folder:
        for detector in arguments.detectors.split(","):
            cells = []
            for rows in sets.values():
                before, now = compare(programs, detector, rows, arguments.repeats, folder)
                cells.append(f"{before:,.0f} → {now:,.0f}, {before / now:.2f}")
            print(f"| `{detector}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    try:
        main()
    except datasets.DataMissing as missing:
        sys.exit(f"speed not measured: {missing}")

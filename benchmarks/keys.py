#!/usr/bin/env python3
"""Many keys: rows of different keys in turn beside the same rows sorted by key, the bytes of a key, and saves: benchmarks/run.sh keys.

    benchmarks/keys.py            times and bytes with 1,000 and 100,000 keys, some minutes and 6 GB
    benchmarks/keys.py --saves    only saves and loads of 10,000 to 1,000,000 keys of which 1% have changed: 3 GB
    benchmarks/keys.py --check    instructions and bytes of small fleets against benchmarks/limits.json, and the bytes that
                                  docs/flink.md has for a model: seconds, for CI
    benchmarks/keys.py --accept   make the figures of this machine the limits

Times are of the processor, the best of three runs in turn, and what counts is their ratio: packed models are read from
memory for every row, so they depend on who else uses it. Instructions do not.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from machine import machine

CHECKOUT = Path(__file__).resolve().parents[1]
LIMITS = CHECKOUT / "benchmarks" / "limits.json"
PROGRAM = CHECKOUT / "build" / "benchmarks" / "benchmarks" / "bench_keys"
SAVES = PROGRAM.with_name("bench_saves")
KEY_STATE = PROGRAM.with_name("bench_key_state")
FLINK_PAGE = CHECKOUT / "docs" / "flink.md"
ORDERS = ("sorted", "turns")

# Rows per call. In a small block no key of a thousand has two rows; in a large one, as of an array from Python, each has eight.
SMALL_BLOCK, LARGE_BLOCK = 512, 8192

# In small fleets all models would be whole. With this limit a quarter of it is.
PACKING = "memory_limit=12000000"

# In large blocks, rows in turn cost at most this many times as much as sorted ones.
MOST_TIMES = {1000: 2, 100_000: 3}


def run(keys, rows, columns, order, *settings, block=SMALL_BLOCK):
    """Microseconds per row, bytes of a key in memory and in a snapshot, and the sum of the scores."""
    command = [PROGRAM, str(keys), str(rows), str(columns), order, str(block), *settings]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    micros, live, stored, scores = done.stdout.split()
    return float(micros), int(live), int(stored), scores


def count_instructions(keys, rows, columns, order, *settings):
    """Instructions per row, without those of making up the rows."""
    with tempfile.TemporaryDirectory(prefix="oif_callgrind_") as folder:
        dump = Path(folder) / "dump"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={dump}", "--toggle-collect=pass_counted_rows"]
        command += [PROGRAM, str(keys), str(rows), str(columns), order, "512", *settings]
        subprocess.run(command, check=True, capture_output=True)
        total = re.search(r"^(?:totals|summary): (\d+)", dump.read_text(encoding="utf-8"), re.MULTILINE)
    return round(int(total.group(1)) / (keys * rows))


def measure():
    """The table of docs/measurements/fleets.md."""
    missed = 0
    ways = (("sorted", SMALL_BLOCK), ("turns", SMALL_BLOCK), ("turns", LARGE_BLOCK))
    print("| keys | rows of each | columns | sorted | in turn, blocks of 512 | times | in turn, blocks of 8,192 | times |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for keys, rows in ((1000, 200), (1000, 2000), (100_000, 50)):
        for columns in (3, 10):
            runs = {way: [] for way in ways}
            for _ in range(3 if keys <= 1000 else 1):
                for order, block in ways:
                    runs[order, block].append(run(keys, rows, columns, order, block=block))
            if len({taken[3] for all_taken in runs.values() for taken in all_taken}) != 1:
                sys.exit("the scores depend on the order of the rows")
            ordered, small, large = (min(taken[0] for taken in runs[way]) for way in ways)
            missed += large > MOST_TIMES[keys] * ordered
            print(
                f"| {keys:,} | {rows:,} | {columns} | {ordered:.1f} | {small:.1f} | {small / ordered:.2f} "
                f"| {large:.1f} | {large / ordered:.2f} |",
                flush=True,
            )
    bars = " and ".join(f"{times} times at {keys:,} keys" for keys, times in MOST_TIMES.items())
    print(f"\nbar: in turn at most {bars}, in large blocks: {'MISSED' if missed else 'met'}")


def measure_saves():
    """The table of docs/measurements/fleets.md: a whole save, and one after one row for 1% of the keys."""
    print("| keys | rows of each | columns | whole save | processor | 1% changed | processor | bytes, times less | time, times less | load |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for keys, rows, columns in ((10_000, 100, 3), (100_000, 3, 3), (1_000_000, 1, 1)):
        with tempfile.TemporaryDirectory(prefix="oif_saves_") as folder:
            command = [SAVES, str(keys), str(rows), str(columns), str(Path(folder) / "state")]
            lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        (whole, whole_seconds), (part, part_seconds), (_, load) = (
            (int(line.split()[1]), float(line.split()[2])) for line in lines
        )
        print(
            f"| {keys:,} | {rows} | {columns} | {whole / 1e6:.0f} MB | {whole_seconds:.2f} s | {part / 1e6:.1f} MB | {part_seconds:.2f} s "
            f"| {whole / part:.0f} | {whole_seconds / part_seconds:.0f} | {load:.1f} s |"
        )


def figures():
    """Those that depend on nothing but the program: name to number."""
    found = {}
    for columns in (3, 10):
        counts = [count_instructions(40, 120, columns, order, PACKING) for order in ORDERS]
        for order, count in zip(ORDERS, counts):
            found[f"instructions per row, {columns} columns, {order}"] = count
        found[f"instructions in turn per 100 of sorted rows, {columns} columns"] = round(100 * counts[1] / counts[0])
    for rows in (3, 100, 480):
        _, live, stored, _ = run(100, rows, 3, "turns", PACKING)
        found[f"bytes of a key in memory, {rows} rows of 3 columns"] = live
        found[f"bytes of a key in a snapshot, {rows} rows of 3 columns"] = stored
    return found


def compare(found, limits, slack_percent):
    """Prints the table; the number of figures above their limit."""
    above = 0
    for name, figure in found.items():
        limit = limits.get(name)
        exceeded = limit is None or figure > limit * (1 + slack_percent / 100)
        above += exceeded
        print(f"{name:<60} {figure:>9,} {limit or 0:>9,}{'  EXCEEDED' if exceeded else ''}")
    return above


def sizes_of_models(text):
    """Live and saved KB by detector and columns, from the table that bench_key_state prints."""
    rows = re.findall(r"^\| (`[^|]+?) \| (\d+) \| (\d+) KB \| (\d+) KB \|", text, re.MULTILINE)
    return {f"{detector}, {columns} columns, {kind}": int(size)
            for detector, columns, *sizes in rows for kind, size in zip(("live", "saved"), sizes)}  # fmt: skip


def count_stale_sizes():
    """Prints the sizes of docs/flink.md that are no longer true, by more than a tenth; how many, and of how many."""
    done = subprocess.run([KEY_STATE], check=True, capture_output=True, text=True)
    found, shown = sizes_of_models(done.stdout), sizes_of_models(FLINK_PAGE.read_text(encoding="utf-8"))
    stale = [name for name, size in found.items() if abs(shown.get(name, 0) - size) > size / 10]
    for name in stale:
        print(f"docs/flink.md: {name}: {shown.get(name, 0)} KB, now {found[name]}; benchmarks/run.sh key-state prints the table")
    return len(stale), len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    some = parser.add_mutually_exclusive_group()
    some.add_argument("--check", action="store_true", help="compare small fleets with their limits")
    some.add_argument("--saves", action="store_true", help="measure only the saves")
    some.add_argument("--accept", action="store_true", help="rewrite the limits")
    arguments = parser.parse_args()
    if not arguments.check and not arguments.accept:
        if not arguments.saves:
            measure()
        measure_saves()
        return 0
    stored = json.loads(LIMITS.read_text(encoding="utf-8"))
    found = figures()
    if arguments.accept:
        stored["keys"][machine()] = found
        LIMITS.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
    if machine() not in stored["keys"]:
        print(f"no limits for {machine()} yet, so nothing is compared; --accept stores these figures as its limits")
    above = compare(found, stored["keys"].get(machine(), found), stored["slack_percent"])
    stale, sizes = count_stale_sizes()
    # In the words that tools/test/run_tests.sh adds up.
    print(f"{len(found) + sizes - above - stale} passed, {above + stale} failed")
    return 1 if above + stale else 0


sys.exit(main())

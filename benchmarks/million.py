#!/usr/bin/env python3
"""A million keys for real: rows per second of processor time, and memory beside what `oif state size` says.

    benchmarks/run.sh million                              10^6 keys of 10 columns, 10 rows each, small models: minutes, 10 GB
    benchmarks/run.sh million --keys 20000 --rows 600      fewer keys, more rows of each
    benchmarks/run.sh million --through serve python       the same rows by HTTP, and from Python
    benchmarks/run.sh million --check --keys 2000 --rows 40  exit code 1 if a bar is missed

A C program makes the rows, so no file of gigabytes is needed: one row of every key per minute, with its time. `oif score`
reads them from a pipe, a stream of `oif serve` with a data folder gets them in posts of 10,000 rows, and a Pipeline of
Python in frames of 10,000 rows. Scores are thrown away. The bars are 16,700 rows per second of processor time, a row of
every key per minute on one core, and memory within 10% of `oif state size`, and for the service of its `--history` besides.
Python's time includes reading the text.
"""

import argparse
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from serve import Server, processor_seconds

CHECKOUT = Path(__file__).resolve().parents[1]
ROWS = CHECKOUT / "build" / "benchmarks" / "benchmarks" / "bench_fleet_rows"
LEAST_ROWS_PER_SECOND, MOST_ERROR = 1e6 / 60, 0.10
BATCH_ROWS = 10_000
HISTORY_BYTES = 64 << 20  # of a stream of the service, which some thousand keys fill
SMALL = {"num_trees": 16, "window_size": 256, "sample_size": 48, "max_depth": 4, "max_leaf_samples": 12}


def as_options(params):
    return {name.replace("_", "-"): value for name, value in params.items()}


def expected(given, way, settings):
    """What `oif state size` says, with room for all keys, and the history of a stream of the service."""
    asked = ["--keys", str(given.keys), "--columns", str(given.columns), "--rows-per-key", str(given.rows)]
    command = [given.oif, "state", "size", "--json", "--memory-limit", "1TB", *asked, *settings]
    models = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["memory_bytes"]
    return models + (HISTORY_BYTES if way == "serve" else 0)


def make_rows(given, keys, rows):
    return subprocess.Popen([ROWS, str(keys), str(rows), str(given.columns)], stdout=subprocess.PIPE)


# ---- Three ways, each with processor seconds and the most resident bytes ----


def through_score(given, settings, keys, rows):
    limits = ["--max-keys", str(keys), "--memory-limit", f"{given.limit_gb}GB"]
    command = [given.oif, "score", "--quiet", "--key", "host", "--time", "time", *limits, *settings]
    made = make_rows(given, keys, rows)
    scored = subprocess.Popen(command, stdin=made.stdout, stdout=subprocess.DEVNULL)
    made.stdout.close()
    _, status, usage = os.wait4(scored.pid, 0)
    scored.returncode = os.waitstatus_to_exitcode(status)
    if made.wait() != 0 or scored.returncode != 0:
        sys.exit(f"million.py: oif score ended with {scored.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def bodies_of(made):
    """The rows as CSV, each body with the header."""
    header = made.stdout.readline()
    for lines in iter(lambda: list(itertools.islice(made.stdout, BATCH_ROWS)), []):
        yield header + b"".join(lines)
    made.wait()


def most_resident_bytes(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) * 1024


def through_serve(given, settings, keys, rows):
    stream = {"key": "host", "time": "time", "max-keys": keys, "memory-limit": f"{given.limit_gb}GB", **as_options(SMALL if settings else {})}
    with tempfile.TemporaryDirectory() as folder:
        server = Server(given.oif, folder)
        connection, path = server.connect(), "/api/v1/streams/million"
        status, text = server.ask(connection, "PUT", path, json.dumps(stream), {"Content-Type": "application/json"})
        assert status == 201, text
        for body in bodies_of(make_rows(given, keys, rows)):
            status, text = server.ask(connection, "POST", path + "/rows?answer=count", body, {"Content-Type": "text/csv"})
            assert status == 200, text
        found = processor_seconds(server.process.pid), most_resident_bytes(server.process.pid)
        server.stop()
    return found


def through_python(given, settings, keys, rows):
    """In a process of its own, so its memory is its own."""
    limits = {"max_keys": keys, "memory_limit": given.limit_gb * 10**9}
    made = make_rows(given, keys, rows)
    params = SMALL if settings else {}
    command = [given.python, "-c", PYTHON_PROGRAM, json.dumps(params), json.dumps(limits), str(BATCH_ROWS)]
    ran = subprocess.run(command, stdin=made.stdout, capture_output=True, text=True)
    made.stdout.close()
    if made.wait() != 0 or ran.returncode != 0:
        sys.exit(f"million.py: Python ended with {ran.returncode}: {ran.stderr}")
    seconds, resident = map(float, ran.stdout.split())
    return seconds, int(resident)


PYTHON_PROGRAM = """
import json, resource, sys, numpy, oif
params, limits, batch_rows = json.loads(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3])
pipeline = oif.Pipeline(oif.RollingIsolationForest(**params), **limits)
def process(lines):
    cells = [line.split(b",") for line in lines]
    numbers = numpy.array([row[2:] for row in cells], dtype=float)
    pipeline.process(numbers, [row[1] for row in cells], times=[float(row[0]) for row in cells])
lines = []
next(sys.stdin.buffer)
for line in sys.stdin.buffer:
    lines.append(line)
    if len(lines) == batch_rows:
        process(lines)
        lines = []
if lines:
    process(lines)
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
"""

WAYS = {"score": through_score, "serve": through_serve, "python": through_python}


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--oif", default=str(CHECKOUT / "build" / "release-gcc" / "oif"), help="the tool (%(default)s)")
    add("--python", default=sys.executable, help="a Python with the package (%(default)s)")
    add("--through", nargs="+", choices=list(WAYS), default=["score"], help="(%(default)s)")
    add("--keys", type=int, default=1_000_000, metavar="N")
    add("--rows", type=int, default=10, metavar="N", help="of each key (%(default)s)")
    add("--columns", type=int, default=10, metavar="D")
    add("--default", action="store_true", help="models of the default size instead of small ones")
    add("--limit-gb", type=int, default=16, metavar="N", help="--memory-limit of the run (%(default)s)")
    add("--check", action="store_true", help="exit code 1 if a bar is missed")
    return parser.parse_args()


def main():
    given = read_arguments()
    settings = [] if given.default else [word for name, value in as_options(SMALL).items() for word in (f"--{name}", str(value))]
    sizes = {way: expected(given, way, settings) for way in given.through}
    if max(sizes.values()) > 1e9 * given.limit_gb:
        sys.exit(f"million.py: these keys take {max(sizes.values()) / 1e9:.1f} GB, more than --limit-gb {given.limit_gb}")
    print("| through | keys | columns | rows of each | models | rows/s of processor time | GB resident | oif state size | error |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    missed = []
    for way in given.through:
        own = WAYS[way](given, [], keys=1, rows=1)[1]  # of the program itself
        seconds, resident = WAYS[way](given, settings, given.keys, given.rows)
        size = sizes[way]
        rate, error = given.keys * given.rows / seconds, (resident - own) / size - 1
        print(
            f"| {way} | {given.keys:,} | {given.columns} | {given.rows:,} | {'default' if given.default else 'small'} | {rate:,.0f} "
            f"| {resident / 1e9:.2f} | {size / 1e9:.2f} | {100 * error:+.1f}% |",
            flush=True,
        )
        missed += [f"{way}: fewer than {LEAST_ROWS_PER_SECOND:,.0f} rows/s"] if rate < LEAST_ROWS_PER_SECOND else []
        missed += [f"{way}: memory is more than {MOST_ERROR:.0%} from that of oif state size"] if abs(error) > MOST_ERROR else []
    print(f"\nbars: {'MISSED: ' + '; '.join(missed) if missed else 'met'}")
    return 1 if given.check and missed else 0


sys.exit(main())

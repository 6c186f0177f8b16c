#!/usr/bin/env python3
"""A million keys through `oif score`, for real: rows per second of processor time, and memory beside what `oif size` says.

    make bench-million                                     10^6 keys of 10 columns, 10 rows each, small models: minutes, 10 GB
    make bench-million ARGS="--keys 20000 --rows 600"      fewer keys, more rows of each
    make bench-million ARGS="--check --keys 2000 --rows 40"    exit code 1 if a bar is missed

A C program makes the rows, so no file of gigabytes is needed. `oif score` gets one row of every key per minute, with its
time, as --key, --time and the options that `oif size` prints tell it. Its output is thrown away. The bars are 16,700 rows
per second of processor time, a row of every key per minute on one core, and memory within 10% of `oif size`.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
ROWS = CHECKOUT / "build" / "benchmarks" / "benchmarks" / "bench_fleet_rows"
LEAST_ROWS_PER_SECOND, MOST_ERROR = 1e6 / 60, 0.10


def expected(given, settings):
    """What `oif size` says, with room for all keys."""
    asked = ["--keys", str(given.keys), "--columns", str(given.columns), "--rows-per-key", str(given.rows)]
    command = [given.oif, "size", "--json", "--memory-limit", "1TB", *asked, *settings]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def start_bytes(given):
    """The resident memory of `oif score` with a single key, which is the program's own."""
    return score(given, [], keys=1, rows=1)[1]


def score(given, settings, keys, rows):
    """Processor seconds and the most resident bytes of `oif score`."""
    limits = ["--max-keys", str(keys), "--memory-limit", f"{given.limit_gb}GB"]
    command = [given.oif, "score", "--one-pass", "--quiet", "--key", "host", "--time", "time", *limits, *settings]
    made = subprocess.Popen([ROWS, str(keys), str(rows), str(given.columns)], stdout=subprocess.PIPE)
    scored = subprocess.Popen(command, stdin=made.stdout, stdout=subprocess.DEVNULL)
    made.stdout.close()
    _, status, usage = os.wait4(scored.pid, 0)
    scored.returncode = os.waitstatus_to_exitcode(status)
    if made.wait() != 0 or scored.returncode != 0:
        sys.exit(f"bench-million: oif score ended with {scored.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--oif", default=str(CHECKOUT / "build" / "release-gcc" / "oif"), help="the tool (%(default)s)")
    add("--keys", type=int, default=1_000_000, metavar="N")
    add("--rows", type=int, default=10, metavar="N", help="of each key (%(default)s)")
    add("--columns", type=int, default=10, metavar="D")
    add("--default", action="store_true", help="models of the default size instead of small ones")
    add("--limit-gb", type=int, default=16, metavar="N", help="--memory-limit of the run (%(default)s)")
    add("--check", action="store_true", help="exit code 1 if a bar is missed")
    return parser.parse_args()


def main():
    given = read_arguments()
    settings = [] if given.default else ["--small"]
    size = expected(given, settings)["memory_bytes"]
    if size > 1e9 * given.limit_gb:
        sys.exit(f"bench-million: these keys take {size / 1e9:.1f} GB, more than --limit-gb {given.limit_gb}")
    own = start_bytes(given)
    seconds, resident = score(given, settings, given.keys, given.rows)
    rate, error = given.keys * given.rows / seconds, (resident - own) / size - 1
    print("| keys | columns | rows of each | models | rows/s of processor time | GB resident | oif size | error |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    print(
        f"| {given.keys:,} | {given.columns} | {given.rows:,} | {'default' if given.default else 'small'} | {rate:,.0f} "
        f"| {resident / 1e9:.2f} | {size / 1e9:.2f} | {100 * error:+.1f}% |"
    )
    missed = [f"fewer than {LEAST_ROWS_PER_SECOND:,.0f} rows/s"] if rate < LEAST_ROWS_PER_SECOND else []
    missed += [f"memory is more than {MOST_ERROR:.0%} from that of oif size"] if abs(error) > MOST_ERROR else []
    print(f"\nbars: {'MISSED: ' + '; '.join(missed) if missed else 'met'}")
    return 1 if given.check and missed else 0


sys.exit(main())

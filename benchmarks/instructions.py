#!/usr/bin/env python3
"""Counts the instructions a row takes (callgrind) and compares them with benchmarks/limits.json: make bench-quick.

Seconds depend on who else uses the machine; instructions do not, so this can stand in CI. They do depend on the
processor's kind and on the compiler: limits are kept for each kind of processor, and on one without limits the counts
are printed and nothing fails.

    benchmarks/instructions.py                exit code 1 when a count is more than the slack above its limit
    benchmarks/instructions.py --accept       make the counts of this machine the limits of its kind
    benchmarks/instructions.py --accept hst   only those of the cases that begin so
    benchmarks/instructions.py --only hst     count only the cases that begin so
    benchmarks/instructions.py --aarch64      count some cases of the program for aarch64 under qemu: benchmarks/run.sh aarch64
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from machine import compiler, machine

CHECKOUT = Path(__file__).resolve().parents[1]
LIMITS = CHECKOUT / "benchmarks" / "limits.json"
PROGRAM = CHECKOUT / "build" / "benchmarks" / "benchmarks" / "bench_stream"
COUNTED_FUNCTION = "pass_counted_rows"

# What benchmarks/run.sh aarch64 has built; its counts are kept apart, as they are those of some cases only.
AARCH64 = CHECKOUT / "build" / "benchmarks-aarch64"
AARCH64_KEY = "aarch64-qemu"
AARCH64_CASES = [f"rolling-iforest/row/learn-score/d={columns}/" for columns in (3, 10, 36)]
AARCH64_CASES += ["rolling-iforest/row/score/d=10/", "running/learn-score/d=10", "running/score/d=10"]
AARCH64_CASES += [f"{name}/learn-score/" for name in ("iforest-asd", "hst", "rrcf", "loda", "sdo")]


def count_instructions(program, start):
    """Instructions a row for each case the program runs, or those whose names begin so."""
    with tempfile.TemporaryDirectory(prefix="oif_callgrind_") as folder:
        dump = Path(folder) / "dump"
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={dump}"]
        valgrind += [f"--zero-before={COUNTED_FUNCTION}", f"--dump-after={COUNTED_FUNCTION}"]
        run = subprocess.run([*valgrind, program, start], capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"{' '.join(valgrind)} {program} failed:\n{run.stderr}")
        cases = [line.split() for line in run.stdout.splitlines()]
        # The first dump is dump.1; the one without a number is written at the end and counts nothing.
        texts = [Path(f"{dump}.{i}").read_text(encoding="utf-8") for i in range(1, len(cases) + 1)]
        if Path(f"{dump}.{len(cases) + 1}").exists():
            sys.exit(f"callgrind counted more passes than the program's {len(cases)} cases")
    totals = [int(re.search(r"^totals: (\d+)$", text, re.MULTILINE).group(1)) for text in texts]
    return {name: round(total / int(rows), 1) for (name, rows), total in zip(cases, totals)}


def address_of(program, function):
    """Where a function of a program that is not moved when it is loaded begins."""
    symbols = subprocess.run(["readelf", "-sW", program], check=True, capture_output=True, text=True).stdout
    found = re.search(rf"^\s*\d+: ([0-9a-f]+)\s.*\sFUNC\s.*\s{function}$", symbols, re.MULTILINE)
    if not found:
        sys.exit(f"{program} has no function {function}")
    return "0x" + found.group(1)


def count_emulated(program, starts):
    """The same under qemu, whose plugin counts from the start of the counted function to what is called after it."""
    if not shutil.which("qemu-aarch64"):
        sys.exit("qemu-aarch64 is missing (qemu-aarch64-static takes no plugins): apt-get install qemu-user")
    with tempfile.TemporaryDirectory(prefix="oif_qemu_") as folder:
        written = Path(folder) / "counts"
        plugin = f"{AARCH64 / 'count_instructions.so'},counts={written}"
        plugin += f",from={address_of(program, COUNTED_FUNCTION)},to={address_of(program, 'oif_detector_free')}"
        run = subprocess.run(["qemu-aarch64", "-plugin", plugin, program, *starts], capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"qemu-aarch64 -plugin {plugin} {program} failed:\n{run.stderr}")
        cases = [line.split() for line in run.stdout.splitlines()]
        totals = [int(line) for line in written.read_text(encoding="ascii").splitlines()]
    if len(cases) != len(totals):
        sys.exit(f"qemu counted {len(totals)} passes of the program's {len(cases)} cases")
    return {name: round(total / int(rows), 1) for (name, rows), total in zip(cases, totals)}


def compare(counts, limits, slack_percent):
    """Prints the table; the number of counts above their limit."""
    above = 0
    print(f"{'instructions a row':<38} {'counted':>9} {'limit':>9} {'differ.':>8}")
    for name, counted in counts.items():
        limit = limits.get(name)
        if limit is None:
            above += bool(limits)
            print(f"{name:<38} {counted:>9.1f} {'-':>9} {'NO LIMIT: run with --accept' if limits else '':>8}")
            continue
        percent = 100 * (counted / limit - 1)
        exceeded = percent > slack_percent
        above += exceeded
        remark = "  EXCEEDED" if exceeded else "  better: --accept it" if percent < -slack_percent else ""
        print(f"{name:<38} {counted:>9.1f} {limit:>9.1f} {percent:>+7.1f}%{remark}")
    for name in sorted(set(limits) - set(counts)):
        print(f"{name:<38} {'-':>9} {limits[name]:>9.1f}  NOT COUNTED: the program no longer runs it")
        above += 1
    return above


def report_bars(counts, bars):
    """Bars are aims, the same on every machine and without slack; limits guard what was reached."""
    for name, bar in bars.items():
        if name not in counts:
            continue
        met = counts[name] <= bar
        print(f"bar: {name}: {counts[name]} instructions a row, at most {bar}: {'met' if met else 'MISSED'}")


def report_score_learn(counts, bar):
    """Scoring a row and then learning it costs what learning it and then scoring it does; 1 when a case costs more."""
    pairs = {name: name.replace("/score-learn", "/learn-score") for name in counts if "/score-learn" in name}
    ratios = {name: counts[name] / counts[other] for name, other in pairs.items() if other in counts}
    if not ratios:
        return 0
    worst = max(ratios, key=ratios.get)
    met = ratios[worst] <= bar
    print(f"bar: {worst}: {ratios[worst]:.3f} times {pairs[worst]}, at most {bar}: {'met' if met else 'MISSED'}")
    return not met


def accept(stored, key, counts, built_with, start):
    """Stores the counts whose names begin so, and drops the limits of cases that are no more."""
    known = stored["limits"].get(key, {}).get("instructions_a_row", {})
    limits = {name: count if name.startswith(start) else known.get(name) for name, count in counts.items()}
    limits = {name: limit for name, limit in limits.items() if limit is not None}
    stored["limits"][key] = {"compiler": built_with, "instructions_a_row": limits}
    LIMITS.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
    print(f"\n{LIMITS.relative_to(CHECKOUT)}: these are now the limits of {key}{start and f', {start}'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    some = parser.add_mutually_exclusive_group()
    some.add_argument("--accept", nargs="?", const="", metavar="START", help="rewrite the limits of this kind of machine")
    some.add_argument("--only", default="", metavar="START", help="count only the cases that begin so")
    parser.add_argument("--program", metavar="FILE", help="bench_stream (default: that of make)")
    parser.add_argument("--aarch64", action="store_true", help="some cases of the program for aarch64, under qemu")
    arguments = parser.parse_args()
    program = arguments.program or (AARCH64 / "benchmarks" / "bench_stream" if arguments.aarch64 else PROGRAM)

    stored = json.loads(LIMITS.read_text(encoding="utf-8"))
    key, built_with = AARCH64_KEY if arguments.aarch64 else machine(), compiler(program)
    known = stored["limits"].get(key, {"compiler": None, "instructions_a_row": {}})
    if arguments.aarch64:
        starts = [start for start in AARCH64_CASES if start.startswith(arguments.only)] or [arguments.only]
        counts = count_emulated(program, starts)
    else:
        counts = count_instructions(program, arguments.only)

    print(f"{key}, {built_with}")
    limits = {name: limit for name, limit in known["instructions_a_row"].items() if name.startswith(arguments.only)}
    above = compare(counts, {} if arguments.accept == "" else limits, stored["slack_percent"])
    print()
    if not arguments.aarch64:
        report_bars(counts, stored["bars"])
    above += report_score_learn(counts, stored["score_learn_ratio"])
    if arguments.accept is not None:
        accept(stored, key, counts, built_with, arguments.accept)
        return 0
    if not limits:
        print(f"no limits for {key} yet, so nothing was compared; --accept stores these counts as its limits")
        return 0
    if known["compiler"] != built_with:
        print(f"note: the limits were counted with {known['compiler']}")
    # In the words that tools/test/run_tests.sh adds up.
    print(f"instruction counts within {stored['slack_percent']} % of their limits:")
    print(f"{len(counts) + 1 - above} passed, {above} failed")
    return 1 if above else 0


sys.exit(main())

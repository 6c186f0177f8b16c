#!/usr/bin/env python3
"""Prints which lines and branches of src/, front/, cli/ and python/src/ the tests ran, and fails when src/ is below the bar.

    tools/check/check_coverage.py TRACEFILE [--uncovered]

The trace file is lcov's. Counted is what the compiler counts at -O0: a branch is each way out of a condition, those of an
assert among them (the way out that ends the program never runs). Functions that release builds copy into their callers
(OIF_INLINE) are counted once. The portable twins of AVX2 code count as run if the trace file has a run with OIF_PORTABLE
(tools/test/coverage.sh merges one); the way around AVX2 on a machine that has it counts as not run.
"""

import sys
from collections import defaultdict
from pathlib import Path

LEAST_LINES, LEAST_BRANCHES = 99.0, 97.0
ROOT = Path(__file__).resolve().parents[2]


def read_trace(path):
    """{file: ({line: ran}, {(line, branch): ran})}; a file may occur in several records."""
    files = defaultdict(lambda: ({}, {}))
    for text in Path(path).read_text(encoding="utf-8").splitlines():
        kind, _, rest = text.partition(":")
        if kind == "SF":
            lines, branches = files[str(Path(rest).relative_to(ROOT))]
        elif kind == "DA":
            line, count = (int(number) for number in rest.split(",")[:2])
            lines[line] = lines.get(line, False) or count > 0
        elif kind == "BRDA":
            line, block, branch, taken = rest.split(",")
            key = (int(line), block, branch)
            branches[key] = branches.get(key, False) or taken not in "-0"
    return files


def share(ran):
    return 100.0 * sum(ran) / len(ran) if ran else 100.0


def report(name, lines, branches):
    text = f"{share(branches):5.1f}% of {len(branches):4}" if branches else ""
    print(f"{name:34} {share(lines):5.1f}% of {len(lines):4} lines  {text}" + (" branches" if branches else ""))


def print_uncovered(files):
    for name, (lines, branches) in sorted(files.items()):
        source = (ROOT / name).read_text(encoding="utf-8").splitlines()
        missed = {line for line, ran in lines.items() if not ran} | {key[0] for key, ran in branches.items() if not ran}
        for line in sorted(missed):
            print(f"{name}:{line}: {'branch' if lines.get(line, True) else 'line  '} {source[line - 1].strip()}")


def main():
    files = read_trace(sys.argv[1])
    if "--uncovered" in sys.argv:
        print_uncovered(files)
    totals = {}
    for folder in ["front", "cli", "python/src", "src"]:
        all_lines, all_branches = [], []
        for name, (lines, branches) in sorted(files.items()):
            if name.startswith(folder + "/"):
                report(name, list(lines.values()), list(branches.values()))
                all_lines += lines.values()
                all_branches += branches.values()
        report(folder + "/", all_lines, all_branches)
        totals[folder] = (share(all_lines), share(all_branches), len(all_lines))
    lines, branches, counted = totals["src"]
    good = counted > 0 and lines >= LEAST_LINES and branches >= LEAST_BRANCHES
    print(f"src/: {lines:.2f}% of lines, the bar is {LEAST_LINES}; {branches:.2f}% of branches, the bar is {LEAST_BRANCHES}")
    sys.exit(not good)


main()

"""Ours beside the detectors of others on the paper's data sets: mean ROC AUC and average precision (AP).

Everyone gets the same rows in the same order and scores, then learns each; the rows after the first 500 count. Of a
large set 10,000 rows are drawn, by the run's seed, with the set's share of anomalies. Slow methods get fewer rows
(tools/measure/anchors.py), and have a table of their own, with ours on just those rows. A method that does not run is in the
table with the reason.

    tools/measure/accuracy.py --anchors                              all, 5 shuffles
    tools/measure/accuracy.py --anchors rolling-iforest "RCF (AWS)"  these only
    tools/measure/accuracy.py --anchors --sets Shuttle,Http --runs 2
    tools/measure/accuracy.py --anchors --markdown --json FILE       the table for docs/measurements/accuracy.md, and every figure
"""

import argparse
import json
import multiprocessing
import os
import re
import time
from typing import NamedTuple

import accuracy_by_kind as by_kind
import anchors
import datasets
import numpy as np
from accuracy import show_progress

ROWS, RUNS = by_kind.ROWS, 5


class Figures(NamedTuple):
    """Of one method on one shuffle."""

    auc: float
    ap: float
    seconds: float


# ---- Measuring ----


def measure_or_say_why(spec, rows, anomalous, task):
    """Figures, or the reason why an anchor has none. What is wrong with ours is an error."""
    before = by_kind.processor_seconds()
    try:
        scores = by_kind.score(spec, rows, task)
        if len(scores) != len(rows):
            raise ValueError(f"{len(scores)} scores for {len(rows)} rows")
    except Exception as failure:  # whatever a package does, the others still run
        if spec not in anchors.ANCHORS:
            raise
        return re.sub(r"[\s|]+", " ", f"{type(failure).__name__}: {failure}")
    return Figures(*map(float, by_kind.measure(scores, anomalous)), by_kind.processor_seconds() - before)


def measure_task(task):
    rows, anomalous = by_kind.make_stream(task.source, task.rows, task.seed)
    return [measure_or_say_why(spec, rows, anomalous, task) for spec in task.detectors]


def measure_all(sources, specs, rows, arguments):
    """{method: {set: its Figures or reasons, one for each shuffle}}"""
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.runs)
    tasks = [by_kind.Task(source, seed, rows, tuple(specs), arguments.oif) for source in sources for seed in seeds]
    results = {spec: {source.name: [] for source in sources} for spec in specs}
    started = time.monotonic()
    # Not forked: what a package keeps in threads does not survive that.
    with multiprocessing.get_context("spawn").Pool(min(arguments.jobs, len(tasks))) as pool:
        for i, found in enumerate(pool.imap(measure_task, tasks)):
            for spec, figures in zip(specs, found):
                results[spec][tasks[i].source.name].append(figures)
            show_progress(f"{rows} rows: {i + 1} of {len(tasks)} streams, {time.monotonic() - started:.0f} s")
    show_progress("")
    return results


def split_by_rows(specs, most):
    """[(rows, methods)]: those that get all rows, then those that get fewer, with all of ours each time."""
    ours = [spec for spec in specs if spec not in anchors.ANCHORS]
    limits = {spec: min(most, anchors.ANCHORS[spec].rows or most) for spec in specs if spec in anchors.ANCHORS}
    groups = []
    for rows in sorted({most, *limits.values()}, reverse=True):
        others = [spec for spec, limit in limits.items() if limit == rows]
        if others or rows == most:
            groups.append((rows, [*ours, *others]))
    return groups


# ---- Tables ----


def summarise(found):
    """Mean AUC of each set, their mean, the mean AP, and processor seconds; or the reason why there are none."""
    runs = [run for figures in found.values() for run in figures]
    reasons = [run for run in runs if isinstance(run, str)]
    if reasons:
        return {"missing": reasons[0]}
    aucs = {name: float(np.mean([run.auc for run in figures])) for name, figures in found.items()}
    aps = [np.mean([run.ap for run in figures]) for figures in found.values()]
    return {
        "auc": float(np.mean(list(aucs.values()))),
        "ap": float(np.mean(aps)),
        "aucs": aucs,
        "seconds": sum(run.seconds for run in runs),
    }


def cells_of(summary, sets):
    if "missing" in summary:
        return [f"did not run: {summary['missing']}", *[""] * (len(sets) + 1)]
    return [by_kind.short(figure) for figure in (summary["auc"], summary["ap"], *(summary["aucs"][s] for s in sets))]


def in_order(summaries):
    """Best mean AUC first; who did not run is last."""
    return sorted(summaries, key=lambda spec: -summaries[spec].get("auc", -1))


def print_markdown(summaries, sets):
    rows = {spec: cells_of(summaries[spec], sets) for spec in in_order(summaries)}
    ran = [cells for spec, cells in rows.items() if "missing" not in summaries[spec]]
    best = [max((cells[i] for cells in ran), key=lambda cell: float(cell)) for i in range(len(sets) + 2)]
    print(f"| method | AUC | AP | {' | '.join(sets)} |")
    print("| --- | --- | --- |" + " --- |" * len(sets))
    for spec, cells in rows.items():
        name = by_kind.title_of(spec)
        cells = [f"**{cell}**" if cell == best[i] else cell for i, cell in enumerate(cells)]
        print(f"| {name if spec in anchors.ANCHORS else f'`{name}`'} | {' | '.join(cells)} |")


def print_text(summaries, sets):
    print(f"{'method':<30}{'AUC':>6}{'AP':>6}" + "".join(f"{name[:10]:>11}" for name in sets) + f"{'CPU s':>8}")
    for spec in in_order(summaries):
        auc, ap, *aucs = cells_of(summaries[spec], sets)
        seconds = f"{summaries[spec]['seconds']:>8.1f}" if "seconds" in summaries[spec] else ""
        print(f"{by_kind.title_of(spec):<30}{auc:>6}{ap:>6}" + "".join(f"{a:>11}" for a in aucs) + seconds)


def as_json(rows, summaries, results):
    return {
        "rows": rows,
        "methods": [
            {
                "name": by_kind.title_of(spec),
                "ours": spec not in anchors.ANCHORS,
                **summary,
                "runs": results[spec],  # of each: AUC, AP, seconds
            }
            for spec, summary in summaries.items()
        ],
    }


def installed(methods):
    """Versions of the packages; one that is missing has its line in the table."""
    found = {}
    for name in methods:
        try:
            found.update(anchors.versions([name]))
        except ValueError:
            continue
    return found


# ---- Command line ----


def read_arguments():
    parser = argparse.ArgumentParser(
        prog="accuracy.py --anchors", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [datasets.or_whole(dataset).name for dataset in datasets.STATIONARY]
    add = parser.add_argument
    add("methods", nargs="*", metavar="METHOD", help=f"ours, or of {', '.join(anchors.ANCHORS)} (default: all)")
    add("--anchors", action="store_true", help="this table")
    add("--sets", default=",".join(names), metavar="A,B", help="default: %(default)s")
    add("--rows", type=int, default=ROWS, metavar="N", help="of a set, at most (default: %(default)s)")
    add("--runs", type=int, default=RUNS, metavar="N", help="shuffles of each set (default: %(default)s)")
    add("--first-seed", type=int, default=0, metavar="N", help="of the first shuffle (default: 0)")
    add("--jobs", type=int, default=os.cpu_count(), metavar="N", help="default: one per processor")
    add("--oif", default=by_kind.default_program(), metavar="FILE", help="default: that of the Python package")
    add("--markdown", action="store_true", help="print the tables as Markdown")
    add("--json", metavar="FILE", help="write every AUC and AP there")
    arguments = parser.parse_args()

    arguments.sets = arguments.sets.split(",")
    unknown = [name for name in arguments.sets if name not in names]
    if unknown:
        parser.error(f"no set is called {unknown[0]}; there are {', '.join(names)}")
    if arguments.runs < 1 or arguments.jobs < 1 or arguments.rows < 4 * by_kind.FIRST_ROWS:
        parser.error(f"--runs and --jobs must be at least 1, --rows {4 * by_kind.FIRST_ROWS}")
    arguments.methods = arguments.methods or [*by_kind.list_detectors(arguments.oif), *anchors.ANCHORS]
    return arguments


def main():
    arguments = read_arguments()
    absent = [name for name in arguments.sets if not datasets.find(f"{name}.npz")]
    if absent:
        raise datasets.missing(absent[0])
    sources = [by_kind.Source("11", name) for name in arguments.sets]
    tables = []
    for rows, specs in split_by_rows(arguments.methods, arguments.rows):
        results = measure_all(sources, specs, rows, arguments)
        summaries = {spec: summarise(found) for spec, found in results.items()}
        print(f"At most {rows:,} rows of a set, {arguments.runs} shuffles\n")
        (print_markdown if arguments.markdown else print_text)(summaries, arguments.sets)
        print(flush=True)
        tables.append(as_json(rows, summaries, results))
        if arguments.json:  # after each table: the slow ones may take long
            with open(arguments.json, "w", encoding="utf-8") as file:
                found = {"date": time.strftime("%Y-%m-%d"), "runs": arguments.runs, "versions": installed(arguments.methods)}
                json.dump({**found, "tables": tables}, file, indent=1)
    return 0

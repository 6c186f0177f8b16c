"""Who finds which kind of anomaly: ROC AUC and average precision (AP) of detectors beside each other, by kind.

Rows are scored, then learned (`oif score` on a pipe), and those after the first 500 count. The groups:

  11          the paper's sets, 10,000 rows drawn and shuffled by the run's seed
  in order    seven streams in their own order: 10,000 consecutive rows, another stretch of the stream in each run
  spikes      one number of 3, 10 or 30 is 8 standard deviations off
  local       close to a dense cluster that has a wide one beside it (2, 5, 10 columns)
  dependency  correlations of .95 are broken, no column changes (2, 4, 10 columns)

A figure is the mean over the streams of a group and over the runs. The last three are made by experiments/kinds.py.

    tools/measure/accuracy.py --kinds                             all detectors of the program, 6 runs
    tools/measure/accuracy.py --kinds rolling-iforest+sdo rrcf    these only
    tools/measure/accuracy.py --kinds online-iforest:forgetting=turnover,num_trees=64
    tools/measure/accuracy.py --kinds --anchors                   and methods of others, on the same rows: tools/measure/anchors.py
    tools/measure/accuracy.py --kinds "kNN (dSalmon)"             one of them, in build/bench-venv
    tools/measure/accuracy.py --kinds --markdown                  the table for docs/measurements/accuracy.md
"""

import argparse
import json
import multiprocessing
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import anchors
import datasets
import numpy as np
from accuracy import average_precision, load_once, roc_auc, show_progress

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT))
from experiments import kinds  # noqa: E402  (its folder is on the path only now)

ROWS = 10_000
FIRST_ROWS = 500  # are learned, and do not count
RUNS = 6
LEAST_ANOMALIES = 4  # that must count, or the stretch of a stream is left out
LEAST_DRAWN = 10  # anomalies of a set that is drawn from, where the set has fewer among 10,000 rows: Smtp

# Those of the sets that came in an order which means something. Left out are the others of the paper's: Shuttle's
# order was randomised by its makers, Donors' and Mulcross' look the same, Mammography and Satellite have no time.
# ForestCover is in the order of the survey; the two INSECTS are stand-ins, one real and composed, one synthetic.
IN_ORDER = (
    "Http",
    "Smtp",
    "ForestCover",
    "fraud_partial",
    "nyc_taxi_shingle",
    "insects_aedes_standin",
    "insects_synth_standin",
)
GROUPS = ("11", "in order", *kinds.KINDS)
MORE_DETECTORS = {"online-iforest": ("online-iforest:forgetting=turnover",)}  # measured beside the plain one


class Source(NamedTuple):
    """Where the rows of a run come from."""

    group: str
    name: str
    columns: int = 0  # of a generated stream


class Task(NamedTuple):
    source: Source
    seed: int
    rows: int
    detectors: tuple
    program: str


# ---- Streams ----


def draw(rows, anomalous, most, seed):
    """At most that many rows in random order, among them the set's share of anomalies but no fewer than a few."""
    if len(rows) <= most:
        return datasets.shuffle(rows, anomalous, seed)
    order = np.random.RandomState(seed).permutation(len(rows))
    wanted = max(round(anomalous.mean() * most), LEAST_DRAWN)
    taken = np.concatenate((order[anomalous[order]][:wanted], order[~anomalous[order]][: most - wanted]))
    return datasets.shuffle(rows[taken], anomalous[taken], seed)


def stretch_starts(anomalous, changes, most):
    """Where the stretches of a stream begin: around each change, if any are known, else one after another."""
    if len(anomalous) <= 1.1 * most:
        return [0]
    if len(changes):
        return [int(min(max(change - most // 2, 0), len(anomalous) - most)) for change in changes]
    counted = [(start, anomalous[start + FIRST_ROWS : start + most]) for start in range(0, len(anomalous), most)]
    return [start for start, part in counted if LEAST_ANOMALIES <= part.sum() < len(part)]


def load_changes(name):
    with np.load(datasets.find(f"{name}.npz")) as arrays:
        return arrays["change_points"] if "change_points" in arrays else np.array([], dtype=int)


def cut_stretch(name, most, run):
    rows, anomalous = load_once(name)
    starts = stretch_starts(anomalous, load_changes(name), most)
    start = starts[run % len(starts)]
    end = len(rows) if len(starts) == 1 and start == 0 else start + most
    return rows[start:end], anomalous[start:end]


def make_stream(source, most, seed):
    """The rows of a run and which are anomalous. For all detectors the same."""
    if source.columns:
        return kinds.KINDS[source.group][0](most, source.columns, seed)
    if source.group == "in order":
        return cut_stretch(source.name, most, seed)
    return draw(*load_once(source.name), most, seed)


def list_sources(groups):
    sources = []
    for group in groups:
        if group in kinds.KINDS:
            sources += [Source(group, f"{group} {d}", d) for d in kinds.KINDS[group][1]]
        else:
            names = IN_ORDER if group == "in order" else [datasets.or_whole(s).name for s in datasets.STATIONARY]
            sources += [Source(group, name) for name in names]
    return sources


# ---- Detectors ----


def default_program():
    """The one that was installed with the Python package."""
    return str(Path(sys.executable).parent / "oif")


def run_program(command, rows=b""):
    done = subprocess.run(command, input=rows, capture_output=True, check=False)
    if done.returncode:
        raise ValueError(f"{' '.join(command)}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def list_detectors(program):
    """The names that the tool knows, and the variants that the documents show beside them."""
    refused = subprocess.run([program, "score", "--detector", "help"], capture_output=True, text=True, check=False).stderr
    named = re.search(r"choose one of: (.*)", refused)
    if not named:
        raise ValueError(f"{program} score --detector help names none")
    return [spec for name in named[1].split(", ") for spec in (name, *MORE_DETECTORS.get(name, ()))]


def options_of(spec):
    """NAME or NAME:PARAMETER=VALUE,... as options of `oif score`."""
    name, _, settings = spec.partition(":")
    options = ["--detector", name]
    for setting in filter(None, settings.split(",")):
        parameter, _, value = setting.partition("=")
        options += ["--" + parameter.replace("_", "-"), value]
    return options


def score_with_program(program, spec, rows, seed):
    command = [program, "score", "--csv", "header=no", "--columns", "x*", "--fields", "score"]
    command += [*options_of(spec), "--seed", str(seed)]
    text = "".join(",".join(map(repr, row)) + "\n" for row in rows.tolist())
    lines = run_program(command, text.encode()).splitlines()
    if len(lines) != len(rows):
        raise ValueError(f"{' '.join(command)}: {len(lines)} scores for {len(rows)} rows")
    return np.array([float(line.rpartition(b",")[2]) for line in lines])


def processor_seconds():
    """Of this process and those that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


# ---- Measuring ----


def measure(scores, anomalous):
    """AUC and AP after the first rows; a row without a score, as before some methods are ready, has the lowest."""
    scores = np.where(np.isnan(scores), -np.inf, scores)[FIRST_ROWS:]
    return roc_auc(scores, anomalous[FIRST_ROWS:]), average_precision(scores, anomalous[FIRST_ROWS:])


def score(spec, rows, task):
    """The scores of one of ours or of an anchor."""
    if spec in anchors.ANCHORS:
        return anchors.ANCHORS[spec].score(rows, task.seed)
    return score_with_program(task.program, spec, rows, task.seed)


def measure_task(task):
    """AUC, AP and processor seconds of each detector on the rows of one run."""
    rows, anomalous = make_stream(task.source, task.rows, task.seed)
    figures = []
    for spec in task.detectors:
        before = processor_seconds()
        scores = score(spec, rows, task)
        figures.append((*measure(scores, anomalous), processor_seconds() - before))
    return figures


def measure_all(sources, arguments):
    """results[detector][source] = a list with (AUC, AP, seconds) of each run."""
    tasks = [
        Task(source, seed, arguments.rows, tuple(arguments.detectors), arguments.oif)
        for source in sources
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.runs)
    ]
    results = {spec: {source: [] for source in sources} for spec in arguments.detectors}
    started = time.monotonic()
    # Not forked: what a package keeps in threads does not survive that.
    with multiprocessing.get_context("spawn").Pool(min(arguments.jobs, len(tasks))) as pool:
        for i, figures in enumerate(pool.imap(measure_task, tasks)):
            for spec, found in zip(arguments.detectors, figures):
                results[spec][tasks[i].source].append(tuple(map(float, found)))
            show_progress(f"{i + 1} of {len(tasks)} streams, {time.monotonic() - started:.0f} s")
    show_progress("")
    return results


def summarise(found, groups):
    """Mean AUC and AP of each group, the standard error of the AUC from run to run, and processor seconds."""
    summary = {}
    for group in groups:
        runs = np.array([figures for source, figures in found.items() if source.group == group])
        auc, ap = runs[:, :, :2].mean(axis=(0, 1))
        by_run = runs[:, :, 0].mean(axis=0)
        error = by_run.std(ddof=1) / np.sqrt(len(by_run)) if len(by_run) > 1 else float("nan")
        summary[group] = {"auc": float(auc), "ap": float(ap), "auc_error": float(error)}
    return summary


def seconds_of(found):
    return sum(run[2] for figures in found.values() for run in figures)


# ---- Tables ----


def short(figure):
    """.897 instead of 0.897"""
    return f"{figure:.3f}".removeprefix("0")


def title_of(spec):
    """online-iforest:forgetting=turnover is called `online-iforest`, turnover in the documents."""
    name, _, settings = spec.partition(":")
    values = ", ".join(setting.partition("=")[2] for setting in filter(None, settings.split(",")))
    return name + (f", {values}" if values else "")


def print_text(summaries, groups):
    print(f"{'AUC / AP':<28}" + "".join(f"{group:>14}" for group in groups) + f"{'CPU s':>9}")
    for spec, (summary, seconds) in summaries.items():
        cells = (f"{short(summary[g]['auc'])} / {short(summary[g]['ap'])}" for g in groups)
        print(f"{title_of(spec):<28}" + "".join(f"{cell:>14}" for cell in cells) + f"{seconds:>9.1f}")


def print_markdown(summaries, groups):
    print("| AUC / AP | " + " | ".join(groups) + " |")
    print("| --- |" + " --- |" * len(groups))
    best = {g: max(s[g]["auc"] for s, _ in summaries.values()) for g in groups}
    for spec, (summary, _) in summaries.items():
        cells = []
        for group in groups:
            auc, ap = summary[group]["auc"], summary[group]["ap"]
            bold = "**" if short(auc) == short(best[group]) else ""
            cells.append(f"{bold}{short(auc)}{bold} / {short(ap)}")
        print(f"| {title_of(spec)} | " + " | ".join(cells) + " |")


def print_error(summaries, groups):
    worst = {g: max(s[g]["auc_error"] for s, _ in summaries.values()) for g in groups}
    print("largest standard error of an AUC: " + ", ".join(f"{g} {short(worst[g])}" for g in groups))


def as_json(results, summaries, arguments):
    return {
        "rows": arguments.rows,
        "first_rows": FIRST_ROWS,
        "seeds": list(range(arguments.first_seed, arguments.first_seed + arguments.runs)),
        "anchor_versions": anchors.versions(arguments.detectors),
        "detectors": [
            {
                "name": spec,
                "groups": summary,
                "processor_seconds": seconds,
                "streams": [
                    {"group": source.group, "name": source.name, "aucs": aucs, "aps": aps}
                    for source, runs in results[spec].items()
                    for aucs, aps, _ in [list(zip(*runs))]
                ],
            }
            for spec, (summary, seconds) in summaries.items()
        ],
    }


# ---- Command line ----


def read_arguments():
    parser = argparse.ArgumentParser(
        prog="accuracy.py --kinds", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("detectors", nargs="*", metavar="DETECTOR", help="NAME or NAME:PARAMETER=VALUE,... (default: all)")
    add("--kinds", action="store_true", help="this table")
    add("--anchors", action="store_true", help=f"also {', '.join(anchors.FAST)}")
    add("--groups", default=",".join(GROUPS), metavar="A,B", help="default: %(default)s")
    add("--rows", type=int, default=ROWS, metavar="N", help="of a stream, at most (default: %(default)s)")
    add("--runs", type=int, default=RUNS, metavar="N", help="of each stream (default: %(default)s)")
    add("--first-seed", type=int, default=0, metavar="N", help="of the first run (default: 0)")
    add("--jobs", type=int, default=os.cpu_count(), metavar="N", help="default: one per processor")
    add("--oif", default=default_program(), metavar="FILE", help="the program (default: that of the Python package)")
    add("--markdown", action="store_true", help="print the table as Markdown")
    add("--json", metavar="FILE", help="write every AUC and AP there")
    arguments = parser.parse_args()

    arguments.groups = arguments.groups.split(",")
    unknown = [group for group in arguments.groups if group not in GROUPS]
    if unknown:
        parser.error(f"no group is called {unknown[0]}; there are {', '.join(GROUPS)}")
    if arguments.runs < 1 or arguments.jobs < 1 or arguments.first_seed < 0 or arguments.rows < 4 * FIRST_ROWS:
        parser.error(f"--runs and --jobs must be at least 1, --first-seed 0, --rows {4 * FIRST_ROWS}")
    arguments.detectors = arguments.detectors or list_detectors(arguments.oif)
    arguments.detectors += [name for name in anchors.FAST if arguments.anchors and name not in arguments.detectors]
    return arguments


def main():
    arguments = read_arguments()
    sources = list_sources(arguments.groups)
    absent = [s.name for s in sources if not s.columns and not datasets.find(f"{s.name}.npz")]
    if absent:
        raise datasets.missing(absent[0])
    anchors.versions(arguments.detectors)  # what is missing is better known now
    results = measure_all(sources, arguments)
    summaries = {spec: (summarise(found, arguments.groups), seconds_of(found)) for spec, found in results.items()}
    (print_markdown if arguments.markdown else print_text)(summaries, arguments.groups)
    if arguments.runs > 1 and not arguments.markdown:
        print_error(summaries, arguments.groups)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(as_json(results, summaries, arguments), file, indent=1)
    return 0

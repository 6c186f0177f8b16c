#!/usr/bin/env python3
"""Measures ROC AUC and average precision (AP) on the paper's stationary data sets, the AUC beside the paper's.

A run shuffles every set with the run's seed, gives the detector the same seed, and passes the rows one by one: learn,
then score, as the paper does. What counts is the median over the runs.

    tools/measure/accuracy.py                        30 runs of the default detector on the 11 sets
    tools/measure/accuracy.py --detector iforest-asd the same for another one
    tools/measure/accuracy.py --variant paper Shuttle Smtp
    tools/measure/accuracy.py --check                exit code 1 when the bar is missed
    tools/measure/accuracy.py --quick --check        3 runs on the small sets: is anything broken? fine without data
    tools/measure/accuracy.py --anchors --help       another table: ours beside the detectors of others
    tools/measure/accuracy.py --kinds --help         another table: who finds which kind of anomaly
"""

import argparse
import functools
import json
import multiprocessing
import os
import sys
import time
from typing import NamedTuple, Optional

import datasets
import numpy as np
import oif
from oif import _core
from oif._detectors import DETECTORS


class Bar(NamedTuple):
    """What the medians have to reach beside the paper's: hardly below on all sets but a few, far below on none."""

    hardly: float  # below the paper's by no more than this is level with it
    exceptions: int  # sets of the 11 that may be below
    far: Optional[float] = None  # no set may be further below
    mean: Optional[float] = None  # what the mean of the medians has to reach
    spread: Optional[float] = None  # with it: how far apart the quartiles may be on average


BARS = {
    "online-iforest": Bar(hardly=0.005, exceptions=2, far=0.02),
    "iforest-asd": Bar(hardly=0.02, exceptions=2),
    "hst": Bar(hardly=0.0, exceptions=2),
    "rrcf": Bar(hardly=0.03, exceptions=3),
    "loda": Bar(hardly=0.0, exceptions=1),
    "rolling-iforest": Bar(hardly=0.005, exceptions=3, far=0.02, mean=0.885, spread=0.010),
    "sdo": Bar(hardly=0.02, exceptions=2, mean=0.78, spread=0.012),
}

# A detector that the paper does not have is compared with the best that it has.
PAPER_COLUMNS = {"rolling-iforest": "iforest-asd", "sdo": "rrcf"}

# A quick run sees whether something broke. Three runs are too noisy for the bar: single AUCs scatter by 0.02 to 0.06.
QUICK_SETS = ("Mammography", "nyc_taxi_shingle", "Annthyroid", "Satellite")
QUICK_RUNS = 3
QUICK_TOLERATED = 0.05


def roc_auc(scores, anomalous):
    """The chance that an anomaly scores higher than a normal row, ties counting half; exact, in whole numbers."""
    order = np.argsort(scores)
    ordered = scores[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    positives = np.add.reduceat(anomalous[order].astype(np.int64), starts)
    negatives = np.diff(np.append(starts, len(ordered))) - positives
    negatives_below = np.cumsum(negatives) - negatives
    wins_doubled = int(np.sum(positives * (2 * negatives_below + negatives)))
    return wins_doubled / (2 * int(positives.sum()) * int(negatives.sum()))


def average_precision(scores, anomalous):
    """The mean over the anomalies of the precision at their scores; rows with equal scores count together."""
    order = np.argsort(-scores)
    ordered, hits = scores[order], np.cumsum(anomalous[order].astype(np.int64))
    ends = np.flatnonzero(np.concatenate((ordered[1:] != ordered[:-1], [True])))
    found = np.diff(np.concatenate(([0], hits[ends])))
    return float(np.sum(found * (hits[ends] / (ends + 1))) / hits[-1])


@functools.lru_cache(maxsize=1)  # runs come ordered by set
def load_once(name):
    return datasets.load(name)


def measure_run(task):
    """The AUC and the AP of one run on one set."""
    name, seed, detector, params = task
    rows, anomalous = datasets.shuffle(*load_once(name), seed)
    model = DETECTORS[detector](**{**params, "seed": seed})
    scores = model.learn_score(rows)
    return roc_auc(scores, anomalous), average_precision(scores, anomalous)


def verdict_on(difference, bar):
    if difference >= -bar.hardly:
        return "level or above"
    return f"within {bar.far}" if bar.far is not None and difference >= -bar.far else "BELOW"


def summarise(dataset, runs, detector):
    aucs, aps = ([float(x) for x in figures] for figures in zip(*runs))
    rows, anomalous = load_once(dataset.name)
    low, median, high = (float(x) for x in np.percentile(aucs, (25, 50, 75)))
    paper = dataset.paper_aucs[PAPER_COLUMNS.get(detector, detector)]
    difference = median - paper
    return {
        "name": dataset.name,
        "n": rows.shape[0],
        "d": rows.shape[1],
        "anomalies": int(anomalous.sum()),
        "aucs": aucs,
        "aps": aps,
        "ap": float(np.median(aps)),
        "median": median,
        "quartiles": [low, high],
        "paper": paper,
        "difference": difference,
        "verdict": verdict_on(difference, BARS[detector]),
        "note": dataset.note,
    }


def show_progress(text):
    """Replaces the last line of a terminal; an empty text clears it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


TABLE_ROW = "{:<17} {:>7} {:>3}  {:>6}  {:>13}  {:>5}  {:>6}  {:>7}  {}"


def print_heading():
    heading = TABLE_ROW.format("set", "n", "d", "median", "quartiles", "AP", "paper", "differ.", "verdict")
    print(heading, "-" * len(heading), sep="\n", flush=True)


def print_summary(s):
    quartiles = "{:.3f} - {:.3f}".format(*s["quartiles"])
    verdict = s["verdict"] + (f" ({s['note']})" if s["note"] else "")
    cells = (f"{s['median']:.3f}", quartiles, f"{s['ap']:.3f}", f"{s['paper']:.3f}", f"{s['difference']:+.3f}", verdict)
    print(TABLE_ROW.format(s["name"], s["n"], s["d"], *cells), flush=True)


def measure_sets(chosen, seeds, jobs, detector, params):
    """Runs everything, printing a line of the table as soon as a set is through."""
    started = time.monotonic()
    tasks = [(dataset.name, seed, detector, params) for dataset in chosen for seed in seeds]
    runs, summaries = [], []
    print_heading()
    with multiprocessing.Pool(min(jobs, len(tasks))) as pool:
        for done, run in enumerate(pool.imap(measure_run, tasks), start=1):
            runs.append(run)
            show_progress(f"{done} of {len(tasks)} runs, {time.monotonic() - started:.0f} s")
            if len(runs) == len(seeds):
                summaries.append(summarise(chosen[len(summaries)], runs, detector))
                show_progress("")
                print_summary(summaries[-1])
                runs = []
    print(f"\nmean of the medians: AUC {means_of(summaries)[0]:.4f}, AP {np.mean([s['ap'] for s in summaries]):.4f}")
    return summaries


def names_below(summaries, tolerated):
    return [s["name"] for s in summaries if s["difference"] < -tolerated]


def means_of(summaries):
    """The mean of the medians, and the mean distance of the quartiles."""
    medians = [s["median"] for s in summaries]
    distances = [s["quartiles"][1] - s["quartiles"][0] for s in summaries]
    return float(np.mean(medians)), float(np.mean(distances))


def bar_met(summaries, bar):
    """Prints how the medians stand against the bar; whether they meet it."""
    level = sum(s["difference"] >= -bar.hardly for s in summaries)
    below = [] if bar.far is None else names_below(summaries, bar.far)
    met = level >= len(summaries) - bar.exceptions and not below
    less = f" (less {bar.hardly})" if bar.hardly else ""
    lines = [f"\nbar: at or above the paper{less} on all but {bar.exceptions} sets: {level} of {len(summaries)}"]
    if bar.far is not None:
        lines.append(f"more than {bar.far} below on none: {', '.join(below) or 'none'}")
    if bar.mean is not None:
        mean, spread = means_of(summaries)
        met = met and mean >= bar.mean and spread <= bar.spread
        lines.append(f"mean of the medians at least {bar.mean}: {mean:.4f}")
        lines.append(f"quartiles on average at most {bar.spread} apart: {spread:.4f}")
    print("\n     ".join([*lines, "met" if met else "MISSED"]))
    return met


def quick_bar_met(summaries):
    below = names_below(summaries, QUICK_TOLERATED)
    listed = ", ".join(below) or "none"
    print(f"\nquick run, the bar is not judged; more than {QUICK_TOLERATED} below the paper: {listed}")
    return not below


def parameters_of(detector):
    """The parameters of a detector but the seed, as the library's table has them."""
    (info,) = (info for info in _core.detector_infos() if info["name"] == detector)
    return [param for param in info["params"] if param["name"] != "seed"]


def add_parameters(parser, params):
    """A flag for each parameter, as `oif score` has it."""
    for param in params:
        flag, text = "--" + param["name"].replace("_", "-"), param["help"].replace("%", "%%")
        kind = {"choices": param["choices"]} if param["choices"] else {"type": type(param["initial"])}
        parser.add_argument(
            flag, dest="param_" + param["name"], help=f"{text} (default: {param['initial']})", **kind
        )


def read_arguments():
    """Which detector it is decides which further flags there are, so that is read first."""
    first = argparse.ArgumentParser(add_help=False)
    first.add_argument("--detector", default="online-iforest", choices=DETECTORS, help="default: %(default)s")
    known = first.parse_known_args()[0]
    params = parameters_of(known.detector)

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, parents=[first]
    )
    names = [dataset.name for dataset in datasets.STATIONARY]
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(names)} (default: all)")
    parser.add_argument("--runs", type=int, metavar="N", help=f"default: 30, with --quick {QUICK_RUNS}")
    parser.add_argument("--first-seed", type=int, default=0, metavar="N", help="of the first run (default: 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="default: one per processor")
    parser.add_argument("--check", action="store_true", help="exit code 1 when the bar is missed")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK_SETS)}")
    parser.add_argument("--json", metavar="FILE", help="write every AUC and AP there")
    add_parameters(parser.add_argument_group(f"parameters of {known.detector}"), params)
    arguments = parser.parse_args()

    if arguments.quick and set(arguments.sets) - set(QUICK_SETS):
        parser.error(f"--quick knows only {', '.join(QUICK_SETS)}")
    unknown = sorted(set(arguments.sets) - set(names))
    if unknown:
        parser.error(f"no set is called {unknown[0]}; there are {', '.join(names)}")
    arguments.runs = arguments.runs if arguments.runs is not None else QUICK_RUNS if arguments.quick else 30
    if arguments.runs < 1 or arguments.jobs < 1 or arguments.first_seed < 0:
        parser.error("--runs and --jobs must be at least 1, --first-seed at least 0")
    values = {p["name"]: getattr(arguments, "param_" + p["name"]) for p in params}
    arguments.params = {name: value for name, value in values.items() if value is not None}
    DETECTORS[arguments.detector](**arguments.params)  # a bad value ends here
    return arguments


def choose_sets(arguments):
    chosen = [datasets.or_whole(s) for s in datasets.STATIONARY if s.name in arguments.sets or not arguments.sets]
    return [s for s in chosen if s.name in QUICK_SETS or not arguments.quick]


def main():
    if "--kinds" in sys.argv[1:]:
        import accuracy_by_kind  # only now, because it imports this file

        return accuracy_by_kind.main()
    if "--anchors" in sys.argv[1:]:
        import accuracy_by_set

        return accuracy_by_set.main()
    arguments = read_arguments()
    chosen = choose_sets(arguments)
    absent = [s.name for s in chosen if not datasets.find(f"{s.name}.npz")]
    if absent and not arguments.quick:
        raise datasets.missing(absent[0])
    if absent:
        print(f"accuracy not measured: {datasets.missing(absent[0])}")
        return 0

    seeds = range(arguments.first_seed, arguments.first_seed + arguments.runs)
    settings = ", ".join(f"{name} {value}" for name, value in arguments.params.items()) or "default parameters"
    print(f"{arguments.detector} {oif.__version__}, {settings}, {len(seeds)} runs\n")
    summaries = measure_sets(chosen, seeds, arguments.jobs, arguments.detector, arguments.params)
    met = quick_bar_met(summaries) if arguments.quick else bar_met(summaries, BARS[arguments.detector])
    if arguments.json:
        result = {
            "detector": arguments.detector,
            "version": oif.__version__,
            "params": arguments.params,
            "seeds": list(seeds),
            "sets": summaries,
            ("quick_bar_met" if arguments.quick else "bar_met"): met,
        }
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
    return 1 if arguments.check and not met else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (datasets.DataMissing, oif.Error, ValueError, OSError) as failure:
        print(f"accuracy.py: {failure}", file=sys.stderr)
        sys.exit(1)

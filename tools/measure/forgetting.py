#!/usr/bin/env python3
"""Measures the two ways of forgetting of online-iforest: with the first rows, and after every feature has jumped.

Streams are shuffled sets, repeated where they are too short. After 10,240 rows each feature moves by ten standard deviations.
Prints the mean ROC AUC of stretches of rows, and what the jump leaves behind in the trees of the window.

    tools/measure/forgetting.py                  12 shuffles of six sets, some minutes
    tools/measure/forgetting.py --runs 3 Shuttle
"""

import argparse
import sys

import datasets
import numpy as np
import oif
from accuracy import roc_auc

SETS = ("Satellite", "Annthyroid", "ForestCover", "Mammography", "Shuttle", "Mulcross")
BEFORE, AFTER = 10_240, 16_384  # rows before the jump and after it
JUMP = 10  # standard deviations
STRETCHES = ((-4096, 0), (0, 512), (512, 1024), (1024, 2048), (2048, 3072), (3072, 4096), (8192, 16384))
FIRST_ROWS = (100, 1000)
COLUMN = "{:>11}"


def make_stream(rows, anomalous, seed):
    rows, anomalous = datasets.shuffle(rows, anomalous, seed)
    order = np.arange(BEFORE + AFTER) % len(rows)
    stream = rows[order]
    stream[BEFORE:] += JUMP * stream.std(axis=0)
    return stream, anomalous[order]


def mean_auc(runs, first, end):
    """Over the runs that have anomalies in this stretch."""
    aucs = [roc_auc(s[first:end], a[first:end]) for s, a in runs if 0 < a[first:end].sum() < end - first]
    return f"{np.mean(aucs):.3f}" if aucs else "-"


def measure(name, forgetting, run_count):
    rows, anomalous = datasets.load(name)
    runs, figures = [], []
    for seed in range(run_count):
        stream, labels = make_stream(rows, anomalous, seed)
        detector = oif.OnlineIsolationForest(seed=seed, forgetting=forgetting)
        runs.append((detector.learn_score(stream), labels))
        figures.append(detector.describe())
    return runs, figures


def print_line(name, forgetting, run_count):
    runs, figures = measure(name, forgetting, run_count)
    aucs = [mean_auc(runs, *FIRST_ROWS)] + [mean_auc(runs, BEFORE + first, BEFORE + end) for first, end in STRETCHES]
    if forgetting == "window":
        under = np.mean([figure["leaves_under_0"] for figure in figures])
        aucs += [f"{under:.0%}", f"{-max(figure['under_0_max'] for figure in figures):.0f}"]
    print(f"{name:<12} {forgetting:<9}", *(COLUMN.format(auc) for auc in aucs), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=SETS, help="data sets")
    parser.add_argument("--runs", type=int, default=12, help="shuffles of each set")
    arguments = parser.parse_args()
    titles = ["100-1000", "before", *(f"{first}-{end}" for first, end in STRETCHES[1:]), "under 0", "least"]
    print(f"{'set':<12} {'':<9}", *(COLUMN.format(title) for title in titles))
    try:
        for name in arguments.sets:
            for forgetting in ("window", "turnover"):
                print_line(name, forgetting, arguments.runs)
    except datasets.DataMissing as missing:
        sys.exit(f"forgetting: {missing}")


if __name__ == "__main__":
    main()

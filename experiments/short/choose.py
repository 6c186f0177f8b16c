"""Ways to learn a short table: which is best, if the set on which it is measured had no say?

Folds: a detector learns all rows but those of a fold, and scores the fold. Repetitions: with other folds. Rows: learned by each detector, the
same ones several times.
"""

import numpy as np
import oif

from .sets import SCORERS, Scorer, ahead, cell, measure


def learned(rows: np.ndarray, wanted: int, random: np.random.Generator, seed: int) -> oif.RollingIsolationForest:
    detector = oif.RollingIsolationForest(seed=seed)
    times = -(-wanted // len(rows))
    detector.learn(rows[np.concatenate([random.permutation(len(rows)) for _ in range(times)])])
    return detector


def held_out(folds: int, repetitions: int, wanted: int) -> Scorer:
    def score(rows: np.ndarray, seed: int) -> np.ndarray:
        random = np.random.default_rng(seed)
        scores = np.zeros(len(rows))
        for repetition in range(repetitions):
            fold_of = random.permutation(np.arange(len(rows)) % folds)
            for fold in range(folds):
                detector = learned(rows[fold_of != fold], wanted, random, (seed * repetitions + repetition) * folds + fold)
                scores[fold_of == fold] += detector.score(rows[fold_of == fold]) / repetitions
        return scores

    return score


def at_once(detectors: int, wanted: int) -> Scorer:
    def score(rows: np.ndarray, seed: int) -> np.ndarray:
        random = np.random.default_rng(seed)
        parts = [learned(rows, wanted, random, seed * detectors + i).score(rows) for i in range(detectors)]
        return np.mean(parts, axis=0)

    return score


USED = "4 folds, 4 times, 1,024 rows"
WAYS: dict[str, Scorer] = {
    USED: held_out(4, 4, 1024),
    "8 folds, 2 times, 1,024 rows": held_out(8, 2, 1024),
    "2 folds, 8 times, 1,024 rows": held_out(2, 8, 1024),
    "4 folds, 4 times, 256 rows": held_out(4, 4, 256),
    "4 folds, once, 1,024 rows": held_out(4, 1, 1024),
    "all rows at once, 16 detectors": at_once(16, 1024),
}


def left_out(found: dict[str, np.ndarray]) -> np.ndarray:
    """For each set, the way that is best on the others."""
    means = np.array([found[way].mean(axis=(1, 2)) for way in WAYS])  # [way][set]
    ways = list(WAYS)
    chosen = [ways[np.argmax(np.delete(means, i, axis=1).mean(axis=1))] for i in range(means.shape[1])]
    print("  chosen with each set left out: " + ", ".join(f"{way} ({chosen.count(way)})" for way in dict.fromkeys(chosen)))
    return np.array([found[way][i] for i, way in enumerate(chosen)])


def report(sizes: tuple[int, ...], tables: int) -> None:
    forest = "IsolationForest"
    for count in sizes:
        found = measure(WAYS | {forest: SCORERS[forest]}, count, tables)
        print(f"\n{count:,} rows, {tables} tables of each set: AUC, average precision, ahead of IsolationForest (standard error)\n")
        print("| learned by | | ahead |\n| --- | --- | --- |")
        for way in WAYS:
            means = ", ".join(f"{mean:.3f}" for mean in found[way].mean(axis=(0, 1)))
            print(f"| {way} | {means} | {cell(*ahead(found[way], found[forest]))} |", flush=True)
        best = left_out(found)
        print(f"  by them: {cell(*ahead(best, found[forest]))}", flush=True)

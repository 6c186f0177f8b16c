"""How well the rows of short tables are ranked, beside batch methods."""

from functools import lru_cache
from typing import Callable

import numpy as np
import oif
from pyod.models.ecod import ECOD
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score

from ..data import datasets

NAMES = ("Donors", "Http", "ForestCover", "fraud_partial", "Mulcross", "Smtp", "Shuttle", "Mammography", "nyc_taxi_shingle",
         "Annthyroid", "Satellite")  # fmt: skip
Scorer = Callable[[np.ndarray, int], np.ndarray]


@lru_cache(maxsize=None)
def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(datasets.find(f"{name}.npz")) as arrays:
        return arrays["X"].astype(float), arrays["y"] == 1


def draw(rows: np.ndarray, anomalous: np.ndarray, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A table with the share of anomalies of its set, at least one."""
    random = np.random.default_rng([seed, count])
    wanted = min(max(1, round(count * anomalous.mean())), int(anomalous.sum()))
    chosen = np.concatenate([random.choice(np.flatnonzero(anomalous), wanted, replace=False),
                             random.choice(np.flatnonzero(~anomalous), count - wanted, replace=False)])  # fmt: skip
    random.shuffle(chosen)
    return rows[chosen], anomalous[chosen]


def judge(rows: np.ndarray, seed: int, **options: float) -> tuple[np.ndarray, oif.TableInfo]:
    pipeline = oif.Pipeline(oif.RollingIsolationForest(seed=seed), **options)
    results = pipeline.process_table(rows, output="array")
    return results, pipeline.table


SCORERS: dict[str, Scorer] = {
    "oif": lambda rows, seed: judge(rows, seed)[0]["score"],
    "IsolationForest": lambda rows, seed: -IsolationForest(random_state=seed).fit(rows).score_samples(rows),
    "ECOD": lambda rows, seed: ECOD().fit(rows).decision_scores_,
}


def measure(scorers: dict[str, Scorer], count: int, tables: int) -> dict[str, np.ndarray]:
    """AUC and average precision of each method: an array [set][table][2]."""
    found = {method: np.zeros((len(NAMES), tables, 2)) for method in scorers}
    for i, name in enumerate(NAMES):
        rows, anomalous = load(name)
        for seed in range(tables):
            x, y = draw(rows, anomalous, count, seed)
            for method, score in scorers.items():
                given = np.nan_to_num(score(x, seed))
                found[method][i, seed] = roc_auc_score(y, given), average_precision_score(y, given)
    return found


def ahead(ours: np.ndarray, theirs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean difference on the same tables, and its standard error: these sets, other tables of them."""
    differences = ours - theirs
    errors = np.sqrt((differences.var(axis=1, ddof=1) / differences.shape[1]).sum(axis=0)) / len(differences)
    return differences.mean(axis=(0, 1)), errors


def cell(difference: np.ndarray, error: np.ndarray) -> str:
    return ", ".join(f"{d:+.3f} ({e:.3f})" for d, e in zip(difference, error))


def report(sizes: tuple[int, ...], tables: int) -> list[str]:
    problems = []
    print(f"ROC AUC, average precision: mean over {len(NAMES)} sets, {tables} tables of each.")
    print("Ahead: the mean difference on the same tables, in brackets its standard error.\n")
    print("| rows | oif | IsolationForest | ECOD | ahead of IsolationForest | ahead of ECOD |\n| --- | --- | --- | --- | --- | --- |")
    for count in sizes:
        found = measure(SCORERS, count, tables)
        cells = [", ".join(f"{mean:.3f}" for mean in values.mean(axis=(0, 1))) for values in found.values()]
        for method in ("IsolationForest", "ECOD"):
            difference, error = ahead(found["oif"], found[method])
            cells.append(cell(difference, error))
            for kind, d, e in zip(("AUC", "average precision"), difference, error):
                if d < -2 * e:
                    problems.append(f"{count} rows: {kind} is {-d:.3f} behind {method}'s")
        print(f"| {count:,} | " + " | ".join(cells) + " |", flush=True)
    return problems

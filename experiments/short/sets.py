"""How well the rows of short tables are ranked, beside batch methods."""

import warnings
from functools import lru_cache
from typing import Callable

import numpy as np
from pyod.models.ecod import ECOD
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score

from ..data import datasets
from .tool import judge

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


def scorers(program: str) -> dict[str, Scorer]:
    return {
        "oif score": lambda x, seed: judge(program, x, seed).scores,
        "IsolationForest": lambda x, seed: -IsolationForest(random_state=seed).fit(x).score_samples(x),
        "ECOD": lambda x, seed: ECOD().fit(x).decision_scores_,
    }


def measure(program: str, count: int, seeds: int) -> dict[str, np.ndarray]:
    """AUC and average precision of each method and set, mean over the tables."""
    found: dict[str, list[np.ndarray]] = {}
    for name in NAMES:
        rows, anomalous = load(name)
        for method, score in scorers(program).items():
            measured = []
            for seed in range(seeds):
                x, y = draw(rows, anomalous, count, seed)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    given = np.nan_to_num(score(x, seed))
                measured.append((roc_auc_score(y, given), average_precision_score(y, given)))
            found.setdefault(method, []).append(np.mean(measured, axis=0))
    return {method: np.array(values) for method, values in found.items()}


def report(program: str, sizes: tuple[int, ...], seeds: int) -> list[str]:
    problems = []
    print(f"ROC AUC, average precision: mean over {len(NAMES)} sets, {seeds} tables each\n")
    print("| rows | oif score | IsolationForest | ECOD | sets where oif has the best AUC |\n| --- | --- | --- | --- | --- |")
    for count in sizes:
        found = measure(program, count, seeds)
        means = {method: values.mean(axis=0) for method, values in found.items()}
        best = sum(found["oif score"][i, 0] >= max(v[i, 0] for v in found.values()) for i in range(len(NAMES)))
        print(f"| {count} | " + " | ".join(f"{auc:.3f}, {ap:.3f}" for auc, ap in means.values()) + f" | {best} |", flush=True)
        for method, values in means.items():
            for kind, ours, theirs in zip(("AUC", "average precision"), means["oif score"], values):
                if ours < theirs:
                    problems.append(f"{count} rows: {kind} {ours:.3f} is behind {method}'s {theirs:.3f}")
    return problems

"""Tables without anomalies: how many of their rows are alerts, beside what the program says."""

from typing import Iterator

import numpy as np

from .sets import NAMES, load
from .tool import judge

COLUMNS = (1, 3, 10)


def synthetic(count: int, random: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    for d in COLUMNS:
        yield "normal", random.normal(size=(count, d))
        yield "uniform", random.uniform(size=(count, d))
        yield "exponential", random.exponential(size=(count, d))
        yield "Poisson", random.poisson(3, size=(count, d)).astype(float)
        yield "Student's t, 3 degrees", random.standard_t(3, size=(count, d))
        yield "log-normal", random.lognormal(size=(count, d))
        yield "Cauchy", random.standard_cauchy(size=(count, d))
    yield "correlated", random.normal(size=(count, 1)) + 0.3 * random.normal(size=(count, 5))
    centres = np.array([[0.0] * 4, [5.0] * 4, [-6.0, 6.0, -6.0, 6.0]])
    yield "three clusters", centres[random.choice(3, count, p=[0.7, 0.25, 0.05])] + random.normal(size=(count, 4))


def real(count: int, random: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    for name in NAMES:
        rows, anomalous = load(name)
        yield name, rows[random.choice(np.flatnonzero(~anomalous), count, replace=False)]


def report(program: str, sizes: tuple[int, ...], seeds: int) -> list[str]:
    alerts: dict[str, int] = {}
    rows: dict[str, int] = {}
    said = 0
    for count in sizes:
        for seed in range(max(1, min(seeds, 4000 // count))):
            random = np.random.default_rng([seed, count, 1])
            for name, table in [*synthetic(count, random), *real(count, random)]:
                answer = judge(program, table, seed)
                alerts[name] = alerts.get(name, 0) + int(answer.alerts.sum())
                rows[name] = rows.get(name, 0) + count
                said = answer.one_in
    print(f"\nRows of tables without anomalies that are alerts; it says: at most one in {said}\n")
    print("| tables | rows | alerts | one row in |\n| --- | --- | --- | --- |")
    for name in sorted(rows, key=lambda name: -alerts[name] / rows[name]):
        one_in = f"{rows[name] / alerts[name]:,.0f}" if alerts[name] else "-"
        print(f"| {name} | {rows[name]:,} | {alerts[name]} | {one_in} |")
    total, found = sum(rows.values()), sum(alerts.values())
    print(f"| all | {total:,} | {found} | {total / max(1, found):,.0f} |", flush=True)
    # Three standard deviations of a count: a table or two more is chance itself.
    return [f"{name}: {alerts[name]} alerts in {rows[name]} rows are more than one in {said}"
            for name in rows if alerts[name] > rows[name] / said + 3 * (rows[name] / said) ** 0.5]  # fmt: skip

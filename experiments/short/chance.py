"""Tables without anomalies: how many of their rows are alerts, beside what oif says.

The statement was chosen on the first kinds. The others were made later, so what they show was not looked at before."""

from typing import Callable, Iterator

import numpy as np

from .sets import NAMES, judge, load

COLUMNS = (1, 3, 10)
Kind = Callable[[int, int, np.random.Generator], np.ndarray]


def clusters(n: int, d: int, random: np.random.Generator) -> np.ndarray:
    centres = random.permutation(np.array([0.0, 5.0, -6.0]))
    return centres[random.choice(3, n, p=[0.7, 0.25, 0.05])][:, None] + random.normal(size=(n, d))


def autoregressive(memory: float) -> Kind:
    def made(n: int, d: int, random: np.random.Generator) -> np.ndarray:
        rows = random.normal(size=(n, d))
        for i in range(1, n):
            rows[i] += memory * rows[i - 1]
        return rows

    return made


FIRST: dict[str, Kind] = {
    "normal": lambda n, d, random: random.normal(size=(n, d)),
    "uniform": lambda n, d, random: random.uniform(size=(n, d)),
    "exponential": lambda n, d, random: random.exponential(size=(n, d)),
    "Poisson": lambda n, d, random: random.poisson(3, size=(n, d)).astype(float),
    "Student's t, 3 degrees": lambda n, d, random: random.standard_t(3, size=(n, d)),
    "log-normal": lambda n, d, random: random.lognormal(size=(n, d)),
    "Cauchy": lambda n, d, random: random.standard_cauchy(size=(n, d)),
    "correlated": lambda n, d, random: random.normal(size=(n, 1)) + 0.3 * random.normal(size=(n, d)),
    "three clusters": clusters,
}
OTHERS: dict[str, Kind] = {
    "Laplace": lambda n, d, random: random.laplace(size=(n, d)),
    "gamma, shape .5": lambda n, d, random: random.gamma(0.5, size=(n, d)),
    "Weibull, shape .6": lambda n, d, random: random.weibull(0.6, size=(n, d)),
    "Pareto, exponent 2.5": lambda n, d, random: random.pareto(2.5, size=(n, d)),
    "Student's t, 2 degrees": lambda n, d, random: random.standard_t(2, size=(n, d)),
    "beta .3, .3": lambda n, d, random: random.beta(0.3, 0.3, size=(n, d)),
    "geometric": lambda n, d, random: random.geometric(0.3, size=(n, d)).astype(float),
    "one in ten 4 times as wide": lambda n, d, random: random.normal(size=(n, d)) * random.choice([1.0, 4.0], (n, 1), p=[0.9, 0.1]),
    "rounded to halves": lambda n, d, random: np.round(2 * random.normal(size=(n, d))) / 2,
    "half of the columns binary": lambda n, d, random: np.where(np.arange(d) % 2, random.random((n, d)) < 0.2, random.normal(size=(n, d))),
    "autoregressive .9": autoregressive(0.9),
    "autoregressive .99": autoregressive(0.99),
}


def real(count: int, random: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    for name in NAMES:
        rows, anomalous = load(name)
        yield f"{name}, normal rows", rows[random.choice(np.flatnonzero(~anomalous), count, replace=False)]


def tables(count: int, random: np.random.Generator) -> Iterator[tuple[str, str, np.ndarray]]:
    for group, kinds in (("first", FIRST), ("others", OTHERS)):
        for name, made in kinds.items():
            for d in COLUMNS:
                yield group, name, made(count, d, random)
    for name, rows in real(count, random):
        yield "first", name, rows


class Tally:
    """Rows and alerts of each kind of table."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self.alerts: dict[str, int] = {}

    def add(self, name: str, rows: int, alerts: int) -> None:
        self.rows[name] = self.rows.get(name, 0) + rows
        self.alerts[name] = self.alerts.get(name, 0) + alerts

    def one_in(self) -> str:
        alerts = sum(self.alerts.values())
        return f"{sum(self.rows.values()) / alerts:,.0f}" if alerts else "-"

    def worst(self) -> tuple[str, int, int]:
        name = max(self.rows, key=lambda name: self.alerts[name] / self.rows[name])
        return name, self.rows[name], self.alerts[name]


def count_alerts(count: int, seeds: int) -> dict[str, Tally]:
    """By group of kinds."""
    found = {"first": Tally(), "others": Tally()}
    for seed in range(seeds):
        for group, name, rows in tables(count, np.random.default_rng([seed, count, 1])):
            found[group].add(name, count, int(judge(rows, seed)[0]["anomaly"].sum()))
    return found


def report(sizes: tuple[int, ...], is_quick: bool) -> list[str]:
    problems = []
    print("\nTables without anomalies: one alert in how many rows, by kind\n")
    print("| rows | it says: at most one in | first kinds | worst of them | other kinds | worst of them |")
    print("| --- | --- | --- | --- | --- | --- |")
    for count in sizes[:1] if is_quick else sizes:
        found = count_alerts(count, max(2, (100 if is_quick else 3000) // count))
        said = judge(np.random.default_rng(1).normal(size=(count, 1)), 0)[1].chance
        cells = []
        for tally in found.values():
            name, rows, alerts = tally.worst()
            cells += [tally.one_in(), f"{name}: {rows / alerts:,.0f}" if alerts else "-"]
            # Three standard deviations of a count: a table or two more is chance itself.
            if alerts > rows * said + 3 * (rows * said) ** 0.5:
                problems.append(f"{count} rows, {name}: {alerts} alerts in {rows} rows are more than one in {1 / said:.0f}")
        print(f"| {count:,} | {1 / said:,.0f} | " + " | ".join(cells) + " |", flush=True)
    return problems

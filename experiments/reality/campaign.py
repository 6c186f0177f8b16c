"""Runs everything: each series is made once and given to all scorers; series run side by side."""

import multiprocessing
import signal
from pathlib import Path
from typing import NamedTuple, Optional, Sequence, Union

import numpy as np
from tqdm import tqdm

from . import picture, plants
from . import series as real
from .outcome import Labelled, Planted, judge_labelled, judge_planted, labelled_by_chance, planted_by_chance
from .scorers import RANDOM, ForestMissing, Kept, Scorer, scored_by
from .series import Series

SEEDS, QUICK_SEEDS = 3, 1
QUICK_OF_A_FAMILY = 2  # labelled series
QUICK_FAMILIES: dict[str, tuple[str, ...]] = {real.REAL: (), real.FRESH: ("crash", "purchase", "latency")}  # (): all
QUICK_PLANTED = ("series etth1", "series yosemite", "ASD omi-10")


class Case(NamedTuple):
    """A series, or the copy of it with that seed and planted incidents."""

    series: Series
    seed: Optional[int] = None

    @property
    def key(self) -> str:
        return self.series.title if self.seed is None else f"{self.series.title} {self.seed}"


class Plan(NamedTuple):
    cases: tuple[Case, ...]
    scorers: tuple[Scorer, ...]  # the first is the tool
    rate: float
    jobs: int
    kept: Optional[Path] = None  # the folder for scores of slow scorers
    absent: tuple[tuple[str, str], ...] = ()  # scorers that cannot run, and why

    @property
    def titles(self) -> list[str]:
        return [scorer.title for scorer in self.scorers]


Outcome = Union[Labelled, Planted]


class Done(NamedTuple):
    """A case that was measured. A scorer that failed has its reason instead of an outcome."""

    outcomes: dict[str, Union[Outcome, str]]
    strip: Optional[picture.Strip]


class Results(NamedTuple):
    """By the title of the scorer, in the order of the cases. Slow scorers have no outcomes of `fresh`."""

    labelled: dict[str, list[Labelled]]
    planted: dict[str, list[Planted]]
    strips: list[picture.Strip]  # of the sheet
    absent: dict[str, str]

    @property
    def titles(self) -> list[str]:
        return list(self.labelled)


# ---- Which cases ----


def labelled_cases(is_quick: bool, collections: Sequence[str] = real.COLLECTIONS) -> list[Case]:
    chosen: list[Case] = []
    for collection in collections:
        for series in real.labelled(collection, QUICK_FAMILIES[collection] if is_quick else ()):
            same = sum(case.series.family == series.family for case in chosen)
            if not is_quick or same < QUICK_OF_A_FAMILY:
                chosen.append(Case(series))
    return chosen


def planted_cases(is_quick: bool, seeds: int) -> list[Case]:
    chosen = [series for series in real.to_plant_in() if not is_quick or series.title in QUICK_PLANTED]
    return [Case(series, seed) for series in chosen for seed in range(seeds)]


def is_in_quick(one: Outcome, before: Sequence[Outcome]) -> bool:
    """Whether --quick has it, too; `before`: the outcomes of earlier cases."""
    if isinstance(one, Planted):
        return one.title in QUICK_PLANTED and one.seed < QUICK_SEEDS
    families = QUICK_FAMILIES[one.collection] or (one.family,)
    return one.family in families and sum(other.family == one.family for other in before) < QUICK_OF_A_FAMILY


def sheet_cases(cases: Sequence[Case]) -> list[int]:
    """Of each family in turn, those of `fresh` first, its first series with an event; then the second of each."""
    rounds: dict[tuple[str, str], int] = {}
    order = []
    for number, (series, seed) in enumerate(cases):
        if seed is None and series.labels[series.start :].any():
            family = (series.collection, series.family)
            rounds[family] = rounds.get(family, 0) + 1
            order.append((rounds[family], series.collection != real.FRESH, number))
    return [number for *_, number in sorted(order)[: picture.STRIPS]]


def quick_part(results: Results) -> Results:
    """What --quick would have measured."""

    labelled, planted = (
        {title: [o for i, o in enumerate(all_) if is_in_quick(o, all_[:i])] for title, all_ in outcomes.items()}
        for outcomes in (results.labelled, results.planted)
    )
    return results._replace(labelled=labelled, planted=planted)


# ---- One case ----


def measure(plan: Plan, case: Case, is_drawn: bool) -> Done:
    series, incidents = plants.plant(case.series, case.seed) if case.seed is not None else (case.series, ())
    kept = Kept(plan.kept) if plan.kept else None
    outcomes: dict[str, Union[Outcome, str]] = {}
    alerts: dict[str, np.ndarray] = {}
    for scorer in plan.scorers:
        if scorer.is_slow and series.collection == real.FRESH:
            continue
        try:
            scored = scored_by(scorer, series, kept)
        except ForestMissing as failure:
            outcomes[scorer.title] = str(failure)
            continue
        is_first, alerts[scorer.title] = not alerts, scored.alerts
        if case.seed is None:
            labelled = outcomes[scorer.title] = judge_labelled(series, scored)
            if is_first:
                outcomes[RANDOM] = labelled_by_chance(series, scored.alerts, labelled)
        else:
            planted = outcomes[scorer.title] = judge_planted(series, incidents, case.seed, scored.alerts)
            if is_first:
                outcomes[RANDOM] = planted_by_chance(series, incidents, scored.alerts, planted)
    return Done(outcomes, picture.strip(series, alerts) if is_drawn else None)


# ---- Side by side ----

_plan: list[Plan] = []  # of a worker: inherited by the fork, as functions within functions must be


def begin_worker(plan: Plan) -> None:
    """Interrupts are left to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _plan[:] = [plan]


def perform(task: tuple[int, bool]) -> Done:
    number, is_drawn = task
    return measure(_plan[0], _plan[0].cases[number], is_drawn)


def perform_all(plan: Plan, sheet: Sequence[int]) -> list[Done]:
    """`sheet`: the cases to draw. Large series first, so no core is left alone with one at the end."""
    order = sorted(range(len(plan.cases)), key=lambda i: -plan.cases[i].series.rows.size)
    done: dict[int, Done] = {}
    form = "{desc} {percentage:3.0f}% |{bar}| {elapsed}, {remaining} left"
    bar = tqdm(desc="reality", total=len(order), bar_format=form, disable=None)
    with multiprocessing.get_context("fork").Pool(plan.jobs, begin_worker, (plan,)) as pool, bar:
        for number, result in zip(order, pool.imap(perform, [(i, i in sheet) for i in order])):
            done[number] = result
            bar.update()
    return [done[number] for number in sorted(done)]


def run(plan: Plan) -> Results:
    """Everything. A scorer that failed once is left out, with its reason."""
    sheet = sheet_cases(plan.cases)
    done = perform_all(plan, sheet)
    absent = dict(plan.absent)
    for one in done:
        absent.update((title, reason) for title, reason in one.outcomes.items() if isinstance(reason, str))
    titles = [title for title in dict.fromkeys((plan.titles[0], RANDOM, *plan.titles)) if title not in absent]
    outcomes = {title: [one.outcomes[title] for one in done if title in one.outcomes] for title in titles}
    labelled = {title: [one for one in of if isinstance(one, Labelled)] for title, of in outcomes.items()}
    planted = {title: [one for one in of if isinstance(one, Planted)] for title, of in outcomes.items()}
    strips = [strip for i in sheet if (strip := done[i].strip)]
    return Results(labelled, planted, strips, absent)

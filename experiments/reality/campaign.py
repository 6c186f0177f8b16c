"""Runs everything: each series is made once and given to all scorers; series run side by side."""

import multiprocessing
import signal
from pathlib import Path
from typing import NamedTuple, Optional, Sequence, Union

from tqdm import tqdm

from . import picture, plants
from . import series as real
from .outcome import Labelled, Planted, judge_labelled, judge_planted
from .plants import Incident
from .scorers import ForestMissing, Kept, Scorer, scored_by
from .series import Series

SEEDS, QUICK_SEEDS = 3, 1
QUICK_OF_A_FAMILY = 2  # labelled series
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


class Drawn(NamedTuple):
    """The picture of a case, and what is said above it."""

    family: str
    key: str
    is_planted: bool
    words: str
    svg: str


Outcome = Union[Labelled, Planted]


class Done(NamedTuple):
    """A case that was measured. A scorer that failed has its reason instead of an outcome."""

    outcomes: dict[str, Union[Outcome, str]]
    drawn: Drawn


class Results(NamedTuple):
    """By the title of the scorer, in the order of the cases."""

    labelled: dict[str, list[Labelled]]
    planted: dict[str, list[Planted]]
    drawn: list[Drawn]
    absent: dict[str, str]

    @property
    def titles(self) -> list[str]:
        return list(self.labelled)


# ---- Which cases ----


def labelled_cases(is_quick: bool) -> list[Case]:
    chosen: list[Case] = []
    for series in real.labelled():
        same = sum(case.series.family == series.family for case in chosen)
        if not is_quick or same < QUICK_OF_A_FAMILY:
            chosen.append(Case(series))
    return chosen


def planted_cases(is_quick: bool, seeds: int) -> list[Case]:
    chosen = [series for series in real.to_plant_in() if not is_quick or series.title in QUICK_PLANTED]
    return [Case(series, seed) for series in chosen for seed in range(seeds)]


def is_in_quick(outcome: Outcome, before: Sequence[Outcome]) -> bool:
    """Whether --quick has it, too; `before`: the outcomes of earlier cases."""
    if isinstance(outcome, Planted):
        return outcome.title in QUICK_PLANTED and outcome.seed < QUICK_SEEDS
    return sum(other.family == outcome.family for other in before) < QUICK_OF_A_FAMILY


def quick_part(results: Results) -> Results:
    """What --quick would have measured."""

    labelled, planted = (
        {title: [o for i, o in enumerate(all_) if is_in_quick(o, all_[:i])] for title, all_ in outcomes.items()}
        for outcomes in (results.labelled, results.planted)
    )
    return results._replace(labelled=labelled, planted=planted)


# ---- One case ----


def measure(plan: Plan, case: Case) -> Done:
    series, incidents = case.series, tuple[Incident, ...]()
    if case.seed is not None:
        series, incidents = plants.plant(case.series, case.seed)
    kept = Kept(plan.kept) if plan.kept else None
    outcomes: dict[str, Union[Outcome, str]] = {}
    drawn = None
    for scorer in plan.scorers:
        try:
            scored = scored_by(scorer, series, kept)
        except ForestMissing as failure:
            outcomes[scorer.title] = str(failure)
            continue
        outcome: Outcome
        if case.seed is None:
            outcome = judge_labelled(series, scored)
        else:
            outcome = judge_planted(series, incidents, case.seed, scored)
        outcomes[scorer.title] = outcome
        if drawn is None:
            svg = picture.draw(series, incidents, scored)
            drawn = Drawn(series.family, case.key, case.seed is not None, picture.words(outcome), svg)
    assert drawn is not None
    return Done(outcomes, drawn)


# ---- Side by side ----

_plan: list[Plan] = []  # of a worker: inherited by the fork, as functions within functions must be


def begin_worker(plan: Plan) -> None:
    """Interrupts are left to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _plan[:] = [plan]


def perform(number: int) -> Done:
    return measure(_plan[0], _plan[0].cases[number])


def perform_all(plan: Plan) -> list[Done]:
    """Large series first, so no core is left alone with one at the end."""
    order = sorted(range(len(plan.cases)), key=lambda i: -plan.cases[i].series.rows.size)
    done: dict[int, Done] = {}
    form = "{desc} {percentage:3.0f}% |{bar}| {elapsed}, {remaining} left"
    bar = tqdm(desc="reality", total=len(order), bar_format=form, disable=None)
    with multiprocessing.get_context("fork").Pool(plan.jobs, begin_worker, (plan,)) as pool, bar:
        for number, result in zip(order, pool.imap(perform, order)):
            done[number] = result
            bar.update()
    return [done[number] for number in sorted(done)]


def run(plan: Plan) -> Results:
    """Everything. A scorer that failed once is left out, with its reason."""
    done = perform_all(plan)
    absent = dict(plan.absent)
    for one in done:
        absent.update((title, reason) for title, reason in one.outcomes.items() if isinstance(reason, str))
    there = [title for title in plan.titles if title not in absent]
    labelled = {title: [o for one in done if isinstance(o := one.outcomes[title], Labelled)] for title in there}
    planted = {title: [o for one in done if isinstance(o := one.outcomes[title], Planted)] for title in there}
    return Results(labelled, planted, [one.drawn for one in done], absent)

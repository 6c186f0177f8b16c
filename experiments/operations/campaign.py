"""Runs everything: each stream is made once and given to all commands; streams run side by side."""

import multiprocessing
import signal
from collections import defaultdict
from pathlib import Path
from typing import Any, Callable, NamedTuple, Union

import numpy as np
from tqdm import tqdm

from . import kinds, measures, quiet, recording, tool, yardstick
from .kept import Kept, fingerprint
from .kinds import Kind
from .outcome import Cell, Chance, Part, Quiet, chance, delay, episodes
from .recording import Event
from .tool import DEFAULT, RATE, Command

FILE = "operations-runs.jsonl"  # in the folder of results
CHANCE = "chance"  # the default command in windows as long, without an anomaly
LEARNED = 4_000  # rows after which chance is counted
ON_QUIET = (DEFAULT,)  # what is measured on streams without anomaly
Row = Union[Kind, Event]  # of the table


class Plan(NamedTuple):
    oif: Path
    rows: tuple[Row, ...]
    commands: tuple[Command, ...]  # the first is the default
    quiet: tuple[str, ...]  # streams without anomaly
    seeds: int
    quiet_seeds: int
    jobs: int
    measures: tuple[str, ...] = ()  # their keys

    def columns(self) -> list[str]:
        return [*(command.title for command in self.commands), yardstick.TITLE, CHANCE]


# Row and column of the table -> the delay, or the share of chance, of one seed.
Delays = dict[tuple[str, str], Union[int, float, None]]


class Results(NamedTuple):
    cells: dict[tuple[str, str], Union[Cell, Chance]]  # row, column
    quiet: dict[tuple[str, float, str], Quiet]  # stream, rate, command
    measures: dict[str, Part]


def options_of(command: Command) -> tuple[str, ...]:
    """The default command keeps its own alert rate; the others get the one of the yardstick."""
    return () if command == DEFAULT else ("--alert-rate", str(RATE))


def measure_kind(plan: Plan, kind: Kind, seed: int) -> Delays:
    """One stream: every command, the yardstick and, in the background alone, chance."""
    stream = kinds.build(kind, seed)
    text, delays = kinds.text_of(kind, stream.rows), Delays()
    for command in plan.commands:
        more = (*kind.options, *options_of(command))
        alerts = tool.score(plan.oif, text, command, seed, more).alerts
        delays[kind.key, command.title] = delay(alerts, stream.start, stream.length)
    alerts = yardstick.alerts_of(stream.rows, RATE)
    delays[kind.key, yardstick.TITLE] = delay(alerts, stream.start, stream.length)
    normal = kinds.text_of(kind, stream.normal)
    alerts = tool.score(plan.oif, normal, DEFAULT, seed, kind.options).alerts
    starts = np.arange(LEARNED, len(alerts) - stream.length + 1)
    delays[kind.key, CHANCE] = chance(alerts, stream.length, starts)
    return delays


def measure_recording(plan: Plan, events: tuple[Event, ...], seed: int) -> Delays:
    """All events of the recording; only the detectors' random numbers differ between seeds."""
    rows = recording.load()
    text, delays = tool.csv_text(rows), Delays()
    for command in plan.commands:
        alerts = tool.score(plan.oif, text, command, seed, options_of(command)).alerts
        for event in events:
            delays[event.key, command.title] = delay(alerts, event.start, event.rows)
            if command == DEFAULT:
                starts = recording.elsewhere(event.rows, len(rows))
                delays[event.key, CHANCE] = chance(alerts, event.rows, starts)
    alerts = yardstick.alerts_of(rows, RATE)
    for event in events:
        delays[event.key, yardstick.TITLE] = delay(alerts, event.start, event.rows)
    return delays


QuietRun = dict[tuple[str, float, str], Quiet]


def measure_quiet(plan: Plan, stream: str, seed: int) -> QuietRun:
    """One stream without anomaly: every rate and every way to learn."""
    healthy = quiet.STREAMS[stream]
    text, found = tool.csv_text(quiet.build(stream, seed), healthy.seconds), QuietRun()
    for rate in quiet.RATES:
        for command in ON_QUIET:
            more = (*healthy.options, "--alert-rate", str(rate))
            scored = tool.score(plan.oif, text, command, seed, more)
            ready, alerts = int(scored.ready.sum()), int(scored.alerts.sum())
            one = Quiet(rate, ready, alerts, episodes(scored.alerts), 1)
            found[stream, rate, command.title] = one
    return found


def measure_part(plan: Plan, key: str, seed: int) -> dict[tuple[str], Part]:
    return {(key,): measures.BY_KEY[key].of(plan.oif, seed)}


# ---- Side by side ----


class Task(NamedTuple):
    name: str  # what a finished one is known by
    work: Callable[..., dict]
    arguments: tuple[Any, ...]


def tasks_of(plan: Plan) -> list[Task]:
    """Long tasks first, so no core is left alone with one at the end."""
    events = tuple(row for row in plan.rows if isinstance(row, Event))
    parts: list[tuple[str, Callable[..., dict], Any, int]] = []
    if events:
        keys = " ".join(event.key for event in events)
        parts.append((keys, measure_recording, events, plan.seeds))
    for stream in plan.quiet:
        parts.append((f"quiet {stream}", measure_quiet, stream, plan.quiet_seeds))
    for key in plan.measures:
        parts.append((f"measure {key}", measure_part, key, plan.seeds))
    chosen = [row for row in plan.rows if isinstance(row, Kind)]
    chosen.sort(key=lambda kind: kind.key == "spike-10-of-100" or bool(kind.options), reverse=True)
    parts += [(kind.key, measure_kind, kind, plan.seeds) for kind in chosen]
    return [
        Task(f"{name} {seed}", work, (plan, subject, seed))
        for name, work, subject, seeds in parts
        for seed in range(seeds)
    ]


_tasks: list[Task] = []  # of a worker: inherited by the fork, as functions within functions must be


def begin_worker(tasks: list[Task]) -> None:
    """Interrupts are left to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _tasks[:] = tasks


def perform(number: int) -> dict:
    return _tasks[number].work(*_tasks[number].arguments)


def perform_all(tasks: list[Task], jobs: int, kept: Kept) -> None:
    """What is not kept yet, with a progress bar if stderr is a terminal."""
    todo = [task for task in tasks if task.name not in kept.results]
    form = "{desc} {percentage:3.0f}% |{bar}| {elapsed}, {remaining} left"
    bar = tqdm(desc="operations", total=len(todo), bar_format=form, disable=None)
    with multiprocessing.get_context("fork").Pool(jobs, begin_worker, (todo,)) as pool, bar:
        for task, result in zip(todo, pool.imap(perform, range(len(todo)))):
            kept.add(task.name, result)
            bar.update()


def run(plan: Plan, results: Path) -> Results:
    """Everything; what an earlier run of the same plan left in the folder is not made again."""
    tasks, kept = tasks_of(plan), Kept(results / FILE, fingerprint(plan.oif, plan.commands))
    perform_all(tasks, plan.jobs, kept)
    delays: dict[tuple[str, str], list[Any]] = defaultdict(list)
    counted: dict[tuple[str, float, str], list[Quiet]] = defaultdict(list)
    parts: dict[tuple[str], list[Part]] = defaultdict(list)
    for task in tasks:
        for key, value in kept.results[task.name].items():
            kept_in = {Quiet: counted, Part: parts}.get(type(value), delays)
            kept_in[key].append(value)
    cells = {
        key: (Chance if key[1] == CHANCE else Cell)(tuple(values)) for key, values in delays.items()
    }
    return Results(
        cells,
        {key: together(runs) for key, runs in counted.items()},
        {key: Part(*map(sum, zip(*runs))) for (key,), runs in parts.items()},
    )


def together(runs: list[Quiet]) -> Quiet:
    ready, alerts, begun, seeds = (sum(numbers) for numbers in zip(*(run[1:] for run in runs)))
    return Quiet(runs[0].rate, ready, alerts, begun, seeds)

"""Results that survive an interruption: a CSV file to which each finished run adds a line, and the loop that fills it.

A line is written in one call, so after a crash the file holds whole lines but perhaps a torn last one, which is
dropped. Work comes back in the order it was given, whoever did it, so a run that was interrupted and resumed leaves the
same bytes as one that was not.
"""

import contextlib
import csv
import io
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, NamedTuple

import pandas
from tqdm import tqdm


class Ledger:
    """One CSV file. Lines with the same key fields are the same run; the last one counts."""

    def __init__(self, path: Path, key: Iterable[str], values: Iterable[str]):
        self.path, self.key = path, tuple(key)
        self.fields = self.key + tuple(values)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._mend()

    def _mend(self) -> None:
        """Cuts off what a crash left of a line; a file with other fields is of another version and set aside."""
        heading = _line(self.fields)
        content = self.path.read_bytes() if self.path.exists() else b""
        if content and not content.startswith(heading):
            os.replace(self.path, self.path.with_suffix(".csv.old"))
            content = b""
        whole = content[: content.rfind(b"\n") + 1] or heading
        if whole != content:
            written = self.path.with_suffix(".csv.new")
            written.write_bytes(whole)
            os.replace(written, self.path)

    def append(self, record: dict[str, Any]) -> None:
        line = _line([record[field] for field in self.fields])
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            if os.write(descriptor, line) != len(line):
                raise OSError(f"{self.path}: the disk is full")
        finally:
            os.close(descriptor)

    def done(self) -> set[tuple[str, ...]]:
        with open(self.path, newline="", encoding="utf-8") as file:
            return {tuple(line[field] for field in self.key) for line in csv.DictReader(file)}

    def read(self) -> pandas.DataFrame:
        """All runs, the last of each; an empty table when there are none."""
        table = pandas.read_csv(self.path, dtype={"fingerprint": str, "early": str, "curve": str, "column": str})
        return table.drop_duplicates(list(self.key), keep="last")


def _line(values: Iterable[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue().encode()


class Task(NamedTuple):
    key: dict[str, Any]  # the ledger's key fields
    work: Callable[..., dict[str, Any]]  # given the key fields, returns the others; must be found by its name (pickle)
    arguments: tuple[Any, ...]
    weight: float  # seconds, roughly: what the progress bar goes by


def _perform(task: Task) -> dict[str, Any]:
    return {**task.key, **task.work(*task.arguments)}


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def fill(ledger: Ledger, tasks: list[Task], what: str, jobs: int) -> None:
    """Does what is not in the ledger yet, `jobs` at a time; with one job in this very process, alone."""
    done = ledger.done()
    todo = [task for task in tasks if tuple(str(task.key[field]) for field in ledger.key) not in done]
    total = sum(task.weight for task in tasks)
    ready = total - sum(task.weight for task in todo)
    form = "{desc} {percentage:3.0f}% |{bar}| {elapsed}, {remaining} left{postfix}"
    with tqdm(total=total, initial=ready, desc=what, bar_format=form, disable=None, smoothing=0.05) as bar:
        with _noting_time(ledger, what, jobs) as count:
            for task, record in zip(todo, _results(todo, jobs)):
                ledger.append(record)
                count.append(task)
                bar.set_postfix_str(" ".join(str(task.key[field]) for field in ledger.key[:2]), refresh=False)
                bar.update(task.weight)
    if not sys.stderr.isatty():
        print(f"{what}: {len(todo)} of {len(tasks)} runs made, the others were there", file=sys.stderr)


@contextlib.contextmanager
def _noting_time(ledger: Ledger, what: str, jobs: int) -> Iterator[list[Task]]:
    """Adds to spent.csv how long it took, also when it is interrupted; what is put into the list are the runs made."""
    made: list[Task] = []
    begun, started = int(time.time()), time.monotonic()
    try:
        yield made
    finally:
        if made:
            spent = spent_of(ledger.path.parent)
            seconds = round(time.monotonic() - started)
            spent.append(dict(part=what, begun=begun, runs=len(made), jobs=jobs, wall_seconds=seconds))


def spent_of(results: Path) -> Ledger:
    return Ledger(results / "spent.csv", ("part", "begun"), ("runs", "jobs", "wall_seconds"))


def _results(todo: list[Task], jobs: int) -> Iterable[dict[str, Any]]:
    if jobs == 1 or len(todo) < 2:
        yield from map(_perform, todo)
        return
    with multiprocessing.get_context("fork").Pool(jobs, _leave_interrupts_to_the_parent) as pool:
        yield from pool.imap(_perform, todo)

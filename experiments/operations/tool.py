"""The tool under test: `oif score` as a user runs it, on CSV text."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple, Sequence

import numpy as np

RATE = 0.001  # alerts per row, the tool's default
CALM = 16  # rows without an alert that end an episode, as in the tool


class ToolFailed(Exception):
    """The tool ended with an error, or printed what it should not."""


class Command(NamedTuple):
    """A column of the tables: options of `oif score`, and what they are called."""

    title: str
    options: tuple[str, ...] = ()


DEFAULT = Command("oif score")
VARIANTS = {  # commands that stand after the detector of that name
    "online-iforest": [
        Command(
            "online-iforest turnover",
            ("--detector", "online-iforest", "--forgetting", "turnover"),
        )
    ],
}


def run(oif: Path, arguments: Sequence[str], text: bytes = b"") -> bytes:
    command = [str(oif), *arguments]
    try:
        done = subprocess.run(command, input=text, capture_output=True, check=False)
    except OSError as failure:
        raise ToolFailed(f"{oif} cannot be run: {failure.strerror}; make build") from None
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip()
        raise ToolFailed(f"{' '.join(command)} ended with {done.returncode}: {words}")
    return done.stdout


def detector_commands(oif: Path) -> list[Command]:
    """One command per detector that the tool has, and the variants of some."""
    refused = subprocess.run([oif, "score", "--detector", "help"], capture_output=True, text=True, check=False).stderr
    named = re.search(r"choose one of: (.*)", refused)
    if not named:
        raise ToolFailed(f"{oif} score --detector help names none")
    commands = []
    for name in named[1].split(", "):
        commands += [Command(name, ("--detector", name)), *VARIANTS.get(name, [])]
    return commands


TIME = "time"  # the column with the time of a row, where rows have one
FIRST_TIME = np.datetime64("2026-01-05T00:00:00")  # a Monday


def csv_text(rows: np.ndarray, seconds: int = 0) -> bytes:
    """Names c0, c1, ... and nine digits per number; a missing number is an empty field.

    If `seconds` lie between rows, a column with their times comes first.
    """
    names = ",".join(f"c{i}" for i in range(rows.shape[1]))
    form = ",".join(["%.9g"] * rows.shape[1])
    lines = [names, *(form % tuple(row) for row in rows.tolist())]
    if np.isnan(rows).any():
        lines = [line.replace("nan", "") for line in lines]
    if seconds:
        times = np.datetime_as_string(FIRST_TIME + seconds * np.arange(len(rows)), timezone="UTC")
        lines = [f"{time},{line}" for time, line in zip([TIME, *times], lines)]
    return ("\n".join(lines) + "\n").encode()


def totals(rows: np.ndarray, columns: Sequence[int]) -> np.ndarray:
    """The rows with columns that count up: each value is the sum of those until there."""
    counted = rows.copy()
    counted[:, columns] = np.cumsum(rows[:, columns], axis=0)
    return counted


class Scored(NamedTuple):
    ready: np.ndarray  # per row: the tool could have raised an alert
    alerts: np.ndarray  # per row: it did


def score(oif: Path, text: bytes, command: Command, seed: int, more: Sequence[str] = ()) -> Scored:
    """The options choose what is printed, the seed of the random numbers, and the command."""
    options = ["--fields", "anomaly,ready", "--seed", str(seed), *command.options, *more]
    printed = np.frombuffer(run(oif, ["score", *options], text), dtype=np.uint8)
    ends = np.flatnonzero(printed == ord("\n"))[1:]  # the first line holds the names
    if len(ends) != text.count(b"\n") - 1:
        raise ToolFailed(f"oif score {' '.join(options)} printed {len(ends)} rows")
    alerts, ready = printed[ends - 3], printed[ends - 1]  # a row that is not ready has no `anomaly`: a comma is there
    if not (np.isin(ready, (ord("0"), ord("1"))) & np.isin(alerts, [ord(c) for c in "01,"])).all():
        raise ToolFailed(f"oif score {' '.join(options)} printed other fields than asked for")
    return Scored(ready == ord("1"), alerts == ord("1"))


# ---- Why ----


class Reason(NamedTuple):
    """The first reason of an alert."""

    row: int
    judge: str  # "values" if none is named
    column: str


def reasons(oif: Path, text: bytes, seed: int, more: Sequence[str] = ()) -> list[Reason]:
    """Of all alerts of the default command."""
    asked = ("--output", "ndjson", "--fields", "anomaly,why")
    printed = run(oif, ["score", *asked, "--seed", str(seed), *more], text).splitlines()
    if len(printed) != text.count(b"\n") - 1:
        raise ToolFailed(f"oif score {' '.join(asked)} printed {len(printed)} rows")
    found = []
    for row, line in enumerate(printed):
        if b'"anomaly":true' in line:
            found.append(first_reason(row, json.loads(line)["oif"].get("why", [])))
    return found


def first_reason(row: int, why: list[dict[str, Any]]) -> Reason:
    first = why[0] if why else {}
    return Reason(row, first.get("reason", "values"), first.get("column", ""))


def silences(oif: Path, text: bytes, seed: int, more: Sequence[str]) -> list[dict[str, Any]]:
    """The records of silences that begin."""
    options = ("--output", "ndjson", "--rows", "episodes", "--seed", str(seed), *more)
    lines = run(oif, ["score", *options], text).splitlines()
    return [json.loads(line) for line in lines if b'"silence":"begins"' in line]

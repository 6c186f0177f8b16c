"""Finished streams that survive an interruption: a file to which each adds a line.

A line holds the fingerprint of everything that the result depends on (the tool, the commands, the
code that makes and measures the streams), the name of the stream and the result. A run with another
fingerprint begins again.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Sequence

from .outcome import Part, Quiet

MODULES = (
    *("backgrounds", "campaign", "kinds", "measures", "outcome", "plants", "quiet", "recording"),
    *("tool", "yardstick"),
)

Result = dict[tuple[Any, ...], Any]  # a cell -> its delay, its false alerts, or its part
COUNTED = {len(form._fields): form for form in (Part, Quiet)}  # by how many numbers they have


def fingerprint(oif: Path, commands: Sequence[Any]) -> str:
    sum = hashlib.sha256(oif.read_bytes())
    sum.update(repr(list(commands)).encode())
    for module in MODULES:
        sum.update((Path(__file__).parent / f"{module}.py").read_bytes())
    return sum.hexdigest()[:16]


def as_line(print_: str, name: str, result: Result) -> str:
    return json.dumps([print_, name, [[list(key), value] for key, value in result.items()]]) + "\n"


def from_line(line: str) -> tuple[str, str, Result]:
    print_, name, pairs = json.loads(line)
    result = {tuple(k): COUNTED[len(v)](*v) if isinstance(v, list) else v for k, v in pairs}
    return print_, name, result


class Kept:
    """The results of one file that have this fingerprint, by the name of the stream."""

    def __init__(self, path: Path, print_: str) -> None:
        self.path, self.print = path, print_
        self.results: dict[str, Result] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for line in lines:
            self._take(line)
        self._rewrite()

    def _take(self, line: str) -> None:
        try:
            print_, name, result = from_line(line)
        except ValueError:  # a line that a crash tore apart
            return
        if print_ == self.print:
            self.results[name] = result

    def _rewrite(self) -> None:
        """Without torn lines and those of other fingerprints."""
        written = self.path.with_suffix(".new")
        lines = (as_line(self.print, name, result) for name, result in self.results.items())
        written.write_text("".join(lines), encoding="utf-8")
        os.replace(written, self.path)

    def add(self, name: str, result: Result) -> None:
        self.results[name] = result
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(as_line(self.print, name, result))

"""How far a long call is: with tqdm if it is there, else as a line on the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol, Union

if TYPE_CHECKING:
    from . import _core

Progress = Union[bool, Callable[[int, int], object]]  # or what is called with how many are done, and of how many


class Bar(Protocol):
    """What is reported about each step."""

    def update(self, count: int, /) -> Any: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *why: Any) -> Any: ...


class _Silent:
    def update(self, count: int, /) -> None:
        pass

    def __enter__(self) -> _Silent:
        return self

    def __exit__(self, *why: object) -> None:
        pass


class _Calls(_Silent):
    def __init__(self, call: Callable[[int, int], object], total: int) -> None:
        self.call, self.total, self.done = call, total, 0

    def update(self, count: int, /) -> None:
        self.done += count
        self.call(self.done, self.total)


class _Line(_Silent):
    """A line that is written over, a few times a second."""

    def __init__(self, total: int, unit: str) -> None:
        self.total, self.unit, self.done, self.written = total, unit, 0, 0.0

    def update(self, count: int, /) -> None:
        self.done += count
        now = time.monotonic()
        if now - self.written > 0.2 or self.done >= self.total:
            self.written = now
            print(f"\r{self.done:,} of {self.total:,} {self.unit}", end="", file=sys.stderr, flush=True)

    def __exit__(self, *why: object) -> None:
        print(file=sys.stderr)


def progress_of(progress: Progress, total: int, unit: str) -> Bar:
    if callable(progress):
        return _Calls(progress, total)
    if not progress:
        return _Silent()
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(total, unit)
    bar: Bar = tqdm(total=total, unit=f" {unit}", unit_scale=True)
    return bar


def act_with_progress(detector: _core.Detector, what: int, x: Any, progress: Progress) -> Any:
    """What learn and score of the extension call for a bar: only they know how many rows x has."""
    with ExitStack() as stack:
        return detector._act(what, x, lambda total: stack.enter_context(progress_of(progress, total, "rows")).update)

"""Copies and pickles, of detectors and pipelines alike: their snapshot, and what a snapshot does not hold."""

from __future__ import annotations

import difflib
import html
import os
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Union, runtime_checkable

from ._core import Learner
from ._errors import FileError, SnapshotKindError, because

if TYPE_CHECKING:
    from typing_extensions import Self


@runtime_checkable
class SupportsRead(Protocol):
    """An open binary file."""

    def read(self) -> bytes: ...


@runtime_checkable
class SupportsSeek(SupportsRead, Protocol):
    """One whose position can be set."""

    def seekable(self) -> bool: ...
    def tell(self) -> int: ...
    def seek(self, position: int, /) -> Any: ...


@runtime_checkable
class SupportsWrite(Protocol):
    """A binary file open for writing."""

    def write(self, data: bytes, /) -> Any: ...


Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, SupportsRead]


class Copied(Learner):
    """What can be cloned, copied and pickled."""

    _native: ClassVar[Any]  # the class of the extension
    _kept: ClassVar[tuple[str, ...]] = ("column_names", "ignore_unknown")  # attributes besides the snapshot

    @classmethod
    def load(cls, source: Source) -> Self:
        """Load one of this class; oif.load loads either."""
        from ._load import load
        from ._pipeline import Pipeline

        made = load(source)
        if not isinstance(made, cls):
            cause = "pipeline_snapshot" if isinstance(made, Pipeline) else "detector_snapshot"
            message = f"the snapshot is that of a {type(made).__name__}, not of a {cls.__name__}"
            raise because(cause, SnapshotKindError(message))
        return made

    def save(self, path: str | os.PathLike[str] | SupportsWrite, /) -> None:
        """Write a snapshot to a file, atomically: after a crash the file holds the old one or the new one.

        An open binary file, or anything else with a method write, gets all bytes at once.
        """
        if isinstance(path, SupportsWrite):
            path.write(self.to_bytes())
            return
        try:
            super().save(path)
        except FileError as error:
            error.filename = os.fspath(path)
            raise

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuses attributes that do not exist, so a mistyped one is an error. Classes of users may have others."""
        cls = type(self)
        if name.startswith("_") or hasattr(cls, name) or not cls.__module__.startswith("oif."):
            super().__setattr__(name, value)
            return
        near = difflib.get_close_matches(name, [known for known in dir(cls) if not known.startswith("_")], 1)
        advice = f"; did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"{cls.__name__!r} has no attribute {name!r}{advice}")

    def _made_with(self) -> str:
        """The constructor as it was called."""
        raise NotImplementedError

    def _state(self) -> dict[str, str]:
        """What became of it, in words, by what they say; nothing before the first row."""
        raise NotImplementedError

    def __repr__(self) -> str:
        state = {what: words for what, words in self._state().items() if words and what in ("rows", "keys", "readiness")}
        return self._made_with() + (f" <{', '.join(state.values())}>" if state else "")

    def _repr_html_(self) -> str:
        """For notebooks: what it is, rows, readiness, columns."""
        state = self._state() or {"rows": "no rows yet"}
        rows = "".join(
            f"<tr><th style='text-align:left'>{what}</th><td style='text-align:left'>{html.escape(words)}</td></tr>"
            for what, words in state.items()
            if words
        )
        return f"<div><code>{html.escape(self._made_with())}</code><table>{rows}</table></div>"

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._memory_bytes()

    def _memory_bytes(self) -> int:
        raise NotImplementedError

    def clone(self) -> Self:
        """Copy with all that was learned; copy.copy, copy.deepcopy and pickle do as well."""
        copy = type(self).__new__(type(self))
        copy._assign(self)
        copy.__dict__.update(self._own())
        return copy

    def __reduce__(self) -> tuple[Any, ...]:
        snapshot = self.to_bytes() if self._has_rows() else None
        kept = {name: getattr(self, name) for name in self._kept}
        return rebuild, (type(self), self._arguments(), snapshot, kept), self._own() or None

    def _has_rows(self) -> bool:
        raise NotImplementedError

    def _arguments(self) -> tuple[Any, ...]:
        """Of the extension's __init__."""
        raise NotImplementedError

    def _own(self) -> dict[str, Any]:
        """The attributes that Python has given it."""
        return dict(self.__dict__)


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def memory_text(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 1e6 else f"{count / 1e3:,.0f} KB"


def names_text(names: tuple[Any, ...] | None) -> str:
    shown = ", ".join(map(str, (names or ())[:12]))
    return shown + (f" and {len(names) - 12} more" if names and len(names) > 12 else "")


def rebuild(cls: type[Copied], arguments: tuple[Any, ...], snapshot: bytes | None, kept: dict[str, Any]) -> Copied:
    """Makes what was pickled."""
    made = cls.__new__(cls)
    if snapshot is None:
        cls._native.__init__(made, *arguments)
    else:
        made._restore(snapshot)
    for name, value in kept.items():
        setattr(made, name, value)
    return made

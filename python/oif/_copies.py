"""Copies and pickles, of detectors and pipelines alike: their snapshot, and what a snapshot does not hold."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from ._core import Learner


class Copied(Learner):
    """What can be cloned, copied and pickled."""

    _native: ClassVar[Any]  # the class of the extension
    _kept: ClassVar[tuple[str, ...]] = ("column_names", "ignore_unknown")  # attributes besides the snapshot

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

"""Episodes of several keys of a stream that begin together: one incident."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core

if TYPE_CHECKING:
    from typing_extensions import Self


class IncidentPlace(NamedTuple):
    """The incident that an episode belongs to."""

    incident: int  # its number, from 1; 0: none
    is_new: bool  # the episode begins it
    joins: bool  # the episode joins it; neither: it was known already
    is_over: bool  # the episode was its last open one
    peak_before: float  # its highest severity before this event; 0: none


class IncidentMember(NamedTuple):
    """An episode of an incident. `end_seconds` is NaN until it has ended."""

    key: str
    column: str
    reason: str  # that of the highest severity
    stream: str
    seconds: float
    end_seconds: float
    severity: float
    episode: int


class IncidentShared(NamedTuple):
    """What all members share: a "part" of the key, or the "column"."""

    kind: str
    text: str


class Incident(NamedTuple):
    """An incident: its members in the order in which they were reported, and what all of them share."""

    number: int
    members: int
    open: int
    first_seconds: float
    last_seconds: float
    severity: float
    is_over: bool
    worst: IncidentMember  # of the open ones; of all if none is open
    order: tuple[IncidentMember, ...]
    shared: tuple[IncidentShared, ...]


class Incidents(_core.Incidents):
    """Joins episodes of a stream that begin together and share a part of the key, or the column.

    Report the start and the end of each episode; `stream` names the pipeline if there are several. Options are those of
    `oif_incidents_options_init` in oif.h: max_members, window_seconds.

    >>> import oif
    >>> incidents = oif.Incidents()
    >>> [incidents.begin(f"rack-1/host-{i}", column="load", seconds=1000 + 10 * i).incident for i in range(5)]
    [1, 1, 1, 1, 1]
    >>> incidents[1].shared
    (IncidentShared(kind='column', text='load'), IncidentShared(kind='part', text='rack-1'))
    """

    __slots__ = ()  # a mistyped attribute is an error

    def begin(
        self,
        key: str = "",
        *,
        column: str = "",
        reason: str = "",
        seconds: float = math.nan,
        severity: float = 0.0,
        episode: int = 0,
        stream: str = "",
    ) -> IncidentPlace:
        """Report that an episode begins, or has become worse. Without times, `seconds` may be the number of the row."""
        return IncidentPlace(*self._begin(key, column, reason, seconds, severity, episode, stream))

    def end(
        self,
        key: str = "",
        *,
        seconds: float = math.nan,
        severity: float = 0.0,
        episode: int = 0,
        stream: str = "",
    ) -> IncidentPlace:
        """Report that an episode ends, with its highest severity."""
        return IncidentPlace(*self._end(key, "", "", seconds, severity, episode, stream))

    def __getitem__(self, number: int) -> Incident:
        """The incident with this number: open, or over since the last event."""
        made: Any = self._incident(number)
        if made is None:
            raise KeyError(number)
        *figures, worst, order, shared = made
        members = tuple(IncidentMember(*member) for member in order)
        parts = tuple(IncidentShared(*part) for part in shared)
        return Incident._make((*figures, members[worst], members, parts))

    def __len__(self) -> int:
        return len(self.numbers())

    @classmethod
    def from_bytes(cls, data: bytes, /) -> Self:
        """Resume from a snapshot of to_bytes."""
        made = cls()
        made._take_bytes(data)
        return made

    def __reduce__(self) -> Any:
        return type(self).from_bytes, (self.to_bytes(),)

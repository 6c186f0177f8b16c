"""Episodes of many keys, columns and streams that begin together: one incident."""

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
    odds: float  # that the episode belongs to an incident that was there before


class IncidentMember(NamedTuple):
    """An episode of an incident. `end_seconds` is NaN until it has ended."""

    key: str
    column: str
    stream: str
    seconds: float
    end_seconds: float
    severity: float
    episode: int


class IncidentShared(NamedTuple):
    """What members share: a "part" of the key, a "column" or a "stream"."""

    kind: str
    text: str
    members: int  # that have it
    share: float  # of all episodes that have it


class Incident(NamedTuple):
    """An incident: its members in the order in which they began, and what they share."""

    number: int
    members: int  # all of them; `order` has those that were kept
    open: int
    first_seconds: float
    last_seconds: float
    severity: float
    is_over: bool
    worst: IncidentMember
    order: tuple[IncidentMember, ...]
    shared: tuple[IncidentShared, ...]

    @property
    def first(self) -> IncidentMember:
        """The member that began first."""
        return self.order[0]


class Incidents(_core.Incidents):
    """Joins episodes that begin together, if that is likelier than a coincidence.

    Report the start and the end of each episode, of one pipeline or of many; `stream` names the pipeline. Options are
    those of `oif_incidents_options_init` in oif.h: max_incidents, max_members, window_seconds, quiet_seconds, stale_seconds,
    odds.

    >>> import oif
    >>> incidents = oif.Incidents()
    >>> [incidents.begin(f"rack-1/host-{i}", column="load", seconds=1000 + 10 * i).incident for i in range(5)]
    [1, 1, 1, 1, 1]
    >>> incidents[1].first.key
    'rack-1/host-0'
    """

    __slots__ = ()  # a mistyped attribute is an error

    def begin(
        self,
        key: str = "",
        *,
        column: str = "",
        seconds: float = math.nan,
        severity: float = 0.0,
        episode: int = 0,
        stream: str = "",
        sequence: int = 0,
    ) -> IncidentPlace:
        """Report that an episode begins. Without a time, `sequence` is a number that grows, such as that of the row."""
        return IncidentPlace(*self._begin(key, column, seconds, severity, episode, stream, sequence))

    def end(
        self,
        key: str = "",
        *,
        seconds: float = math.nan,
        severity: float = 0.0,
        episode: int = 0,
        stream: str = "",
        sequence: int = 0,
    ) -> IncidentPlace:
        """Report that an episode ends, with its highest severity."""
        return IncidentPlace(*self._end(key, "", seconds, severity, episode, stream, sequence))

    def over(self) -> list[Incident]:
        """The incidents that are over and were not returned before."""
        found = []
        while (number := self._next_over()) is not None:
            found.append(self[number])
        return found

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

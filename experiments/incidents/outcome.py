"""What `oif score --rows incidents` made of a fleet, compared with what was planted."""

import json
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Sequence

from .fleets import FIRST_FAULT, FIRST_TIME, Fault, Fleet, csv_text

ROWS_AFTER = 20  # an episode that begins this long after a fault is still due to it: the way back


class ToolFailed(Exception):
    """The tool ended with an error."""


class Episode(NamedTuple):
    incident: int
    place: int  # in the order of its incident
    key: str
    seconds: float  # since the first row
    fault: int  # its cause; -1: chance


class Outcome(NamedTuple):
    """Counts, to be added up over fleets."""

    planted: int = 0  # causes that spread and of which two or more hosts were found
    notifications: int = 0  # incidents with an episode of these causes, once per cause
    origins: int = 0  # of these causes whose origin was found at all
    origins_first: int = 0
    unrelated: int = 0  # episodes of chance and of single faults
    wrongly_joined: int = 0  # that joined an incident of another cause
    single: int = 0  # episodes of single faults alone
    single_joined: int = 0
    episodes: int = 0
    incidents: int = 0

    def __add__(self, other: "Outcome") -> "Outcome":  # type: ignore[override]
        return Outcome(*(a + b for a, b in zip(self, other)))


def run(oif: Path, text: bytes, options: Sequence[str] = ()) -> list[dict[str, Any]]:
    command = [str(oif), "score", "--key", "host", "--time", "at", "--rows", "incidents", *options]
    done = subprocess.run(command, input=text, capture_output=True, check=False)
    if done.returncode:
        raise ToolFailed(f"{' '.join(command)}: {done.stderr.decode(errors='replace').strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def seconds_of(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() - FIRST_TIME


def cause_of(faults: Sequence[Fault], host: int, seconds: float, interval: int) -> int:
    for fault in faults:
        end = fault.end + ROWS_AFTER * interval
        if fault.host == host and fault.start - interval <= seconds <= end:
            return fault.cause
    return -1


def episodes_of(fleet: Fleet, records: list[dict[str, Any]]) -> list[Episode]:
    host_of = {key: host for host, key in enumerate(fleet.keys)}
    found = []
    for record in records:
        if record["incident"] == "begins":
            continue
        for place, member in enumerate(record["order"]):
            seconds = seconds_of(member["start"])
            cause = cause_of(fleet.faults, host_of[member["key"]], seconds, fleet.shape.interval)
            found.append(Episode(record["id"], place, member["key"], seconds, cause))
    return found


def judge_spread(fleet: Fleet, episodes: list[Episode]) -> Outcome:
    total = Outcome()
    for origin in (fault for fault in fleet.faults if fault.spreads and fault.is_origin):
        of_cause = [episode for episode in episodes if episode.fault == origin.cause]
        if len({episode.key for episode in of_cause}) < 2:
            continue
        incidents = [episode.incident for episode in of_cause]
        main = max(sorted(set(incidents)), key=incidents.count)
        key = fleet.keys[origin.host]
        first = next(e.key for e in episodes if e.incident == main and e.place == 0)
        is_found = any(episode.key == key for episode in of_cause)
        total += Outcome(
            planted=1,
            notifications=len(set(incidents)),
            origins=is_found,
            origins_first=is_found and first == key,
        )
    return total


def is_joined(episode: Episode, episodes: list[Episode]) -> bool:
    """Whether its incident was there before, because of something else: not of its cause, nor of its host."""
    for other in episodes:
        if other.incident == episode.incident and other.place < episode.place:
            if other.key != episode.key and (other.fault == -1 or other.fault != episode.fault):
                return True
    return False


def judge(fleet: Fleet, records: list[dict[str, Any]]) -> Outcome:
    episodes = episodes_of(fleet, records)
    spread = {fault.cause for fault in fleet.faults if fault.spreads}
    total = judge_spread(fleet, episodes)
    # What all hosts show for the first time, such as the first night, does have one cause.
    first = FIRST_FAULT * fleet.shape.interval
    for episode in episodes:
        if episode.fault in spread or episode.seconds < first:
            continue
        joined, is_single = is_joined(episode, episodes), episode.fault >= 0
        total += Outcome(
            unrelated=1,
            wrongly_joined=joined,
            single=is_single,
            single_joined=is_single and joined,
        )
    begun = sum(record["incident"] == "begins" for record in records)
    return total + Outcome(episodes=len(episodes), incidents=begun)


def measure(oif: Path, fleet: Fleet, options: Sequence[str] = ()) -> Outcome:
    return judge(fleet, run(oif, csv_text(fleet), options))

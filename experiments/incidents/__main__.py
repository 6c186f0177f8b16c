"""Whether alerts that have one cause become one incident, and others do not.

    experiments/run.sh incidents                   all fleets, 4 seeds each: some minutes
    experiments/run.sh incidents --quick           one fleet, 2 seeds: half a minute
    experiments/run.sh incidents --quick --check   exit code 1 if a bar is missed, naming each

Faults are planted in synthetic fleets: some spread from an origin, others hit one host. The rule was chosen on the fleets
`looked at`; the others were measured once, after that. Also prints, for real machines that have nothing to do with each other,
how many of their episodes were joined.
"""

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from . import fleets, machines, outcome
from .fleets import Shape
from .outcome import Outcome

SEEDS, QUICK_SEEDS = 4, 2


class Group(NamedTuple):
    """A line of the table."""

    title: str
    shape: Shape
    first_seed: int
    has_bars: bool  # otherwise it is only shown
    options: tuple[str, ...] = ()


RATE = ("--alert-rate", "0.005")
GROUPS = (
    Group("looked at", Shape(40, 4, 60, 600), 1, True),
    Group("looked at", Shape(20, 2, 30, 300), 1, True),
    Group("looked at", Shape(24, 3, 300, 600), 101, False),
    Group("looked at, more chance", Shape(40, 4, 60, 600), 1, False, RATE),
    Group("looked at, more chance", Shape(80, 8, 10, 600), 101, False),
    Group("not looked at", Shape(30, 5, 60, 450), 201, True),
    Group("not looked at", Shape(50, 5, 90, 600), 201, True),
    Group("not looked at", Shape(16, 4, 180, 300), 201, True),
    Group("not looked at, jitter", Shape(32, 4, 45, 600, True), 201, False),
)
# What the product is to reach.
MOST_NOTIFICATIONS, LEAST_ORIGINS, MOST_WRONGLY_JOINED = 1.2, 0.8, 0.15


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="experiments/run.sh incidents",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--oif", type=Path, default=Path("build/release/oif"), help="the tool (%(default)s)")
    add("--quick", action="store_true", help="one fleet, fewer seeds")
    add("--seeds", type=int, metavar="N", help=f"fleets per line ({SEEDS})")
    add("--jobs", type=int, default=os.cpu_count(), metavar="N", help="fleets at a time")
    add("--check", action="store_true", help="exit code 1 if a bar is missed")
    return parser.parse_args()


def measure(oif: Path, group: Group, seeds: int, jobs: int) -> Outcome:
    def one(seed: int) -> Outcome:
        return outcome.measure(oif, fleets.make(group.shape, seed), group.options)

    with ThreadPoolExecutor(jobs) as pool:
        first = group.first_seed
        return sum(pool.map(one, range(first, first + seeds)), Outcome())


def share(part: int, whole: int) -> float:
    return part / max(1, whole)


def line(group: Group, found: Outcome) -> str:
    shape = group.shape
    fleet = f"{shape.hosts} hosts, {shape.racks} racks, {shape.interval} s, {shape.longest_delay} s"
    return (
        f"{group.title:24} {fleet:34} {share(found.notifications, found.planted):13.2f} "
        f"{share(found.origins_first, found.origins):13.2f} "
        f"{share(found.wrongly_joined, found.unrelated):14.3f} "
        f"{found.planted:7} {found.unrelated:9} {found.episodes:8} {found.incidents:9}"
    )


def missed(group: Group, found: Outcome) -> list[str]:
    figures = (
        ("notifications per incident", share(found.notifications, found.planted), MOST_NOTIFICATIONS, 1),
        ("origins that are first", share(found.origins_first, found.origins), LEAST_ORIGINS, -1),
        ("wrongly joined", share(found.wrongly_joined, found.unrelated), MOST_WRONGLY_JOINED, 1),
    )
    return [
        f"{group.shape}: {name} {figure:.2f}, the bar is {bar}"
        for name, figure, bar, sign in figures
        if sign * figure > sign * bar
    ]


def main() -> int:
    arguments = parse_arguments()
    seeds = arguments.seeds or (QUICK_SEEDS if arguments.quick else SEEDS)
    print(
        f"{'':24} {'fleet, interval, longest delay':34} notifications  origin first "
        "wrongly joined planted unrelated episodes incidents"
    )
    failures: list[str] = []
    for group in GROUPS[:1] if arguments.quick else GROUPS:
        found = measure(arguments.oif, group, seeds, arguments.jobs)
        print(line(group, found), flush=True)
        failures += missed(group, found) if group.has_bars else []
    joined = None if arguments.quick else machines.measure(arguments.oif)
    if joined:
        wrong = share(joined.wrongly_joined, joined.episodes)
        print(f"machines of SMD: {joined.episodes} episodes, {wrong:.3f} of them joined to another machine")
    for failure in failures:
        print(f"MISSED {failure}")
    return 1 if arguments.check and failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (outcome.ToolFailed, OSError) as failure:
        sys.exit(f"incidents: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)

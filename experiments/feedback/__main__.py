"""What clicks on "this alert was useless" save, and what they cost, on the labelled series.

    experiments/run.sh feedback                    all labelled series: some minutes
    experiments/run.sh feedback --quick --check    two of each family; exit code 1 if a limit is missed
    experiments/run.sh feedback --markdown         the table as Markdown, for docs/measurements/feedback.md
    experiments/run.sh feedback --leave-out        also the sums of all families but one

The labels play the person. An episode without an alert in a labelled event is clicked when it begins, up to 5 times in a
series; after each click all proposals are accepted. The same series runs without clicks, and with clicks and a restart
in the middle. The series are looked for in $OIF_DATA; docs/measurements/reality.md describes them.
"""

import argparse
import multiprocessing
import os
import sys
from pathlib import Path
from typing import NamedTuple

from .. import data
from ..reality import campaign, limits
from ..reality import series as real
from ..reality.limits import Measured
from . import library, replay
from .replay import Outcome

LIMITS = Path(__file__).parent / "limits.json"


class Sums(NamedTuple):
    """A line of the table."""

    title: str
    series: int
    clicks: int
    repeats: int
    repeats_left: int
    others: int
    others_left: int
    events: int
    found: int
    lost: int
    lost_kind: int
    won: int


HEADINGS = {
    "title": "family",
    "series": "series",
    "clicks": "clicks",
    "repeats": "repeats",
    "repeats_left": "with clicks",
    "others": "all without cause",
    "others_left": "with clicks",
    "events": "events",
    "found": "found",
    "lost": "lost by clicks",
    "lost_kind": "of a clicked kind",
    "won": "won by clicks",
}


def sum_up(title: str, outcomes: list[Outcome]) -> Sums:
    return Sums(title, len(outcomes), *(sum(getattr(one, name) for one in outcomes) for name in Sums._fields[2:]))


def lines_of(outcomes: list[Outcome], leaves_out: bool) -> list[Sums]:
    families = list(dict.fromkeys(one.family for one in outcomes))
    lines = [sum_up(family, [one for one in outcomes if one.family == family]) for family in families]
    lines.append(sum_up("all", outcomes))
    if leaves_out:
        lines += [sum_up(f"without {family}", [one for one in outcomes if one.family != family]) for family in families]
    return lines


def table(lines: list[Sums], is_markdown: bool) -> str:
    cells = [list(HEADINGS.values()), *([str(value) for value in line] for line in lines)]
    if is_markdown:
        cells.insert(1, ["---"] * len(HEADINGS))
        return "\n".join(f"| {' | '.join(line)} |" for line in cells)
    widths = [max(map(len, column)) for column in zip(*cells)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in cells)


def measured(outcomes: list[Outcome]) -> dict[str, Measured]:
    """Limits are given in the file only."""
    total = sum_up("all", outcomes)
    values = {
        "clicks": total.clicks,
        "repeats without clicks": total.repeats,
        "repeats left, share": total.repeats_left / max(1, total.repeats),
        "events lost that other kinds find, share": (total.lost - total.lost_kind) / max(1, total.events),
        "events lost, share of those found": total.lost / max(1, total.found),
        "series with other bits after a restart": sum(not one.is_same_after_restart for one in outcomes),
    }
    return {name: Measured(value, limits.Limit()) for name, value in values.items()}


# ---- Running ----

_path = [Path()]  # of the library, for workers


def perform(number: int) -> Outcome:
    return replay.compare(library.load(_path[0]), real.labelled()[number])


def run(path: Path, is_quick: bool, jobs: int) -> list[Outcome]:
    """Large series first, so no core is left alone with one at the end."""
    titles = {case.series.title for case in campaign.labelled_cases(is_quick, (real.REAL,))}
    chosen = [i for i, series in enumerate(real.labelled()) if series.title in titles]
    order = sorted(chosen, key=lambda i: -real.labelled()[i].rows.size)
    _path[0] = path
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        done = dict(zip(order, pool.imap(perform, order)))
    return [done[number] for number in chosen]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="experiments/run.sh feedback", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--library", type=Path, default=Path("build/release-gcc/liboif.so"), help="the C library (%(default)s)")
    add("--quick", action="store_true", help="two series of each family")
    add("--check", action="store_true", help="compare with limits.json; exit code 1 if one is missed")
    add("--leave-out", action="store_true", help="also print the sums of all families but one")
    add("--markdown", action="store_true", help="print Markdown instead of text")
    add("--jobs", type=int, default=os.cpu_count(), metavar="N", help="series at a time")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    if arguments.quick and arguments.check and not real.is_there((real.REAL,)) and not os.environ.get("CI"):
        print(f"feedback: skipped: the real series are not there; {real.HOW_TO_GET}")
        return 0
    outcomes = run(arguments.library, arguments.quick, arguments.jobs)
    print(table(lines_of(outcomes, arguments.leave_out), arguments.markdown))
    scope = limits.QUICK if arguments.quick else limits.FULL
    values = measured(outcomes)
    verdict = limits.check(values, limits.read(LIMITS).get(scope, {}))
    print("\n" + "\n".join(f"{name}: {one.value:.4g}" for name, one in values.items()))
    for failure in verdict.failures:
        print(f"MISSED {failure}")
    print(f"{verdict.judged - len(verdict.failures)} of {verdict.judged} limits are met")
    return 1 if arguments.check and verdict.failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (library.Failed, data.DataMissing, OSError) as failure:
        sys.exit(f"feedback: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)

"""Which operational anomalies `oif score` finds, how soon, and how many false alerts it raises.

    make operations                           everything, 10 seeds: some minutes
    make operations ARGS="--quick"            some kinds, 3 seeds, 3 commands: under a minute
    make operations ARGS="--quick --check"    exit code 1 if a limit is missed, naming each
    make operations ARGS="--accept"           what is measured becomes the limits; bars stay
    make operations ARGS="--markdown"         the tables as Markdown, for docs/measurements/operations.md
    make operations ARGS="spike-6 silence"    some kinds or measures, no false alerts

Prints the tables, and writes operations.json, .svg and .html to experiments/results (with --quick,
to experiments/results/quick). Streams depend on the seed alone. What was finished is kept there,
so a run that was interrupted resumes; with another tool or other streams it begins again.
"""

import argparse
import os
import sys
from pathlib import Path

from .. import data
from . import campaign, kinds, limits, measures, page, quiet, recording, tables, tool
from .campaign import Plan, Row

SEEDS, QUICK_SEEDS = limits.SEEDS, 3
QUICK_DETECTORS = ("rolling-iforest", "loda")
RESULTS = Path(__file__).parent.parent / "results"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make operations",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("kinds", nargs="*", metavar="KIND", help="kinds of anomaly, such as spike-6; all if none")
    add("--oif", type=Path, default=Path("build/release/oif"), help="the tool (%(default)s)")
    add("--quick", action="store_true", help="few kinds, seeds and commands")
    add("--detectors", metavar="A,B", help="these only, beside the default command")
    add("--seeds", type=int, metavar="N", help=f"streams of each kind ({SEEDS})")
    add("--jobs", type=int, default=os.cpu_count(), metavar="N", help="streams at a time")
    add("--check", action="store_true", help="compare with limits.json; exit code 1 below one")
    add("--accept", action="store_true", help="rewrite limits.json; needs everything measured")
    add("--markdown", action="store_true", help="print Markdown instead of text")
    add("--results", type=Path, default=RESULTS, help="folder for the files (%(default)s)")
    arguments = parser.parse_args()
    if arguments.accept and (arguments.quick or arguments.kinds or arguments.detectors):
        parser.error("--accept needs everything measured: leave out kinds, --detectors and --quick")
    if arguments.accept and arguments.seeds not in (None, SEEDS):
        parser.error(f"--accept needs {SEEDS} seeds")
    if (arguments.seeds or SEEDS) < 1 or arguments.jobs < 1:
        parser.error("--seeds and --jobs must be at least 1")
    return arguments


def rows_of(arguments: argparse.Namespace) -> tuple[Row, ...]:
    """The lines of the table, in their order. Says so if the recording is not there."""
    known = {row.key: row for row in (*kinds.KINDS, *recording.EVENTS)}
    both = (*known, *measures.BY_KEY)
    unknown = [key for key in arguments.kinds if key not in both]
    if unknown:
        sys.exit(f"operations: no kind {unknown[0]}; there are {', '.join(both)}")
    chosen = arguments.kinds or (kinds.QUICK if arguments.quick else list(known))
    rows = tuple(row for key, row in known.items() if key in chosen)
    events = tuple(row for row in rows if isinstance(row, recording.Event))
    if events and not recording.is_there():
        looked = " nor in ".join(map(str, data.folders()))
        print(f"not measured: {recording.FILE} is not in {looked}; set OIF_DATA", file=sys.stderr)
        rows = tuple(row for row in rows if row not in events)
    return rows


def measures_of(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Their keys; without the recording, those that need it are left out."""
    chosen = arguments.kinds or (measures.QUICK if arguments.quick else list(measures.BY_KEY))
    listed = [measure for measure in measures.MEASURES if measure.key in chosen]
    there = recording.is_there()
    return tuple(measure.key for measure in listed if there or not measure.is_recorded)


def commands_of(arguments: argparse.Namespace) -> tuple[tool.Command, ...]:
    found = tool.detector_commands(arguments.oif)
    titles = [command.title for command in found]
    chosen = QUICK_DETECTORS if arguments.quick else tuple(titles)
    if arguments.detectors:
        chosen = tuple(arguments.detectors.split(","))
    unknown = [title for title in chosen if title not in titles]
    if unknown:
        sys.exit(f"operations: no detector {unknown[0]}; there are {', '.join(titles)}")
    return (tool.DEFAULT, *(command for command in found if command.title in chosen))


def plan_of(arguments: argparse.Namespace) -> Plan:
    seeds = arguments.seeds or (QUICK_SEEDS if arguments.quick else SEEDS)
    streams = quiet.QUICK if arguments.quick else tuple(quiet.STREAMS)
    return Plan(
        oif=arguments.oif,
        rows=rows_of(arguments),
        commands=commands_of(arguments),
        quiet=() if arguments.kinds else streams,
        seeds=seeds,
        quiet_seeds=seeds,
        jobs=arguments.jobs,
        measures=measures_of(arguments),
    )


def report_check(verdict: limits.Verdict) -> None:
    for failure in verdict.failures:
        print(f"MISSED {failure}")
    counts = f"{verdict.judged - len(verdict.failures)} of {verdict.judged} limits are met"
    rest = f"; {verdict.absent} are for what was not measured" if verdict.absent else ""
    print(f"\n{counts}{rest}")


def main() -> int:
    arguments = parse_arguments()
    version = tool.run(arguments.oif, ["--version"]).decode().strip()
    plan = plan_of(arguments)
    folder = arguments.results / "quick" if arguments.quick else arguments.results
    results = campaign.run(plan, folder)
    print((tables.markdown if arguments.markdown else tables.text)(plan, results))
    if arguments.accept:
        limits.write(limits.accepted(results))
    verdict = limits.check(results, limits.read())
    page.write(folder, plan, results, verdict, version)
    if arguments.check:
        print()
        report_check(verdict)
    return 1 if arguments.check and verdict.failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (tool.ToolFailed, data.DataMissing, OSError) as failure:
        sys.exit(f"operations: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)

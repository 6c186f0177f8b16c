"""What `oif score` finds in real series, and how many alerts have no cause, beside other scorers.

    make reality                           everything: labelled series, and incidents planted in real ones
    make reality ARGS="--quick"            some series of each family, without AWS: some 15 seconds
    make reality ARGS="--quick --check"    exit code 1 if a limit is missed, naming each
    make reality ARGS="--accept"           what is measured becomes the limits, with a margin; bars stay
    make reality ARGS="--markdown"         the tables as Markdown, for docs/measurements/reality.md
    make reality ARGS="--leave-out"        also the means of all families but one
    make reality ARGS="--only planted --seeds 6"
    make reality ARGS="--options '--season auto'"

Prints the tables, and writes reality.json, reality.html and reality-sheet.svg to experiments/results (with --quick,
to experiments/results/quick). The series are looked for in $OIF_DATA; docs/measurements/reality.md describes them. Scores of
AWS's forest are kept in experiments/results/reality-peers, as they take minutes.
"""

import argparse
import os
import shlex
import sys
from pathlib import Path

from .. import data
from ..operations import tool
from . import campaign, limits, page, scorers, tables
from . import series as real
from .campaign import QUICK_SEEDS, SEEDS, Case, Plan

RESULTS = Path(__file__).parent.parent / "results"
LABELLED, PLANTED = "labelled", "planted"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make reality",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--oif", type=Path, default=Path("build/release/oif"), help="the tool (%(default)s)")
    add("--quick", action="store_true", help="few series, one seed, without AWS")
    add("--only", choices=(LABELLED, PLANTED), help="one kind of series")
    add("--seeds", type=int, metavar="N", help=f"planted copies of each series ({SEEDS})")
    add("--options", default="", metavar="TEXT", help="more options of oif score, as in a shell")
    add("--jobs", type=int, default=os.cpu_count(), metavar="N", help="series at a time")
    add("--check", action="store_true", help="compare with limits.json; exit code 1 if one is missed")
    add("--accept", action="store_true", help="rewrite limits.json; needs everything measured")
    add("--leave-out", action="store_true", help="also print the means of all families but one")
    add("--markdown", action="store_true", help="print Markdown instead of text")
    add("--results", type=Path, default=RESULTS, help="folder for the files (%(default)s)")
    arguments = parser.parse_args()
    if arguments.accept and (arguments.quick or arguments.only or arguments.options):
        parser.error("--accept needs everything measured: leave out --quick, --only and --options")
    if arguments.accept and arguments.seeds not in (None, SEEDS):
        parser.error(f"--accept needs {SEEDS} seeds")
    if arguments.seeds is not None and arguments.seeds < 1 or arguments.jobs < 1:
        parser.error("--seeds and --jobs must be at least 1")
    return arguments


def seeds_of(arguments: argparse.Namespace) -> int:
    return arguments.seeds or (QUICK_SEEDS if arguments.quick else SEEDS)


def cases_of(arguments: argparse.Namespace) -> tuple[Case, ...]:
    cases: list[Case] = []
    if arguments.only != PLANTED:
        cases += campaign.labelled_cases(arguments.quick)
    if arguments.only != LABELLED:
        cases += campaign.planted_cases(arguments.quick, seeds_of(arguments))
    return tuple(cases)


def plan_of(arguments: argparse.Namespace) -> Plan:
    options = shlex.split(arguments.options)
    rate = scorers.rate_of(options)
    chosen = [scorers.oif_scorer(arguments.oif, options), scorers.yardstick_scorer()]
    absent: tuple[tuple[str, str], ...] = ()
    if not arguments.quick:
        if reason := scorers.why_no_aws():
            absent = ((scorers.AWS, reason),)
        else:
            chosen += scorers.aws_scorers(rate)
    kept = arguments.results / "reality-peers"
    return Plan(cases_of(arguments), tuple(chosen), rate, arguments.jobs, kept, absent)


def check(arguments: argparse.Namespace, results: campaign.Results, rate: float) -> limits.Verdict:
    """With another number of copies, the limits of planted incidents do not apply."""
    scope = limits.QUICK if arguments.quick else limits.FULL
    usual = QUICK_SEEDS if arguments.quick else SEEDS
    leave_out = () if seeds_of(arguments) == usual else (PLANTED,)
    return limits.check(limits.measured(results, rate), limits.read(limits.FILE).get(scope, {}), leave_out)


def report_check(verdict: limits.Verdict) -> None:
    for failure in verdict.failures:
        print(f"MISSED {failure}")
    counts = f"{verdict.judged - len(verdict.failures)} of {verdict.judged} limits are met"
    rest = f"; {verdict.absent} are for what was not measured" if verdict.absent else ""
    print(f"\n{counts}{rest}")


def skipped(arguments: argparse.Namespace) -> bool:
    """The quick check is part of `make test-all`, which others run without the series; CI has them."""
    return arguments.quick and arguments.check and not real.is_there() and not os.environ.get("CI")


def main() -> int:
    arguments = parse_arguments()
    if skipped(arguments):
        looked = " nor in ".join(map(str, data.folders()))
        print(f"reality: skipped: real/index.csv, fresh/index.csv and series/ are not in {looked}; {real.HOW_TO_GET}")
        return 0
    plan = plan_of(arguments)
    version = tool.run(arguments.oif, ["--version"]).decode().strip()
    folder = arguments.results / "quick" if arguments.quick else arguments.results
    results = campaign.run(plan)
    print((tables.markdown if arguments.markdown else tables.text)(plan, results, arguments.leave_out))
    if arguments.accept:
        limits.write(limits.accepted(results, plan.rate, limits.read(limits.FILE)), limits.FILE)
    verdict = check(arguments, results, plan.rate)
    page.write(folder, plan, results, verdict, version)
    if arguments.check:
        print()
        report_check(verdict)
    return 1 if arguments.check and verdict.failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (tool.ToolFailed, data.DataMissing, OSError) as failure:
        sys.exit(f"reality: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)

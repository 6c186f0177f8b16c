"""Runs section 5 of the paper again and writes tables, figures and a report to experiments/results/.

python -m experiments                       everything, 30 executions; resumes after an interruption
python -m experiments --quick               a few minutes: small sets, 2 executions, into experiments/results/quick/
python -m experiments --only auc times      some parts: data, auc, drift, times, complexity, report
"""

import argparse
import os
import shutil
import signal
import sys
from pathlib import Path

from . import complexity, configuration, data, runs
from .configuration import EXECUTIONS
from .runs import Plan

RESULTS = Path(__file__).resolve().parent / "results"
QUICK_SETS = ("Mammography", "nyc_taxi_shingle", "Annthyroid", "Satellite")
QUICK_DRIFTING = ("INSECTS", "insects_aedes_standin")
QUICK_EXECUTIONS = 2
QUICK_ROWS = 12_000
EVERY_ROW = 1 << 62


def list_data(plan: Plan) -> None:
    """The plan fetched whatever was missing; this says where everything is."""
    for name in (*plan.stationary, *plan.drifting):
        print(f"{name:<24} {data.path_of(name) or 'generated'}")


def write_report(plan: Plan) -> None:
    from . import report  # matplotlib takes its time to load

    print(report.write(plan))
    for line in report.verdicts(plan):
        print(line)


PARTS = {
    "data": list_data,
    "auc": runs.run_aucs,
    "drift": runs.run_drift,
    "times": runs.run_times,
    "complexity": complexity.run,
    "report": write_report,
}


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="is anything broken? the numbers mean little")
    parser.add_argument(
        "--executions", type=int, metavar="N", help=f"default: {EXECUTIONS}, with --quick {QUICK_EXECUTIONS}"
    )
    parser.add_argument("--timed", type=int, metavar="N", help="executions that are timed (default: all of them)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="default: one a processor")
    parser.add_argument("--only", nargs="+", choices=PARTS, metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--sets", nargs="+", metavar="SET", help="only these stationary sets")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="default: experiments/results")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    arguments = parser.parse_args()
    arguments.executions = arguments.executions or (QUICK_EXECUTIONS if arguments.quick else EXECUTIONS)
    if arguments.executions < 1 or arguments.jobs < 1:
        parser.error("--executions and --jobs must be at least 1")
    unknown = set(arguments.sets or ()) - {*data.STATIONARY, "fraud", *data.GENERATED}
    if unknown:
        parser.error(f"no set is called {sorted(unknown)[0]}; there are {', '.join(data.STATIONARY)}")
    return arguments


def choose_sets(quick: bool) -> tuple[list[str], list[str]]:
    """The stationary and the drifting sets. A quick run fetches nothing and makes do with generated streams."""
    if not quick:
        return data.choose_stationary(may_obtain=True), data.choose_drifting(may_obtain=True)
    stationary = [name for name in QUICK_SETS if data.is_here(name)]
    drifting = [name for name in QUICK_DRIFTING if data.is_here(name)][:1]
    if len(stationary) < len(QUICK_SETS) or not drifting:
        looked = " nor in ".join(str(folder) for folder in data.folders())
        print(
            f"experiments: the data sets are not in {looked}; using generated streams instead "
            "(`experiments/run.sh data` fetches the real ones)",
            file=sys.stderr,
        )
        stationary = [name for name in data.GENERATED if name != "generated_drift"]
        drifting = ["generated_drift"]
    return stationary, drifting


def make_plan(arguments: argparse.Namespace) -> Plan:
    stationary, drifting = choose_sets(arguments.quick)
    return Plan(
        results=arguments.results or (RESULTS / "quick" if arguments.quick else RESULTS),
        stationary=[name for name in stationary if not arguments.sets or name in arguments.sets],
        drifting=drifting,
        columns={column.key: configuration.fingerprint(column) for column in configuration.columns()},
        executions=arguments.executions,
        timed_executions=arguments.timed or arguments.executions,
        jobs=arguments.jobs,
        most_rows=QUICK_ROWS if arguments.quick else EVERY_ROW,
        quick=arguments.quick,
    )


def main() -> int:
    arguments = read_arguments()
    for interrupt in (signal.SIGINT, signal.SIGTERM):  # also where a shell ignores the first, as for background jobs
        signal.signal(interrupt, signal.default_int_handler)
    try:
        plan = make_plan(arguments)
        if arguments.fresh:
            shutil.rmtree(plan.results, ignore_errors=True)
        for name, part in PARTS.items():
            if not arguments.only or name in arguments.only:
                part(plan)
    except (data.DataMissing, OSError) as failure:
        print(f"experiments: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nexperiments: interrupted; run the same command to resume", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

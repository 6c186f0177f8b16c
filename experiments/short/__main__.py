"""Tables of 50 to 2,000 rows of the paper's data sets, judged by oif.Pipeline.process_table, as `oif score FILE` does, beside scikit-learn's
IsolationForest and ECOD.

    python -m experiments.short [--quick] [--check] [--tables N] [--choose]

--quick takes one size and few tables; --choose compares ways to learn a table, chosen with data sets left out in turn. --check fails if
it is behind either method by more than two standard errors, or if more rows of tables without anomalies are alerts than it says.
"""

import argparse
import sys
import warnings

from . import chance, choose, sets


def main() -> int:
    parser = argparse.ArgumentParser(prog="experiments.short", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--tables", type=int, default=0, help="of each set and size")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # of ECOD and of constant columns
    sizes = (100,) if given.quick else (50, 100, 200, 500, 1000, 2000)
    if given.choose:
        choose.report(sizes, given.tables or (2 if given.quick else 12))
        return 0
    problems = sets.report(sizes, given.tables or (2 if given.quick else 20)) + chance.report(sizes, given.quick)
    for problem in problems:
        print(f"FAILED: {problem}", file=sys.stderr)
    return 1 if given.check and problems else 0


if __name__ == "__main__":
    sys.exit(main())

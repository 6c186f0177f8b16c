"""Tables of 50 to 2,000 rows of the paper's data sets, scored by `oif score` (two passes), scikit-learn's IsolationForest and ECOD.

    python -m experiments.short --oif PROGRAM [--quick] [--check] [--seeds N]

--quick takes three sizes and few seeds; --check fails unless oif is not behind either on the mean at each size, and no more rows of
tables without anomalies are alerts than it says.
"""

import argparse
import sys

from . import chance, sets


def main() -> int:
    parser = argparse.ArgumentParser(prog="experiments.short", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oif", default="build/release-gcc/oif", help="the program")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--seeds", type=int, default=0, help="tables of each set and size")
    given = parser.parse_args()
    sizes = (50, 200, 1000) if given.quick else (50, 100, 200, 500, 1000, 2000)
    seeds = given.seeds or (2 if given.quick else 10)
    problems = sets.report(given.oif, sizes, seeds) + chance.report(given.oif, sizes, seeds)
    for problem in problems:
        print(f"FAILED: {problem}", file=sys.stderr)
    return 1 if given.check and problems else 0


if __name__ == "__main__":
    sys.exit(main())

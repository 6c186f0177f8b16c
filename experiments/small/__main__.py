"""What small models cost: `oif score --small` beside the default, on the paper's data sets and on recorded series.

    experiments/run.sh small                    small models and the default: some minutes
    experiments/run.sh small --alternatives     and other small settings, on the series only: a quarter of an hour
    experiments/run.sh small --quick --check    small models and the default on two sets and 5 series: some seconds, part of make test-all

Columns: KB of a model of 3 and 10 columns as `oif state size` says after 2,048 rows, packed in memory and in a state file; the
AUC of the paper's sets, the mean of the medians of some shuffles; and of the labelled series of `make reality` the mean of
families of AUC, share of events found, and other alerts per 10,000 rows. Of the servers of SMD, two are used. --check fails
if small models fall further behind the default than they may.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import oif
from oif import _core

from ..operations import tool
from ..reality import campaign, scorers, tables
from ..reality import series as real
from ..reality.outcome import Labelled, judge_labelled

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "measure"))
import accuracy  # noqa: E402
import datasets  # noqa: E402

DETECTOR = "rolling-iforest"
QUICK_SETS = ("Mammography", "Annthyroid")
QUICK_FAMILIES = {"SKAB": 2, "ASD": 1, "KPI": 1, "UCR": 1}
OF_A_FAMILY = {"SMD": 2}  # the other two would take as long as all other series

# How far small models may be behind the default: measured differences, with a margin.
MOST_AUC_LOST, MOST_EVENTS_LOST, MOST_OTHERS_MORE = 0.04, 0.06, 4.0
QUICK_AUC_LOST, QUICK_EVENTS_LOST, QUICK_OTHERS_MORE = 0.06, 0.20, 10.0


class Setting(NamedTuple):
    title: str
    params: dict[str, int]
    options: tuple[str, ...] = ()  # of `oif score`

    @property
    def flags(self) -> list[str]:
        named = [part for name, value in self.params.items() for part in ("--" + name.replace("_", "-"), str(value))]
        return [*named, *self.options]


class Figures(NamedTuple):
    kilobytes: list[str]
    paper_auc: float  # 0: not measured
    auc: float
    events: float
    others: float


def small_params() -> dict[str, int]:
    initial, small = _core.detector_params(DETECTOR), _core.small_params(DETECTOR)
    return {name: value for name, value in small.items() if value != initial[name]}


def alternatives() -> list[Setting]:
    small, chosen = small_params(), list[Setting]()
    for trees in (8, 16, 32):
        for window in (128, 256, 512):
            params = {**small, "num_trees": trees, "window_size": window}
            if params != small:
                chosen.append(Setting(f"small, {trees} trees, window {window}", params))
    chosen.append(Setting("small, season off", small, ("--season", "off")))
    return chosen


# ---- Sizes ----


def kilobytes(program: Path, setting: Setting, columns: int) -> str:
    asked = ["--keys", "1e6", "--columns", str(columns), "--rows-per-key", "2048", "--memory-limit", "1TB"]
    size = json.loads(tool.run(program, ["state", "size", "--json", *asked, *setting.flags]))
    return f"{size['packed_model_bytes'] / 1e3:.1f} / {size['state_file_bytes'] / 1e9:.1f}"


# ---- Accuracy ----


def paper_auc(setting: Setting, names: tuple[str, ...], runs: int) -> float:
    """The mean of the medians, as tools/measure/accuracy.py computes them."""
    medians = []
    for name in names:
        tasks = [(name, seed, DETECTOR, setting.params) for seed in range(runs)]
        medians.append(float(np.median([accuracy.measure_run(task)[0] for task in tasks])))
    return float(np.mean(medians))


def series_of(is_quick: bool) -> list[campaign.Case]:
    """Some of each family, so none takes most of the time."""
    chosen: list[campaign.Case] = []
    for case in campaign.labelled_cases(False, (real.REAL,)):
        family = case.series.family
        same = sum(other.series.family == family for other in chosen)
        if same < (QUICK_FAMILIES.get(family, 0) if is_quick else OF_A_FAMILY.get(family, 1000)):
            chosen.append(case)
    return chosen


def outcomes_of(program: Path, setting: Setting, cases: list[campaign.Case]) -> list[Labelled]:
    return [judge_labelled(case.series, scorers.oif_score(program, setting.flags, case.series)) for case in cases]


def measure(given: argparse.Namespace, setting: Setting, cases: list[campaign.Case], names: tuple[str, ...]) -> Figures:
    """`names`: those of the paper's sets."""
    mean = tables.mean_figures(list(tables.by_family(outcomes_of(given.oif, setting, cases), scorers.RATE).values()))
    sizes = [kilobytes(given.oif, setting, columns) for columns in (3, 10)]
    runs = 1 if given.quick else given.runs
    ranked = paper_auc(setting, names, runs) if names else 0
    return Figures(sizes, ranked, mean.auc or 0, mean.found or 0, mean.others)


# ---- The table ----


def problems_of(is_quick: bool, usual: Figures, small: Figures) -> list[str]:
    limits = (
        (QUICK_AUC_LOST, QUICK_EVENTS_LOST, QUICK_OTHERS_MORE)
        if is_quick
        else (MOST_AUC_LOST, MOST_EVENTS_LOST, MOST_OTHERS_MORE)
    )
    behind = (
        ("AUC of the paper's sets", usual.paper_auc - small.paper_auc, limits[0]),
        ("share of events found", usual.events - small.events, limits[1]),
        ("other alerts per 10,000 rows", small.others - usual.others, limits[2]),
    )
    return [f"{name}: {by:.3f} worse than the default, the limit is {most}" for name, by, most in behind if by > most]


def report(title: str, one: Figures) -> Figures:
    ranked = f"{one.paper_auc:.3f}" if one.paper_auc else ""
    cells = (title, *one.kilobytes, ranked, f"{one.auc:.3f}", f"{one.events:.3f}", f"{one.others:.1f}")
    print(f"| {' | '.join(cells)} |", flush=True)
    return one


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="experiments/run.sh small", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--oif", type=Path, default=Path("build/release-gcc/oif"), help="the tool (%(default)s)")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit code 1 if a limit is missed")
    parser.add_argument("--alternatives", action="store_true", help="other small settings too")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="shuffles of each of the paper's sets (%(default)s)")
    given = parser.parse_args()
    if given.quick and given.check and not real.is_there((real.REAL,)) and not os.environ.get("CI"):
        print(f"small: skipped: real/index.csv is not in the folder of data; {real.HOW_TO_GET}")
        return 0
    cases = series_of(given.quick)
    print(f"oif {oif.__version__}; series: {len(cases)}")
    print("| setting | KB, 3 columns | KB, 10 columns | AUC, paper's sets | AUC, series | events found | others |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    names = QUICK_SETS if given.quick else tuple(one.name for one in datasets.STATIONARY)
    usual, small = (
        report(setting.title, measure(given, setting, cases, names))
        for setting in (Setting("default", {}), Setting("`--small`", small_params()))
    )
    for setting in alternatives() if given.alternatives else []:
        report(setting.title, measure(given, setting, cases, ()))
    problems = problems_of(given.quick, usual, small)
    for problem in problems:
        print(f"MISSED {problem}")
    return 1 if given.check and problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (tool.ToolFailed, datasets.DataMissing, OSError) as failure:
        sys.exit(f"small: {failure}")

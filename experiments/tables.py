"""Table 4 from the results of runs.py: medians beside the published ones, and their differences."""

import warnings
from typing import NamedTuple, Optional

import numpy as np
import pandas
from scipy.stats import bootstrap

from . import published, ranks, runs
from .configuration import COLUMNS, by_key
from .ledger import Ledger
from .runs import Plan

VALUES = {"auc": "auc", "time": "seconds"}


class Summary(NamedTuple):
    """One cell of Table 4."""

    median: float
    low: float  # quartiles
    high: float
    standard_error: float  # of the median
    executions: int
    published: Optional[float]

    @property
    def difference(self) -> Optional[float]:
        return None if self.published is None else self.median - self.published


def read(ledger: Ledger, plan: Plan, sets: list[str]) -> pandas.DataFrame:
    """The runs of a plan: its sets, and its detectors as they are now."""
    table = ledger.read()
    wanted = table["column"].map(plan.columns) == table["fingerprint"]
    return table[wanted & table["dataset"].isin(sets) & (table["execution"] < plan.executions)]


def aucs(plan: Plan, mode: str) -> pandas.DataFrame:
    table = read(runs.aucs_of(plan), plan, plan.stationary)
    return table[table["mode"] == mode]


def times(plan: Plan) -> pandas.DataFrame:
    return read(runs.times_of(plan), plan, plan.stationary)


def columns_of(table: pandas.DataFrame) -> list[str]:
    """In the order of the configuration."""
    there = set(table["column"])
    return [column.key for column in COLUMNS if column.key in there]


def of_the_paper(keys: list[str]) -> list[str]:
    """Those that have a column in the paper: ranks are among them, as there."""
    return [key for key in keys if by_key(key).published]


def median_error(values: np.ndarray) -> float:
    """The standard error of a median, by resampling."""
    if len(values) < 3 or np.ptp(values) == 0:
        return 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a few equal values, whose interval, which is not asked for, has no width
        resampled = bootstrap((values,), np.median, n_resamples=1000, method="percentile", rng=np.random.default_rng(0))
    return float(resampled.standard_error)


def summarise(values: pandas.Series, published_value: Optional[float]) -> Summary:
    low, median, high = np.percentile(values, (25, 50, 75))
    return Summary(
        float(median), float(low), float(high), median_error(values.to_numpy()), len(values), published_value
    )


def published_value(table: dict[str, dict[str, float]], dataset: str, column: str) -> Optional[float]:
    name = by_key(column).published
    return table[dataset][name] if name and dataset in table else None


def cells(table: pandas.DataFrame, value: str, known: dict[str, dict[str, float]]) -> dict[tuple[str, str], Summary]:
    """(data set, column) -> its cell."""
    return {
        (dataset, column): summarise(group[value], published_value(known, dataset, column))
        for (dataset, column), group in table.groupby(["dataset", "column"])
    }


def auc_cells(plan: Plan, mode: str = "batch") -> dict[tuple[str, str], Summary]:
    return cells(aucs(plan, mode), "auc", published.AUCS)


def time_cells(plan: Plan) -> dict[tuple[str, str], Summary]:
    return cells(times(plan), "seconds", published.SECONDS)


def paired(table: pandas.DataFrame, value: str, columns: list[str]) -> pandas.DataFrame:
    """A line for each execution on each set that all these columns have made."""
    wide = table.pivot_table(index=["dataset", "execution"], columns="column", values=value)
    return wide.reindex(columns=columns).dropna()


def ranking(table: pandas.DataFrame, value: str, columns: list[str]) -> ranks.Ranking:
    return ranks.rank(paired(table, value, columns), higher_is_better=value == "auc")


def medians_over_executions(table: pandas.DataFrame, value: str) -> dict[str, float]:
    """Over all sets and executions: the row `median` of Table 4."""
    return table.groupby("column")[value].median().to_dict()


def printed_mean_ranks(table: pandas.DataFrame, value: str, columns: list[str]) -> dict[str, float]:
    """The row `mean rank` as the paper computes it: of the medians of the sets and the row `median` below them."""
    rows = table.pivot_table(index="dataset", columns="column", values=value, aggfunc="median")[columns]
    rows.loc["median"] = [medians_over_executions(table, value)[column] for column in columns]
    return ranks.mean_rank_of_rows(rows, higher_is_better=value == "auc").to_dict()


def write_csv(plan: Plan) -> list[str]:
    """table4_auc.csv and table4_time.csv; the file names."""
    lines = []
    for mode in ("batch", "row"):
        lines += [_line(mode, place, cell) for place, cell in auc_cells(plan, mode).items()]
    pandas.DataFrame(lines).to_csv(plan.results / "table4_auc.csv", index=False, float_format="%.6g")
    lines = [_line("batch", place, cell) for place, cell in time_cells(plan).items()]
    pandas.DataFrame(lines).to_csv(plan.results / "table4_time.csv", index=False, float_format="%.6g")
    return ["table4_auc.csv", "table4_time.csv"]


def _line(mode: str, place: tuple[str, str], cell: Summary) -> dict[str, object]:
    return {"dataset": place[0], "column": place[1], "mode": mode, **cell._asdict(), "difference": cell.difference}


def markdown(plan: Plan) -> str:
    """Table 4's AUCs for a page of text: our median in batches, and the published one in brackets."""
    cells, columns = auc_cells(plan), columns_of(aucs(plan, "batch"))
    lines = [["data set", *(by_key(column).title for column in columns)], ["---"] * (1 + len(columns))]
    for name in plan.stationary:
        lines.append([name, *(_short(cells.get((name, column))) for column in columns)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _short(cell: Optional[Summary]) -> str:
    if cell is None:
        return "-"
    return f"{cell.median:.3f}" + (f" ({cell.published:.3f})" if cell.published is not None else "")

"""Who is better over many paired executions: Friedman's test and Nemenyi's critical distance, by autorank."""

import contextlib
import io
import math
import warnings
from typing import NamedTuple

import pandas
from autorank import autorank

from .configuration import ALPHA

LEAST_EXECUTIONS = 5  # autorank's


class Ranking(NamedTuple):
    mean_ranks: dict[str, float]  # best first; 1 is best
    critical_distance: (
        float  # mean ranks that are closer than this do not differ significantly; inf: too few executions
    )
    p_value: float  # that all are alike (Friedman)
    executions: int

    def level(self, one: str, other: str) -> bool:
        return abs(self.mean_ranks[one] - self.mean_ranks[other]) <= self.critical_distance

    def best(self) -> str:
        return next(iter(self.mean_ranks))

    def groups(self) -> list[list[str]]:
        """The longest stretches of detectors that do not differ significantly: the bars of the diagram."""
        names = list(self.mean_ranks)
        stretches = [[other for other in names[i:] if self.level(name, other)] for i, name in enumerate(names)]
        return [
            stretch
            for i, stretch in enumerate(stretches)
            if len(stretch) > 1 and not any(set(stretch) <= set(longer) for longer in stretches[:i])
        ]


def rank(table: pandas.DataFrame, higher_is_better: bool) -> Ranking:
    """A line of the table is one execution on one set, a column a detector. With fewer lines than the test
    needs, nothing differs significantly."""
    if len(table) < LEAST_EXECUTIONS:
        mean_ranks = mean_rank_of_rows(table, higher_is_better).sort_values()
        return Ranking(mean_ranks.to_dict(), math.inf, 1.0, len(table))
    order = "descending" if higher_is_better else "ascending"
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        result = autorank(table, alpha=ALPHA, force_mode="nonparametric", order=order)
    mean_ranks = result.rankdf["meanrank"].sort_values()
    return Ranking(mean_ranks.to_dict(), float(result.cd), float(result.pvalue), len(table))


def mean_rank_of_rows(table: pandas.DataFrame, higher_is_better: bool) -> pandas.Series:
    """The mean rank of each column over the rows, as the paper's Table 4 prints it (there its row of medians counts as
    a twelfth data set: only so its numbers come out)."""
    return table.rank(axis=1, ascending=not higher_is_better).mean()

"""The tables, as text, as Markdown and for the page."""

from typing import NamedTuple, Optional, Sequence

import numpy as np

from ..markup import plain
from ..operations.tables import aligned, markdown_table
from .campaign import Plan, Results
from .outcome import FAR_ABOVE, WITHIN, Labelled, Planted, budget, spends
from .plants import KINDS

MEAN = "mean of families"


class Table(NamedTuple):
    """Lines of cells; a line with a single cell is a heading for those below it."""

    title: str
    legend: str
    heading: list[str]
    lines: list[list[str]]


# ---- A family, or all of them ----


class Figures(NamedTuple):
    """What a line of the first table has. `found` and `events` are None in the mean of families."""

    auc: Optional[float]
    vus: Optional[float]
    within_reach: Optional[float]  # the share of events found at the best threshold with few others
    share: Optional[float]  # of events that were found
    chance: Optional[float]  # the share that would be found by chance
    others: float  # per 10,000 rows
    largest: float  # others of a series
    alert_rows: float  # share of rows
    delay: Optional[float]  # median, in rows
    found: Optional[int] = None
    events: Optional[int] = None


def mean_of(values: Sequence[Optional[float]]) -> Optional[float]:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def family_figures(outcomes: Sequence[Labelled]) -> Figures:
    """AUC and VUS-PR are means of the series; the others count all rows and events together."""
    found = [outcome.found for outcome in outcomes]
    rows, events = sum(one.rows for one in found), sum(one.events for one in found)
    hits, delays = sum(one.found for one in found), [delay for one in found for delay in one.delays]
    return Figures(
        auc=mean_of([outcome.auc for outcome in outcomes]),
        vus=mean_of([outcome.vus for outcome in outcomes]),
        within_reach=sum(outcome.within_reach for outcome in outcomes) / events if events else None,
        share=hits / events if events else None,
        chance=sum(outcome.chance for outcome in outcomes) / events if events else None,
        others=1e4 * sum(one.others for one in found) / rows,
        largest=max(outcome.others for outcome in outcomes),
        alert_rows=sum(one.alert_rows for one in found) / rows,
        delay=float(np.median(delays)) if delays else None,
        found=hits,
        events=events,
    )


def families(outcomes: Sequence[Labelled]) -> list[str]:
    return list(dict.fromkeys(outcome.family for outcome in outcomes))


def by_family(outcomes: Sequence[Labelled]) -> dict[str, Figures]:
    return {
        family: family_figures([outcome for outcome in outcomes if outcome.family == family])
        for family in families(outcomes)
    }


def mean_figures(figures: Sequence[Figures]) -> Figures:
    """Every family counts the same. The delay is the median of the families; the largest is the largest of all."""
    delays = [one.delay for one in figures if one.delay is not None]
    return Figures(
        auc=mean_of([one.auc for one in figures]),
        vus=mean_of([one.vus for one in figures]),
        within_reach=mean_of([one.within_reach for one in figures]),
        share=mean_of([one.share for one in figures]),
        chance=mean_of([one.chance for one in figures]),
        others=float(np.mean([one.others for one in figures])),
        largest=max(one.largest for one in figures),
        alert_rows=float(np.mean([one.alert_rows for one in figures])),
        delay=float(np.median(delays)) if delays else None,
    )


# ---- Labelled series ----

LABELLED_LEGEND = (
    "r5: the share of events that the best threshold of each series would find with at most 5 others per 10,000 rows. "
    "Events found, and how many would be by chance, by alerts as frequent as outside of events. "
    "Others: alert episodes without a labelled row, per 10,000 rows; largest: of a single series. "
    "Delay: rows from the first row of an event to its first alert, median of those found."
)
LABELLED_HEADING = ["AUC", "VUS-PR", "r5", "events", "by chance", "others", "largest", "alert rows", "delay"]


def number(value: Optional[float], digits: int = 3) -> str:
    return "-" if value is None else plain(value, digits)


def figure_cells(one: Figures) -> list[str]:
    events, by_chance = number(one.share), number(one.chance)
    if one.found is not None:
        events = f"{one.found}/{one.events}"
        by_chance = "-" if one.chance is None else f"{one.chance * (one.events or 0):.1f}"
    return [
        number(one.auc),
        number(one.vus),
        number(one.within_reach),
        events,
        by_chance,
        f"{one.others:.1f}",
        f"{one.largest:.1f}",
        f"{100 * one.alert_rows:.2f}%",
        "-" if one.delay is None else f"{one.delay:g}",
    ]


def labelled_table(results: Results) -> Table:
    figures = {title: by_family(outcomes) for title, outcomes in results.labelled.items()}
    first = next(iter(results.labelled.values()))
    lines = []
    for family in families(first):
        chosen = [outcome for outcome in first if outcome.family == family]
        rows = sum(outcome.found.rows for outcome in chosen)
        lines.append([f"{family}: {len(chosen)} series, {rows:,} rows"])
        lines += [[title, *figure_cells(figures[title][family])] for title in results.titles]
    lines.append([MEAN])
    lines += [[title, *figure_cells(mean_figures(list(figures[title].values())))] for title in results.titles]
    return Table("Labelled series", LABELLED_LEGEND, ["scorer", *LABELLED_HEADING], lines)


def leave_out_table(results: Results) -> Table:
    legend = "The mean of all families but one, to see whether a choice depends on a single family."
    lines = []
    figures = {title: by_family(outcomes) for title, outcomes in results.labelled.items()}
    for family in families(next(iter(results.labelled.values()))):
        lines.append([f"without {family}"])
        for title in results.titles:
            kept = [one for name, one in figures[title].items() if name != family]
            if kept:
                lines.append([title, *figure_cells(mean_figures(kept))])
    return Table("Families left out in turn", legend, ["scorer", *LABELLED_HEADING], lines)


# ---- The budget ----

BUDGET_LEGEND = (
    "Other episodes of a labelled series, in relation to what was asked for ({asked:g} per 10,000 rows): "
    "within {low} to {high} times as many, below, above, and above {far:g} times. "
    "One episode more or fewer is always allowed."
)


def budget_table(plan: Plan, results: Results) -> Table:
    legend = BUDGET_LEGEND.format(asked=1e4 * plan.rate, low=WITHIN[0], high=WITHIN[1], far=FAR_ABOVE)
    heading = ["scorer", "series", "within", "below", "above", f"above {FAR_ABOVE:g}"]
    lines = []
    for title, outcomes in results.labelled.items():
        counted = budget(outcomes, plan.rate)
        cells = (len(outcomes), counted.within, counted.below, counted.above, counted.far)
        lines.append([title, *map(str, cells)])
    return Table("Budget of alerts", legend, heading, lines)


def outside_budget(plan: Plan, results: Results) -> Table:
    """The series of the tool that are not within it."""
    lines = []
    for outcome in next(iter(results.labelled.values())):
        word = spends(outcome.found, plan.rate)
        if word != "within":
            found = outcome.found
            asked = plan.rate * found.rows
            name = f"{outcome.family} {outcome.name}"
            cells = (f"{found.rows:,}", f"{asked:.1f}", str(found.others), f"{found.others / asked:.1f}")
            lines.append([name, *cells, "far above" if word == "far" else word])
    legend = "Series of the first line that are not within the budget."
    return Table("Outside the budget", legend, ["series", "rows", "asked for", "others", "times", "budget"], lines)


# ---- Planted incidents ----

PLANTED_LEGEND = (
    "Incidents found, of those planted. By chance: how many would be, by alerts as frequent as in usual rows. "
    "Others: alert episodes that belong neither to an incident nor to a label."
)


def found_of(outcomes: Sequence[Planted], kind: Optional[str] = None) -> tuple[int, int, float]:
    """Found, planted, and found by chance: of a kind, or of all."""
    chosen = [one for outcome in outcomes for one in outcome.incidents if kind in (None, one.kind)]
    return sum(one.delay is not None for one in chosen), len(chosen), sum(one.chance for one in chosen)


def per_rows(outcomes: Sequence[Planted]) -> float:
    return 1e4 * sum(outcome.others for outcome in outcomes) / sum(outcome.rows for outcome in outcomes)


def found_cells(outcomes: Sequence[Planted]) -> list[str]:
    counts = [found_of(outcomes, kind) for kind in (*KINDS, None)]
    return [f"{found}/{planted}" if planted else "-" for found, planted, _ in counts]


def planted_heading(first: str) -> list[str]:
    return [first, *KINDS, "all", "others", "per 10,000"]


def planted_table(results: Results) -> Table:
    lines = []
    for title, outcomes in results.planted.items():
        others = sum(outcome.others for outcome in outcomes)
        lines.append([title, *found_cells(outcomes), str(others), f"{per_rows(outcomes):.1f}"])
        chances = [found_of(outcomes, kind)[2] for kind in (*KINDS, None)]
        lines.append(["- by chance", *(f"{chance:.1f}" for chance in chances), "", ""])
    return Table("Planted incidents by kind", PLANTED_LEGEND, planted_heading("scorer"), lines)


def planted_series_table(results: Results) -> Table:
    first, *beside = results.titles
    legend = f"The copies of each series together. By kind: {first}. Others are in brackets, per 10,000 rows."
    lines = []
    for name in dict.fromkeys(outcome.title for outcome in results.planted[first]):
        of = {title: [o for o in outcomes if o.title == name] for title, outcomes in results.planted.items()}
        cells = found_cells(of[first])
        cells[-1] = f"{cells[-1]} ({per_rows(of[first]):.1f})"
        cells += [f"{found_of(of[title])[0]} ({per_rows(of[title]):.1f})" for title in beside]
        lines.append([name, *cells])
    return Table("Planted incidents by series", legend, ["series", *KINDS, "all", *beside], lines)


# ---- Printed ----


def tables_of(plan: Plan, results: Results, leave_out: bool = False) -> list[Table]:
    first = results.titles[0]
    made = []
    if results.labelled[first]:
        made += [labelled_table(results), budget_table(plan, results), outside_budget(plan, results)]
    if results.planted[first]:
        made += [planted_table(results), planted_series_table(results)]
    if leave_out and results.labelled[first]:
        made.append(leave_out_table(results))
    return [table for table in made if table.lines]


def absent_words(results: Results) -> list[str]:
    return [f"Not measured: {title}: {reason}" for title, reason in results.absent.items()]


def text(plan: Plan, results: Results, leave_out: bool = False) -> str:
    parts = []
    for table in tables_of(plan, results, leave_out):
        parts += [table.title.upper(), table.legend, "", *aligned([table.heading, *table.lines]), ""]
    return "\n".join([*parts, *absent_words(results)]).rstrip()


def markdown(plan: Plan, results: Results, leave_out: bool = False) -> str:
    parts = []
    for table in tables_of(plan, results, leave_out):
        width = len(table.heading)
        lines = [line if len(line) > 1 else [f"**{line[0]}**", *[""] * (width - 1)] for line in table.lines]
        parts += [f"### {table.title}", "", table.legend, "", *markdown_table(table.heading, lines), ""]
    return "\n".join([*parts, *absent_words(results)]).rstrip()

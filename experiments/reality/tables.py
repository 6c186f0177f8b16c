"""The tables, as text, as Markdown and for the page."""

from typing import NamedTuple, Optional, Sequence

import numpy as np

from ..markup import plain
from ..operations.tables import aligned, markdown_table
from . import series as real
from .campaign import Plan, Results
from .outcome import SHORT, Labelled, Planted
from .plants import KINDS
from .scorers import YARDSTICK


class Table(NamedTuple):
    """Lines of cells; a line with a single cell is a heading for those below it."""

    title: str
    legend: str
    heading: list[str]
    lines: list[list[str]]


# ---- A family, or several ----


class Figures(NamedTuple):
    """What a line of the first table has. `events` is None in a mean of families."""

    auc: Optional[float]
    vus: Optional[float]
    reported: Optional[float]  # share of events in which an episode begins
    found: Optional[float]  # share of events with an alert
    others: float  # per 10,000 rows
    noisy: int  # series with more than twice the others that were asked for
    delay: Optional[float]  # median, in rows
    silent: int  # series with an event and without an alert
    alert_rows: float  # share of rows
    events: Optional[int] = None

    def events_of(self, share: Optional[float]) -> float:
        """How many a share of them is."""
        return (share or 0) * (self.events or 0)


def mean_of(values: Sequence[Optional[float]]) -> Optional[float]:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def median_of(values: Sequence[Optional[float]]) -> Optional[float]:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None


def family_figures(outcomes: Sequence[Labelled], rate: float) -> Figures:
    """AUC and VUS-PR are means of the series; the others count all rows and events together."""
    found = [outcome.found for outcome in outcomes]
    rows, events = sum(one.rows for one in found), sum(one.events for one in found)
    return Figures(
        auc=mean_of([outcome.auc for outcome in outcomes]),
        vus=mean_of([outcome.vus for outcome in outcomes]),
        reported=sum(one.reported for one in found) / events if events else None,
        found=sum(one.found for one in found) / events if events else None,
        others=1e4 * sum(one.others for one in found) / rows,
        noisy=sum(outcome.is_noisy(rate) for outcome in outcomes),
        delay=median_of([delay for one in found for delay in one.delays]),
        silent=sum(outcome.is_silent for outcome in outcomes),
        alert_rows=sum(one.alert_rows for one in found) / rows,
        events=events,
    )


def mean_figures(figures: Sequence[Figures]) -> Figures:
    """Every family counts the same. The delay is the median of the families; noisy and silent series are all of them."""
    return Figures(
        auc=mean_of([one.auc for one in figures]),
        vus=mean_of([one.vus for one in figures]),
        reported=mean_of([one.reported for one in figures]),
        found=mean_of([one.found for one in figures]),
        others=float(np.mean([one.others for one in figures])),
        noisy=sum(one.noisy for one in figures),
        delay=median_of([one.delay for one in figures]),
        silent=sum(one.silent for one in figures),
        alert_rows=float(np.mean([one.alert_rows for one in figures])),
    )


def of_collection(outcomes: Sequence[Labelled], collection: str) -> list[Labelled]:
    return [outcome for outcome in outcomes if outcome.collection == collection]


def by_family(outcomes: Sequence[Labelled], rate: float) -> dict[str, Figures]:
    return {
        family: family_figures([outcome for outcome in outcomes if outcome.family == family], rate)
        for family in dict.fromkeys(outcome.family for outcome in outcomes)
    }


def by_length(outcomes: Sequence[Labelled], rate: float) -> dict[str, Figures]:
    """Short and longer series, each together."""
    groups = {
        "short": [one for one in outcomes if one.is_short],
        "longer": [one for one in outcomes if not one.is_short],
    }
    return {f"{name} series": family_figures(group, rate) for name, group in groups.items() if group}


MEAN = "mean of families"


def lines_of(outcomes: Sequence[Labelled], rate: float) -> dict[str, Figures]:
    """Of one collection: its families, then short and longer series, then the mean."""
    families = by_family(outcomes, rate)
    return {**families, **by_length(outcomes, rate), MEAN: mean_figures(list(families.values()))}


# ---- Labelled series ----

LABELLED_LEGEND = (
    "Events reported: an episode begins inside; found: an alert is inside. Others: episodes without a labelled row, per 10,000 rows; noisy: "
    "series with more than twice as many as asked for. Delay: rows from the first row of an event to its first alert, "
    f"median of those found. Silent: series with an event and no alert. Short: up to {SHORT:,} rows."
)
LABELLED_HEADING = ["AUC", "VUS-PR", "reported", "found", "others", "noisy", "delay", "silent", "alert rows"]
LOST = f"LOST: {YARDSTICK} catches more, with no more others"


def number(value: Optional[float], digits: int = 3) -> str:
    return "-" if value is None else plain(value, digits)


def count_text(value: float) -> str:
    """A decimal only for a mean."""
    return f"{value:.1f}".removesuffix(".0")


def share_cell(one: Figures, share: Optional[float]) -> str:
    """Events of all; a share in a mean of families."""
    if one.events is None:
        return number(share)
    return f"{count_text(one.events_of(share))}/{one.events}" if one.events else "-"


def figure_cells(one: Figures) -> list[str]:
    return [
        number(one.auc),
        number(one.vus),
        share_cell(one, one.reported),
        share_cell(one, one.found),
        f"{one.others:.1f}",
        str(one.noisy),
        "-" if one.delay is None else f"{one.delay:g}",
        str(one.silent),
        f"{100 * one.alert_rows:.2f}%",
    ]


def is_lost(ours: Figures, yardstick: Optional[Figures]) -> bool:
    """The yardstick is better without more false alerts."""
    if yardstick is None or yardstick.others > ours.others:
        return False
    return (yardstick.reported or 0) > (ours.reported or 0) or (yardstick.found or 0) > (ours.found or 0)


def labelled_table(plan: Plan, results: Results, collection: str) -> Table:
    outcomes = {title: of_collection(of, collection) for title, of in results.labelled.items()}
    figures = {title: lines_of(of, plan.rate) for title, of in outcomes.items() if of}
    first = results.titles[0]
    lines = []
    for name, ours in figures[first].items():
        chosen = [one for one in outcomes[first] if one.family == name]
        rows = f": {len(chosen)} series, {sum(one.found.rows for one in chosen):,} rows" if chosen else ""
        lost = f"; {LOST}" if is_lost(ours, figures.get(YARDSTICK, {}).get(name)) else ""
        lines.append([f"{name}{rows}{lost}"])
        lines += [[title, *figure_cells(of[name])] for title, of in figures.items()]
    return Table(f"Labelled series: {collection}", LABELLED_LEGEND, ["scorer", *LABELLED_HEADING], lines)


def leave_out_table(plan: Plan, results: Results, collection: str) -> Table:
    legend = "The mean of all families but one, to see whether a choice depends on a single family."
    outcomes = {title: of_collection(of, collection) for title, of in results.labelled.items()}
    figures = {title: by_family(of, plan.rate) for title, of in outcomes.items() if of}
    lines = []
    for family in figures[results.titles[0]]:
        lines.append([f"without {family}"])
        for title, of in figures.items():
            kept = [one for name, one in of.items() if name != family]
            if kept:
                lines.append([title, *figure_cells(mean_figures(kept))])
    return Table(f"Families left out in turn: {collection}", legend, ["scorer", *LABELLED_HEADING], lines)


# ---- Planted incidents ----

PLANTED_LEGEND = (
    "Incidents found, of those planted. Others: alert episodes that belong neither to an incident nor to a label."
)


def found_of(outcomes: Sequence[Planted], kind: Optional[str] = None) -> tuple[float, int]:
    """Found and planted: of a kind, or of all."""
    chosen = [one for outcome in outcomes for one in outcome.incidents if kind in (None, one.kind)]
    return sum(one.found for one in chosen), len(chosen)


def per_rows(outcomes: Sequence[Planted]) -> float:
    return 1e4 * sum(outcome.others for outcome in outcomes) / sum(outcome.rows for outcome in outcomes)


def found_cells(outcomes: Sequence[Planted]) -> list[str]:
    counts = [found_of(outcomes, kind) for kind in (*KINDS, None)]
    return [f"{count_text(found)}/{planted}" if planted else "-" for found, planted in counts]


def planted_heading(first: str) -> list[str]:
    return [first, *KINDS, "all", "others", "per 10,000"]


def planted_table(results: Results) -> Table:
    lines = []
    for title, outcomes in results.planted.items():
        others = sum(outcome.others for outcome in outcomes)
        lines.append([title, *found_cells(outcomes), f"{others:.0f}", f"{per_rows(outcomes):.1f}"])
    return Table("Planted incidents by kind", PLANTED_LEGEND, planted_heading("scorer"), lines)


def planted_series_table(results: Results) -> Table:
    first, *beside = results.titles
    legend = f"The copies of each series together. By kind: {first}. Others are in brackets, per 10,000 rows."
    lines = []
    for name in dict.fromkeys(outcome.title for outcome in results.planted[first]):
        of = {title: [o for o in outcomes if o.title == name] for title, outcomes in results.planted.items()}
        cells = found_cells(of[first])
        cells[-1] = f"{cells[-1]} ({per_rows(of[first]):.1f})"
        cells += [f"{count_text(found_of(of[title])[0])} ({per_rows(of[title]):.1f})" for title in beside]
        lines.append([name, *cells])
    return Table("Planted incidents by series", legend, ["series", *KINDS, "all", *beside], lines)


# ---- Printed ----


def tables_of(plan: Plan, results: Results, leave_out: bool = False) -> list[Table]:
    first = results.titles[0]
    there = [name for name in real.COLLECTIONS if of_collection(results.labelled[first], name)]
    made = [labelled_table(plan, results, name) for name in there]
    if results.planted[first]:
        made += [planted_table(results), planted_series_table(results)]
    if leave_out:
        made += [leave_out_table(plan, results, name) for name in there]
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

"""The tables as text and as Markdown."""

from typing import Iterable, Iterator

from . import measures, quiet
from .campaign import ON_QUIET, Plan, Results, Row
from .kinds import GROUPS
from .limits import wanted

LEGEND = (
    "Found in how many of {seeds} streams, + median delay in rows (none: in the first row).\n"
    "oif score: the default command. chance: what windows that long have without an anomaly.\n"
    "max |z|: a yardstick, the largest |z| of any column, same alert rule. Alert rate 0.001."
)
QUIET_LEGEND = (
    "False alerts in {seeds} streams of {rows:,} rows without anomaly: episodes per row in relation\n"
    "to the rate, which is a cap, and in brackets the share of rows with an alert."
)


MEASURE_LEGEND = "Of the default command, all seeds together:"
MEASURE_HEADING = ["measure", "measured", "wanted"]


def grouped(plan: Plan) -> Iterator[tuple[str, list[Row]]]:
    for group in GROUPS:
        rows = [row for row in plan.rows if row.group == group]
        if rows:
            yield group, rows


def cell_text(results: Results, row: Row, column: str) -> str:
    cell = results.cells.get((row.key, column))
    return cell.text() if cell else "-"


def quiet_cells(results: Results, stream: str) -> list[str]:
    """Of every rate and every command: ratio and share of rows."""
    cells = []
    for rate in quiet.RATES:
        for command in ON_QUIET:
            counted = results.quiet[stream, rate, command.title]
            cells.append(f"{counted.ratio:.2f} ({100 * counted.share:.2f}%)")
    return cells


def quiet_heading() -> list[str]:
    return [f"{rate:g} {command.title}" for rate in quiet.RATES for command in ON_QUIET]


def measure_lines(plan: Plan, results: Results) -> list[list[str]]:
    chosen = [measures.BY_KEY[key] for key in plan.measures]
    return [[m.title, results.measures[m.key].text(), wanted(m.low, m.high)] for m in chosen]


# ---- Text ----


def aligned(lines: list[list[str]]) -> list[str]:
    """Columns as wide as they must be: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*(line for line in lines if len(line) > 1))]
    printed = []
    for first, *others in lines:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:])]
        printed.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return printed


def heading_lines(first: str, titles: Iterable[str]) -> list[list[str]]:
    """Two lines: the second has the last word of a title, so columns stay narrow."""
    split = [title.rpartition(" ") for title in titles]
    return [["", *(start for start, _, _ in split)], [first, *(end for _, _, end in split)]]


def text(plan: Plan, results: Results) -> str:
    lines = heading_lines("", plan.columns())
    for group, rows in grouped(plan):
        lines += [[""], [group.upper()]]
        lines += [
            [row.title, *(cell_text(results, row, column) for column in plan.columns())]
            for row in rows
        ]
    parts = [LEGEND.format(seeds=plan.seeds), "", *aligned(lines)]
    if plan.quiet:
        lines = heading_lines("", quiet_heading())
        lines += [[quiet.STREAMS[s].title, *quiet_cells(results, s)] for s in plan.quiet]
        legend = QUIET_LEGEND.format(seeds=plan.quiet_seeds, rows=quiet.LENGTH)
        parts += ["", legend, "", *aligned(lines)]
    if plan.measures:
        lines = [MEASURE_HEADING, *measure_lines(plan, results)]
        parts += ["", MEASURE_LEGEND, "", *aligned(lines)]
    return "\n".join(parts)


# ---- Markdown ----


def markdown_table(heading: list[str], lines: list[list[str]]) -> list[str]:
    rule = ["---"] * len(heading)
    return [f"| {' | '.join(line)} |" for line in (heading, rule, *lines)]


def markdown(plan: Plan, results: Results) -> str:
    """For docs: the same figures; | in a title would end a cell."""
    columns = [column.replace("|", "\\|") for column in plan.columns()]
    lines = []
    for group, rows in grouped(plan):
        lines.append([f"**{group}**", *("" for _ in columns)])
        for row in rows:
            cells = [cell_text(results, row, column) for column in plan.columns()]
            lines.append([row.title, *cells])
    parts = [LEGEND.format(seeds=plan.seeds), "", *markdown_table(["anomaly", *columns], lines)]
    if plan.quiet:
        lines = [[quiet.STREAMS[s].title, *quiet_cells(results, s)] for s in plan.quiet]
        legend = QUIET_LEGEND.format(seeds=plan.quiet_seeds, rows=quiet.LENGTH)
        parts += ["", legend, "", *markdown_table(["stream", *quiet_heading()], lines)]
    if plan.measures:
        table = markdown_table(MEASURE_HEADING, measure_lines(plan, results))
        parts += ["", MEASURE_LEGEND, "", *table]
    return "\n".join(parts)

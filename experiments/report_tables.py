"""The tables of the report: Table 4, the data sets (Table 2) and the parameters (Table 3)."""

from typing import Any, Optional

from . import differences, published, runs, tables
from .claims import IDENTICAL_FILES, Bar
from .configuration import BATCH_ROWS, COLUMNS, MODES, by_key, is_installed
from .markup import difference_text, escape, plain, ratio_text, seconds_text, swatch, table_of, tag
from .runs import Plan
from .tables import Summary

FAR = differences.NOTABLE


def executions_text(cells: dict[tuple[str, str], Summary]) -> str:
    """How many executions the cells have: 30, or 3 to 30 when the runs are not through."""
    fewest, most = min(cell.executions for cell in cells.values()), max(cell.executions for cell in cells.values())
    return f"{most}" if fewest == most else f"{fewest} to {most}"


def cell_of(main: str, small: str, classes: list[str], hover: str = "") -> str:
    content = tag("span", main, class_="main") + tag("span", small or "&nbsp;", class_="small")
    return tag("td", content, class_=" ".join(classes), title=hover)


def auc_cell(cell: Optional[Summary], best: bool) -> str:
    if cell is None:
        return tag("td", "–")
    classes = ["best"] if best else []
    hover = (
        f"quartiles {plain(cell.low)} – {plain(cell.high)}, standard error {plain(cell.standard_error)},"
        f" {cell.executions} executions"
    )
    if cell.published is None:
        return cell_of(plain(cell.median), f"± {plain(cell.standard_error)}", classes, hover)
    difference = cell.difference or 0.0
    if abs(difference) > FAR:
        classes.append("far-up" if difference > 0 else "far-down")
    return cell_of(plain(cell.median), f"{plain(cell.published)} {difference_text(difference)}", classes, hover)


def time_cell(cell: Optional[Summary], best: bool, comparable: bool) -> str:
    if cell is None:
        return tag("td", "–")
    small = ""
    if cell.published is not None:
        ratio = f" ÷{ratio_text(cell.published / cell.median)}" if comparable else " (whole set)"
        small = seconds_text(cell.published) + ratio
    hover = f"quartiles {seconds_text(cell.low)} – {seconds_text(cell.high)} s, {cell.executions} executions"
    return cell_of(seconds_text(cell.median), small, ["best"] if best else [], hover)


def best_of(cells: dict[tuple[str, str], Summary], name: str, columns: list[str], highest: bool) -> Optional[str]:
    values = {c: cells[name, c].median for c in tables.of_the_paper(columns) if (name, c) in cells}
    return (max if highest else min)(values, key=values.__getitem__) if values else None


def heading_of(columns: list[str]) -> list[str]:
    def title(key: str) -> str:
        column = by_key(key)
        return swatch(column.color) + escape(column.title) + f"<small>{escape(key.replace(':', ', '))}</small>"

    return ["data set", *map(title, columns)]


def set_heading(plan: Plan, name: str) -> str:
    dataset = runs.load(name, plan.most_rows)
    note = tag("small", escape(dataset.note)) if dataset.note else ""
    return tag("td", escape(dataset.title) + note)


def total_row(
    label: str, note: str, columns: list[str], ours: dict[str, float], known: dict[str, float], form: Any
) -> str:
    """The rows below the sets: ours, and small the published."""
    cells = [tag("td", f"<b>{label}</b>" + tag("small", note))]
    for column in columns:
        published_name = by_key(column).published
        small = form(known[published_name]) if published_name in known else ""
        cells.append(cell_of(form(ours[column]) if column in ours else "–", small, []))
    return tag("tr", "".join(cells), class_="total")


def total_rows(table: Any, value: str, columns: list[str], medians: Any, mean_ranks: Any, form: Any) -> list[str]:
    """The last rows of Table 4. Mean ranks are among the five, over executions and as the paper computes them."""
    in_paper = tables.of_the_paper(columns)
    ours = tables.medians_over_executions(table, value)
    ranked = tables.ranking(table, value, in_paper).mean_ranks
    printed = tables.printed_mean_ranks(table, value, in_paper)
    return [
        total_row("median", "over all executions", columns, ours, medians, form),
        total_row("mean rank", "over all executions", columns, ranked, {}, plain),
        total_row("mean rank", "as the paper computes it", columns, printed, mean_ranks, plain),
    ]


def auc_table(plan: Plan, mode: str) -> str:
    table, cells = tables.aucs(plan, mode), tables.auc_cells(plan, mode)
    columns = tables.columns_of(table)
    rows = []
    for name in plan.stationary:
        best = best_of(cells, name, columns, highest=True)
        row = "".join(auc_cell(cells.get((name, c)), c == best) for c in columns)
        rows.append(set_heading(plan, name) + row)
    rows += total_rows(table, "auc", columns, published.MEDIAN_AUC, published.MEAN_RANK_AUC, plain)
    caption = (
        f"<b>Table 4, ROC AUC, {escape(MODES[mode])}.</b> Large: our median of {executions_text(cells)} executions."
        " Small: the published median and our difference from it, or, for columns that the paper has not, the standard"
        " error of the median. Underlined: the best of the paper's five. Quartiles appear under the pointer."
    )
    key = (
        '<p class="key">difference beyond ±.02: <i style="background:#e9f4ec"></i>above <i'
        ' style="background:#fbeae8"></i>below the published</p>'
    )
    return table_of(heading_of(columns), rows, caption) + key


def time_table(plan: Plan) -> str:
    table, cells = tables.times(plan), tables.time_cells(plan)
    columns = tables.columns_of(table)
    rows = []
    for name in plan.stationary:
        best = best_of(cells, name, columns, highest=False)
        rows_here = len(runs.load(name, plan.most_rows).rows)
        comparable = name in published.SHAPES and rows_here > 0.9 * published.SHAPES[name].n
        row = "".join(time_cell(cells.get((name, c)), c == best, comparable) for c in columns)
        rows.append(set_heading(plan, name) + row)
    medians, mean_ranks = published.MEDIAN_SECONDS, published.MEAN_RANK_SECONDS
    rows += total_rows(table, "seconds", columns, medians, mean_ranks, seconds_text)
    caption = (
        f"<b>Table 4, total time in seconds,</b> batches of {BATCH_ROWS}, one thread, processor time of learning and"
        f" scoring. Large: our median of {executions_text(cells)} executions. Small: the published time, and by how"
        " much it is longer. The machines differ, and so do the languages: the paper's own times are from Python."
    )
    return table_of(heading_of(columns), rows, caption)


def bar_table(bars: list[Bar]) -> str:
    rows = []
    for bar in bars:
        cell = bar.cell
        file = "the paper's, byte for byte" if bar.dataset in IDENTICAL_FILES else "as the paper's, as far as is known"
        verdict = tag("span", "within" if bar.met else "BEYOND", class_="pill " + ("good" if bar.met else "bad"))
        cells = [escape(bar.dataset) + tag("small", file), plain(cell.median), plain(cell.published or 0.0)]
        cells += [difference_text(cell.difference or 0.0), plain(cell.standard_error), plain(bar.allowed), verdict]
        rows.append("".join(tag("td", text) for text in cells))
    heading = ["data set", "here", "published", "difference", "standard error", "allowed", ""]
    caption = (
        "<b>The bars for oIFOR's median AUC.</b> On the paper's own files .02, or two standard errors of our median"
        " where that is more; on files that are not the same bytes .03."
    )
    return table_of(heading, rows, caption)


# -- what was run


def data_table(plan: Plan) -> str:
    rows = []
    for name in [*plan.stationary, *plan.drifting]:
        dataset = runs.load(name, plan.most_rows)
        shape = published.SHAPES.get(
            name if name in published.SHAPES else "INSECTS" if dataset.change_points.size else ""
        )
        n, d = dataset.rows.shape
        paper = f"{shape.n:,} × {shape.d}, {shape.percent:g} %" if shape else "–"
        cells = [
            dataset.title,
            f"{n:,} × {d}, {100 * dataset.anomalous.mean():.2f} %",
            paper,
            dataset.note
            or ("the paper's, byte for byte" if name in IDENTICAL_FILES else "as the paper's, as far as is known"),
        ]
        rows.append("".join(tag("td", escape(cell)) for cell in cells))
    return table_of(
        ["data set", "rows × columns, anomalies", "in the paper (Table 2)", "what it is"],
        rows,
        "<b>Data sets.</b> Where a file is not the paper's, every table and figure says so.",
        "text",
    )


def parameter_table(plan: Plan) -> str:
    rows = []
    for column in COLUMNS:
        if not is_installed(column):
            continue
        params = ", ".join(f"{name} {value}" for name, value in column.params.items()) or "defaults"
        cells = [
            swatch(column.color) + escape(column.title),
            f"<code>{column.detector}</code>",
            escape(params),
            column.published or "–",
        ]
        rows.append("".join(tag("td", cell) for cell in cells))
    caption = "<b>Detectors.</b> Parameters as in the paper's Table 3; all others are oif's defaults."
    return table_of(["", "in oif", "parameters", "column of the paper"], rows, caption, "text")

"""What is kept: the figures as JSON, the heat map as SVG, and a page that loads nothing else."""

import json
from pathlib import Path

from ..markup import escape, table_of, tag
from . import heatmap, measures, quiet, tables
from .campaign import ON_QUIET, Plan, Results
from .kinds import Kind
from .limits import SHARE_BARS, Share, Verdict, beyond, outside
from .outcome import Quiet
from .tool import DEFAULT

STYLE = Path(__file__).with_name("page.css")


def as_json(plan: Plan, results: Results, version: str) -> str:
    """The delays of every seed (null: missed), and the counts of false alerts."""
    cells = [
        {"kind": kind, "command": column, "found": cell.found, "seeds": cell.seeds,
         "median_delay": cell.delay, **cell._asdict()}
        for (kind, column), cell in results.cells.items()
    ]  # fmt: skip
    counted = [
        {"stream": stream, "command": column, **count._asdict(), "share": count.share}
        for (stream, _, column), count in results.quiet.items()
    ]
    titles = {row.key: {"group": row.group, "title": row.title} for row in plan.rows}
    content = {"version": version, "kinds": titles, "cells": cells, "false_alerts": counted}
    content["measures"] = {key: part._asdict() for key, part in results.measures.items()}
    return json.dumps(content, indent=1) + "\n"


# ---- The page ----

HOW = """
<p>Every synthetic stream has 8,000 rows, and an anomaly from row 7,000 on (seasons: where they
rise). The tool gets it as CSV text, once per command, with another seed of stream and detector each
time. An anomaly is found if at least one of its rows is an alert; the delay is counted from its
first row. <b>oif score</b> is the default command, without a choice of detector or alert rate.
<b>chance</b> is the same command on the same rows without the anomaly: in how many of the
streams a window of that length has an alert, on average over all such windows.
<b>max |z|</b> is a yardstick: the largest distance of any column from the
mean of the last 2,048 rows, in standard deviations, with the alert rule of the tool. The events of the real recording are the same rows for every seed; only
the detectors' random numbers differ.</p>"""

QUIET_HOW = """
<p>{seeds} streams of {rows:,} rows without anomaly. Episodes per row in relation to the rate
given, which is a cap, and below it the share of rows with an alert. Alerts at most 16 rows
apart are one episode. The default command is to have at most 1.5 times the rate, and none in a
constant stream.</p>"""


def bar_words(results: Results, verdict: Verdict) -> str:
    """How many bars are met, and which are not."""
    wrong = [failure for failure in verdict.failures if failure.startswith("bar: ")]
    if not wrong:
        return tag("p", "Every bar that was measured is met.", class_="good")
    listed = "".join(tag("li", escape(failure.removeprefix("bar: "))) for failure in wrong)
    count = tag("p", f"{len(wrong)} bars are missed:", class_="bad")
    return count + tag("ul", listed, class_="missed")


def quiet_cell(counted: Quiet, stream: str, command: str) -> str:
    style = ""
    if command == DEFAULT.title:
        style = "bad" if beyond(counted, SHARE_BARS[stream]) else "good"
    ratio = tag("span", f"{counted.ratio:.2f}", class_=style)
    return tag("td", f"{ratio}<br><small>{100 * counted.share:.2f}%</small>")


def quiet_table(plan: Plan, results: Results) -> str:
    columns = [(rate, command.title) for rate in quiet.RATES for command in ON_QUIET]
    rows = []
    for stream in plan.quiet:
        cells = [quiet_cell(results.quiet[stream, rate, c], stream, c) for rate, c in columns]
        rows.append(tag("td", escape(quiet.STREAMS[stream].title)) + "".join(cells))
    return table_of(["stream", *(f"rate {rate:g}<br>{c}" for rate, c in columns)], rows, "")


def measure_table(plan: Plan, results: Results) -> str:
    rows = []
    for key, line in zip(plan.measures, tables.measure_lines(plan, results)):
        measure, part = measures.BY_KEY[key], results.measures[key]
        style = "bad" if outside(part, Share(measure.low, measure.high)) else "good"
        title, measured, wanted = map(escape, line)
        cells = (title, tag("span", measured, class_=style), wanted)
        rows.append("".join(tag("td", cell) for cell in cells))
    return table_of(tables.MEASURE_HEADING, rows, "")


def kind_list(plan: Plan) -> str:
    """Each kind with its key, for `--kinds` and the limits."""
    rows = []
    for row in plan.rows:
        options = " ".join(row.options) if isinstance(row, Kind) else ""
        cells = (row.key, row.group, row.title, f"{row.start:,}", f"{row.rows}", options)
        rows.append("".join(tag("td", escape(cell)) for cell in cells))
    return table_of(["key", "group", "anomaly", "first row", "rows", "options"], rows, "")


def html(plan: Plan, results: Results, verdict: Verdict, version: str) -> str:
    false_alerts = QUIET_HOW.format(seeds=plan.quiet_seeds, rows=quiet.LENGTH)
    parts = [
        tag("h1", "Operational anomalies"),
        tag("p", "Which are found, how soon, and how many false alerts there are.", class_="dek"),
        tag("p", f"{escape(version)}, {plan.seeds} seeds", class_="meta"),
        bar_words(results, verdict),
        tag("figure", heatmap.draw(plan, results), class_="scroll"),
        tag("h2", "How it is measured") + HOW,
        tag("h2", "False alerts") + false_alerts + quiet_table(plan, results) if plan.quiet else "",
        tag("h2", "Other measures") + measure_table(plan, results) if plan.measures else "",
        tag("h2", "The kinds") + kind_list(plan),
    ]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    head += "<title>Operational anomalies</title>"
    head += tag("style", STYLE.read_text(encoding="utf-8"))
    body = tag("main", "\n".join(parts))
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def write(folder: Path, plan: Plan, results: Results, verdict: Verdict, version: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    written = {
        "operations.json": as_json(plan, results, version),
        "operations.svg": heatmap.draw(plan, results),
        "operations.html": html(plan, results, verdict, version),
    }
    for name, content in written.items():
        (folder / name).write_text(content, encoding="utf-8")

"""What is kept: the figures as JSON, and a page of the tables that loads nothing, and the sheet of pictures."""

import json
from pathlib import Path
from typing import Any

from ..markup import escape, table_of, tag
from ..operations.page import STYLE as OPERATIONS_STYLE
from . import picture, tables
from .campaign import Plan, Results
from .limits import Verdict
from .tables import Table

STYLE = Path(__file__).with_name("page.css")


# ---- Figures ----


def plainly(value: Any) -> Any:
    """Named tuples as objects."""
    if hasattr(value, "_asdict"):
        return {key: plainly(part) for key, part in value._asdict().items()}
    return [plainly(part) for part in value] if isinstance(value, (list, tuple)) else value


def as_json(plan: Plan, results: Results, version: str) -> str:
    content = {
        "version": version,
        "rate": plan.rate,
        "labelled": {title: plainly(outcomes) for title, outcomes in results.labelled.items()},
        "planted": {title: plainly(outcomes) for title, outcomes in results.planted.items()},
        "absent": results.absent,
    }
    return json.dumps(content, indent=1) + "\n"


# ---- The page ----

HOW = """
<p>Every scorer gets the rows of a series in their order, without labels, and judges each row before it learns it. Rows
before the start of a series are history: they are scored, but do not count. Alerts at most 16 rows apart are one episode.
<b>random, as many</b>: the alerts of the tool, shifted in a circle (the mean of 20 shifts). <b>step > 2.5 usual</b>: a
value moves by more than 2.5 times the usual step of its column. <b>AWS RCF</b>: the thresholded Random Cut Forest of AWS
with its own alerts; <b>at the rate</b>: above the running quantile. <code>docs/measurements/reality.md</code> has the exact
definitions. <a href="reality-sheet.svg">reality-sheet.svg</a> shows some of the series.</p>"""


def html_table(table: Table, strong: str) -> str:
    """The lines of the tool are strong."""
    rows = []
    for line in table.lines:
        if len(line) == 1:
            rows.append(tag("tr", tag("th", escape(line[0]), colspan=len(table.heading)), class_="group"))
            continue
        style = "strong" if line[0] == strong else ""
        rows.append(tag("tr", "".join(tag("td", escape(cell)) for cell in line), class_=style))
    heading = [escape(cell) for cell in table.heading]
    return tag("h2", escape(table.title)) + tag("p", escape(table.legend)) + table_of(heading, rows, "")


def verdict_words(verdict: Verdict) -> str:
    if not verdict.judged:
        return ""
    if not verdict.failures:
        return tag("p", f"All {verdict.judged} limits that were measured are met.", class_="good")
    listed = "".join(tag("li", escape(failure)) for failure in verdict.failures)
    count = f"{len(verdict.failures)} of {verdict.judged} limits are missed:"
    return tag("p", count, class_="bad") + tag("ul", listed, class_="missed-limits")


def html(plan: Plan, results: Results, verdict: Verdict, version: str) -> str:
    made = tables.tables_of(plan, results)
    parts = [
        tag("h1", "Real series"),
        tag("p", "What is found in recorded streams, and how often an alert has no cause.", class_="dek"),
        tag("p", f"{escape(version)}, alert rate {plan.rate:g}", class_="meta"),
        verdict_words(verdict),
        *(tag("p", escape(words), class_="bad") for words in tables.absent_words(results)),
        *(html_table(table, results.titles[0]) for table in made),
        tag("h2", "How it is measured") + HOW,
    ]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Real series</title>'
    head += tag("style", "".join(path.read_text(encoding="utf-8") for path in (OPERATIONS_STYLE, STYLE)))
    body = tag("main", "\n".join(parts))
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def write(folder: Path, plan: Plan, results: Results, verdict: Verdict, version: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reality.json").write_text(as_json(plan, results, version), encoding="utf-8")
    (folder / "reality.html").write_text(html(plan, results, verdict, version), encoding="utf-8")
    (folder / "reality-sheet.svg").write_text(picture.sheet(results.strips), encoding="utf-8")

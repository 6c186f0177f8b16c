"""What is kept: the figures as JSON, and a page that loads nothing else: tables, then a picture of every series."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from ..markup import escape, table_of, tag
from ..operations.page import STYLE as OPERATIONS_STYLE
from . import tables
from .campaign import Drawn, Plan, Results
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
before the start of a series are history: they are scored, but do not count. An event is found if one of its rows is an
alert, a planted incident also if an alert follows soon after it. Alerts at most 16 rows apart are one episode; an
episode without a labelled row, and not of an incident, is an <i>other</i>. <code>docs/measurements/reality.md</code> has the exact
definitions.</p>
<p><b>robust z</b>: the largest distance of a column from its median of 1,024 rows, in median deviations; alerts are
above the running quantile at the same rate. <b>AWS RCF</b>: the thresholded Random Cut Forest of AWS with its own
alerts; <b>at the rate</b>: with the running quantile instead.</p>"""

LEGEND = """
<p class="legend"><i class="history"></i> history <i class="found"></i> event, found <i class="missed"></i> event,
missed <i class="label"></i> labelled event beside planted ones <i class="hit"></i> alert of an event
<i class="other"></i> other episode <i class="score"></i> score. Point at a mark for its rows.</p>"""


class Group(NamedTuple):
    title: str
    drawn: list[Drawn]


def html_table(table: Table, strong: str) -> str:
    """The lines of the tool are strong."""
    rows = []
    for line in table.lines:
        if len(line) == 1:
            rows.append(tag("tr", tag("th", escape(line[0]), colspan=len(table.heading)), class_="group"))
            continue
        style = "strong" if line[0] == strong else "soft" if line[0].startswith("- ") else ""
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


def groups(results: Results) -> list[Group]:
    """Families of labelled series, then the planted ones."""
    found: dict[str, list[Drawn]] = {}
    for drawn in results.drawn:
        title = "Planted incidents" if drawn.is_planted else drawn.family
        found.setdefault(title, []).append(drawn)
    return [Group(title, members) for title, members in found.items()]


def figure(drawn: Drawn) -> str:
    title = f"{drawn.key.rpartition(' ')[0]}, copy {drawn.key.rpartition(' ')[2]}" if drawn.is_planted else drawn.key
    words = f"<b>{escape(title)}</b> {escape(drawn.words)}"
    return tag("figure", tag("figcaption", words) + drawn.svg)


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
        tag("h2", f"Every series, as <code>{escape(results.titles[0])}</code> sees it") + LEGEND,
    ]
    for group in groups(results):
        pictures = "\n".join(figure(drawn) for drawn in group.drawn)
        parts.append(tag("h3", escape(group.title)) + tag("div", pictures, class_="pictures"))
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Real series</title>'
    head += tag("style", "".join(path.read_text(encoding="utf-8") for path in (OPERATIONS_STYLE, STYLE)))
    body = tag("main", "\n".join(parts))
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def write(folder: Path, plan: Plan, results: Results, verdict: Verdict, version: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reality.json").write_text(as_json(plan, results, version), encoding="utf-8")
    (folder / "reality.html").write_text(html(plan, results, verdict, version), encoding="utf-8")

"""The report: one HTML file without anything to load, which reads as an article. Its words are in article.html."""

import os
import platform
import re
from datetime import datetime, timezone
from pathlib import Path
from string import Template
from typing import Optional

import oif

from . import claims, differences, figures, published, runs, tables
from .claims import Bar, Claim
from .configuration import WINDOW_ROWS, by_key
from .ledger import spent_of
from .markup import difference_text, escape, hours_and_minutes, ratio_text, tag
from .report_tables import FAR, auc_table, bar_table, data_table, parameter_table, time_table
from .runs import Plan

HERE = Path(__file__).parent


def processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    model = re.search(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
    return model[1] if model else platform.machine()


def machine() -> str:
    system = (
        f"{platform.system()} {platform.release().split('-')[0]}, Python {platform.python_version()}, oif"
        f" {oif.__version__}"
    )
    return f"{processor()}, {os.cpu_count()} processors, {system}"


def spent(plan: Plan, parts: Optional[set[str]] = None) -> float:
    table = spent_of(plan.results).read()
    return float(table[table["part"].isin(parts)]["wall_seconds"].sum() if parts else table["wall_seconds"].sum())


def unfinished(plan: Plan) -> list[str]:
    """Parts whose runs are not all there, in words."""
    sets, columns = len(plan.stationary), len(plan.columns)
    wanted = {
        "AUC": (2 * sets * columns * plan.executions, tables.read(runs.aucs_of(plan), plan, plan.stationary)),
        "time": (sets * columns * plan.timed_executions, tables.times(plan)),
        "drift": (
            len(plan.drifting) * columns * plan.executions,
            tables.read(runs.drift_of(plan), plan, plan.drifting),
        ),
    }
    return [
        f"{name} ({len(table):,} of {count:,} runs)" for name, (count, table) in wanted.items() if len(table) < count
    ]


# -- claims and differences


def claim_item(claim: Claim) -> str:
    style, word = {True: ("pass", "PASS"), False: ("fail", "FAIL"), None: ("open", "OPEN")}[claim.holds]
    why = tag("span", escape(claim.why), class_="why") if claim.holds is False and claim.why else ""
    text = tag("span", word, class_="verdict") + f"<b>{escape(claim.text)}</b> <em>({escape(claim.place)})</em>"
    return tag("li", text + tag("span", escape(claim.evidence), class_="evidence") + why, class_=style)


def claim_list(found: list[Claim]) -> str:
    return tag("ul", "".join(map(claim_item, found)), class_="claims")


def difference_list(plan: Plan) -> str:
    """Each column with a notable difference, its sets, and what is known of the reasons."""
    cells, items = tables.auc_cells(plan), []
    far: set[str] = set()
    for column, reason in differences.OF_COLUMN.items():
        named = [(n, cells[n, column].difference) for n in plan.stationary if (n, column) in cells]
        named = [(n, difference) for n, difference in named if difference is not None and abs(difference) > FAR]
        if named:
            if column not in ("hst", "loda"):  # which differ on nearly all sets, for a reason of their own
                far |= {n for n, _ in named}
            listed = ", ".join(f"{escape(n)} {difference_text(difference)}" for n, difference in named)
            items.append(tag("li", f"<b>{escape(by_key(column).title)}</b> ({listed}). {reason}"))
    items += [tag("li", f"<b>{escape(n)}.</b> {reason}") for n, reason in differences.OF_DATASET.items() if n in far]
    if not items:
        return "<p>No median differs from the published one by more than .02.</p>"
    return tag("ul", "".join(items))


# -- the page


def figure_of(files: dict[str, Path], name: str, caption: str) -> str:
    """The SVG itself within the page; identifiers get the figure's name, for they must differ within a page."""
    if name not in files:
        return ""
    svg = files[name].read_text(encoding="utf-8")
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="([^"]*)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]*)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(r'href="#([^"]*)"', rf'href="#{name}-\1"', svg)
    svg = re.sub(r"<svg ", f'<svg role="img" aria-label="{escape(re.sub("<[^>]*>", "", caption))}" ', svg, count=1)
    return tag("figure", svg + tag("figcaption", caption))


def cards(plan: Plan, found: list[Claim], bars: list[Bar]) -> str:
    judged = [claim for claim in found if claim.holds is not None]
    passed = sum(bool(claim.holds) for claim in judged)
    shown = [(f"{passed} of {len(judged)}", "of the paper's claims hold here")]
    if bars:
        met = sum(bar.met for bar in bars)
        shown.append(
            (f"{met} of {len(bars)}", "oIFOR's median AUCs agree with the published ones within the bars below")
        )
    if len(tables.times(plan)) and claims.published_hours(plan)["oIFOR"]:
        ours, paper = claims.hours_of_table_4(plan), claims.published_hours(plan)
        if ours["oIFOR"] and ours["all"]:
            shown.append(
                (
                    f"{ratio_text(paper['oIFOR'] / ours['oIFOR'])} ×",
                    "as fast as the published oIFOR, over the same rows",
                )
            )
            shown.append((f"{ratio_text(paper['all'] / ours['all'])} ×", "as fast as the published five together"))
    return tag(
        "div",
        "".join(tag("div", f"<b>{big}</b>" + tag("span", small), class_="card") for big, small in shown),
        class_="cards",
    )


def hours_text(plan: Plan) -> str:
    """Our hours beside the published ones, and how long Table 4 took to make."""
    ours, paper = claims.hours_of_table_4(plan), claims.published_hours(plan)
    if not paper["oIFOR"] or not ours["oIFOR"]:
        return ""
    whole = (
        f"{published.total_hours(('oIFOR',)):.1f} hours for the oIFOR column and {published.total_hours():.0f} for all"
        " five"
    )
    of_our_rows = f"{paper['oIFOR']:.2g} and {paper['all']:.3g} hours"
    here = f"{hours_and_minutes(3600 * ours['oIFOR'])} and {hours_and_minutes(3600 * ours['all'])}"
    factors = f"{ratio_text(paper['oIFOR'] / ours['oIFOR'])} and {ratio_text(paper['all'] / ours['all'])}"
    wall = spent(plan, {"AUC", "time"})
    made = (
        f" All of Table 4, in batches and row by row, every variant, took {hours_and_minutes(wall)} on the clock."
        if wall
        else ""
    )
    return tag(
        "p",
        f"The published times add up to {whole}, 30 executions each; in proportion to the rows that we have (of fraud"
        f" only a part), to {of_our_rows}. Ours add up to {here}: shorter by a factor of {factors}.{made}",
    )


def wall_clock_text(plan: Plan) -> str:
    """How busy the machine was with other things: what the wall's clock showed beside the processor's."""
    table = tables.times(plan)
    if table.empty:
        return ""
    ratio = table["wall_seconds"].sum() / table["seconds"].sum()
    busy = "it had other work as well, which also makes processor time longer" if ratio > 1.1 else "it did nothing else"
    return f"The clock on the wall ran {ratio:.2f} times as long: {busy}."


STAND_INS = (
    "<p>INSECTS itself could not be had; the streams here stand in for it and are <b>not comparable</b> with the"
    " paper's figure. With <code>INSECTS-abrupt_imbalanced.csv</code> in <code>$OIF_DATA</code> the same command draws"
    " the real one.</p>"
)


def drift_figures(plan: Plan, files: dict[str, Path]) -> str:
    shown = []
    for name in plan.drifting:
        stream = runs.load(name, plan.most_rows)
        caption = (
            f"<b>{escape(stream.title)}.</b> {escape(stream.note)}. Median ROC AUC over the executions in a window of"
            f" {runs.window_rows(len(stream.rows)):,} rows centred on each moment (the paper: {WINDOW_ROWS:,}), and the"
            " time a row takes. Dotted: the moments when the distribution changes."
        )
        shown.append(figure_of(files, f"drift_{name}", caption))
    return "".join(shown)


def warnings_of(plan: Plan) -> str:
    said = []
    if plan.quick:
        said.append(
            "This is a quick run: few executions, small sets. It shows that everything works; its numbers mean little."
        )
    if missing := unfinished(plan):
        said.append("Not all runs are made yet: " + ", ".join(missing) + ". <code>experiments/run.sh paper</code> resumes.")
    return "".join(f'<p class="warning">{text}</p>' for text in said)


def fill_figures(text: str, files: dict[str, Path]) -> str:
    """Replaces each <fig> of the article."""
    return re.sub(
        r'<fig name="(\w+)">(.*?)</fig>', lambda found: figure_of(files, found[1], found[2]), text, flags=re.DOTALL
    )


def article(plan: Plan, files: dict[str, Path]) -> str:
    found, bars = claims.of_the_paper(plan), claims.agreement(plan)
    parts = {
        "paper": escape(published.PAPER),
        "today": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": escape(machine()),
        "warnings": warnings_of(plan),
        "cards": cards(plan, found, bars),
        "claims": claim_list(found),
        "bars": bar_table(bars) if bars else "",
        "auc_by_batch": auc_table(plan, "batch"),
        "auc_by_row": auc_table(plan, "row"),
        "differences": difference_list(plan),
        "wall_clock": wall_clock_text(plan),
        "hours": hours_text(plan),
        "time_table": time_table(plan) if len(tables.times(plan)) else "<p>Not measured yet.</p>",
        "stand_ins": "" if "INSECTS" in plan.drifting else STAND_INS,
        "drift_figures": drift_figures(plan, files),
        "data_table": data_table(plan),
        "parameter_table": parameter_table(plan),
        "spent": hours_and_minutes(spent(plan)),
        "processors": str(os.cpu_count()),
    }
    words = (HERE / "article.html").read_text(encoding="utf-8")
    return fill_figures(Template(words[words.index("-->") + 3 :]).substitute(parts), files)


def verdicts(plan: Plan) -> list[str]:
    """What the report says of the claims and the bars, in a line each."""
    words = {True: "pass", False: "FAIL", None: "open"}
    lines = [f"{words[claim.holds]}  {claim.text}" for claim in claims.of_the_paper(plan)]
    bars = claims.agreement(plan)
    met = sum(bar.met for bar in bars)
    return [
        *lines,
        f"{words[met == len(bars)]}  oIFOR's median AUC agrees with the published one: {met} of {len(bars)} sets",
    ]


def write(plan: Plan) -> Path:
    """Tables, figures and the page; where the page is."""
    tables.write_csv(plan)
    (plan.results / "table4.md").write_text(tables.markdown(plan), encoding="utf-8")
    body = article(plan, figures.draw_all(plan))
    style = (HERE / "report.css").read_text(encoding="utf-8")
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    head += f"<title>Online Isolation Forest, run again</title><style>{style}</style>"
    path = plan.results / "report.html"
    beside = path.with_suffix(".html.new")
    page = f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body><main>{body}</main></body></html>\n'
    beside.write_text(page, encoding="utf-8")
    os.replace(beside, path)
    return path

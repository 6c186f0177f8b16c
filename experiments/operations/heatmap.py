"""The heat map: kinds of anomaly by commands, as an SVG of its own or within the page.

    Spikes of one row      oif   online-  ...  max |z|  chance
    1 of 5 columns, 6 sd   [0]   [0]           [10]     [0]

The more streams the anomaly is found in, the stronger is the colour of the cell; the small figure
is the median delay. A cell with a bar has a frame, dashed and red if the bar is missed. Colours are
classes, and the style has two sets of them, for light and for dark surroundings.
"""

from html import escape

from .campaign import CHANCE, Plan, Results, Row
from .limits import FOUND_BARS, missed
from .outcome import delay_text
from .tables import grouped
from .tool import DEFAULT
from .yardstick import TITLE as YARDSTICK

LABELS, WIDTH, HEIGHT, GAP = 385, 78, 23, 3  # pixels: of the titles, of a cell, between cells
HEAD, GROUP_HEAD, APART, MARGIN = 92, 34, 14, 16
STEPS = 10  # shades

LIGHT = dict(paper="#ffffff", ink="#1b242c", soft="#5b6773", none="#eceff1", full="#0b6b4a",
             on="#ffffff", bad="#d0342c")  # fmt: skip
DARK = dict(paper="#14191e", ink="#e8edf1", soft="#9aa7b3", none="#252c33", full="#46d39a",
            on="#07130d", bad="#ff7b72")  # fmt: skip


def mixed(none: str, full: str, share: float) -> str:
    """A colour between two."""
    pairs = zip(bytes.fromhex(none[1:]), bytes.fromhex(full[1:]))
    return "#" + bytes(round(a + (b - a) * share) for a, b in pairs).hex()


def rules(colours: dict[str, str]) -> str:
    """The style of one surrounding."""
    made = [
        f".map .paper {{ fill: {colours['paper']} }}",
        f".map text {{ fill: {colours['ink']} }}",
        f".map .soft {{ fill: {colours['soft']} }}",
        f".map .line {{ stroke: {colours['soft']} }}",
        f".map .met {{ stroke: {colours['ink']} }}",
        f".map .missed {{ stroke: {colours['bad']} }}",
    ]
    for step in range(STEPS + 1):
        fill = mixed(colours["none"], colours["full"], (step / STEPS) ** 1.3)
        ink = colours["on"] if step > 0.65 * STEPS else colours["soft" if step == 0 else "ink"]
        made += [f".map .f{step} {{ fill: {fill} }}", f".map .t{step} {{ fill: {ink} }}"]
    return "\n".join(made)


STYLE = f"""
.map text {{ font: 13px system-ui, "Segoe UI", "Helvetica Neue", Arial, "DejaVu Sans", sans-serif }}
.map .group {{ font-weight: 700; font-size: 14px }}
.map .title {{ font-weight: 700; font-size: 17px }}
.map .head {{ font-size: 12px; text-anchor: middle }}
.map .strong {{ font-weight: 700 }}
.map .count {{ font-weight: 650; text-anchor: middle; font-variant-numeric: tabular-nums }}
.map .delay {{ font-size: 11px }}
.map .bar {{ fill: none; stroke-width: 2.4 }}
.map .missed {{ stroke-dasharray: 5 3 }}
.map .line {{ stroke-width: .6 }}
{rules(LIGHT)}
@media (prefers-color-scheme: dark) {{
{rules(DARK)}
}}"""


def left_of(plan: Plan, column: str) -> int:
    """Where a column begins; the default stands apart, and so do the two that are no detectors."""
    columns = plan.columns()
    apart = (column != DEFAULT.title) + (column in (YARDSTICK, CHANCE))
    return MARGIN + LABELS + columns.index(column) * (WIDTH + GAP) + apart * APART


def text_at(x: float, y: float, words: str, style: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{style}">{escape(words)}</text>'


def heading(plan: Plan) -> list[str]:
    """The names of the columns, a word per line, standing on the cells."""
    drawn = []
    for column in plan.columns():
        x = left_of(plan, column) + WIDTH / 2
        words = column.replace("-", "-\u200b ").split(" ") if len(column) > 12 else [column]
        for i, word in enumerate(reversed(words)):
            style = "head strong" if column == DEFAULT.title else "head"
            drawn.append(text_at(x, MARGIN + HEAD - 10 - 14 * i, word.strip("\u200b"), style))
    return drawn


def cell(plan: Plan, results: Results, row: Row, column: str, y: int) -> list[str]:
    measured, x = results.cells.get((row.key, column)), left_of(plan, column)
    if measured is None:
        return [text_at(x + 0.38 * WIDTH, y + 16, "–", "count soft")]
    step = round(STEPS * measured.found / measured.seeds)
    when = "" if measured.delay is None else f", median delay {measured.delay:g} rows"
    words = f"{row.title}, {column}: found in {measured.found:g} of {measured.seeds}{when}"
    box = f'x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="3"'
    drawn = [
        f"<g><title>{escape(words)}</title>",
        f'<rect {box} class="f{step}"/>',
        text_at(x + 0.38 * WIDTH, y + 16, f"{measured.found:g}", f"count t{step}"),
        text_at(x + 0.54 * WIDTH, y + 16, delay_text(measured.delay), f"delay t{step}"),
        "</g>",
    ]
    if column == DEFAULT.title and row.key in FOUND_BARS:
        style = "missed" if missed(measured, FOUND_BARS[row.key]) else "met"
        drawn.append(f'<rect {box} class="bar {style}"/>')
    return drawn


def legend(plan: Plan, y: int) -> list[str]:
    """What shades and frames mean, below the map."""
    x, drawn = MARGIN, []
    for found in (0, 0.25, 0.5, 0.75, 1):
        step = round(STEPS * found)
        drawn.append(f'<rect x="{x}" y="{y}" width="30" height="16" class="f{step}"/>')
        x += 30
    drawn.append(text_at(x + 8, y + 13, f"found in none to all of {plan.seeds} streams", "soft"))
    for i, (style, words) in enumerate((("met", "bar met"), ("missed", "bar missed"))):
        left = x + 250 + 125 * i
        box = f'x="{left}" y="{y}" width="30" height="16" rx="3"'
        drawn += [f'<rect {box} class="bar {style}"/>', text_at(left + 38, y + 13, words, "soft")]
    words = "+28: rows from its beginning to the first alert, median of those found; none: at once"
    drawn.append(text_at(MARGIN, y + 38, words, "soft"))
    return drawn


def draw(plan: Plan, results: Results) -> str:
    drawn, y = heading(plan), MARGIN + HEAD - GROUP_HEAD + 22
    right = left_of(plan, plan.columns()[-1]) + WIDTH
    for group, rows in grouped(plan):
        drawn.append(text_at(MARGIN, y + GROUP_HEAD - 12, group, "group"))
        y += GROUP_HEAD
        drawn.append(f'<path d="M{MARGIN} {y - 6}H{right}" class="line"/>')
        for row in rows:
            drawn.append(text_at(MARGIN, y + 16, row.title))
            for column in plan.columns():
                drawn += cell(plan, results, row, column, y)
            y += HEIGHT + GAP
    drawn.append(text_at(MARGIN, MARGIN + 14, "Which anomalies are found", "title"))
    drawn += legend(plan, y + 16)
    width, height = right + MARGIN, y + 58 + MARGIN
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="map" {size} role="img"'
            ' aria-label="Which anomalies are found by which command">',
            f"<style>{STYLE}</style>",
            f'<rect width="{width}" height="{height}" class="paper"/>',
            *drawn,
            "</svg>\n",
        ]
    )

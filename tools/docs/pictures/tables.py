"""Pictures of the tables of the documents: what is found (heat map), AUC, and instructions per row."""

import re

from .svg import Drawing

FOUND_PAGE, AUC_PAGE, COST_PAGE = (f"docs/measurements/{name}.md" for name in ("operations", "paper-auc", "bench-quick"))
SHORT = {"oif score": "default", "online-iforest turnover": "online turnover", "max \\|z\\|": "max |z|"}


def tables_of(text):
    """The Markdown tables of a page: lists of rows, each a list of cells."""
    found, table = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
                table.append(cells)
        elif table:
            found.append(table)
            table = []
    return found


def table_with(checkout, page, *headings):
    """The table whose first cells are `headings`."""
    for table in tables_of((checkout / page).read_text(encoding="utf-8")):
        if tuple(table[0][:len(headings)]) == headings:
            return table
    raise SystemExit(f"make_pictures.py: {page} has no table that begins with {' | '.join(headings)!r}")


def mixed(empty, full, share):
    """A colour between two."""
    pairs = zip(bytes.fromhex(empty[1:]), bytes.fromhex(full[1:]))
    return "#" + bytes(round(a + (b - a) * share) for a, b in pairs).hex()


# ---- What is found: a heat map ----

LABELS, CELL_WIDTH, CELL_HEIGHT, HEAD = 400, 62, 19, 96


def draw_cell(drawing, x, y, text):
    """'10 +5': found in 10 of 10 streams, after 5 rows in the median."""
    theme = drawing.theme
    if text == "-":
        return
    found, _, delay = text.partition(" ")
    share = float(found) / 10
    drawing.rectangle(x + 1, y + 1, CELL_WIDTH - 2, CELL_HEIGHT - 2, mixed(theme.faint, theme.good, share**1.3), radius=2)
    ink = theme.on_good if share > 0.65 else theme.ink if share > 0 else theme.quiet
    drawing.text(x + CELL_WIDTH / 2 - (10 if delay else 0), y + 14, found, ink, 12, "middle", 600 if share > 0 else None)
    if delay:
        drawing.text(x + CELL_WIDTH / 2, y + 14, delay, ink, 10)


def draw_found(table, theme):
    heads, rows = [cell.replace("\\|", "|") for cell in table[0][1:]], table[1:]
    height = HEAD + sum(CELL_HEIGHT + (12 if cells[0].startswith("**") else 0) for cells in rows) + 34
    width = LABELS + CELL_WIDTH * len(heads) + 16
    drawing = Drawing(width, height, "In how many of ten streams each anomaly is found, by detector", theme)
    drawing.text(16, 26, "Found in N of 10 streams", size=16, weight=700)
    drawing.text(16, 46, "+N: median delay in rows; without it, found in the first row", theme.quiet)
    for i, head in enumerate(heads):
        words = SHORT.get(table[0][i + 1], head).replace("-iforest", "").split()
        for line, word in enumerate(words):
            drawing.text(LABELS + CELL_WIDTH * (i + 0.5), HEAD - 22 + 14 * line - 7 * (len(words) - 1), word, theme.ink, 12,
                         "middle", 700 if i == 0 else None)
    y = HEAD
    for cells in rows:
        if cells[0].startswith("**"):
            y += 12
            drawing.text(16, y + 14, cells[0].strip("*"), weight=700, size=13)
        else:
            drawing.text(28, y + 14, cells[0], size=12)
            for i, cell in enumerate(cells[1:]):
                draw_cell(drawing, LABELS + CELL_WIDTH * i, y, cell)
        y += CELL_HEIGHT
    drawing.text(16, y + 22, "make operations measures it; docs/measurements/operations.md has the table", theme.quiet, 11)
    return drawing.finish()


# ---- AUC: a dot for each data set, a bar for the mean ----


def draw_auc(table, theme):
    heads = table[0][1:]
    sets = [cells for cells in table[1:] if not re.match("mean|standard", cells[0])]
    means = next(cells for cells in table[1:] if cells[0] == "mean")
    left, right, top, step = 200, 24, 58, 34
    width = 760
    drawing = Drawing(width, top + step * len(heads) + 52, "ROC AUC of the detectors on the paper's data sets", theme)
    drawing.text(16, 26, f"ROC AUC on the paper's {len(sets)} data sets", size=16, weight=700)
    drawing.text(16, 46, "a dot per set: median of 30 shuffles, row by row; the bar is their mean", theme.quiet)

    def to_x(auc):
        return left + (auc - 0.55) / 0.45 * (width - left - right)

    bottom = top + step * len(heads)
    for tick in (0.6, 0.7, 0.8, 0.9, 1.0):
        drawing.line(to_x(tick), top, to_x(tick), bottom, theme.faint)
        drawing.text(to_x(tick), bottom + 18, f"{tick:.1f}", theme.quiet, 12, "middle")
    order = sorted(range(len(heads)), key=lambda i: -float(means[i + 1].strip("*")))
    for line, i in enumerate(order):
        y = top + step * line + step / 2
        mean = float(means[i + 1].strip("*"))
        drawing.text(left - 12, y + 4, heads[i], anchor="end", weight=700 if line == 0 else None)
        drawing.rectangle(to_x(0.55), y - 5, to_x(mean) - to_x(0.55), 10, theme.calm_soft, radius=2)
        for cells in sets:
            drawing.circle(to_x(float(cells[i + 1].strip("*"))), y, 4, theme.calm, theme.paper)
        drawing.line(to_x(mean), y - 9, to_x(mean), y + 9, theme.alarm, 2)
        drawing.text(to_x(mean) - 5, y - 8, f"{mean:.3f}"[1:], theme.alarm, 11, "end")
    drawing.text(16, bottom + 40, "experiments/run.sh paper measures it; docs/measurements/paper-auc.md has the table", theme.quiet, 11)
    return drawing.finish()


# ---- Speed: instructions per row ----


def draw_cost(table, theme):
    """From the list of detectors: `name` | instructions | KB."""
    rows = [(re.sub(r"[\[`]|`?\].*", "", cells[0]), int(cells[1].replace(",", "")), int(cells[2].replace(",", "")))
            for cells in table[1:]]
    rows.sort(key=lambda row: row[1])
    left, top, step, width = 150, 58, 30, 760
    drawing = Drawing(width, top + step * len(rows) + 34, "Instructions per row and memory of the detectors", theme)
    drawing.text(16, 26, "Instructions per row of ten columns, learned and scored", size=16, weight=700)
    drawing.text(16, 46, "one row at a time; memory of the model on the right", theme.quiet)
    most = sorted(row[1] for row in rows)[-2] * 1.25  # one bar is broken: it is far longer than the others
    for line, (name, instructions, kilobytes) in enumerate(rows):
        y = top + step * line
        length = min(instructions, most) / most * 400
        drawing.text(left - 12, y + 19, name, anchor="end")
        drawing.rectangle(left, y + 6, length, 18, theme.calm if instructions <= most else theme.calm_soft, radius=2)
        if instructions > most:
            drawing.line(left + length - 26, y + 26, left + length - 18, y + 4, theme.paper, 4)
        drawing.text(left + length + 8, y + 19, f"{instructions:,}")
        drawing.text(width - 24, y + 19, f"{kilobytes:,} KB", theme.quiet, anchor="end")
    drawing.text(16, top + step * len(rows) + 22, "make bench-quick measures it; docs/measurements/bench-quick.md has the table", theme.quiet, 11)
    return drawing.finish()


# ---- All of them ----


def pictures(checkout):
    found = table_with(checkout, FOUND_PAGE, "anomaly")
    auc = table_with(checkout, AUC_PAGE, "data set")
    cost = table_with(checkout, COST_PAGE, "detector", "instructions", "KB")
    return {
        "found": lambda theme: draw_found(found, theme),
        "auc": lambda theme: draw_auc(auc, theme),
        "cost": lambda theme: draw_cost(cost, theme),
    }

"""Diagrams: how a row goes through the pipeline, row insertion, turnover, the state file, and the architecture."""

from .svg import Drawing


def box(drawing, x, y, width, height, title, notes=(), fill=None, stroke=None, dash=None):
    theme = drawing.theme
    drawing.rectangle(x, y, width, height, fill or theme.paper, stroke or theme.quiet, 6, dash)
    drawing.text(x + width / 2, y + 22, title, anchor="middle", weight=700)
    for i, note in enumerate(notes):
        drawing.text(x + width / 2, y + 40 + 15 * i, note, theme.quiet, 11, "middle")


# ---- A row through the pipeline ----


def draw_pipeline(theme):
    drawing = Drawing(960, 330, "How a row goes through oif score", theme)
    steps = [
        ("Reader", ("CSV, NDJSON", "numbers or missing")),
        ("Columns", ("roles, --rate", "categories, shingle")),
        ("Model of the key", ("found, created", "or evicted")),
        ("Score", ("detectors and judges", "each a severity")),
        ("Judge", ("the largest severity", "above the bar?")),
        ("Episode", ("begins, lasts, ends", "reasons if anomalous")),
    ]
    width, gap, x, y = 136, 22, 18, 62
    drawing.text(18, 30, "A row, from its bytes to an alert", size=16, weight=700)
    for i, (title, notes) in enumerate(steps):
        left = x + i * (width + gap)
        box(drawing, left, y, width, 74, title, notes, theme.calm_soft if i == 3 else None)
        if i:
            drawing.line(left - gap + 2, y + 37, left - 3, y + 37, theme.quiet, 1.5, arrow=True)
    score, judge, episode = (x + i * (width + gap) + width / 2 for i in (3, 4, 5))
    box(drawing, judge - 150, 190, 170, 60, "Learn the row?", ("not an anomaly, or it lasts",))
    drawing.path([(judge, y + 75), (judge, 187)], theme.quiet, 1.5, arrow=True)
    drawing.path([(judge - 152, 220), (score - 30, 220), (score - 30, y + 77)], theme.quiet, 1.5, arrow=True)
    drawing.text(score - 38, 205, "learn", theme.quiet, 12, "end")
    box(drawing, episode - 68, 190, 136, 60, "Output", ("the row, with score, p,", "anomaly, why"))
    drawing.path([(episode, y + 75), (episode, 187)], theme.quiet, 1.5, arrow=True)
    box(drawing, 18, 190, 294, 60, "State", ("all models and open episodes:", "saved atomically, resumed bit for bit"), dash="4 3")
    drawing.path([(x + 2 * (width + gap) + 40, y + 75), (x + 2 * (width + gap) + 40, 170), (165, 170), (165, 187)],
                 theme.quiet, 1.5, arrow=True)
    drawing.text(18, 300, "One row is processed before the next is read. Nothing is allocated per row.", theme.quiet, 12)
    return drawing.finish()


# ---- Row insertion ----


def draw_insertion(theme):
    drawing = Drawing(960, 330, "Row insertion: one extreme value among many", theme)
    drawing.text(18, 30, "Row insertion: why one extreme value among many is found", size=16, weight=700)
    # Left: a walk that never asks for the extreme column.
    drawing.text(18, 58, "A tree asks for a few columns", weight=600)
    nodes = {"a": (150, 90, "x3 < 0.2 ?"), "b": (90, 150, "x7 < 1.1 ?"), "c": (150, 210, "leaf")}
    for start, end in (("a", "b"), ("b", "c")):
        drawing.line(nodes[start][0], nodes[start][1] + 12, nodes[end][0], nodes[end][1] - 14, theme.calm, 2, arrow=False)
    for x, y in ((220, 150), (40, 210)):
        drawing.line(*((150, 102) if y == 150 else (90, 162)), x, y - 14, theme.faint, 2)
        drawing.circle(x, y, 7, theme.faint)
    for x, y, words in nodes.values():
        drawing.rectangle(x - 44, y - 14, 88, 26, theme.calm_soft, radius=13)
        drawing.text(x, y + 4, words, size=12, anchor="middle")
    drawing.text(18, 258, "x5 = 50 is extreme, and no cut asks for x5:", theme.quiet, 12)
    drawing.text(18, 276, "the row ends where ordinary rows end.", theme.quiet, 12)
    # Right: the box of recent rows in column x5.
    left, right, y = 400, 930, 150
    drawing.text(left - 30, 58, "The boxes of recent rows see every column", weight=600)
    drawing.text(left - 30, 78, "32 boxes, each of 64 rows dealt out in turn; here column x5", theme.quiet, 12)
    for i, (low, high) in enumerate(((0.02, 0.2), (0.0, 0.23), (0.05, 0.21), (0.01, 0.18))):
        top = y - 46 + 18 * i
        drawing.rectangle(left + low * 530, top, (high - low) * 530, 12, theme.calm_soft, theme.calm, 2)
        drawing.text(left - 10, top + 10, f"box {i + 1}", theme.quiet, 11, "end")
    value = left + 0.92 * 530
    drawing.line(left, y + 40, right, y + 40, theme.quiet)
    drawing.circle(value, y - 12, 6, theme.alarm)
    drawing.text(value, y - 26, "x5 = 50", theme.alarm, 12, "middle", 600)
    drawing.line(left + 0.21 * 530, y + 58, value, y + 58, theme.alarm, 1.5, arrow=True)
    drawing.text(left + 0.56 * 530, y + 52, "e, the distance", theme.alarm, 12, "middle")
    drawing.line(left + 0.01 * 530, y + 58, left + 0.2 * 530, y + 58, theme.calm, 1.5)
    drawing.text(left + 0.1 * 530, y + 74, "w, the width", theme.calm, 12, "middle")
    drawing.text(left - 30, 258, "A random cut between the box and the value isolates the row with the probability e / (e + w).", size=12)
    drawing.text(left - 30, 276, "Close to 1, the row gets the depth of a root's child: a high score. Inside all boxes, no bit changes.", size=12)
    return drawing.finish()


# ---- Turnover ----


def draw_turnover(theme):
    drawing = Drawing(960, 300, "Turnover: trees only grow, and the oldest is replaced", theme)
    drawing.text(18, 30, "Turnover: trees only grow, and the oldest one is replaced", size=16, weight=700)
    left, base, width = 60, 210, 52
    ages = [132, 122, 112, 102, 92, 82, 72, 62, 52, 42]
    drawing.text(18, 58, "active trees: they score", theme.calm, 13, weight=600)
    drawing.text(left + 10.6 * (width + 8), 58, "shadows: they only learn", theme.quiet, 13, weight=600)
    for i, height in enumerate(ages):
        x = left + i * (width + 8)
        drawing.rectangle(x, base - height, width, height, theme.calm_soft, theme.calm, 3)
    for i, height in enumerate((32, 24, 16, 8)):
        x = left + (10.6 + i) * (width + 8)
        drawing.rectangle(x, base - height, width, height, theme.faint, theme.quiet, 3, "4 3")
    drawing.line(left - 12, base, 940, base, theme.quiet)
    drawing.text(left, base + 20, "oldest", theme.quiet, 12)
    drawing.text(left + 13.6 * (width + 8), base + 20, "youngest", theme.quiet, 12, "middle")
    drawing.text(18, 130, "rows", theme.quiet, 12)
    drawing.text(18, 146, "learned", theme.quiet, 12)
    first, mature = left + width / 2, left + 10.6 * (width + 8) + width / 2
    drawing.path([(mature, base - 36), (mature, 88), (left + 9.9 * (width + 8), 88), (left + 9.9 * (width + 8), base - 20)],
                 theme.good, 1.8, arrow=True)
    drawing.text(mature - 60, 80, "mature: becomes active", theme.good, 12, "middle")
    drawing.path([(first, base + 6), (first, base + 44), (left + 14.2 * (width + 8), base + 44), (left + 14.2 * (width + 8), base + 6)],
                 theme.alarm, 1.8, arrow=True)
    drawing.text(480, base + 62, "emptied: starts again as the youngest shadow, every 128 rows by default", theme.alarm, 12, "middle")
    return drawing.finish()


# ---- The state file ----


def draw_state(theme):
    drawing = Drawing(960, 320, "The life of a state file", theme)
    drawing.text(18, 30, "The life of a state file: at every moment the old one or the new one, whole", size=16, weight=700)
    steps = [
        ("open", "lock PATH.lock", "remove leftovers"),
        ("load PATH", "checksums, then", "every invariant"),
        ("process rows", "models learn", "output is flushed"),
        ("write PATH.new", "the whole snapshot", "old PATH untouched"),
        ("sync, rename", "PATH.new to PATH", "then sync the folder"),
    ]
    width, gap, y = 160, 30, 70
    for i, (title, *notes) in enumerate(steps):
        x = 18 + i * (width + gap)
        box(drawing, x, y, width, 74, title, notes, theme.calm_soft if i == 4 else None)
        if i:
            drawing.line(x - gap + 2, y + 37, x - 3, y + 37, theme.quiet, 1.5, arrow=True)
    again = 18 + 2 * (width + gap) + width / 2
    last = 18 + 4 * (width + gap) + width / 2
    drawing.path([(last, y + 75), (last, y + 112), (again, y + 112), (again, y + 77)], theme.quiet, 1.5, arrow=True)
    drawing.text((again + last) / 2, y + 106, "more rows: --save-every, SIGUSR1", theme.quiet, 12, "middle")
    drawing.text(18, 224, "If the machine stops here:", weight=600)
    outcomes = [(2, "PATH is the last save:", "give the rows since again,", "or all with --skip-seen"),
                (3, "the old PATH is whole;", "PATH.new is removed", "at the next start"),
                (4, "the old or the new one:", "rename is atomic", "")]
    for i, *lines in outcomes:
        x = 18 + i * (width + gap)
        for j, line in enumerate(lines):
            drawing.text(x, 224 + 18 * j, line, theme.good, 12)
    drawing.text(18, 300, "The state is never newer than the output, so no row is lost. tests/snapshot/test_kill.c kills a program at random moments.",
                 theme.quiet, 12)
    return drawing.finish()


# ---- Architecture ----


def draw_architecture(theme):
    drawing = Drawing(960, 470, "The directories of oif, and which may include which", theme)
    drawing.text(18, 30, "Who includes what: arrows point to what is included", size=16, weight=700)
    programs = [("cli", "the tool oif"), ("serve", "HTTP, live page"), ("python", "the package"), ("java", "JNI, Flink")]
    for i, (name, note) in enumerate(programs):
        x, is_in_front = 118 + 190 * i, name in ("cli", "serve")
        box(drawing, x, 54, 150, 54, name, (note,))
        drawing.line(x + 75, 109, x + 75, 127 if is_in_front else 207, theme.quiet, 1.5, arrow=True)
    box(drawing, 118, 130, 340, 48, "front", ("options, input, columns, results as text",))
    drawing.line(288, 179, 288, 207, theme.quiet, 1.5, arrow=True)
    drawing.rectangle(100, 210, 760, 46, theme.calm_soft, theme.calm, 6)
    drawing.text(480, 230, "include/oif.h, oif_rows.h", anchor="middle", weight=700)
    drawing.text(480, 247, "all that programs may use", theme.quiet, 11, "middle")
    box(drawing, 380, 282, 200, 48, "src/pipeline", ("models per key, alerts, episodes",))
    box(drawing, 380, 352, 200, 48, "src/snapshot", ("only it reads and writes files",))
    box(drawing, 118, 352, 210, 48, "src/detect", ("seven detectors, a folder each",))
    box(drawing, 632, 352, 210, 48, "src/rows", ("CSV, NDJSON",))
    box(drawing, 300, 416, 360, 44, "src/base", ("errors, memory, random numbers, numbers as text",))
    for start, end in (((480, 257), (480, 279)), ((480, 331), (480, 349)), ((380, 310), (300, 350)), ((580, 310), (660, 350)),
                       ((380, 376), (331, 376)), ((580, 376), (629, 376)), ((480, 401), (480, 413)),
                       ((223, 401), (300, 428)), ((737, 401), (660, 428))):
        drawing.line(*start, *end, theme.quiet, 1.5, arrow=True)
    return drawing.finish()


def pictures():
    return {
        "pipeline": draw_pipeline,
        "row-insertion": draw_insertion,
        "turnover": draw_turnover,
        "state-file": draw_state,
        "architecture": draw_architecture,
    }

"""Two weeks of the pump of `oif demo pump`: the readings, the severities, the bar, and what was found."""

import csv
import subprocess
from dataclasses import dataclass

from .svg import Drawing

WIDTH, LEFT, RIGHT = 960, 112, 16
LANE, LANE_GAP, SCORES = 46, 10, 150  # heights
TOP = 44
BINS = 420
LOWEST, HIGHEST = 0, 8  # of the severities
OPTIONS = ["--time", "time", "--label", "label", "--alert-rate", "0.0001"]
COLUMNS = {"flow": "flow, l/s", "pressure": "pressure, bar", "temperature": "temperature, °C"}


@dataclass
class Row:
    time: str
    readings: dict
    is_fault: bool
    severity: float
    bar: float | None
    begins: bool  # an episode of anomalies


def score(oif):
    """What `oif score` says about `oif demo pump`."""
    stream = subprocess.run([oif, "demo", "pump"], check=True, capture_output=True).stdout
    command = [oif, "score", *OPTIONS, "--fields", "severity,threshold,episode", "-"]
    scored = subprocess.run(command, input=stream, check=True, capture_output=True).stdout
    return [read_row(row) for row in csv.DictReader(scored.decode().splitlines())]


def read_row(row):
    bar = float(row["threshold"] or "inf")
    return Row(row["time"], {name: float(row[name]) for name in COLUMNS}, row["label"] == "1", float(row["severity"] or 0),
               bar if bar <= HIGHEST else None, row["episode"] == "begins")


def outline(values, to_x, to_y):
    """The lowest and highest value of each bin as a closed outline."""
    lows, highs = [], []
    for i in range(BINS):
        of_bin = values[len(values) * i // BINS : len(values) * (i + 1) // BINS]
        x = to_x(i / BINS)
        lows.append((x, to_y(min(of_bin))))
        highs.append((x, to_y(max(of_bin))))
    return lows + highs[::-1]


def scale(low, high, top, height):
    return lambda value: top + height * (1 - (min(max(value, low), high) - low) / (high - low))


def draw_readings(drawing, rows, to_x):
    theme = drawing.theme
    for i, (name, title) in enumerate(COLUMNS.items()):
        top = TOP + i * (LANE + LANE_GAP)
        values = [row.readings[name] for row in rows]
        to_y = scale(min(values), max(values), top, LANE)
        drawing.text(LEFT - 10, top + LANE / 2 + 4, title, theme.quiet, 12, "end")
        drawing.path(outline(values, to_x, to_y), theme.calm, 0.6, theme.calm_soft)


def draw_bar(drawing, rows, to_x, to_y):
    points = []
    for i in range(BINS):
        row = rows[len(rows) * i // BINS]
        if row.bar is not None:
            points.append((to_x(i / BINS), to_y(row.bar)))
    drawing.path(points, drawing.theme.ink, 1.4)
    return points[-1]


def draw_severities(drawing, rows, to_x, top):
    theme = drawing.theme
    to_y = scale(LOWEST, HIGHEST, top, SCORES)
    for value in (0, 2, 4, 6, 8):
        drawing.line(LEFT, to_y(value), WIDTH - RIGHT, to_y(value), theme.faint)
        drawing.text(LEFT - 10, to_y(value) + 4, f"{value}", theme.quiet, 12, "end")
    drawing.text(22, top + SCORES / 2 + 4, "severity", theme.quiet, 12)
    drawing.path(outline([row.severity for row in rows], to_x, to_y), theme.calm, 0.6, theme.calm_soft)
    x, y = draw_bar(drawing, rows, to_x, to_y)
    drawing.text(x, y - 6, "bar", theme.ink, 12, "end")
    return to_y


def mark_alerts(drawing, rows, to_x, to_y, bottom):
    """Found faults are red, other alerts amber. Returns the counts."""
    theme, found, other = drawing.theme, 0, 0
    for i, row in enumerate(rows):
        if not row.begins:
            continue
        color = theme.alarm if row.is_fault else theme.warn
        found, other = found + row.is_fault, other + (not row.is_fault)
        x = to_x(i / len(rows))
        drawing.line(x, TOP - 6, x, bottom, color, 1, "2 3")
        drawing.circle(x, to_y(row.severity), 4.5, color, theme.paper)
    return found, other


def draw_days(drawing, rows, to_x, bottom):
    for day in range(0, 14):
        x = to_x(day / 14)
        drawing.line(x, bottom, x, bottom + 5, drawing.theme.quiet)
        if day % 2 == 0:
            drawing.text(x + 2, bottom + 17, f"day {day + 1}", drawing.theme.quiet, 12)
    drawing.line(LEFT, bottom, WIDTH - RIGHT, bottom, drawing.theme.quiet)


def draw(rows, theme):
    top = TOP + len(COLUMNS) * (LANE + LANE_GAP) + 8
    bottom = top + SCORES
    drawing = Drawing(WIDTH, bottom + 30, "Two weeks of a pump: readings, severities and alerts", theme)

    def to_x(share):
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    draw_readings(drawing, rows, to_x)
    to_y = draw_severities(drawing, rows, to_x, top)
    draw_days(drawing, rows, to_x, bottom)
    found, other = mark_alerts(drawing, rows, to_x, to_y, bottom)
    planted = sum(row.is_fault and not before.is_fault for before, row in zip(rows, rows[1:]))
    drawing.circle(LEFT + 5, 18, 4.5, theme.alarm)
    drawing.text(LEFT + 16, 22, f"alert: {found} of {planted} faults, each in its first minute" if on_time(rows)
                 else f"alert: {found} of {planted} faults", weight=600)
    drawing.circle(LEFT + 350, 18, 4.5, theme.warn)
    drawing.text(LEFT + 361, 22, f"{other} false alert{'s' * (other != 1)} in {len(rows):,} rows")
    return drawing.finish()


def on_time(rows):
    """Whether each alert of a fault is its first row."""
    return all(not before.is_fault for before, row in zip(rows, rows[1:]) if row.begins and row.is_fault)

"""Which labelled events of a series were alerts, and how soon; and a picture of them.

    tools/measure/events.py SCORED.csv [PICTURE.svg]

SCORED.csv is what `oif score --time COL --label COL --fields score,severity,threshold,anomaly,ready,episode,why`
prints for a series of one column. Labelled rows that follow each other are an event. An alert is a row with which an
episode begins: an event is found only if one does. The picture needs oif.plot.
"""

import csv
import sys
from datetime import datetime
from typing import NamedTuple


class Scored(NamedTuple):
    times: list
    values: list
    is_event: list
    results: dict  # columns of numbers, by name
    begins: list  # whether an episode does
    reasons: list


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    column = {name: [row[i] for row in rows] for i, name in enumerate(head)}
    time, value, label = head[:3]
    results = {name: [float(text or "nan") for text in column[name]] for name in ("score", "severity", "threshold")}
    results |= {name: [text == "1" for text in column[name]] for name in ("anomaly", "ready")}
    return Scored(
        [datetime.fromisoformat(text) for text in column[time]],
        [float(text or "nan") for text in column[value]],
        [text == "1" for text in column[label]],
        results,
        [text == "begins" for text in column["episode"]],
        column["why"],
    )


def events_of(scored):
    """(first row, row after the last) of each."""
    edges = [i for i, is_event in enumerate(scored.is_event) if is_event != (i > 0 and scored.is_event[i - 1])]
    return list(zip(edges[::2], [*edges[1::2], len(scored.is_event)]))


def first_of(flags, first, end):
    return next((i for i in range(first, end) if flags[i]), None)


def describe(scored, first, end):
    """What became of an event."""
    alert = first_of(scored.begins, first, end)
    if alert is not None:
        hours = (scored.times[alert] - scored.times[first]).total_seconds() / 3600
        return f"after {hours:.1f} h: {scored.reasons[alert]}"
    if first_of(scored.results["anomaly"], first, end) is not None:
        return "no alert of its own, but part of an episode that had begun before"
    return "missed" if scored.results["ready"][first] else "missed: too early to judge"


def print_events(scored):
    events = events_of(scored)
    for first, end in events:
        print(f"{scored.times[first]:%Y-%m-%d} {describe(scored, first, end)}")
    found = sum(first_of(scored.begins, first, end) is not None for first, end in events)
    others = [i for i, begins in enumerate(scored.begins) if begins and not scored.is_event[i]]
    print(f"{found} of {len(events)} events found, {len(others)} other alerts")
    for i in others:
        print(f"{scored.times[i]:%Y-%m-%d %H:%M} {scored.reasons[i]}")


def draw(scored, path):
    import matplotlib
    import numpy as np

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "oif", "svg.fonttype": "none"})
    from matplotlib import pyplot

    from oif import plot

    figure, (top, bottom) = pyplot.subplots(2, 1, figsize=(12, 6), sharex=True)
    times = np.array(scored.times, dtype="datetime64[s]")
    top.plot(times, scored.values, linewidth=0.4, color="#8896a4")
    alerts = [i for i, begins in enumerate(scored.begins) if begins]
    top.plot(times[alerts], np.array(scored.values)[alerts], "o", markersize=5, color="#d64545")
    for first, end in events_of(scored):
        for axes in (top, bottom):
            axes.axvspan(times[first], times[end - 1], color="#3a7ca5", alpha=0.2, linewidth=0)
    top.set_ylabel("value, where episodes begin")
    names = [(name, bool if name in ("anomaly", "ready") else float) for name in scored.results]
    results = np.zeros(len(times), names)
    for name, numbers in scored.results.items():
        results[name] = numbers
    plot.scores(results, times=times, labels=scored.is_event, ax=bottom)
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    series = read(sys.argv[1])
    print_events(series)
    if len(sys.argv) == 3:
        draw(series, sys.argv[2])

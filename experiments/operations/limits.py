"""What must be found, how soon, and how many false alerts are too many: limits.json, and the check.

A bar is what the product is to reach; it stays what it is whatever was measured. The other limits
are what was measured when they were last accepted, with a margin, and notice what became worse.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple, Optional

from . import kinds, measures, quiet, recording
from .campaign import CHANCE, Results
from .outcome import Cell, Part, Quiet
from .tool import DEFAULT
from .yardstick import TITLE as YARDSTICK

FILE = Path(__file__).parent / "limits.json"
SEEDS = 10  # that limits are for


class Found(NamedTuple):
    """At least `found` of SEEDS streams; the median delay at most `delay` rows, if given."""

    found: int
    delay: Optional[float] = None
    bar: bool = False


class Share(NamedTuple):
    """Alerts per row, in relation to the rate that was asked for; or the share of a measure."""

    low: float
    high: float
    bar: bool = False


class Limits(NamedTuple):
    found: dict[tuple[str, str], Found]  # kind, command
    share: dict[tuple[str, float, str], Share]  # stream, rate, command
    measures: dict[str, Share]


# ---- The bars of the product, all for the default command ----

FOUND_BARS = {
    "spike-10-of-10": Found(10, bar=True),
    "spike-10-of-100": Found(9, bar=True),
    "shift-3": Found(9, 10, bar=True),
    "drop": Found(10, bar=True),
    "unit-error": Found(10, bar=True),
    "counter-1": Found(10, bar=True),
    "counter-seldom": Found(10, bar=True),
    "up": Found(10, bar=True),
    "missing": Found(10, bar=True),
    "rate-burst": Found(10, bar=True),
    "stuck-50": Found(10, 10, bar=True),
    "stuck-all-50": Found(10, bar=True),
    "correlation": Found(9, 10, bar=True),
    "season-season-96": Found(10, 3, bar=True),
    "season-all-season-96": Found(10, 3, bar=True),
    "season-single-season-96": Found(10, 3, bar=True),
    "host-dd": Found(10, 60, bar=True),
    "host-storm": Found(10, 15, bar=True),
}
SHARE_BARS = {stream: Share(0.0, 1.5, bar=True) for stream in quiet.STREAMS} | {  # the rate is a cap
    "constant": Share(0.0, 0.0, bar=True),
}


def bars() -> Limits:
    found = {(kind, DEFAULT.title): bar for kind, bar in FOUND_BARS.items()}
    share = {(s, rate, DEFAULT.title): b for s, b in SHARE_BARS.items() for rate in quiet.RATES}
    parts = {m.key: Share(m.low, m.high, bar=True) for m in measures.MEASURES}
    return Limits(found, share, parts)


# ---- Accepting what was measured ----

CLEARLY = 3  # found that many times more than by chance, or there is nothing to keep


def accepted(results: Results) -> Limits:
    """Limits of all that was measured: one stream less, twice the delay, a quarter more alerts."""
    limits = bars()
    for (kind, column), cell in results.cells.items():
        if column in (YARDSTICK, CHANCE) or (kind, column) in limits.found:
            continue
        if cell.found >= results.cells[kind, CHANCE].found + CLEARLY:
            limits.found[kind, column] = Found(cell.found - 1, 2 * (cell.delay or 0) + 5)
    for key, counted in results.quiet.items():
        limits.share.setdefault(key, Share(0.0, round(1.25 * counted.ratio + 0.1, 2)))
    return limits


def write(limits: Limits, path: Path = FILE) -> None:
    found = [
        {"kind": kind, "command": column, **limit._asdict()}
        for (kind, column), limit in limits.found.items()
    ]
    share = [
        {"stream": stream, "rate": rate, "command": column, **limit._asdict()}
        for (stream, rate, column), limit in limits.share.items()
    ]
    parts = [{"measure": key, **limit._asdict()} for key, limit in limits.measures.items()]
    lines = {"found": found, "share": share, "measures": parts}
    texts = (f' "{name}": [\n  {_lines(entries)}\n ]' for name, entries in lines.items())
    path.write_text("{\n" + ",\n".join(texts) + "\n}\n", encoding="utf-8")


def _lines(entries: list[dict[str, Any]]) -> str:
    """One line per limit, so a change of one is a change of one line."""
    return ",\n  ".join(json.dumps(entry) for entry in entries)


def read(path: Path = FILE) -> Limits:
    limits, content = Limits({}, {}, {}), json.loads(path.read_text(encoding="utf-8"))
    for entry in content["found"]:
        key = (entry.pop("kind"), entry.pop("command"))
        limits.found[key] = Found(**entry)
    for entry in content["share"]:
        key = (entry.pop("stream"), entry.pop("rate"), entry.pop("command"))
        limits.share[key] = Share(**entry)
    for entry in content["measures"]:
        measure = entry.pop("measure")
        limits.measures[measure] = Share(**entry)
    return limits


# ---- The check ----


def missed(cell: Cell, limit: Found) -> str:
    """What is wrong with a cell, in words; empty: nothing.

    With fewer seeds than the limit is for, as many may be missed as with all: who keeps the limit
    with all seeds keeps it with some. The delay is then not judged, a median of few says little.
    """
    needed = max(cell.seeds - (SEEDS - limit.found), 0)
    if cell.found < needed:
        return f"found in {cell.found} of {cell.seeds}, wanted {needed}"
    late = limit.delay is not None and cell.delay is not None and cell.delay > limit.delay
    if late and cell.seeds >= SEEDS:
        return f"found after {cell.delay:g} rows (median), wanted {limit.delay:g} at most"
    return ""


def beyond(counted: Quiet, limit: Share) -> str:
    if limit.low <= counted.ratio <= limit.high:
        return ""
    return f"{counted.ratio:.2f} of the rate, wanted {limit.low:g} to {limit.high:g}"


def outside(counted: Part, limit: Share) -> str:
    if limit.low <= counted.share <= limit.high:
        return ""
    return f"{counted.text()}, wanted {wanted(limit.low, limit.high)}"


def wanted(low: float, high: float) -> str:
    """The limits of a measure in words."""
    if low == high:
        return f"{low:g}"
    return f"at least {low:g}" if high == 1 and low > 0 else f"at most {high:.3g}"


TITLES = {row.key: row.title for row in (*kinds.KINDS, *recording.EVENTS)}


class Verdict(NamedTuple):
    failures: list[str]
    judged: int
    absent: int  # limits of cells that were not measured


def check(results: Results, limits: Limits) -> Verdict:
    failures, judged = [], 0
    for (kind, column), found in limits.found.items():
        if (kind, column) in results.cells:
            judged += 1
            if wrong := missed(results.cells[kind, column], found):
                failures.append(f"{_bar(found)}{kind} ({TITLES[kind]}), {column}: {wrong}")
    for (stream, rate, column), share in limits.share.items():
        if (stream, rate, column) in results.quiet:
            judged += 1
            if wrong := beyond(results.quiet[stream, rate, column], share):
                name = f"false alerts, {stream}, rate {rate:g}, {column}"
                failures.append(f"{_bar(share)}{name}: {wrong}")
    for key, part in limits.measures.items():
        if key in results.measures:
            judged += 1
            if wrong := outside(results.measures[key], part):
                failures.append(f"{_bar(part)}{key} ({measures.BY_KEY[key].title}): {wrong}")
    return Verdict(failures, judged, sum(map(len, limits)) - judged)


def _bar(limit: Found | Share) -> str:
    return "bar: " if limit.bar else ""

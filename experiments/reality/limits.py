"""What must be reached at least, and how many other episodes are too many: limits.json, and the check.

A limit is what the tool reached when it was last accepted, with a margin; it notices what became worse. A limit that
is marked as a bar in the file is what the product is to reach: accepting leaves it as it is. There are limits for the
full run and for --quick, which has some of its series.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple, Optional, Sequence

from . import campaign, tables
from . import series as real
from .campaign import Results
from .plants import KINDS

FILE = Path(__file__).parent / "limits.json"
FULL, QUICK = "full", "quick"


class Limit(NamedTuple):
    low: Optional[float] = None
    high: Optional[float] = None
    bar: bool = False


class Measured(NamedTuple):
    """A figure, and the limit that would be accepted for it."""

    value: float
    limit: Limit


Limits = dict[str, dict[str, Limit]]  # of the full run and of --quick: by what is measured


# ---- What is measured ----


def ranking(value: float) -> Measured:
    """AUC, VUS-PR, or a mean share of events."""
    return Measured(value, Limit(low=round(value - 0.02, 3)))


def count(value: int, share: float) -> Measured:
    """Of what was found: at most one or a share of it less."""
    return Measured(value, Limit(low=max(0, value - max(1, round(share * value)))))


def noise(value: float) -> Measured:
    """Other episodes: a quarter and one more."""
    return Measured(value, Limit(high=round(1.25 * value + 1, 1)))


def few(value: int, spare: int) -> Measured:
    return Measured(value, Limit(high=value + spare))


def figures(name: str, one: tables.Figures) -> dict[str, Measured]:
    made = {f"{name}, others per 10,000 rows": noise(one.others)}
    for measure, value in (("AUC", one.auc), ("VUS-PR", one.vus)):
        if value is not None:
            made[f"{name}, {measure}"] = ranking(value)
    for measure, share in (("reported", one.reported), ("found", one.found)):
        if share is not None and one.events is not None:
            made[f"{name}, events {measure}"] = count(round(one.events_of(share)), 0.05)
        elif share is not None:
            made[f"{name}, share of events {measure}"] = ranking(share)
    return made


def measured(results: Results, rate: float) -> dict[str, Measured]:
    """Of the first scorer, the tool."""
    title = results.titles[0]
    planted = results.planted[title]
    made: dict[str, Measured] = {}
    for collection in real.COLLECTIONS:
        outcomes = tables.of_collection(results.labelled[title], collection)
        for name, one in tables.lines_of(outcomes, rate).items() if outcomes else ():
            is_family = name in {outcome.family for outcome in outcomes}
            made |= figures(name if is_family else f"{collection}, {name}", one)
            if not is_family:
                made[f"{collection}, {name}, silent"] = few(one.silent, 1)
                made[f"{collection}, {name}, noisy"] = few(one.noisy, 2)
    if planted:
        for kind in KINDS:
            found, all_ = tables.found_of(planted, kind)
            if all_:
                made[f"planted, {kind} found"] = count(round(found), 0.1)
        made["planted, all found"] = count(round(tables.found_of(planted)[0]), 0.05)
        made["planted, others per 10,000 rows"] = noise(tables.per_rows(planted))
    return made


# ---- The file ----


def accepted(results: Results, rate: float, before: Limits) -> Limits:
    """What was measured, with its margin; bars stay."""
    made: Limits = {}
    for scope, part in ((FULL, results), (QUICK, campaign.quick_part(results))):
        made[scope] = {name: one.limit for name, one in measured(part, rate).items()}
        made[scope] |= {name: limit for name, limit in before.get(scope, {}).items() if limit.bar}
    return made


def write(limits: Limits, path: Path) -> None:
    """One line per limit, so a change of one is a change of one line."""
    texts = []
    for scope, named in limits.items():
        entries = [json.dumps({"measure": name, **given(limit)}) for name, limit in named.items()]
        texts.append(f' "{scope}": [\n  ' + ",\n  ".join(entries) + "\n ]")
    path.write_text("{\n" + ",\n".join(texts) + "\n}\n", encoding="utf-8")


def given(limit: Limit) -> dict[str, Any]:
    return {key: value for key, value in limit._asdict().items() if value is not None and value is not False}


def read(path: Path) -> Limits:
    if not path.is_file():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    return {scope: {entry.pop("measure"): Limit(**entry) for entry in entries} for scope, entries in content.items()}


# ---- The check ----


class Verdict(NamedTuple):
    failures: list[str]
    judged: int
    absent: int  # limits of what was not measured


def wrong(value: float, limit: Limit) -> str:
    """What is wrong, in words; empty: nothing."""
    if limit.low is not None and value < limit.low:
        return f"{value:.4g}, wanted at least {limit.low:g}"
    if limit.high is not None and value > limit.high:
        return f"{value:.4g}, wanted at most {limit.high:g}"
    return ""


def check(values: dict[str, Measured], limits: dict[str, Limit], leave_out: Sequence[str] = ()) -> Verdict:
    """`leave_out`: beginnings of names that are not judged."""
    failures, judged = [], 0
    for name, limit in limits.items():
        if name not in values or name.startswith(tuple(leave_out)):
            continue
        judged += 1
        if words := wrong(values[name].value, limit):
            failures.append(f"{'bar: ' if limit.bar else ''}{name}: {words}")
    return Verdict(failures, judged, len(limits) - judged)

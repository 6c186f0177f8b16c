#!/usr/bin/env python3
"""Writes docs/python-api.md, the reference of the Python package, from its docstrings; needs the package and matplotlib.

    tools/docs/python_reference.py [FILE]     without FILE to the standard output
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from typing import Any

import oif
import oif.plot

GROUPS = {
    "Detectors": ["Detector", *oif._detectors.__all__],
    "Pipelines": ["Pipeline"],
    "Evaluation and snapshots": ["evaluate", "Evaluation", "Measured", "load"],
    "Results": [
        *("Result", "Attribution", "Expected", "EpisodeInfo", "Season", "KeyInfo", "Rule", "Silence"),
        *("PastEpisode", "Episode", "Grade", "Reason"),
    ],
    "Incidents": ["Incidents", "Incident", "IncidentMember", "IncidentShared", "IncidentPlace"],
}
ERRORS = "Errors and warnings"


def text_of(doc: str | None) -> str:
    """A docstring as Markdown: examples in blocks, arguments as a list."""
    lines = inspect.cleandoc(doc or "").splitlines()
    out: list[str] = []
    in_example = False
    for line in lines:
        example = line.lstrip().startswith(">>>")
        if example and not in_example:
            out += ["", "```pycon"]
            in_example = True
        if in_example and not line.strip():
            out.append("```")
            in_example = False
        elif line == "Args:":
            out.append("")
            continue
        argument = re.match(r"(?:    )?(\w[\w, ]*?): (.*)", line) if not in_example else None
        if argument and (line.startswith("    ") or re.match(r"[a-z_]+(, [a-z_]+)*: ", line)):
            out.append(f"- `{argument[1]}`: {argument[2]}")
        else:
            out.append(line.strip() if not in_example else line.strip())
    if in_example:
        out.append("```")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip()


def signature_of(name: str, value: Any) -> str:
    try:
        signature = str(inspect.signature(value))
    except (TypeError, ValueError):
        return name
    signature = signature.replace("(self, ", "(").replace("(self)", "()").replace("(cls, ", "(").replace("$self", "")
    signature = re.sub(r"\b(?:oif\.)?_[a-z_]+\.", "", signature)
    signature = re.sub(r"(: |-> )'((?:[^'\\]|\\.)*)'", r"\1\2", signature)  # annotations are text
    signature = signature.replace("(/, ", "(").replace(", /, ", ", ").replace(", /)", ")").replace("(/)", "()")
    written = f"{name}{signature}"
    if len(written) <= 110:
        return written
    return f"{name}(\n{textwrap.indent(_arguments(signature), '    ')}\n){signature[signature.rindex(')') + 1 :]}"


def _arguments(signature: str) -> str:
    """One on each line: commas within brackets do not count."""
    inner, depth, parts = signature[1 : signature.rindex(")")], 0, [""]
    for letter in inner:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return ",\n".join(part.strip() for part in parts) + ","


def members_of(cls: type) -> list[tuple[str, Any]]:
    """The public methods and attributes that a class, or the extension below it, defines."""
    found: dict[str, Any] = {}
    for base in reversed([cls, *(b for b in cls.__mro__[1:] if b.__module__.startswith("oif"))]):
        for name, value in vars(base).items():
            if not name.startswith("_") and name not in ("kind",):
                found[name] = value
    return sorted(found.items())


def class_page(name: str, cls: type, with_members: bool) -> list[str]:
    is_enum = hasattr(cls, "__members__")
    fields = getattr(cls, "_fields", ())
    out = [f"### {name}", ""]
    if not is_enum and not fields and not issubclass(cls, (Exception, oif.Evaluation)) and cls is not oif.Detector:
        out += ["```python", signature_of(name, cls), "```", ""]
    out += [text_of(cls.__doc__), ""]
    if is_enum:
        out += ["".join(f"- `{member.name}` ({member.value})\n" for member in cls).rstrip(), ""]  # type: ignore[attr-defined]
    if not with_members:
        return out
    attributes = []
    for member, value in members_of(cls):
        if member in fields or is_enum:
            continue
        value = getattr(value, "__func__", value)
        if callable(value) and not isinstance(value, (oif._parameters.Parameter, oif._parameters.Option)):
            out += [f"#### {name}.{member}", "", "```python", signature_of(member, value), "```", "", text_of(value.__doc__), ""]
        elif getattr(value, "__doc__", None) and not isinstance(value, (oif._parameters.Parameter, oif._parameters.Option)):
            attributes.append(f"| `{member}` | {text_of(value.__doc__)} |")
    if attributes:
        out += [f"Attributes of {name}:", "", "| attribute | what it is |", "| --- | --- |", *attributes, ""]
    return out


def reference() -> str:
    out = [
        "# Reference of the Python package",
        "",
        "Made from the docstrings by `tools/docs/python_reference.py`; [python.md](python.md) is the tutorial.",
        "",
    ]
    listed = {name for names in GROUPS.values() for name in names} | {"__version__"}
    groups = {**GROUPS, ERRORS: sorted(set(oif.__all__) - listed)}
    for title, names in groups.items():
        out += [f"## {title}", ""]
        for name in names:
            value = getattr(oif, name)
            if isinstance(value, type):
                own_members = value in (oif.Detector, oif.Pipeline, oif.Evaluation)
                out += class_page(name, value, own_members)
            else:
                out += [f"### {name}", "", "```python", signature_of(name, value), "```", "", text_of(value.__doc__), ""]
    out += ["## Pictures", "", "`from oif import plot`; every function takes axes to draw into and returns them.", ""]
    for name in oif.plot.__all__:
        function = getattr(oif.plot, name)
        out += [f"### plot.{name}", "", "```python", signature_of(name, function), "```", "", text_of(function.__doc__), ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).rstrip() + "\n"


def main() -> None:
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w", encoding="utf-8") as file:
            file.write(reference())
    else:
        print(reference(), end="")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks the documentation: every link within the repository leads somewhere, and the README stays short.

    tools/check/check_docs.py

A link to a page may name a heading (`page.md#heading`) as GitHub names it. Links to other hosts are not followed.
`make docs` checks the same links again as pages of the site.
"""

import re
import sys
from pathlib import Path
from urllib.parse import unquote

CHECKOUT = Path(__file__).resolve().parents[2]
README_LINES, README_WORDS = 120, 900
LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?[^)]*\)|\b(?:src|srcset|href)=\"([^\"]+)\"")
FENCE = re.compile(r"^\s*(```|~~~)")


def pages():
    """Every page that people read."""
    found = [*CHECKOUT.glob("*.md"), *CHECKOUT.glob("docs/**/*.md")]
    for folder in ("benchmarks", "examples", "java"):
        found += (CHECKOUT / folder).glob("**/README.md")
    return sorted(path for path in found if "build" not in path.parts and "target" not in path.parts)


def prose(text):
    """The lines outside fenced blocks, with their numbers."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            yield number, line


def anchor(heading):
    """The name of a heading, as GitHub makes it."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def anchors(path):
    names, seen = set(), {}
    for _, line in prose(path.read_text(encoding="utf-8")):
        heading = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
        if heading:
            name = anchor(heading[1])
            names.add(f"{name}-{seen[name]}" if name in seen else name)
            seen[name] = seen.get(name, 0) + 1
        names.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
    return names


def check_link(page, target, known):
    """What is wrong with a link, or None."""
    if re.match(r"[a-z][a-z+.-]*:|//", target):
        return None
    name, _, heading = unquote(target).partition("#")
    path = (page.parent / name).resolve() if name else page
    if not path.exists():
        return "leads to no file"
    if CHECKOUT not in (path, *path.parents):
        return "leads out of the repository"
    if not heading or path.suffix != ".md":
        return None
    if path not in known:
        known[path] = anchors(path)
    return None if heading in known[path] else f"{path.name} has no heading #{heading}"


def check_links():
    known, count = {}, 0
    for page in pages():
        for number, line in prose(page.read_text(encoding="utf-8")):
            for match in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
                count += 1
                wrong = check_link(page, match[1] or match[2], known)
                if wrong:
                    yield f"{page.relative_to(CHECKOUT)}:{number}: {match[1] or match[2]}: {wrong}"
    if not count:
        yield "no links were found: the pattern is wrong"


def check_readme():
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    lines, words = len(text.splitlines()), len(text.split())
    if lines > README_LINES or words > README_WORDS:
        yield (f"README.md: {lines} lines, {words} words; at most {README_LINES} and {README_WORDS}: "
               "move what is new to a page of docs/")
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\$ *\(?(awk|seq)\b", line):
            yield f"README.md:{number}: an example begins with awk or seq; use `oif generate`"


if __name__ == "__main__":
    complaints = [*check_links(), *check_readme()]
    print("\n".join(complaints) or f"{len(pages())} pages: nothing to report")
    sys.exit(bool(complaints))

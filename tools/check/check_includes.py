#!/usr/bin/env python3
"""Checks who includes whom (docs/design.md, "Directories") and that no file hides behind a vague name.

    tools/check/check_includes.py [CHECKOUT]
"""

import re
import sys
from pathlib import Path

# The folders of what is built on the library, each after those that it may include. Programs see front, never each other.
FOLDERS = {
    "front": ["text", "advice", "input", "formats", "options", "columns", "results", "session", "page"],
    "cli": ["draw", "watch", "state", "eval", "score", "commands"],
    "serve": ["base", "http", "access", "agents", "senders", "trend", "bodies", "stream", "outside", "api", "program"],
}
# The folders of src/pipeline, in the same order. Its own files see them all.
PIPELINE = ["columns", "judges", "alerts", "rules", "table", "model", "keys"]
FILES_MAX = 40  # of a folder of these, of src and of tools


def in_order(part, below):
    """{folder: what it may include}, for folders that each see those before them."""
    folders = [f"{part}/{folder}" for folder in FOLDERS[part]]
    return {folder: {"api", *below, *folders[:i]} for i, folder in enumerate(folders)}


FRONT = in_order("front", [])
# Besides its own files, a directory may include these. "api" is include/oif.h.
ALLOWED = {
    "api": set(),
    "src/base": {"api"},
    "src/detect": {"api", "src/base"},
    "src/rows": {"api", "src/base"},
    "src/snapshot": {"api", "src/base", "src/detect", "src/rows"},
    "src/pipeline": {"api", "src/base", "src/detect", "src/rows", "src/snapshot"},
    "src/incidents": {"api", "src/base", "src/detect", "src/snapshot"},
    **FRONT,
    **in_order("cli", FRONT),
    **in_order("serve", FRONT),
    "python": {"api"},
    "java": {"api"},
    "examples": {"api"},
    "benchmarks": {"api", "tests"},
}
SEES_EVERYTHING = {"tests", "fuzz"}
VAGUE_NAMES = {"util", "utils", "common", "misc", "helper", "helpers", "stuff"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def part_of(path):
    """The directory whose rules hold for a path (relative to the checkout): src/base, cli/score, python, ..."""
    parts = path.parts
    if parts[0] == "include":
        return "api"
    return "/".join(parts[:2]) if parts[0] in ("src", *FOLDERS) else parts[0]


def detector_of(path):
    """The detector that a file belongs to, by its folder below src/detect; None for what all share."""
    parts = path.parts
    return parts[2] if parts[:2] == ("src", "detect") and len(parts) > 3 else None


def pipeline_order(path):
    """The place of a file's folder among those of src/pipeline: 0 includes no other. None elsewhere."""
    parts = path.parts
    if parts[:2] != ("src", "pipeline"):
        return None
    return PIPELINE.index(parts[2]) if len(parts) > 3 and parts[2] in PIPELINE else len(PIPELINE)


def find_included(checkout, source, quote, name):
    """The file of ours that an include means, or None when it is not ours."""
    folders = [checkout, checkout / "include", checkout / "src", checkout / "tests"]
    if quote == '"':
        folders.insert(0, (checkout / source).parent)
    for folder in folders:
        candidate = (folder / name).resolve()
        if candidate.is_file() and checkout in candidate.parents:
            return candidate.relative_to(checkout)
    return None


def check_file(checkout, source):
    part = part_of(source)
    if VAGUE_NAMES & set(re.split(r"[/_.-]", str(source).lower())):
        yield f"{source}: a name that says nothing; name the file after what it does"
    if part not in ALLOWED and part not in SEES_EVERYTHING:
        yield f"{source}: {part}/ has no rules; add it to tools/check/check_includes.py"
        return
    text = (checkout / source).read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        place = f"{source}:{text.count(chr(10), 0, match.start(1)) + 1}"
        quote, name = match.groups()
        included = find_included(checkout, source, quote, name)
        if included is None:
            if quote == '"':
                yield f'{place}: "{name}" is not in the checkout; write <{name}> if it is a system header'
            continue
        target = part_of(included)
        if detector_of(included) and detector_of(included) != detector_of(source):
            if part not in SEES_EVERYTHING:
                yield f"{place}: {included} belongs to one detector alone"
        if part == target == "src/pipeline" and pipeline_order(included) > pipeline_order(source):
            yield f"{place}: {source.parent} must not include {included}"
        if part not in SEES_EVERYTHING and target != part and target not in ALLOWED[part]:
            yield f"{place}: {part} must not include {included}"


def check_size(checkout, folder):
    count = sum(path.is_file() for path in folder.iterdir())
    if count > FILES_MAX:
        yield f"{folder.relative_to(checkout)}: {count} files; divide a folder of more than {FILES_MAX}"


def main():
    checkout = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    folders = ["include", "src", "front", "cli", "serve", "python", "java", "benchmarks", "tests", "fuzz"]
    sources = sorted(
        path.relative_to(checkout)
        for folder in folders
        for path in (checkout / folder).rglob("*")
        if path.suffix in {".c", ".h"}
    )
    complaints = [complaint for source in sources for complaint in check_file(checkout, source)]
    for folder in ("src", *FOLDERS, "tools"):
        for each in (path for path in sorted((checkout / folder).glob("**")) if path.name != "__pycache__"):
            complaints += check_size(checkout, each)
    print("\n".join(complaints) or f"{len(sources)} files include only what they may")
    sys.exit(bool(complaints) or not sources)


if __name__ == "__main__":
    main()

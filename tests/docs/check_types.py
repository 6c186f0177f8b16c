#!/usr/bin/env python3
"""Checks the types of the documents' Python with mypy and pyright, both strict, and those of the package with mypy.

    tests/docs/check_types.py FOLDER PAGE.md...     in a Python that has oif, mypy and pyright

FOLDER gets a program for each page; programs that are there already are checked as well. Blocks without a file name are
one session, as a reader types it; a block with one is a program of its own. Only what imports oif is checked. A line of a
program is the same line of its page, so messages name the place.
"""

from __future__ import annotations

import ast
import concurrent.futures
import doctest
import json
import re
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
BLOCK = r"^```{}(?: (\S+))?\n(.*?)^```"
UNTYPED = {"matplotlib", "pandas", "river", "sklearn"}  # what they return is unknown to pyright
# A session shows values, imports again and gives a name to something else.
PYRIGHT = {
    "typeCheckingMode": "strict",
    "reportDuplicateImport": False,
    "reportMissingTypeStubs": False,
    "reportUnusedExpression": False,
}
MYPY = ["--allow-redefinition", "--config-file", str(CHECKOUT / "pyproject.toml")]


def code_of(block: str) -> list[str]:
    """The code of a block, without the output; each on its line."""
    if ">>>" not in block:
        return block.splitlines()
    lines = [""] * len(block.splitlines())
    for example in doctest.DocTestParser().get_examples(block):
        for i, line in enumerate(example.source.splitlines(), example.lineno):
            lines[i] = line
    return lines


def programs_of(page: Path) -> dict[str, str]:
    """The programs of a page by their names."""
    text = page.read_text(encoding="utf-8")
    kind = "pycon" if "```pycon" in text else "python"  # in the reference, python blocks are signatures
    programs: dict[str, list[str]] = {}
    for block in re.finditer(BLOCK.format(kind), text, re.MULTILINE | re.DOTALL):
        name = "_".join(["page", page.stem.replace("-", "_"), *([Path(block[1]).stem] if block[1] else [])])
        lines = programs.setdefault(name, [])
        lines += [""] * (text.count("\n", 0, block.start(2)) - len(lines)) + code_of(block[2])
    made = {f"{name}.py": "\n".join(lines) + "\n" for name, lines in programs.items()}
    return {name: program for name, program in made.items() if re.search(r"^(import|from) .*\boif\b", program, re.MULTILINE)}


def untyped_lines(program: str) -> set[int]:
    """The lines of the statements that use a package without types, or what came of it."""
    names: set[str] = set()
    lines: set[int] = set()
    for statement in ast.parse(program).body:
        nodes = list(ast.walk(statement))
        used = {node.id for node in nodes if isinstance(node, ast.Name)}
        imported = {alias.asname or alias.name for node in nodes for alias in getattr(node, "names", [])}
        sources = {getattr(node, "module", None) or "" for node in nodes} | imported
        if used & names or {source.split(".")[0] for source in sources} & UNTYPED:
            lines.update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
            names |= imported | {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return lines


def run_mypy(folder: Path) -> str:
    programs = sorted(str(path) for path in folder.glob("*.py"))
    command = [sys.executable, "-m", "mypy", *MYPY, "--cache-dir", str(folder / "cache"), *programs, "python/oif"]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"mypy:\n{done.stdout}{done.stderr}"


def run_pyright(folder: Path) -> str:
    (folder / "pyrightconfig.json").write_text(json.dumps(PYRIGHT))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return f"pyright:\n{done.stdout}{done.stderr}"
    unknown = {path.name: untyped_lines(path.read_text(encoding="utf-8")) for path in folder.glob("*.py")}
    lines = []
    for found in report["generalDiagnostics"]:
        name, line = Path(found["file"]).name, found["range"]["start"]["line"] + 1
        if not (found.get("rule", "").startswith("reportUnknown") and line in unknown[name]):
            lines.append(f"{name}:{line}: {found['message']} [{found.get('rule', '')}]\n")
    checked = report["summary"]["filesAnalyzed"]
    return f"pyright:\n{''.join(lines)}" if lines or checked < len(unknown) else ""


def main() -> int:
    folder = Path(sys.argv[1])
    for page in map(Path, sys.argv[2:]):
        for name, program in programs_of(page).items():
            (folder / name).write_text(program, encoding="utf-8")
    with concurrent.futures.ThreadPoolExecutor() as both:
        found = "".join(both.map(lambda check: check(folder), (run_mypy, run_pyright)))
    print(found or f"{len(list(folder.glob('*.py')))} programs: nothing to report")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

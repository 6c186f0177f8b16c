#!/usr/bin/env python3
"""Writes what Python's detectors and adapters repeat of the library's table of parameters; needs the package.

    tools/build/make_signatures.py [--check]     --check changes nothing and fails if a file is not up to date

In python/oif: attributes and constructors in _detectors.py, the keywords in _parameters.py, and for type checkers the
classes of the adapters, whose further keywords are those of their call of make_adapters.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

from oif import _core, _detectors

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "oif"
HOSTS = ("capymoa", "pyod", "pysad", "river", "sklearn")
WIDTH = 120
TYPES = {"integer": "int", "real": "float", "choice": "str"}


def wrapped(parts: list[str], indent: int, end: str = ",") -> str:
    """Parts with commas between them, on as few lines as they need. No part is broken."""
    line = ", ".join(part.replace(" ", "\0") for part in parts) + end
    filled = textwrap.fill(line, WIDTH - indent, break_long_words=False, break_on_hyphens=False)
    return textwrap.indent(filled.replace("\0", " "), " " * indent) + "\n"


def hint_of(param: Any) -> str:
    if param["type"] == "choice":
        return f"Literal[{', '.join(quoted(word) for word in param['choices'])}]"
    return TYPES[param["type"]]


def quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


# ---- The detectors ----


def attributes_of(params: list[Any]) -> str:
    """One line for each type: their names."""
    lines = ""
    for kind, written in TYPES.items():
        names = [param["name"] for param in params if param["type"] == kind]
        if names:
            made = f"parameters({written}, {len(names)})" if len(names) > 1 else f"Parameter({written})"
            lines += f"    {', '.join(names)} = {made}\n"
    return lines


def body_of(info: Any) -> str:
    params = info["params"]
    taken = [f"{param['name']}: {hint_of(param)} = {quoted(param['initial'])}" for param in params]
    given = [f"{quoted(param['name'])}: {param['name']}" for param in params]
    return (
        f'    _kind = "{info["name"]}"\n{attributes_of(params)}\n'
        f"    def __init__(\n{wrapped(['self', *taken], 8)}"
        "        *, threads: int = 1, ignore_unknown: bool = False,\n    ) -> None:\n"
        f"        params: dict[str, Any] = {{\n{wrapped(given, 12)}        }}\n"
        "        super().__init__(self._kind, params, threads, ignore_unknown)\n"
    )


def detectors(text: str) -> str:
    for info in _core.detector_infos():
        pattern = rf'    _kind = "{info["name"]}"\n.*?\n(?=\n\n)'
        text, count = re.subn(pattern, lambda _, made=body_of(info): made, text, flags=re.DOTALL)  # type: ignore[misc]
        if count != 1:
            raise SystemExit(f"_detectors.py needs one class with the line _kind = \"{info['name']}\"")
    return text


def keywords(text: str) -> str:
    """The part of _parameters.py behind its last class."""
    made = text[: text.index("# ---- The parameters of each detector")]
    made += "# ---- The parameters of each detector, as keywords ----\n"
    infos = {info["name"]: info for info in _core.detector_infos()}
    for kind, cls in _detectors.DETECTORS.items():
        fields = [f"{quoted(param['name'])}: {hint_of(param)}" for param in infos[kind]["params"]]
        made += f'\n{cls.__name__} = TypedDict("{cls.__name__}", {{\n{wrapped(fields, 4)}}}, total=False)\n'
    return made


# ---- The adapters ----


def adapters(text: str) -> str:
    """The classes for type checkers: what stands between TYPE_CHECKING and else, at the end of an adapter."""
    tree = ast.parse(text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    call = next(node for node in calls if isinstance(node.func, ast.Name) and node.func.id == "make_adapters")
    base = ast.unparse(call.args[0])
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == base).body
    hints = {ast.unparse(node.target): ast.unparse(node.annotation) for node in body if isinstance(node, ast.AnnAssign)}
    more = [f"{word.arg}: {hints[word.arg or '']} = {ast.unparse(word.value)}" for word in call.keywords]
    classes = "".join(adapter_of(name, base, ["*", *more] if more else []) for name in _detectors.__all__)
    pattern = r"(?<=    from typing_extensions import Unpack\n).*?(?=\nelse:\n)"
    return re.sub(pattern, lambda _: classes, text, flags=re.DOTALL)


def adapter_of(name: str, base: str, more: list[str]) -> str:
    taken = ["self", *more, f"**parameters: Unpack[_parameters.{name}]"]
    line = f"        def __init__({', '.join(taken)}) -> None: ...\n"
    if len(line) > WIDTH:
        line = f"        def __init__(\n{wrapped(taken, 12, '')}        ) -> None: ...\n"
    return f"\n    class {name}({base}):\n{line}"


def main() -> int:
    stale = []
    makers = {"_detectors": detectors, "_parameters": keywords, **{host: adapters for host in HOSTS}}
    for module, make in makers.items():
        path = PACKAGE / f"{module}.py"
        before = path.read_text(encoding="utf-8")
        made = make(before)
        if made != before:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(made, encoding="utf-8")
    print(f"not up to date: {', '.join(stale)}" if stale else f"{len(makers)} files are up to date")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())

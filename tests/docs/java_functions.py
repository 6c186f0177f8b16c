#!/usr/bin/env python3
"""Checks the table of docs/java-functions.md: each function of oif.h, and the Java method that calls it.

    tests/docs/java_functions.py CHECKOUT

A function is in the table once. Its method is public in its class, and the binding calls the function. A function without
a method, or one that the binding reaches in another way, has a note that says why.
"""

import re
import sys
from pathlib import Path


def declared(header):
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    return re.findall(r"^OIF_API[^;(]*?\b(oif_\w+)\(", text, re.MULTILINE)


def rows_of(page):
    """(function, methods, note) of each row of the table."""
    rows = re.findall(r"^\| `(oif_\w+)` \|([^|]*)\|([^|]*)\|$", page, re.MULTILINE)
    return [(function, re.findall(r"`([^`]+)`", methods), note.strip()) for function, methods, note in rows]


def is_public(method, classes):
    """Whether CLASS.METHOD, or CLASS for a constructor or a type, is public."""
    owner, _, name = method.partition(".")
    source = classes.get(owner, "")
    if not name:
        return re.search(rf"^public .*\b(class|record|enum) {owner}\b", source, re.MULTILINE) is not None
    is_method = re.search(rf"^ +public [^=;(]*\b{name}\(", source, re.MULTILINE)
    return is_method is not None or re.search(rf"record {owner}\([^)]*\b{name}[,)]", source) is not None


def problems(functions, rows, classes, binding):
    named = [function for function, _, _ in rows]
    yield from (f"{f} is not in the table" for f in functions if f not in named)
    yield from (f"{f} is in the table, not in oif.h" for f in named if f not in functions)
    yield from (f"{f} is in the table twice" for f in sorted(set(named)) if named.count(f) > 1)
    for function, methods, note in rows:
        is_called = re.search(rf"\b{function}\b", binding) is not None
        yield from (f"{function}: Java has no public {m}" for m in methods if not is_public(m, classes))
        if methods and not is_called and not note:
            yield f"{function}: the binding does not call it"
        if not methods and (is_called or not note):
            yield f"{function}: has no method; " + ("but the binding calls it" if is_called else "say why")


def main():
    checkout = Path(sys.argv[1])
    java = checkout / "java/oif-java/src/main"
    found = list(
        problems(
            declared((checkout / "include/oif.h").read_text()),
            rows_of((checkout / "docs/java-functions.md").read_text()),
            {file.stem: file.read_text() for file in java.glob("java/oif/*.java")},
            "".join(file.read_text() for file in sorted(java.glob("c/*.c"))),
        )
    )
    for problem in found:
        print(f"docs/java-functions.md: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

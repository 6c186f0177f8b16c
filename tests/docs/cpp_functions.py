#!/usr/bin/env python3
"""Checks oif.hpp against oif.h: each function has a method, or a reason in the table of docs/c.md.

    tests/docs/cpp_functions.py CHECKOUT

A function with a method is not in the table, and the table has only functions of oif.h. tests/package/wrapper.cpp calls
every method that oif.hpp declares; those of objects that free themselves also after the object was moved from.
"""

import re
import sys
from pathlib import Path

from java_functions import declared

CLASS = r"^class (\w+)[^;\n]* \{\n(?:public:\n)?(.*?)^\};"
METHOD = r"^ {4}(?!using |friend |explicit |struct )(\w[\w:<>&*, ]*?[ *&])(\w+)\("


def excepted(page):
    """The functions of the table of docs/c.md, each with its reason."""
    section = page.partition("| functions without a method |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (`oif_.*?) \| *(.*?) *\|$", section, re.MULTILINE)
    return {name: why for names, why in rows for name in re.findall(r"`(oif_\w+)`", names)}


def methods(header):
    """The class, the name, and whether it needs an object that owns something, of each public method."""
    for owner, body in re.findall(CLASS, header, re.MULTILINE | re.DOTALL):
        public, _, private = body.partition("private:")
        for kind, name in re.findall(METHOD, public, re.MULTILINE):
            yield owner, name, "own_;" in private and not kind.startswith("static") and name != "get"


def is_called(name, program):
    return re.search(rf"(\.|->|::){name}\(", program) is not None


def problems(functions, header, exceptions, program):
    used = set(re.findall(r"\boif_\w+\b", re.sub(r"//.*", "", header)))
    for function in functions:
        if function not in used and not exceptions.get(function):
            yield f"oif.hpp does not call {function}; say why in docs/c.md"
        if function in used and function in exceptions:
            yield f"docs/c.md says that {function} has no method, but oif.hpp calls it"
    yield from (f"docs/c.md names {name}, which oif.h does not have" for name in exceptions if name not in functions)
    after_moves = program.partition("// ---- Objects that were moved from ----")[2]
    for owner, name, owns in sorted(set(methods(header))):
        if not is_called(name, program):
            yield f"wrapper.cpp does not call {owner}::{name}"
        elif owns and not is_called(name, after_moves):
            yield f"wrapper.cpp does not call {owner}::{name} after a move"


def main():
    checkout = Path(sys.argv[1])
    functions = declared((checkout / "include/oif.h").read_text())
    header = (checkout / "include/oif.hpp").read_text()
    exceptions = excepted((checkout / "docs/c.md").read_text())
    program = (checkout / "tests/package/wrapper.cpp").read_text()
    found = list(problems(functions, header, exceptions, program))
    if len(functions) < 100 or len(set(methods(header))) < 80:
        found.append("cpp_functions.py does not understand the headers any more")
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

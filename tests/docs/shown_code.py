#!/usr/bin/env python3
"""Checks that a block of code in a page is part of a program that is compiled or run.

    tests/docs/shown_code.py PAGE.md LANGUAGE PROGRAM [NUMBER]      NUMBER is that of the block, from 1, the default

The lines of the block must follow each other in the program; only their common indentation may differ.
"""

import re
import sys
import textwrap
from pathlib import Path


def shows_part_of(shown, program):
    count = len(shown.splitlines())
    lines = program.splitlines()
    parts = (textwrap.dedent("\n".join(lines[i : i + count])) for i in range(len(lines) - count + 1))
    return any(part == shown.rstrip("\n") for part in parts)


def main():
    page, language, program = sys.argv[1:4]
    number = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", Path(page).read_text(), re.DOTALL | re.MULTILINE)
    shown = blocks[number - 1]
    if shows_part_of(shown, Path(program).read_text()):
        return 0
    print(f"{page} shows code that is not in {program}; copy it from there:\n\n{shown}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks that the first job of docs/flink.md is the one that is compiled.

    tests/docs/java_example.py PAGE.md JOB.java

The first block of Java in the page must be the lines of the job's main.
"""

import re
import sys
import textwrap
from pathlib import Path


def main():
    page, job = (Path(path).read_text() for path in sys.argv[1:3])
    shown = re.search(r"^```java\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)[1]
    compiled = textwrap.dedent(re.search(r"void main\(.*?\{\n(.*?)^    \}$", job, re.DOTALL | re.MULTILINE)[1])
    if shown != compiled:
        print(f"{sys.argv[1]} does not show the main of {sys.argv[2]}, which is:\n\n{compiled}", file=sys.stderr)
    return shown != compiled


if __name__ == "__main__":
    sys.exit(main())

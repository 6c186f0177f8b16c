#!/usr/bin/env python3
"""Runs every example of the documentation and compares what it prints with what the page shows.

usage: run_examples.py [--update] PREFIX PAGE.md ...

PREFIX is where oif was installed. With --update a page shows afterwards what was printed, except where `...` stands
alone; look at the difference before you keep it. In a page,
  ```console          `$ command` lines are run by sh, one after another, in a folder of the page's own; the lines
                      after a command are its output (stdout and stderr). `...` alone stands for any lines, and within
                      a line for any text (for what differs from run to run: speeds, versions).
  ```c scorer.c       a block with a file name is written to that file first.
Other blocks are left alone.

In the folder, tools/ and examples/ are those of the checkout, and python3 the one that runs this. Ports from 18000 to 19999 that a page
names as 127.0.0.1:PORT are free ones in its commands, files and output, so two runs do not meet. Pages run beside each
other. After a failure, the end of each log file in the folder is printed. A command that takes 300 seconds fails, and
the page ends there: a server may not have started. A page with a line
  <!-- needs: COMMAND -->
is skipped when the command fails; the reason is the last line that the command prints. A line
  <!-- next needs: COMMAND -->
does the same for the next block alone. The end is a line for each reason, with how many examples it skipped, and of which
pages.
"""
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from free_port import free_port  # noqa: E402

FENCE = re.compile(r"^```(\S*)\s*(\S*)\s*$")
NEEDS = re.compile(r"^<!-- needs: (.*) -->$", re.MULTILINE)
NEXT_NEEDS = re.compile(r"^<!-- next needs: (.*) -->$")
PORT = re.compile(r"(?<=127\.0\.0\.1:)1[89]\d{3}\b")
CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def blocks(text):
    """Yields (language, file name, first line number, lines, the command that it needs) of each fenced block."""
    language = needs = None
    for number, line in enumerate(text.splitlines(), 1):
        fence, needed = FENCE.match(line), NEXT_NEEDS.match(line)
        if language is None and fence:
            language, name, start, lines = fence[1], fence[2], number + 1, []
        elif language is None and needed:
            needs = needed[1]
        elif language is not None and line.strip() == "```":
            yield language, name, start, lines, needs
            language = needs = None
        elif language is not None:
            lines.append(line)


def commands(start, lines):
    """Splits a console block into (line number, command, expected output lines)."""
    found = []
    for number, line in enumerate(lines, start):
        if line.startswith("$ "):
            found.append((number, line[2:], []))
        elif found and found[-1][1].endswith("\\"):
            found[-1] = (found[-1][0], found[-1][1] + "\n" + line, [])
        elif found:
            found[-1][2].append(line)
    return found


def pattern(expected):
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*")
        else:
            parts.append(".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n")
    return re.compile("".join(parts) + r"\Z")


def update_line(shown, printed):
    """The line to show: the old one if it still fits; cut off where the old one was."""
    if pattern([shown]).match(printed + "\n"):
        return shown
    return printed[: len(shown) - 3] + "..." if shown.endswith("...") else printed


def updated(expected, printed):
    """The lines to show for what was printed; None if `...` stands alone, or lines that differ each time moved."""
    elided = [line for line in expected if "..." in line]
    if any(line.strip() == "..." for line in expected) or (elided and len(expected) != len(printed)):
        return None
    return [update_line(*pair) for pair in zip(expected, printed)] if elided else printed


MOST_SECONDS = int(os.environ.get("OIF_EXAMPLE_SECONDS", 300))  # for a command of a page; the longest takes some ten
STOPPED = (124, 128 + 9)  # statuses of `timeout`


def environment(prefix):
    variables = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1", COLUMNS="80")
    folders = [os.path.join(prefix, "bin"), os.path.dirname(sys.executable), variables["PATH"]]
    variables["PATH"] = os.pathsep.join(folders)
    variables["PKG_CONFIG_PATH"] = os.path.join(prefix, "lib", "pkgconfig")
    variables["LD_LIBRARY_PATH"] = os.path.join(prefix, "lib")
    return variables


def run(command, folder, prefix):
    """A command that waits for ever, as for a server that does not start, fails instead."""
    bounded = ["timeout", "--kill-after=5", str(MOST_SECONDS), "sh", "-c", command]
    return subprocess.run(bounded, cwd=folder, env=environment(prefix), text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def missing(needed, folder, prefix):
    """Why what needs these commands cannot be run, or None."""
    for command in needed:
        result = run(command, folder, prefix)
        if result.returncode != 0:
            return (result.stdout.strip() or command).splitlines()[-1]
    return None


def show_instead(page, number, expected, shown):
    """Replaces the lines that follow a command, which begins at that line of the page."""
    lines = open(page, encoding="utf-8").read().split("\n")
    lines[number : number + len(expected)] = shown
    with open(page, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def free_ports(text):
    """A free port for each port that the page names; none of them twice."""
    return {port: str(free_port()) for port in set(PORT.findall(text))}


def exchange(text, ports):
    return re.sub(r"\b\d{4,5}\b", lambda found: ports.get(found[0], found[0]), text)


def ends_of_logs(folder):
    """The last lines of each log in the folder: why a server did not start."""
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "*log"))):
        with open(path, encoding="utf-8", errors="replace") as file:
            found += [f"--- {os.path.basename(path)}\n" + "".join(file.readlines()[-20:])]
    return "".join(found)


class Page:
    """Runs the blocks of a page in a folder, and counts."""

    def __init__(self, path, prefix, update):
        self.path, self.prefix, self.update = path, prefix, update
        self.text = open(path, encoding="utf-8").read()
        self.ports = free_ports(self.text)
        self.passed = self.failed = self.moved = 0
        self.skipped = Counter()  # by reason
        self.stuck = None  # why the rest of the page is not run
        self.said = []

    def run(self):
        # A server that a page has just stopped may still write its last file.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            for name in ("tools", "examples"):
                os.symlink(os.path.join(CHECKOUT, name), os.path.join(folder, name))
            reason = missing(NEEDS.findall(self.text), folder, self.prefix)
            for block in blocks(self.text):
                self.run_block(folder, reason, *block)
        return self

    def run_block(self, folder, reason, language, name, start, lines, needs):
        if name:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(exchange("\n".join(lines) + "\n", self.ports))
        if language != "console":
            return
        if reason is None and needs:
            reason = missing([needs], folder, self.prefix)
        for number, command, expected in commands(start, lines):
            reason = reason or self.stuck
            if reason is not None:
                self.skipped[reason] += 1
            else:
                self.run_command(folder, number, command, expected)

    def run_command(self, folder, number, command, expected):
        result = run(exchange(command, self.ports), folder, self.prefix)
        printed = exchange(result.stdout, {used: shown for shown, used in self.ports.items()})
        shown = updated(expected, printed.splitlines()) if self.update else None
        if result.returncode in STOPPED:
            self.stuck, shown = f"line {number} took more than {MOST_SECONDS} s", None
        if not self.stuck and pattern(expected).match(printed):
            self.passed += 1
        elif shown is not None:
            self.passed += 1
            show_instead(self.path, number + self.moved + command.count("\n"), expected, shown)
            self.moved += len(shown) - len(expected)
        else:
            self.failed += 1
            self.said.append(f"{self.path}:{number}: $ {command}\n--- shown\n" + "\n".join(expected) +
                             f"\n--- printed (exit {result.returncode})\n{printed}{ends_of_logs(folder)}")


def print_skipped(pages):
    for reason in sorted(set().union(*(page.skipped for page in pages))):
        skipped = [page for page in pages if page.skipped[reason]]
        count = sum(page.skipped[reason] for page in skipped)
        print(f"skipped: {count}, {reason} ({', '.join(page.path for page in skipped)})")


def main(prefix, paths, update):
    pages = [Page(path, os.path.abspath(prefix), update) for path in paths]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        for page in workers.map(Page.run, pages):
            for text in page.said:
                print(text, flush=True)
    print_skipped(pages)
    passed, failed = (sum(getattr(page, what) for page in pages) for what in ("passed", "failed"))
    skipped = sum(sum(page.skipped.values()) for page in pages)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return failed > 0 or passed == 0


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    if len(arguments) < 2:
        sys.exit(__doc__)
    sys.exit(main(arguments[0], arguments[1:], "--update" in sys.argv))

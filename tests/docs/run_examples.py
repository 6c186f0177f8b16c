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

In the folder, tools/ is that of the checkout, and python3 the one that runs this. A page with a line
  <!-- needs: COMMAND -->
is skipped when the command fails, and the reason is the last line that it prints. A line
  <!-- next needs: COMMAND -->
does the same for the next block alone.
"""
import os
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(\S*)\s*(\S*)\s*$")
NEEDS = re.compile(r"^<!-- needs: (.*) -->$", re.MULTILINE)
NEXT_NEEDS = re.compile(r"^<!-- next needs: (.*) -->$")
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


MOST_SECONDS = 300  # for a command of a page; the longest takes some ten


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


def run_blocks(page, text, folder, prefix, update):
    passed = failed = skipped = moved = 0
    for language, name, start, lines, needs in blocks(text):
        if name:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
        if language != "console":
            continue
        reason = missing([needs] if needs else [], folder, prefix)
        if reason is not None:
            print(f"{page}:{start}: skipped: {reason}")
            skipped += len(commands(start, lines))
            continue
        for number, command, expected in commands(start, lines):
            result = run(command, folder, prefix)
            shown = updated(expected, result.stdout.splitlines()) if update else None
            if pattern(expected).match(result.stdout):
                passed += 1
            elif shown is not None:
                passed += 1
                show_instead(page, number + moved + command.count("\n"), expected, shown)
                moved += len(shown) - len(expected)
            else:
                failed += 1
                print(f"{page}:{number}: $ {command}\n--- shown\n" + "\n".join(expected) +
                      f"\n--- printed (exit {result.returncode})\n{result.stdout}")
    return passed, failed, skipped


def run_page(page, prefix, update):
    """How many commands passed, failed and were skipped."""
    text = open(page, encoding="utf-8").read()
    # A server that a page has just stopped may still write its last file.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.symlink(os.path.join(CHECKOUT, "tools"), os.path.join(folder, "tools"))
        reason = missing(NEEDS.findall(text), folder, prefix)
        if reason is None:
            return run_blocks(page, text, folder, prefix, update)
    print(f"{page}: skipped: {reason}")
    return 0, 0, sum(len(commands(start, lines)) for language, _, start, lines, _ in blocks(text) if language == "console")


def main(prefix, pages, update):
    passed, failed, skipped = map(sum, zip(*(run_page(page, os.path.abspath(prefix), update) for page in pages)))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return failed > 0 or passed == 0


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    if len(arguments) < 2:
        sys.exit(__doc__)
    sys.exit(main(arguments[0], arguments[1:], "--update" in sys.argv))

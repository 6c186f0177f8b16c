#!/usr/bin/env python3
"""Compares the tables of fields in docs/snapshot-format.md with what detectors and models tell.

usage: snapshot_fields.py LIST_FIELDS PAGE.md [--accept]

LIST_FIELDS is the program made from tests/snapshot/list_fields.c. The table of each follows the heading "### `NAME`";
--accept writes it anew and keeps the last column, where words for new fields are then still missing.
"""
import re
import subprocess
import sys
from collections import Counter

HEAD = ["| field | type | count | what it is |", "| --- | --- | --- | --- |"]
LONGEST_GROUP = 48


def fields_of_detectors(program):
    """{detector: [(name, type, count), ...]} in the order of the file."""
    told = {}
    for line in subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines():
        detector, *field = line.split()
        told.setdefault(detector, []).append(tuple(field))
    return told


def fold(items, length):
    """Puts what is there several times in a row, `length` items at a time, into (times, items)."""
    folded, at = [], 0
    while at < len(items):
        group, times = items[at:at + length], 1
        while items[at + times * length:at + (times + 1) * length] == group:
            times += 1
        # Two fields of one name may follow each other by chance: rows_learned of any detector and of rrcf.
        if len(group) == length and times > (2 if length == 1 else 1):
            folded.append((times, tuple(group)))
            at += times * length
        else:
            folded.append(items[at])
            at += 1
    return folded


def fold_all(items):
    """The shortest groups first: the nodes of a tree before the trees."""
    for length in range(1, LONGEST_GROUP):
        folded = fold(items, length)
        if folded != items:
            return fold_all(folded)
    return items


def rows(items, indent=""):
    """(first column, type, count) of each row of a table."""
    for item in items:
        if isinstance(item[0], int):
            yield f"{indent}{item[0]} times:", "", ""
            yield from rows(item[1], indent + ". ")
        else:
            yield f"{indent}`{item[0]}`", item[1], item[2]


def table_of(items, words):
    """The lines of a table; `words` has those of the last column, by the first one without its numbers."""
    seen, lines = Counter(), list(HEAD)
    for first, kind, count in rows(items):
        key = re.sub(r"\d+ times", "times", first)
        seen[key] += 1
        lines.append(f"| {first} | {kind} | {count} | {words.get((key, seen[key]), '')} |")
    return lines


def words_of(lines):
    seen, words = Counter(), {}
    for line in lines[2:]:
        first, _, _, text = [cell.strip() for cell in line.strip().strip("|").split("|", 3)]
        key = re.sub(r"\d+ times", "times", first)
        seen[key] += 1
        words[key, seen[key]] = text
    return words


def find_table(page, detector):
    """Where the table of a detector starts and ends."""
    start = page.index(f"### `{detector}`") + 1
    while start < len(page) and not page[start].startswith(("|", "#")):
        start += 1
    end = start
    while end < len(page) and page[end].startswith("|"):
        end += 1
    return start, end


def main(program, path, accept):
    page, wrong = open(path, encoding="utf-8").read().splitlines(), 0
    for detector, fields in fields_of_detectors(program).items():
        start, end = find_table(page, detector)
        table = table_of(fold_all(fields), words_of(page[start:end]))
        silent = [line for line in table if line.endswith("|  |")]
        if accept:
            page[start:end] = table
        elif page[start:end] != table or silent:
            wrong += 1
            shown, told = page[start:end], table
            print(f"{path}: the table of {detector} does not say what the code tells; run with --accept")
            print("\n".join([f"- {line}" for line in shown if line not in told] +
                            [f"+ {line}" for line in told if line not in shown] +
                            [f"no words: {line}" for line in silent]))
    if accept:
        open(path, "w", encoding="utf-8").write("\n".join(page) + "\n")
    print(f"{wrong} tables are wrong")
    return wrong > 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2], "--accept" in sys.argv))

#!/usr/bin/env python3
"""Prints a C program with the examples in the comments of oif.h, for a compiler to check.

usage: header_examples.py OIF.H > examples.c

An example is what is indented by four blanks in a comment, after an empty line, and has a statement. Each becomes a function; what it does not
declare itself is declared before.
"""
import re
import sys

BEFORE = """#include "oif.h"
#include <stdio.h>
#include <string.h>
extern oif_pipeline *pipeline;
extern oif_result result;
extern oif_episode_info episode;
extern oif_attribution attributions[2];
extern const char *host, *key;
extern size_t bytes;
extern double row[2], long_ago, now;
extern uint64_t number;
extern oif_incidents *incidents;
extern oif_incident_place place;
void notify_begin(uint64_t incident);
void notify_end(uint64_t incident);
int next_row(const char *host, double *row);
"""


def examples(text):
    for comment in re.findall(r"/\*.*?\*/", text, re.S):
        lines = [line[3:] if line.startswith(" * ") else "" for line in comment.splitlines()]
        block, is_after_empty = [], False
        for line in lines + ["end"]:
            if (line.startswith("    ") and (block or is_after_empty)) or (block and not line):
                block.append(line)
            elif block:
                if any(line.endswith(";") for line in block):
                    yield "\n".join(block).rstrip()
                block = []
            is_after_empty = not line


def main():
    found = list(examples(open(sys.argv[1], encoding="utf-8").read()))
    if len(found) < 4:
        sys.exit(f"{sys.argv[1]} has only {len(found)} examples")
    print(BEFORE)
    for number, example in enumerate(found):
        print(f"int example_{number}(void);\nint example_{number}(void)\n{{\n{example}\n    return 0;\n}}\n")


main()

#!/usr/bin/env python3
"""Applies the diff of docs/tour.md to a copy of the sources and uses the detector that it adds.

    tests/docs/try_tour.py LIBOIF.a     the library without it; $CC compiles (cc if not set)

The new list of detectors is linked before the library, so only two files are compiled.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
PROGRAM = r"""
#include "oif.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(condition) \
    do { if (!(condition)) { printf("%s: %s\n", #condition, error.message); return 1; } } while (0)

int main(void)
{
    oif_error error = {0};
    oif_params params;
    oif_detector *detector = NULL, *copy = NULL;
    double score = 0, same = 0, extreme[2] = {0, 50}, usual[2] = {0, 0};
    REQUIRE(oif_params_init(&params, "zscore", &error) == OIF_OK);
    REQUIRE(oif_detector_new(&params, 2, &detector, &error) == OIF_OK);
    for (int i = 0; i < 1000; i++) {
        double row[2] = {i % 7, i % 11 ? i % 5 : NAN};
        REQUIRE(oif_detector_learn(detector, row, &error) == OIF_OK);
    }
    REQUIRE(oif_detector_ready(detector));
    REQUIRE(oif_detector_check(detector, &error) == OIF_OK);
    REQUIRE(oif_detector_score(detector, usual, &score, &error) == OIF_OK && score < 10);
    REQUIRE(oif_detector_score(detector, extreme, &score, &error) == OIF_OK && score > 500);

    size_t bytes = oif_detector_snapshot_bytes(detector);
    void *memory = malloc(bytes);
    REQUIRE(memory && oif_detector_save_memory(detector, memory, bytes, &error) == OIF_OK);
    REQUIRE(oif_detector_load_memory(memory, bytes, &copy, &error) == OIF_OK);
    REQUIRE(oif_detector_score(copy, extreme, &same, &error) == OIF_OK && same == score);
    free(memory);
    oif_detector_free(detector);
    oif_detector_free(copy);
    return 0;
}
"""


def diff_of_page():
    page = (CHECKOUT / "docs" / "tour.md").read_text(encoding="utf-8")
    return re.search(r"^```diff\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1]


def main(library):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(CHECKOUT / "src", f"{folder}/src")
        shutil.copyfile(CHECKOUT / "CMakeLists.txt", f"{folder}/CMakeLists.txt")
        # A folder within a checkout would be taken for a part of it.
        surroundings = dict(os.environ, GIT_CEILING_DIRECTORIES=str(Path(folder).parent))
        subprocess.run(["git", "apply", "-"], input=diff_of_page(), text=True, cwd=folder, check=True, env=surroundings)
        Path(folder, "main.c").write_text(PROGRAM, encoding="utf-8")
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", "-Isrc",
                        f"-I{CHECKOUT}/include", "main.c", "src/detect/zscore/zscore.c", "src/detect/kinds.c",
                        os.path.abspath(library), "-lm", "-lpthread", "-o", "tour"], cwd=folder, check=True)
        subprocess.run(["./tour"], cwd=folder, check=True)
    print("the toy of docs/tour.md works")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

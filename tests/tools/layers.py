#!/usr/bin/env python3
"""tools/check/check_includes.py and check_layers.sh complain about each kind of wrong arrow, in a checkout of a few files.

    tests/tools/layers.py
"""

import os
import subprocess
import unittest
from pathlib import Path

from folder import Folder

CHECKOUT = Path(__file__).resolve().parents[2]
CC = os.environ.get("CC", "cc")
GOOD = {
    "include/oif.h": "",
    "src/base/error.h": '#include "oif.h"\n',
    "front/text/output.h": '#include "oif.h"\n',
    "front/text/cut.h": "",
    "front/input/first_rows.c": '#include "front/text/output.h"\n',
    "front/results/row_writer.h": '#include "front/text/output.h"\n',
    "cli/draw/chart.h": '#include "front/text/output.h"\n',
    "cli/score/score.c": '#include "cli/draw/chart.h"\n#include "front/results/row_writer.h"\n',
    "serve/base/problem.h": '#include "front/text/cut.h"\n',
    "serve/api/routes.c": '#include "serve/base/problem.h"\n',
}


class Includes(Folder):
    def setUp(self):
        super().setUp()
        for name, text in GOOD.items():
            self.write(name, text)

    def check(self):
        tool = CHECKOUT / "tools/check/check_includes.py"
        return subprocess.run(["python3", tool, self.folder], capture_output=True, text=True)

    def refuses(self, name, text, complaint):
        self.write(name, text)
        result = self.check()
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout.strip(), complaint)

    def test_arrows_down_are_allowed(self):
        result = self.check()
        self.assertEqual((result.returncode, result.stdout), (0, "10 files include only what they may\n"))

    def test_front_includes_no_program(self):
        self.refuses("front/text/cut.c", '#include "cli/draw/chart.h"\n', "front/text/cut.c:1: front/text must not include cli/draw/chart.h")

    def test_front_does_not_include_the_service(self):
        self.refuses("front/results/late.c", '\n#include "../../serve/base/problem.h"\n',
                     "front/results/late.c:2: front/results must not include serve/base/problem.h")

    def test_the_service_does_not_include_the_program(self):
        self.refuses("serve/api/pages.c", '#include "cli/draw/chart.h"\n', "serve/api/pages.c:1: serve/api must not include cli/draw/chart.h")

    def test_the_program_does_not_include_the_service(self):
        self.refuses("cli/score/late.c", '#include "serve/base/problem.h"\n',
                     "cli/score/late.c:1: cli/score must not include serve/base/problem.h")

    def test_no_folder_includes_one_that_comes_after_it(self):
        for part, low, high in (("front", "text", "results/row_writer.h"), ("cli", "draw", "score/score.h"), ("serve", "base", "api/api.h"),
                                ("src/pipeline", "model", "keys/keys.h"), ("src/pipeline", "keys", "pipeline.h")):
            with self.subTest(part=part):
                self.write(f"{part}/{high}", "")
                name = f"{part}/{low}/back.c"
                self.refuses(name, f'#include "{part}/{high}"\n', f"{name}:1: {part}/{low} must not include {part}/{high}")
                (self.folder / name).unlink()

    def test_programs_and_front_see_only_the_public_headers(self):
        for name in ("front/text/inside.c", "cli/score/inside.c", "serve/api/inside.c"):
            with self.subTest(name=name):
                self.refuses(name, '#include "base/error.h"\n', f"{name}:1: {name.rpartition('/')[0]} must not include src/base/error.h")
                (self.folder / name).unlink()

    def test_a_file_outside_the_folders_has_no_rules(self):
        for name in ("cli/main.c", "front/elsewhere/advice.c"):
            with self.subTest(name=name):
                part = "/".join(name.split("/")[:2])
                self.refuses(name, "", f"{name}: {part}/ has no rules; add it to tools/check/check_includes.py")
                (self.folder / name).unlink()

    def test_a_folder_has_at_most_40_files(self):
        for i in range(40):
            self.write(f"tools/check/check_{i}.sh", "")
        self.assertEqual(self.check().returncode, 0)
        self.refuses("tools/check/one_more.sh", "", "tools/check: 41 files; divide a folder of more than 40")


class Symbols(Folder):
    """Archives of one object each."""

    def archive(self, name, code):
        source = self.write(f"{name}.c", code)
        subprocess.run([CC, "-c", source, "-o", self.folder / f"{name}.o"], check=True)
        subprocess.run(["ar", "rcs", self.folder / f"lib{name}.a", self.folder / f"{name}.o"], check=True)
        return self.folder / f"lib{name}.a"

    def check(self, front="int absent(void);\n", cli="", serve=""):
        archives = [self.archive("front", front + "int output(void) { return absent(); }"),
                    self.archive("cli", cli + "int output(void);\nint score(void) { return output(); }\nint main(void) { return 0; }"),
                    self.archive("serve", serve + "int output(void);\nint serve(void) { return output(); }\nint main(void) { return 0; }")]
        return subprocess.run([CHECKOUT / "tools/check/check_layers.sh", *archives], capture_output=True, text=True)

    def test_programs_need_front_alone(self):
        result = self.check()
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def refuses(self, complaint, **code):
        result = self.check(**code)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, complaint)

    def test_the_service_needs_no_symbol_of_the_program(self):
        self.refuses("libserve.a must not need what libcli.a defines:\n    score\n",
                     serve="int score(void);\nint answer(void) { return score(); }\n")

    def test_the_program_needs_no_symbol_of_the_service(self):
        self.refuses("libcli.a must not need what libserve.a defines:\n    serve\n",
                     cli="int serve(void);\nint start(void) { return serve(); }\n")

    def test_front_needs_no_symbol_of_a_program(self):
        self.refuses("libfront.a must not need what libcli.a defines:\n    score\n",
                     front="int absent(void);\nint score(void);\nint cut(void) { return score(); }\n")


if __name__ == "__main__":
    unittest.main()

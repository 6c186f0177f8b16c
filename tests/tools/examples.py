#!/usr/bin/env python3
"""tests/docs/run_examples.py says why it skips an example, waits for no server for ever, and gives no port twice.

    tests/tools/examples.py
"""

import os
import subprocess
import sys
import unittest
from pathlib import Path

from folder import Folder

TESTS = Path(__file__).resolve().parents[1]
PAGE = """{first}

```console
$ echo a
a
$ echo b
b
```
{second}
```console
$ echo c
c
```
"""


class Examples(Folder):
    def run_page(self, first="", second=""):
        return self.run_text(PAGE.format(first=first, second=second))

    def run_text(self, text, seconds="300"):
        self.write("page.md", text)
        done = subprocess.run([sys.executable, TESTS / "docs" / "run_examples.py", self.folder, "page.md"],
                              cwd=self.folder, text=True, capture_output=True, timeout=300,
                              env=dict(os.environ, OIF_EXAMPLE_SECONDS=seconds))
        return done.returncode, done.stdout.splitlines()

    def test_an_example_that_is_run_says_nothing(self):
        self.assertEqual(self.run_page(), (0, ["3 passed, 0 failed"]))

    def test_a_page_that_lacks_something_says_what_once(self):
        status, said = self.run_page(first="<!-- needs: echo no curl; exit 1 -->")
        self.assertEqual(said, ["skipped: 3, no curl (page.md)", "0 passed, 0 failed, 3 skipped"])
        self.assertEqual(status, 1, "a run of nothing is not a success")

    def test_a_block_that_lacks_something_says_what_and_the_others_run(self):
        said = self.run_page(second="<!-- next needs: test -e nothing -->")
        self.assertEqual(said, (0, ["skipped: 1, test -e nothing (page.md)", "2 passed, 0 failed, 1 skipped"]))

    def test_a_service_that_cannot_start_fails_its_page_with_its_log(self):
        status, said = self.run_text("```console\n$ echo 'the port is in use' > serve.log\n"
                                     "$ until grep -q listening serve.log; do sleep 0.1; done\n$ echo a\na\n```\n", "2")
        self.assertEqual(status, 1)
        said = [line for line in said if line]
        self.assertEqual(said[0], "page.md:3: $ until grep -q listening serve.log; do sleep 0.1; done")
        self.assertEqual(said[-5:], ["--- printed (exit 124)", "--- serve.log", "the port is in use",
                                     "skipped: 1, line 3 took more than 2 s (page.md)", "1 passed, 1 failed, 1 skipped"])

    def test_the_ports_of_a_page_are_free_ones(self):
        said = self.run_text("```console\n$ echo 127.0.0.1:18999 | awk -F: '{ print $0, $2 == 10000 + 8999 }'\n127.0.0.1:18999 0\n```\n")
        self.assertEqual(said, (0, ["1 passed, 0 failed"]))


class Ports(unittest.TestCase):
    def test_a_port_is_given_to_one_process_only(self):
        # Both would take the same ports in the same order.
        program = "import sys; sys.path.append(sys.argv[1]); import free_port as f; f.PORTS = iter(range(20000, 30000)); print(f.free_port(), flush=True)"
        first = subprocess.Popen([sys.executable, "-c", program + "; input()", TESTS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            mine = first.stdout.readline()
            yours = subprocess.run([sys.executable, "-c", program, TESTS], stdout=subprocess.PIPE, text=True, timeout=300).stdout
        finally:
            first.communicate("\n", timeout=300)
        self.assertTrue(mine.strip() and yours.strip())
        self.assertNotEqual(mine, yours)


if __name__ == "__main__":
    unittest.main()

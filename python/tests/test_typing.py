"""The package is typed, and its stubs are true."""

import os
import subprocess
import sys

import pytest
from conftest import CHECKOUT

import oif

pytest.importorskip("mypy")
PACKAGE = CHECKOUT / "python" / "oif"


def run(*command, folder):
    path = os.path.dirname(os.path.dirname(oif.__file__))
    paths = {} if "site-packages" in path else {"MYPYPATH": path, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, env={**os.environ, **paths}
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_satisfies_mypy_strict(tmp_path):
    run("mypy", "--strict", "--cache-dir", str(tmp_path), "--config-file", str(CHECKOUT / "pyproject.toml"), "oif",
        folder=CHECKOUT / "python")  # fmt: skip


def test_the_stub_describes_the_extension(tmp_path):
    run("mypy.stubtest", "oif._core", folder=tmp_path)


def test_a_users_program_is_checked(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        "import oif\n"
        "forest = oif.OnlineIsolationForest(num_trees=8, variant='paper')\n"
        "forest.learn(np.zeros((3, 2)))\n"
        "forest.learn_one({'a': 1.0, 'b': None})\n"
        "score: float = forest.score_one([1.0, 2.0])\n"
        "result: oif.Result = oif.Pipeline(oif.Loda, alert_rate=0.01).process_one([1.0])\n"
        "print(score, result.anomaly, forest.params['seed'])\n"
    )
    run("mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program), folder=tmp_path)

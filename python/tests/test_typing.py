"""The package is typed, and its stubs are true."""

import doctest
import os
import re
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


@pytest.fixture
def tutorial(tmp_path):
    """The code of docs/python.md as one program."""
    text = (CHECKOUT / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    examples = [example for block in blocks for example in doctest.DocTestParser().get_examples(block)]
    program = tmp_path / "tutorial.py"
    program.write_text("".join(example.source for example in examples))
    return program


def test_the_tutorial_satisfies_mypy(tutorial, tmp_path):
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\nignore_missing_imports = True\nallow_redefinition = True\n")
    run("mypy", "--cache-dir", str(tmp_path / "cache"), "--config-file", str(settings), str(tutorial), folder=tmp_path)


def test_the_tutorial_satisfies_pyright(tutorial, tmp_path):
    pytest.importorskip("pyright")
    run("pyright", "--level", "error", "--pythonpath", sys.executable, str(tutorial), folder=tmp_path)


def test_the_package_satisfies_mypy_strict(tmp_path):
    run("mypy", "--strict", "--cache-dir", str(tmp_path), "--config-file", str(CHECKOUT / "pyproject.toml"), "oif",
        folder=CHECKOUT / "python")  # fmt: skip


def test_the_stub_describes_the_extension(tmp_path):
    run("mypy.stubtest", "oif._core", folder=tmp_path)


PRECISE = """
import numpy as np
import numpy.typing as npt
import pandas
import polars
import pyarrow
import oif
import oif.plot

rows = np.zeros((30, 2))
frame = pandas.DataFrame({"a": rows[:, 0]})
records: npt.NDArray[np.void] = oif.Pipeline().process(rows)
also: npt.NDArray[np.void] = oif.Loda().process(rows.tolist(), alert_rate=0.01)
like: pandas.DataFrame = oif.Pipeline().process(frame)
same: pandas.DataFrame = oif.Loda().process(frame, explain=True)
other: polars.DataFrame = oif.Pipeline().process(polars.DataFrame({"a": [1.0]}))
table: pandas.DataFrame = oif.Pipeline().process(rows, output="pandas")
plain: npt.NDArray[np.void] = oif.Pipeline().process(frame, output="array")
one: np.void = oif.Pipeline().process({"a": 1.0})
axes: npt.NDArray[np.object_] = oif.plot.data(rows, records)
forest = oif.RollingIsolationForest(threads=2, ignore_unknown=True)
missing: bool = oif.Pipeline(ignore_unknown=True).process_one([1.0]).has_no_model
held: list[int] = [rule.held for rule in oif.Pipeline(rules=["mute reason=stuck"], min_change={"a": "20%"}).rules]
ranges: list[tuple[float, float]] = [(one.low, one.high) for one in oif.Pipeline(only_high="a").expected()]
strengths: list[float] = [season.strength for season in oif.Pipeline(season="auto", find_season=True, motion=True).season("a")]
motion: str = oif.Pipeline(motion="auto").motion
roles = oif.Pipeline(key="pump", time="at", keep_episodes=True)
north: oif.Result = roles.process_one({"pump": "north", "at": "2026-11-17T22:00:00Z", "flow": 60})
marks: list[str | None] = [one.mark for one in roles.past_episodes()]
would: tuple[bool, ...] = oif.Pipeline().try_rule("mute reason=stuck").is_held
texts: list[str] = [one.rule for one in roles.proposals()]
"""
WRONG = """
import numpy as np
import oif

oif.Pipeline().process(np.zeros((3, 2))).no_such_attribute
oif.Pipeline().process(np.zeros((3, 2)), output="polarss")
"""


@pytest.fixture
def settings(tmp_path):
    """A user's: pandas and others have types, or else theirs are not known."""
    path = tmp_path / "mypy.ini"
    path.write_text("[mypy]\nstrict = True\nignore_missing_imports = True\ncache_dir = cache\n")
    return str(path)


def test_the_types_of_results_are_precise(tmp_path, settings):
    pytest.importorskip("pandas")
    pytest.importorskip("pyright")
    program = tmp_path / "precise.py"
    program.write_text(PRECISE)
    run("mypy", "--config-file", settings, str(program), folder=tmp_path)
    run("pyright", "--level", "error", "--pythonpath", sys.executable, str(program), folder=tmp_path)


def test_what_results_do_not_have_is_an_error(tmp_path, settings):
    program = tmp_path / "wrong.py"
    program.write_text(WRONG)
    with pytest.raises(AssertionError, match=r"(?s)wrong.py:5.*no_such_attribute.*wrong.py:6"):
        run("mypy", "--config-file", settings, str(program), folder=tmp_path)


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

"""The package is typed, and its stubs are true."""

import os
import subprocess
import sys

import pytest
from conftest import CHECKOUT

import oif

pytest.importorskip("mypy")
PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("python*.md")), *sorted((CHECKOUT / "docs" / "manual").glob("*.md"))]


PRECISE = """\
# mypy: warn-unused-ignores
import numpy as np
import numpy.typing as npt
import pandas
import polars
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
strengths: list[float] = [season.strength for season in oif.Pipeline(season="auto", find_season=True, moves=True).season("a")]
moves: str = oif.Pipeline(moves="on").moves
roles = oif.Pipeline(key="pump", time="at", keep_episodes=True)
north: oif.Result = roles.process_one({"pump": "north", "at": "2026-11-17T22:00:00Z", "flow": 60})
texts: list[str | None] = [roles.propose(one.number, one.key) for one in roles.past_episodes()]
forest.learn_one({"a": 1.0, "b": None})
score: float = forest.score_one([1.0, 2.0])
seed: int = oif.OnlineIsolationForest(num_trees=8, variant="paper").params["seed"]
alert: oif.Result = oif.Pipeline(oif.Loda, alert_rate=0.01).process_one([1.0])

# What must be an error: an ignored one that does not occur is reported.
oif.Pipeline().process(rows).no_such_attribute  # type: ignore[attr-defined]
oif.Pipeline().process(rows, output="polarss")  # type: ignore[call-overload]
oif.OnlineIsolationForest(variant="papers")  # type: ignore[arg-type]
oif.Loda(num_trees=8)  # type: ignore[call-arg]
"""


def test_documents_and_package_satisfy_mypy_and_pyright_strict(tmp_path):
    for package in ("pandas", "polars", "pyright"):
        pytest.importorskip(package)
    (tmp_path / "precise.py").write_text(PRECISE)
    tool = CHECKOUT / "tests" / "docs" / "check_types.py"
    done = subprocess.run([sys.executable, tool, tmp_path, *PAGES], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    checked = {path.name for path in tmp_path.glob("*.py")}
    assert checked >= {"page_README.py", "page_python.py", "page_python_api.py", "page_state_train.py"}
    assert os.path.exists(os.path.join(os.path.dirname(oif.__file__), "py.typed"))


def test_the_stub_describes_the_extension(tmp_path):
    path = os.path.dirname(os.path.dirname(oif.__file__))
    paths = {} if "site-packages" in path else {"MYPYPATH": path, "PYTHONPATH": path}
    command = [sys.executable, "-m", "mypy.stubtest", "oif._core"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, **paths})
    assert done.returncode == 0, done.stdout + done.stderr

"""What a newcomer does first: help, dir, tab, a wrong attribute, a missing package, a missing file."""

import errno
import json
import os
import pydoc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import CHECKOUT, DETECTORS

import oif
from oif import _core, _hosts


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Runs code in a Python that has oif and NumPy, and no other package."""
    folder = tmp_path_factory.mktemp("bare")
    for path in [Path(oif.__file__).parent, *Path(np.__file__).parents[1].glob("numpy*")]:
        (folder / path.name).symlink_to(path)

    def run(code):
        command = [sys.executable, "-S", "-c", code]
        environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    return run


def test_help_without_any_other_package(bare):
    done = bare("import oif, pydoc; pydoc.help(oif)")
    assert done.returncode == 0 and "Score anomalies on a stream" in done.stdout, done.stderr
    assert "No module named" not in done.stdout and len(done.stdout.splitlines()) > 100
    done = bare("import inspect, oif; print(len(inspect.getmembers(oif)), hasattr(oif, 'plot'), 'plot' in dir(oif))")
    assert done.returncode == 0 and done.stdout.split()[1:] == ["False", "False"], done.stderr


@pytest.mark.parametrize("module", sorted(_hosts.HOSTS))
def test_a_missing_package_is_named_with_the_command_that_brings_it(bare, module):
    for code in (f"import oif.{module}", f"from oif import {module}"):
        done = bare(code)
        last = done.stderr.splitlines()[-1]
        assert last.startswith("ModuleNotFoundError") and "pip install" in last and "online-iforest[" in last
    done = bare(f"import oif; oif.{module}")
    assert "AttributeError" in done.stderr.splitlines()[-1] and "pip install" in done.stderr.splitlines()[-1]


def test_dir_has_what_is_public_and_nothing_else():
    names = {name for name in dir(oif) if not name.startswith("__")}
    assert names - set(_hosts.HOSTS) == {name for name in oif.__all__ if not name.startswith("__")}
    assert {"plot", "sklearn"} <= names
    assert pydoc.render_doc(oif)


def test_every_extra_is_a_module_and_every_module_an_extra():
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    assert set(project["optional-dependencies"]) == set(_hosts.HOSTS)
    assert project["name"] == "online-iforest" and project["license"] == "MIT" and project["keywords"]
    for module, (_, distribution) in _hosts.HOSTS.items():
        (requirement,) = project["optional-dependencies"][module]
        assert requirement.startswith(distribution)


# ---- Attributes ----


@pytest.mark.parametrize("cls", DETECTORS, ids=lambda cls: cls.__name__)
def test_parameters_are_attributes_that_cannot_be_set(cls):
    detector = cls(seed=4)
    for name, value in detector.params.items():
        assert getattr(detector, name) == value and type(getattr(detector, name)) is getattr(cls, name).kind
        with pytest.raises(AttributeError, match=f"{name} cannot be changed; make a new one"):
            setattr(detector, name, value)
    with pytest.raises(TypeError):
        detector.params["seed"] = 5
    assert detector.seed == 4


def test_options_are_attributes_and_some_can_be_set(rows):
    pipeline = oif.Pipeline(alert_rate=0.01)
    for _ in range(2):
        own = [name for name in pipeline.options if hasattr(oif.Pipeline, name)]
        assert {"alert_rate", "learn", "shingle", "max_keys"} <= set(own)
        assert all(getattr(pipeline, name) == pipeline.options[name] for name in own)
        with pytest.raises(TypeError):
            pipeline.options["alert_rate"] = 0.5
        pipeline.process(rows)
    pipeline.alert_rate = 0.002
    assert pipeline.options["alert_rate"] == 0.002
    with pytest.raises(oif.ParameterError, match="shingle"):
        pipeline.shingle = 3
    assert set(pipeline.options) == {param["name"] for param in _core.pipeline_info()["params"]}


# ---- Words, names, keys ----


def test_words_are_checked(rows):
    for made in (oif.Pipeline(), oif.Loda()):
        with pytest.raises(oif.ParameterError, match="explain is True, False or 'anomalies', not 'anomaly'"):
            made.process(rows, explain="anomaly")
        with pytest.raises(oif.ParameterError, match="output is .*, not 'polarss'"):
            made.process(rows, output="polarss")
    with pytest.raises(TypeError):
        oif.Loda().process(rows, 0.01)
    with pytest.raises(oif.DataError, match="a key for each row"):
        oif.Pipeline().process(rows, 0.01)
    with pytest.raises(TypeError, match="seed must be a number, not None"):
        oif.Loda(seed=None)


def test_names_of_columns_differ():
    forest = oif.Loda()
    with pytest.raises(oif.DataError, match="same name"):
        forest.column_names = ["a", "a"]
    assert forest.column_names is None


def test_keys_are_the_same_in_process_and_process_one(rows):
    pipeline = oif.Pipeline(oif.Loda())
    pipeline.process(rows[:2], keys=[1, 2])
    pipeline.process_one(rows[2], key=1)
    pipeline.process_one(rows[3], key=np.int64(2))
    pipeline.process_one(rows[4], key="2")
    assert pipeline.keys == 2
    for missing in (None, float("nan"), np.datetime64("NaT")):
        with pytest.raises(oif.DataError, match="the key of row 1 is missing") as caught:
            pipeline.process(rows[:2], keys=["a", missing])
        assert caught.value.row == 1
    with pytest.raises(oif.DataError, match="a key for each of the 2 rows"):
        pipeline.process(rows[:2], keys=["a"])
    assert pipeline.rows == 5


# ---- Files ----


def test_files_that_are_not_there(tmp_path, rows):
    forest = oif.Loda()
    forest.learn(rows)
    missing = tmp_path / "no" / "forest.oif"
    for call in (lambda: oif.load(missing), lambda: forest.save(missing)):
        with pytest.raises(FileNotFoundError) as caught:
            call()
        error = caught.value
        assert isinstance(error, oif.FileError) and (error.errno, error.filename) == (errno.ENOENT, str(missing))
        assert error.cause == "system"
        assert ": No such file or directory" in str(error) and type(error).__name__ == "FileError"
    with pytest.raises(oif.FileError) as caught:
        oif.load(tmp_path)
    assert caught.value.errno == errno.EISDIR


def test_rows_of_different_lengths_are_named():
    with pytest.raises(oif.DataError, match="row 2 has 1 numbers, row 0 has 2") as caught:
        oif.Loda().learn([[1, 2], [3, 4], [5]])
    assert caught.value.row == 2


# ---- Causes ----


def cause_of(call):
    with pytest.raises(oif.Error) as caught:
        call()
    return caught.value.cause


def test_errors_have_a_cause_to_decide_by(rows):
    loda = oif.Loda()
    loda.learn(rows)
    named = oif.Loda()
    named.learn_one({"flow": 60, "heat": 4})
    pipeline = oif.Pipeline(oif.Loda())
    pipeline.process_one(rows[0], key="a")
    columns = len(rows[0])
    assert cause_of(lambda: loda.learn_one([float("inf")] * columns)) == "infinite_value"
    assert cause_of(lambda: loda.learn(np.full((3, columns), np.inf))) == "infinite_value"
    assert cause_of(lambda: loda.learn_one([1.0] * (columns - 1))) == "too_few_fields"
    assert cause_of(lambda: loda.learn(np.ones((2, columns + 1)))) == "too_many_fields"
    assert cause_of(lambda: loda.learn([[1, 2], [3, 4], [5]])) == "too_few_fields"
    assert cause_of(lambda: named.learn_one({"flow": "high", "heat": 4})) == "not_a_number"
    assert cause_of(lambda: named.learn_one({"flow": 60, "speed": 4})) == "unknown_column"
    assert cause_of(lambda: pipeline.detector("b")) == "unknown_key"
    assert cause_of(lambda: pipeline.process_one(rows[0], key="a" * 100_000)) == "key_too_long"
    assert cause_of(lambda: pipeline.process_one(rows[0], key="a", time="yesterday")) == "not_a_time"
    assert cause_of(lambda: oif.Loda(num_projections=0).learn(rows)) == "parameter_range"
    assert cause_of(lambda: loda.learn(np.ones((2, 2, 2)))) is None


def test_errors_of_snapshots_have_a_cause(rows):
    forest, pipeline = oif.Loda(), oif.Pipeline(oif.Loda())
    forest.learn(rows)
    pipeline.process(rows)
    snapshot = forest.to_bytes()
    damaged = bytearray(snapshot)
    damaged[len(damaged) // 2] ^= 1
    assert cause_of(lambda: oif.load(b"this is not a snapshot")) == "not_a_snapshot"
    assert cause_of(lambda: oif.load(snapshot[:-1])) == "truncated_snapshot"
    assert cause_of(lambda: oif.load(bytes(damaged))) == "wrong_checksum"
    assert cause_of(lambda: oif.Pipeline.load(snapshot)) == "detector_snapshot"
    assert cause_of(lambda: oif.Loda.load(pipeline.to_bytes())) == "pipeline_snapshot"


def test_a_state_file_in_use_has_a_cause(tmp_path):
    path = tmp_path / "state.oif"
    with oif.Pipeline.open(path, oif.Loda()):
        assert cause_of(lambda: oif.Pipeline.open(path, oif.Loda())) == "file_in_use"


# ---- JSON ----


def test_results_are_json(rows):
    pipeline = oif.Pipeline(shingle=3)
    first = pipeline.process_one(rows[0])
    record = json.loads(json.dumps(first.to_dict(), allow_nan=False))
    assert record["threshold"] is None and record["score"] is None
    assert (record["episode"], record["grade"], record["reason"]) == ("none", "none", "values")
    assert list(record) == list(oif.Result._fields)
    assert oif.Silence("a", 1.0, float("inf")).to_dict() == {"key": "a", "since": 1.0, "allowed": None}
    assert oif.Attribution("a", 0.5, 1).to_dict()["reason"] == "values"


# ---- Memory ----


def test_memory_is_what_getsizeof_says(rows):
    forest, pipeline = oif.Loda(), oif.Pipeline()
    empty = sys.getsizeof(forest)
    forest.learn(rows)
    pipeline.process(rows)
    assert sys.getsizeof(forest) == empty + forest.memory_bytes
    assert sys.getsizeof(pipeline) > pipeline.memory_bytes > 0

"""The classes say what the C library's tables say."""

import inspect
import subprocess
import sys
import typing

import pytest
from conftest import CHECKOUT, DETECTORS

import oif
from oif import _core
from oif._results import AlertOptions, Switch

KINDS = {cls._kind: cls for cls in DETECTORS}


def signature_of(cls):
    if sys.version_info < (3, 10):
        pytest.skip("Python 3.9 cannot evaluate annotations with |")
    parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
    hints = typing.get_type_hints(cls.__init__)
    return {p.name: (p.default, hints[p.name]) for p in parameters}


def compare(params, signature):
    assert [param["name"] for param in params] == list(signature)
    for param in params:
        default, hint = signature[param["name"]]
        assert (type(default), default) == (type(param["initial"]), param["initial"]), param["name"]
        if param["choices"] == ("off", "on"):
            assert hint == Switch
        elif param["type"] == "choice":
            assert typing.get_args(hint) == param["choices"]
        else:
            assert hint is {"integer": int, "real": float}[param["type"]]


def test_every_detector_of_the_library_has_a_class():
    assert sorted(KINDS) == sorted(info["name"] for info in _core.detector_infos())


@pytest.mark.parametrize("info", _core.detector_infos(), ids=lambda info: info["name"])
def test_a_class_has_the_parameters_of_the_table(info):
    signature = signature_of(KINDS[info["name"]])
    assert (signature.pop("threads"), signature.pop("ignore_unknown")) == ((1, int), (False, bool))
    compare(info["params"], signature)


def test_what_is_written_from_the_table_is_up_to_date():
    tool = CHECKOUT / "tools" / "build" / "make_signatures.py"
    done = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr + "tools/build/make_signatures.py writes it again"


def test_a_pipeline_has_the_options_of_the_table():
    signature = signature_of(oif.Pipeline)
    roles = ("key", "time", "exclude", "category", "ignore_unknown")
    rules = ("rules", "only_high", "only_low", "min_change")
    others = ("season", "diff", "rate", "log", "keep_original", "keep_episodes", "threads")  # not in the table
    for name in (*others, *roles, *rules):
        del signature[name]
    del signature["detector"]
    compare(_core.pipeline_info()["params"], signature)


def test_process_of_a_detector_has_the_options_for_one_series():
    hints = typing.get_type_hints(AlertOptions)
    params = {param["name"]: param for param in _core.pipeline_info()["params"]}
    of_many = ("shingle", "max_keys", "memory_limit", "evicted", "moves")
    with_times = ("season_seconds", "other_season_seconds", "alerts", "silence")
    assert list(hints) == [name for name in params if name not in of_many + with_times]
    compare([params[name] for name in hints], {name: (params[name]["initial"], hint) for name, hint in hints.items()})
    assert all(name in oif.Detector.process.__doc__ for name in hints)


@pytest.mark.parametrize("info", _core.detector_infos(), ids=lambda info: info["name"])
def test_the_help_names_every_parameter_and_the_summary(info):
    text = " ".join(KINDS[info["name"]].__doc__.lower().split())
    assert all(f"{param['name']}: " in text for param in info["params"])
    assert info["summary"] in text
    assert info["choose"].lower() in text
    assert info["paper"].lower() in text


def test_the_repr_shows_what_was_changed(detector_class):
    assert repr(detector_class()) == f"{detector_class.__name__}()"
    assert repr(detector_class(seed=7)) == f"{detector_class.__name__}(seed=7)"


def test_the_repr_of_a_pipeline_can_be_read_back():
    pipeline = oif.Pipeline(oif.Loda(num_bins=50), alert_rate=0.01, learn="normal")
    assert repr(pipeline) == "Pipeline(Loda(num_bins=50), alert_rate=0.01, learn='normal')"
    assert repr(eval(repr(pipeline), vars(oif))) == repr(pipeline)


def test_the_help_of_a_pipeline_names_every_option():
    text = " ".join(oif.Pipeline.__doc__.split())
    for param in _core.pipeline_info()["params"]:
        assert f"{param['name']}: " in text, param["name"]


def test_modules_are_imported_when_they_are_asked_for():
    pytest.importorskip("matplotlib")
    code = "import oif; oif.plot.scores; assert 'river' in dir(oif) and not hasattr(oif, 'magic')"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_version_is_the_librarys():
    assert oif.__version__ == _core.version


@pytest.mark.parametrize(
    "wrong, complaint",
    [
        ({"num_trees": 0}, "num_trees must be a whole number from 1 to 4096"),
        ({"num_trees": 1.5}, "num_trees"),
        ({"num_trees": float("nan")}, "num_trees"),
        ({"num_trees": 10**400}, "too large"),
        ({"variant": "papre"}, "paper"),
        ({"window_size": 1 << 24, "max_leaf_samples": 1}, "window_size"),
    ],
)
def test_a_bad_parameter_is_a_value_error(wrong, complaint):
    with pytest.raises((ValueError, OverflowError), match=complaint):
        oif.OnlineIsolationForest(**wrong)


@pytest.mark.parametrize("wrong", [{"num_trees": "32"}, {"variant": 1}, {"seed": None}, {"trees": 3}])
def test_a_parameter_of_the_wrong_type_is_a_type_error(wrong):
    with pytest.raises(TypeError):
        oif.OnlineIsolationForest(**wrong)


def test_bad_options_are_value_errors():
    with pytest.raises(oif.ParameterError, match="alert_rate"):
        oif.Pipeline(alert_rate=2)
    with pytest.raises(oif.ParameterError, match="memory_limit is too small"):
        oif.Pipeline(memory_limit=100)
    with pytest.raises(oif.ParameterError, match="no detector"):
        oif.Pipeline("magic")
    with pytest.raises(TypeError, match="a detector, its class or its name"):
        oif.Pipeline(3)


def test_an_object_that_was_not_initialised_says_so():
    for cls in (oif.OnlineIsolationForest, oif.Pipeline):
        broken = cls.__new__(cls)
        with pytest.raises(RuntimeError, match="__init__"):
            broken.check()
        with pytest.raises(RuntimeError, match="__init__"):
            (broken.learn if cls is oif.OnlineIsolationForest else broken.process)([[1.0]])


def test_an_object_is_made_once():
    forest = oif.OnlineIsolationForest()
    with pytest.raises(RuntimeError, match="once"):
        forest.__init__(num_trees=3)

"""Mistakes are found: mistyped attributes, odd numbers, what follows a snapshot. All errors are an oif.Error."""

import io
import sys
import types

import numpy as np
import pytest

import oif


@pytest.mark.parametrize(
    ("made", "name", "meant"),
    [
        (oif.Pipeline, "alert_rte", "alert_rate"),
        (oif.Pipeline, "rule", "rules"),
        (oif.RollingIsolationForest, "thread", "threads"),
        (oif.Loda, "num_bin", "num_bins"),
        (oif.Incidents, "quiet_second", ""),
    ],
)
def test_a_mistyped_attribute_is_an_error(made, name, meant):
    with pytest.raises(AttributeError, match=f"{name}.*{meant}"):
        setattr(made(), name, 3)


def test_attributes_that_exist_can_be_set():
    pipeline, forest = oif.Pipeline(), oif.OnlineIsolationForest()
    pipeline.alert_rate, pipeline.rules, pipeline.ignore_unknown = 0.5, "mute reason=stuck", True
    forest.threads, forest.ignore_unknown, forest.column_names = 2, True, ["a"]
    assert pipeline.alert_rate == 0.5 and forest.threads == 2


def test_classes_of_users_have_attributes_of_their_own():
    class Named(oif.Pipeline):
        def __init__(self, name):
            super().__init__()
            self.name = name

    assert Named("pumps").clone().name == "pumps"


@pytest.mark.parametrize("huge", [10**400, -(10**400)], ids=["high", "low"])
def test_a_number_that_is_no_float_is_a_data_error(huge):
    for call in (
        lambda: oif.Loda().learn_one([huge, 1]),
        lambda: oif.Loda().learn_one({"a": huge}),
        lambda: oif.Pipeline().process_one([1, huge]),
        lambda: oif.Loda().learn([[1, 2], [huge, 1]]),
        lambda: oif.Pipeline().process([[1, huge]]),
    ):
        with pytest.raises(oif.DataError) as error:
            call()
        assert error.value.cause == "infinite_value"


def test_other_errors_are_oif_errors():
    with pytest.raises(oif.ParameterError, match="threads must be 1 to 16, not 99"):
        oif.RollingIsolationForest(threads=99)
    forest = oif.OnlineIsolationForest()
    forest.learn_one([1, 2])
    with pytest.raises(oif.DataError, match="1 names for rows of 2 numbers"):
        forest.column_names = ["a"]
    with pytest.raises(oif.DataError, match="1 labels for 1000 rows"):
        oif.evaluate(np.zeros((1000, 2)), [1])
    with pytest.raises(oif.SnapshotKindError, match="not a snapshot"):
        oif.load(b"hello\n")


@pytest.mark.parametrize("made", [oif.OnlineIsolationForest, oif.Pipeline])
def test_other_bytes_may_follow_a_snapshot_in_a_file(made):
    saved = made()
    (saved.process if made is oif.Pipeline else saved.learn)(np.zeros((3, 2)))
    snapshot = saved.to_bytes()
    file = io.BytesIO(b"head" + snapshot + snapshot + b"tail")
    file.seek(4)
    assert oif.load(file).to_bytes() == oif.load(file).to_bytes() == snapshot
    assert file.read() == b"tail"
    with pytest.raises(oif.SnapshotError):
        oif.load(snapshot + b"tail")
    with pytest.raises(oif.SnapshotError):
        oif.load(io.BytesIO(snapshot[:-1]))


def test_an_installed_capymoa_is_found_without_importing_it(monkeypatch):
    stub = types.ModuleType("capymoa")
    stub.__spec__ = types.SimpleNamespace(name="capymoa")
    monkeypatch.setitem(sys.modules, "capymoa", stub)
    monkeypatch.delitem(sys.modules, "oif.capymoa", raising=False)
    assert "capymoa" in dir(oif) and "oif.capymoa" not in sys.modules

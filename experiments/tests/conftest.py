"""A small plan on generated streams, in a folder of its own: the tests need no data sets."""

import pytest

from experiments import configuration, data
from experiments.runs import Plan

COLUMNS = ("online-iforest:reference", "iforest-asd", "hst", "rrcf", "loda")


def make_plan(folder, **changed):
    usual = dict(
        results=folder,
        stationary=["generated_toy", "generated_mulcross"],
        drifting=["generated_drift"],
        columns={key: configuration.fingerprint(configuration.by_key(key)) for key in COLUMNS},
        executions=3,
        timed_executions=3,
        jobs=2,
        most_rows=1200,
        quick=True,
    )
    return Plan(**{**usual, **changed})


@pytest.fixture
def plan(tmp_path):
    return make_plan(tmp_path / "results")


@pytest.fixture(autouse=True)
def no_cached_set():
    """What one test loaded is not what the next one gets."""
    yield
    data.load.cache_clear()

import sys
from pathlib import Path

import pytest

TOOLS = str(Path(__file__).resolve().parents[2] / "tools" / "measure")
if TOOLS not in sys.path:
    sys.path.insert(0, TOOLS)

import datasets  # only now is tools/measure on the path


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """The data sets are not part of the repository; a test that needs one is skipped without it."""
    try:
        return (yield)
    except datasets.DataMissing as missing:
        pytest.skip(str(missing))

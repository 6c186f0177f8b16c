import sys
from pathlib import Path

import pytest

TOOLS = str(Path(__file__).resolve().parents[2] / "tools")
if TOOLS not in sys.path:
    sys.path.insert(0, TOOLS)

import datasets  # only now is tools/ on the path


@pytest.fixture(scope="session", autouse=True)
def data_folder():
    """The data sets are no part of the repository; without them these tests have nothing to compare on."""
    try:
        return datasets.folder()
    except datasets.DataMissing as missing:
        pytest.skip(str(missing))

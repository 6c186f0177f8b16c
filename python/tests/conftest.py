from __future__ import annotations

import faulthandler
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from oif import _detectors

CHECKOUT = Path(__file__).resolve().parents[2]
DETECTORS = tuple(_detectors.DETECTORS.values())

# A machine with other work to do is no reason to fail; failures print how to repeat them.
settings.register_profile("oif", deadline=None, max_examples=60, derandomize=False, print_blob=True)
settings.load_profile("oif")
faulthandler.enable()


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="a million calls instead of some ten thousand, and so on")


@pytest.fixture
def repetitions(request):
    """A factor for tests that repeat something: 1, or 20 with --long."""
    return 20 if request.config.getoption("--long") else 1


@pytest.fixture(params=DETECTORS, ids=lambda cls: cls.__name__)
def detector_class(request):
    return request.param


@pytest.fixture
def rows():
    """Five hundred rows of three numbers, some of them missing."""
    random = np.random.default_rng(3)
    made = random.normal(size=(500, 3))
    made[random.random(made.shape) < 0.02] = np.nan
    return made


@pytest.fixture
def program():
    """The `oif` program that came with the package."""
    found = os.environ.get("OIF") or shutil.which("oif", path=os.path.dirname(sys.executable))
    if not found:
        pytest.fail("no program `oif` beside this Python and none in $OIF; install the package, or build the program")
    return found


def same_bits(a, b):
    return np.asarray(a, np.float64).tobytes() == np.asarray(b, np.float64).tobytes()

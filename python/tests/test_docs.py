"""The examples in docstrings and in docs/python.md are executed."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import CHECKOUT

import oif

pytestmark = pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy 1 prints numbers differently")
PAGE = CHECKOUT / "docs" / "python.md"


@pytest.mark.parametrize(
    "name", sorted(m.name for m in pkgutil.iter_modules(oif.__path__) if m.name.startswith("_") and m.name != "_core")
)
def test_examples_in_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(f"oif.{name}"), optionflags=doctest.ELLIPSIS)
    assert failed == 0


def test_the_example_of_the_package():
    failed, attempted = doctest.testmod(oif)
    assert failed == 0 and attempted >= 4


def test_public_names_have_docstrings():
    for name in oif.__all__:
        value = getattr(oif, name)
        assert isinstance(value, str) or (value.__doc__ or "").strip(), name
        if isinstance(value, type):
            for member in vars(value):
                if not member.startswith("_") and callable(getattr(value, member)):
                    assert (getattr(value, member).__doc__ or "").strip(), f"{name}.{member}"


def run_page(page):
    """Runs the python blocks of a page as one session."""
    text = page.read_text()
    session, runner = {}, doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    count = 0
    for block in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, block.start(1))
        example = doctest.DocTestParser().get_doctest(block[1] + "\n", session, page.name, str(page), line)
        example.globs = session
        runner.run(example, clear_globs=False)
        count += len(example.examples)
    assert runner.summarize().failed == 0
    return count


def test_the_examples_of_the_tutorial(tmp_path, monkeypatch):
    for package in ("matplotlib", "pandas", "river", "sklearn"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    assert run_page(PAGE) > 40


def test_the_reference_is_made_from_the_docstrings(tmp_path):
    pytest.importorskip("matplotlib")
    made = tmp_path / "python-api.md"
    subprocess.run([sys.executable, str(CHECKOUT / "tools" / "docs" / "python_reference.py"), str(made)], check=True)
    page = CHECKOUT / "docs" / "python-api.md"
    assert page.read_text() == made.read_text(), "tools/docs/python_reference.py docs/python-api.md makes it again"
    for name in oif.__all__:
        assert name == "__version__" or f"### {name}\n" in made.read_text()


def test_the_examples_of_the_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_page(CHECKOUT / "README.md") >= 4

"""Online Isolation Forest as its authors wrote it, from the installed CapyMOA distribution.

Importing capymoa starts a Java virtual machine and needs torch; its detector needs neither, being one file of numpy. So
that file alone is loaded from where pip put it, between stand-ins for the three modules it takes names from. None of
its source is in this repository. CapyMOA's other detectors in Python can be loaded in the same way.
"""

import importlib.metadata
import importlib.util
import sys
import types

import numpy as np

DISTRIBUTION = "capymoa"
FILE = "capymoa/anomaly/_online_isolation_forest.py"
HOW_TO_INSTALL = "tools/build/make_venv.sh reference"


class CapymoaMissing(Exception):
    """CapyMOA is not installed, or no longer holds the file."""


class _AnomalyDetector:
    """All that the detector expects of its base class."""

    def __init__(self, schema=None, random_seed=1):
        self.schema, self.random_seed = schema, random_seed


def _stand_ins():
    names = {
        "capymoa": {},
        "capymoa.base": {"AnomalyDetector": _AnomalyDetector},
        "capymoa.base._base": {"AnomalyDetector": _AnomalyDetector},
        "capymoa.core": {"Instance": object, "LabeledInstance": object, "LabelIndex": int},
        "capymoa.stream": {"Schema": object},
        "capymoa.stream._stream": {"Schema": object},
    }
    modules = {}
    for name, contents in names.items():
        modules[name] = types.ModuleType(name)
        vars(modules[name]).update(contents)
    return modules


def load_class(file=FILE, name="OnlineIsolationForest"):
    """The authors' class OnlineIsolationForest, or another one of CapyMOA. CapymoaMissing says what to install."""
    try:
        path = importlib.metadata.distribution(DISTRIBUTION).locate_file(file)
    except importlib.metadata.PackageNotFoundError:
        raise CapymoaMissing(f"{DISTRIBUTION} is not installed: {HOW_TO_INSTALL}") from None
    spec = importlib.util.spec_from_file_location(f"authors_{name}", path)
    module = importlib.util.module_from_spec(spec)
    stand_ins = {key: m for key, m in _stand_ins().items() if key not in sys.modules}
    sys.modules.update(stand_ins)
    sys.modules[spec.name] = module  # where dataclasses look for it
    try:
        spec.loader.exec_module(module)
    except FileNotFoundError:
        raise CapymoaMissing(f"this {DISTRIBUTION} has no {file}: {HOW_TO_INSTALL}") from None
    finally:
        for key in stand_ins:
            del sys.modules[key]
    return getattr(module, name)


def learn_then_score(rows, seed, learned_at_once, scored_at_once):
    """The authors' scores with their default parameters: learns `scored_at_once` rows, by `learned_at_once`, then
    scores them, and so on."""
    forest = load_class()(random_seed=seed, n_jobs=1)
    scores = np.empty(len(rows))
    for first in range(0, len(rows), scored_at_once):
        block = rows[first : first + scored_at_once]
        for i in range(0, len(block), learned_at_once):
            forest._learn_batch(block[i : i + learned_at_once])
        scores[first : first + scored_at_once] = forest._score_batch(block)
    return scores

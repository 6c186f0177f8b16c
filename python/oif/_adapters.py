"""What the adapters share: a class for each detector, with a constructor that has its parameters."""

from __future__ import annotations

import inspect
import numbers
import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ._detectors import DETECTORS, Detector
from ._types import MOST_THREADS

Adapter = TypeVar("Adapter", bound=type)


def names_of(native: type[Detector]) -> list[str]:
    return [parameter.name for parameter in _parameters_of(native)]


def _parameters_of(native: type[Detector]) -> list[inspect.Parameter]:
    """Those of the detector; what is not of its kind, such as threads, is keyword-only."""
    own = inspect.signature(native).parameters.values()
    return [parameter for parameter in own if parameter.kind is not inspect.Parameter.KEYWORD_ONLY]


def parameters_of(native: type[Detector], **more: Any) -> Callable[[Adapter], Adapter]:
    """Gives a class a constructor that keeps the detector's parameters, and some more, as attributes.

    Hosts read the signature to clone, print and search; afterwards `_start`, where a class has it, is called.
    """

    def decorate(cls: Adapter) -> Adapter:
        own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        added = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value) for name, value in more.items()]
        taken = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in _parameters_of(native)]
        signature = inspect.Signature([own, *taken, *added])

        def __init__(self: Any, **arguments: Any) -> None:
            bound = signature.bind(self, **arguments)
            bound.apply_defaults()
            for name, value in list(bound.arguments.items())[1:]:
                setattr(self, name, value)
            if hasattr(self, "_start"):
                self._start()

        __init__.__signature__ = signature  # type: ignore[attr-defined]
        __init__.__qualname__ = f"{cls.__qualname__}.__init__"
        setattr(cls, "__init__", __init__)
        _update_abstract_methods(cls)  # PyOD's is abstract
        setattr(cls, "_native", native)
        if not cls.__doc__:
            cls.__doc__ = (native.__doc__ or "").partition("    >>> ")[0].rstrip() + "\n"
        return cls

    return decorate


def _update_abstract_methods(cls: Any) -> None:
    """As abc.update_abstractmethods of Python 3.10."""
    abstract: frozenset[str] = getattr(cls, "__abstractmethods__", frozenset())
    still = frozenset(name for name in abstract if getattr(getattr(cls, name, None), "__isabstractmethod__", False))
    if still != abstract:
        cls.__abstractmethods__ = still


def make_adapters(base: type, module: dict[str, Any], **more: Any) -> None:
    """Gives a module a class for each detector, derived from what they have in common with that host."""
    for native in DETECTORS.values():
        cls = type(native.__name__, (base,), {"__module__": module["__name__"]})
        module[native.__name__] = parameters_of(native, **more)(cls)


LEARNED_ROWS = 1024  # at least, some of them several times: all trees of a small table are then grown from whole samples
SAMPLE_WINDOWS = 8  # of a shuffled X; what came before is forgotten, also where forgetting is gradual


def make_fitted(adapter: Any, rows: Any) -> Detector:
    """A detector that has learned these rows: all of them in their order where its window holds them, or without `shuffle`;
    else a random sample of them in random order, or few of them several times. `random_state` and `n_jobs` are what scikit-learn makes of them."""
    given = adapter.random_state
    if given is not None and not isinstance(given, numbers.Integral):
        given = given.randint(1 << 31) if hasattr(given, "randint") else given.integers(1 << 31)
    detector = make_native(adapter, **({} if given is None else {"seed": int(given)}))
    jobs = adapter.n_jobs or 1
    detector.threads = min(jobs if jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + jobs), MOST_THREADS)
    window: int = detector.params["window_size"]
    random = np.random.default_rng(detector.params["seed"])
    if adapter.shuffle and len(rows) > window:
        rows = rows[random.permutation(len(rows))[: SAMPLE_WINDOWS * window]]
    elif adapter.shuffle and 0 < len(rows) < LEARNED_ROWS:
        times = -(-LEARNED_ROWS // len(rows))
        rows = rows[np.concatenate([random.permutation(len(rows)) for _ in range(times)])]
    detector.learn(rows)
    return detector


def make_native(adapter: Any, **other: Any) -> Detector:
    """The detector that the attributes of an adapter describe, except for other parameters."""
    native: Callable[..., Detector] = adapter._native
    return native(**{name: getattr(adapter, name) for name in names_of(adapter._native)} | other)

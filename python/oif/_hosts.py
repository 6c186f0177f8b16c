"""The modules that need another package: found and imported when they are asked for."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from typing import Any

# module of oif: what it imports, and what pip calls that
HOSTS = {
    "capymoa": ("capymoa", "capymoa"),
    "plot": ("matplotlib", "matplotlib"),
    "pyod": ("pyod", "pyod"),
    "pysad": ("pysad", "pysad"),
    "river": ("river", "river"),
    "sklearn": ("sklearn", "scikit-learn"),
}


def is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return package in sys.modules


def need(module: str) -> None:
    """Raises an ImportError with advice unless the package of a module is there."""
    package, distribution = HOSTS[module]
    if not is_installed(package):
        raise ModuleNotFoundError(
            f'oif.{module} needs {distribution}: pip install {distribution}, or "online-iforest[{module}]"', name=package
        )


def lazy_modules(package: str, public: Sequence[str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """__getattr__ and __dir__ of the package. What cannot be imported is no attribute: hasattr and help ask for it."""

    def get(name: str) -> Any:
        if name not in HOSTS:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            return importlib.import_module(f"{package}.{name}")
        except Exception as error:  # a host may fail with anything, such as CapyMOA without Java
            raise AttributeError(f"module {package!r} has no {name!r} here: {error}") from error

    def names() -> list[str]:
        found = [name for name, (host, _) in HOSTS.items() if is_installed(host)]
        imported = [name for name in HOSTS if f"{package}.{name}" in sys.modules]
        special = [name for name in vars(sys.modules[package]) if name.startswith("__") and name.endswith("__")]
        return sorted({*public, *special, *found, *imported})

    return get, names

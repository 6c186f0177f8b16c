"""The detectors for CapyMOA: `oif.capymoa.OnlineIsolationForest(schema=stream.get_schema())`, then as its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _detectors, _hosts, _parameters
from ._adapters import make_adapters, make_native

_hosts.need("capymoa")
from capymoa.base import AnomalyDetector  # noqa: E402

__all__ = _detectors.__all__


class _Capymoa(AnomalyDetector):  # type: ignore[misc]
    detector: _detectors.Detector
    schema: Any
    seed: int

    def _start(self) -> None:
        AnomalyDetector.__init__(self, schema=self.schema, random_seed=self.seed)
        self.detector = make_native(self)

    def __str__(self) -> str:
        return repr(self.detector)

    def train(self, instance: Any) -> None:
        self.detector.learn_one(instance.x)

    def predict(self, instance: Any) -> None:
        """Scores are not turned into labels; oif.Pipeline does that."""
        return None

    def score_instance(self, instance: Any) -> float:
        return self.detector.score_one(instance.x)


if TYPE_CHECKING:  # what is made below, for editors and type checkers; tools/build/make_signatures.py writes it
    from typing_extensions import Unpack

    class HalfSpaceTrees(_Capymoa):
        def __init__(self, *, schema: Any = None, **parameters: Unpack[_parameters.HalfSpaceTrees]) -> None: ...

    class IForestASD(_Capymoa):
        def __init__(self, *, schema: Any = None, **parameters: Unpack[_parameters.IForestASD]) -> None: ...

    class Loda(_Capymoa):
        def __init__(self, *, schema: Any = None, **parameters: Unpack[_parameters.Loda]) -> None: ...

    class OnlineIsolationForest(_Capymoa):
        def __init__(self, *, schema: Any = None, **parameters: Unpack[_parameters.OnlineIsolationForest]) -> None: ...

    class RobustRandomCutForest(_Capymoa):
        def __init__(self, *, schema: Any = None, **parameters: Unpack[_parameters.RobustRandomCutForest]) -> None: ...

    class RollingIsolationForest(_Capymoa):
        def __init__(
            self, *, schema: Any = None, **parameters: Unpack[_parameters.RollingIsolationForest]
        ) -> None: ...

    class SparseDataObservers(_Capymoa):
        def __init__(self, *, schema: Any = None, **parameters: Unpack[_parameters.SparseDataObservers]) -> None: ...

else:
    make_adapters(_Capymoa, globals(), schema=None)

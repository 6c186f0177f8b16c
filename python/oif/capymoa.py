"""The detectors for CapyMOA: `oif.capymoa.OnlineIsolationForest(schema=stream.get_schema())`, then as its own."""

from __future__ import annotations

from typing import Any

from capymoa.base import AnomalyDetector

from . import _detectors
from ._adapters import make_native, parameters_of

__all__ = [
    "HalfSpaceTrees",
    "IForestASD",
    "Loda",
    "OnlineIsolationForest",
    "RobustRandomCutForest",
    "RollingIsolationForest",
]


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


@parameters_of(_detectors.OnlineIsolationForest, schema=None)
class OnlineIsolationForest(_Capymoa):
    pass


@parameters_of(_detectors.IForestASD, schema=None)
class IForestASD(_Capymoa):
    pass


@parameters_of(_detectors.HalfSpaceTrees, schema=None)
class HalfSpaceTrees(_Capymoa):
    pass


@parameters_of(_detectors.RobustRandomCutForest, schema=None)
class RobustRandomCutForest(_Capymoa):
    pass


@parameters_of(_detectors.Loda, schema=None)
class Loda(_Capymoa):
    pass


@parameters_of(_detectors.RollingIsolationForest, schema=None)
class RollingIsolationForest(_Capymoa):
    pass

"""Parameters and options as attributes, and as keywords for type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypedDict, TypeVar, overload

if TYPE_CHECKING:
    from typing_extensions import Never, Self

Value = TypeVar("Value")
Changed = TypeVar("Changed", bound="Changeable")


class Changeable(Protocol):
    """What has options that can be changed."""

    @property
    def options(self) -> Any: ...
    def change(self, **options: Any) -> None: ...


class Parameter(Generic[Value]):
    """A parameter of a detector, which stays what it was when the detector was made."""

    def __init__(self, kind: type[Value]) -> None:
        self.kind = kind

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: Any) -> Self: ...
    @overload
    def __get__(self, instance: Any, owner: Any) -> Value: ...
    def __get__(self, instance: Any, owner: Any) -> Self | Value:
        if instance is None:
            return self
        value: Value = instance.params[self.name]
        return value

    def __set__(self, instance: Any, value: Never) -> None:
        made = type(instance).__name__
        raise AttributeError(f"{self.name} cannot be changed; make a new one: {made}({self.name}={value!r})")


def parameters(kind: type[Value], count: int) -> tuple[Parameter[Value], ...]:
    return tuple(Parameter(kind) for _ in range(count))


class Option(Generic[Value]):
    """An option of a pipeline. To set it changes it from now on, where that is possible."""

    def __init__(self, kind: type[Value]) -> None:
        self.kind = kind

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: Any) -> Self: ...
    @overload
    def __get__(self, instance: Changed, owner: Any) -> Value: ...
    def __get__(self, instance: Any, owner: Any) -> Self | Value:
        if instance is None:
            return self
        value: Value = instance.options[self.name]
        return value

    def __set__(self, instance: Changeable, value: Value) -> None:
        instance.change(**{self.name: value})


# ---- The parameters of each detector, as keywords ----

HalfSpaceTrees = TypedDict("HalfSpaceTrees", {
    "num_trees": int, "window_size": int, "max_depth": int, "size_limit": float,
    "ranges": Literal["first", "every", "fixed"], "range_low": float, "range_high": float, "seed": int,
}, total=False)

IForestASD = TypedDict("IForestASD", {
    "num_trees": int, "window_size": int, "subsample_size": int, "retrain": Literal["window", "drift"],
    "drift_rate": float, "insertion": Literal["none", "row"], "seed": int,
}, total=False)

Loda = TypedDict("Loda", {
    "num_projections": int, "num_bins": int, "window_size": int, "scale": Literal["learn", "none"], "seed": int,
}, total=False)

OnlineIsolationForest = TypedDict("OnlineIsolationForest", {
    "num_trees": int, "window_size": int, "max_leaf_samples": int, "growth": Literal["adaptive", "fixed"],
    "variant": Literal["running", "paper", "reference"], "subsample": float,
    "forgetting": Literal["window", "turnover"], "shadow_trees": int, "maturity": int,
    "insertion": Literal["none", "row", "auto"], "seed": int,
}, total=False)

RobustRandomCutForest = TypedDict("RobustRandomCutForest", {
    "num_trees": int, "tree_size": int, "sample": Literal["reservoir", "sliding"], "window_size": int, "seed": int,
}, total=False)

RollingIsolationForest = TypedDict("RollingIsolationForest", {
    "num_trees": int, "window_size": int, "sample_size": int, "max_depth": int, "max_leaf_samples": int,
    "tournament": int, "insertion": Literal["path", "none", "row"], "renew_trees": int, "seed": int,
}, total=False)

SparseDataObservers = TypedDict("SparseDataObservers", {
    "num_observers": int, "num_neighbours": int, "idle_share": float, "window_size": int,
    "scale": Literal["robust", "none"], "seed": int,
}, total=False)

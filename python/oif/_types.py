"""What the methods take, for type checkers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, SupportsFloat, SupportsIndex, TypeVar, Union

import numpy as np
import numpy.typing as npt

MOST_THREADS = 16  # OIF_THREADS_MAX


class ArrowStream(Protocol):
    """A table of polars, Arrow, DuckDB and so on."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class ArrayLike(Protocol):
    """A DataFrame or Series of pandas, a tensor and so on."""

    def __array__(self, dtype: Any = None) -> npt.NDArray[Any]: ...


class DataFrame(Protocol):
    """A table of pandas, polars or Arrow, of which the results are one, too."""

    @property
    def columns(self) -> Any: ...
    @property
    def shape(self) -> tuple[int, int]: ...


Frame = TypeVar("Frame", bound=DataFrame)

Number = Union[SupportsFloat, SupportsIndex, None]  # None is a missing one

# One row of numbers that is known to be one by its type.
FewNumbers = Union[Mapping[Any, Number], Sequence[Number]]

# One row of numbers.
Row = Union[FewNumbers, npt.NDArray[Union[np.floating[Any], np.integer[Any]]], ArrayLike]

# Rows of numbers.
Rows = Union[
    npt.NDArray[Any],
    Sequence[Sequence[Number]],
    Sequence[Mapping[Any, Any]],
    Iterator[Any],
    ArrayLike,
    ArrowStream,
]

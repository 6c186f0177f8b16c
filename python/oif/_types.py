"""What the methods take, for type checkers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt


class ArrowStream(Protocol):
    """A table of polars, Arrow, DuckDB and so on."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class ArrayLike(Protocol):
    """A DataFrame or Series of pandas, a tensor and so on."""

    def __array__(self, dtype: Any = None) -> npt.NDArray[Any]: ...


# One row of numbers; None is a missing one.
Row = Mapping[Any, float | None] | Sequence[float | None] | npt.NDArray[np.floating[Any] | np.integer[Any]] | ArrayLike

# Rows of numbers.
Rows = npt.NDArray[np.floating[Any] | np.integer[Any]] | Sequence[Sequence[float | None]] | ArrayLike | ArrowStream

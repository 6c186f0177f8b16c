"""The exceptions. The extension raises them through from_status and from_place."""

from __future__ import annotations

import errno
from typing import TypeVar


class Error(Exception):
    """A call of the library failed.

    `row` and `column` say where, counted from 0 as in `X[row, column]`; `byte` says where in a snapshot. They are None
    where there is no place.

    `cause` says why, for programs: `"infinite_value"`, `"unknown_column"`, `"wrong_checksum"`, ... It is None where the class
    says it all. The names are those of `oif_cause` in oif.h, in lower case; they stay, while messages may change.
    """

    cause: str | None = None
    row: int | None = None
    column: int | None = None
    byte: int | None = None


class ParameterError(Error, ValueError):
    """A parameter is unknown or out of range, or parameters do not fit together."""


class DataError(Error, ValueError):
    """A row cannot be used: an infinity, text, too few numbers, an unknown column."""


class ColumnTypeError(DataError, TypeError):
    """A column of a table contains something other than numbers, such as text or dates; `column` says which."""


class OutOfMemoryError(Error, MemoryError):
    """Not enough memory, or a size that no machine can hold."""


class SnapshotError(Error, ValueError):
    """The bytes are not a snapshot, or truncated, damaged, or of a newer version."""


class SnapshotKindError(SnapshotError):
    """The bytes are not a snapshot, or one of something else."""


class FileError(Error, OSError):
    """A file could not be read or written, or another program holds it; `errno` and `filename` say which and why.

    One that is not there is also a FileNotFoundError, one that may not be used also a PermissionError.
    """

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class _MissingFile(FileError, FileNotFoundError):
    pass


class _ForbiddenFile(FileError, PermissionError):
    pass


_MissingFile.__name__ = _ForbiddenFile.__name__ = FileError.__name__
_FILE_CLASSES = {errno.ENOENT: _MissingFile, errno.EACCES: _ForbiddenFile, errno.EPERM: _ForbiddenFile}


class InvariantError(Error, RuntimeError):
    """A check found a broken detector: a bug, or memory overwritten."""


# The order of oif_status in oif.h.
_CLASSES: tuple[type[Error], ...] = (
    Error,  # OIF_OK
    Error,  # OIF_END
    ParameterError,
    DataError,
    OutOfMemoryError,
    DataError,  # OIF_EINPUT
    FileError,  # OIF_EREAD
    InvariantError,
    FileError,  # OIF_EWRITE
    SnapshotKindError,
    SnapshotError,  # OIF_EVERSION
    SnapshotError,  # OIF_ETRUNCATED
    SnapshotError,  # OIF_ECORRUPT
    FileError,  # OIF_EBUSY
)


_AnyError = TypeVar("_AnyError", bound=Error)


def because(cause: str | None, error: _AnyError) -> _AnyError:
    error.cause = cause or None
    return error


def from_status(status: int, message: str, line: int, column: int, cause: str, system_errno: int) -> Error:
    if _CLASSES[status] is FileError:
        return because(cause, file_error(message, system_errno or None))
    error = because(cause, _CLASSES[status](message))
    if isinstance(error, SnapshotError):
        error.byte = column - 1 if column > 0 else None
    else:
        error.row = line - 1 if line > 0 else None
        error.column = column - 1 if column > 0 else None
    return error


def file_error(message: str, number: int | None, path: object = None) -> FileError:
    error = because("system" if number else None, _FILE_CLASSES.get(number or 0, FileError)(message))
    error.errno = number
    error.filename = path
    return error


def from_place(message: str, row: int, column: int, cause: str | None = None) -> DataError:
    error = because(cause, DataError(message))
    error.row = row if row >= 0 else None
    error.column = column if column >= 0 else None
    return error


def from_column(message: str, column: int) -> ColumnTypeError:
    error = because("not_a_number", ColumnTypeError(message))
    error.column = column
    return error

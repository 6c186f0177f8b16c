"""The exceptions. The extension raises them through from_status and from_place."""

from __future__ import annotations

import errno
import os


class Error(Exception):
    """What the library could not do.

    `row` and `column` say where, counted from 0 as in `X[row, column]`; `byte` says where in a snapshot. They are None
    where there is no place.
    """

    row: int | None = None
    column: int | None = None
    byte: int | None = None


class ParameterError(Error, ValueError):
    """A parameter is unknown or out of range, or parameters do not fit together."""


class DataError(Error, ValueError):
    """A row cannot be used: an infinity, text, too few numbers, an unknown column."""


class ColumnTypeError(DataError, TypeError):
    """A column of a table contains something else than numbers, such as text or dates; `column` says which."""


class OutOfMemoryError(Error, MemoryError):
    """Not enough memory, or a size that no machine can hold."""


class SnapshotError(Error, ValueError):
    """The bytes are no snapshot, or cut off, or damaged, or those of a newer version."""


class SnapshotKindError(SnapshotError):
    """The bytes are no snapshot, or one of something else."""


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


def from_status(status: int, message: str, line: int, column: int) -> Error:
    if _CLASSES[status] is FileError:
        return file_error(message, _errno_in(message))
    error = _CLASSES[status](message)
    if isinstance(error, SnapshotError):
        error.byte = column - 1 if column > 0 else None
    else:
        error.row = line - 1 if line > 0 else None
        error.column = column - 1 if column > 0 else None
    return error


def _errno_in(message: str) -> int | None:
    """The number behind the system's words, with which the library's message ends but for a remedy."""
    for number in errno.errorcode:
        words = f": {os.strerror(number)}"
        if message.endswith(words) or f"{words}; " in message:
            return number
    return None


def file_error(message: str, number: int | None, path: object = None) -> FileError:
    error = _FILE_CLASSES.get(number or 0, FileError)(message)
    error.errno = number
    error.filename = path
    return error


def from_place(message: str, row: int, column: int) -> DataError:
    error = DataError(message)
    error.row = row if row >= 0 else None
    error.column = column if column >= 0 else None
    return error


def from_column(message: str, column: int) -> ColumnTypeError:
    error = ColumnTypeError(message)
    error.column = column
    return error

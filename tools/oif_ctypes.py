"""include/oif.h through ctypes: as much of it as the tools and tests need.

Not the Python package. A call costs two microseconds here, so hand over blocks of rows.
"""

import ctypes
import os
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np

CHECKOUT = Path(__file__).resolve().parents[1]
DEFAULT_LIBRARY = CHECKOUT / "build" / "release" / "liboif.so"

PARAM_CHOICE = 2
PARAMS_MAX = 16
ERROR_MESSAGE_BYTES = 240


class OifError(Exception):
    """A call that returned a status other than OIF_OK. line and column as in oif_error; 0 is no place."""

    def __init__(self, message, status, line, column):
        super().__init__(message)
        self.status, self.line, self.column = status, line, column


class LibraryMissing(Exception):
    """There is no shared library to load; the message says how to get one."""


class _Error(ctypes.Structure):
    _fields_ = [
        ("status", ctypes.c_int),
        ("line", ctypes.c_uint64),
        ("column", ctypes.c_uint64),
        ("message", ctypes.c_char * ERROR_MESSAGE_BYTES),
    ]


class _Param(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("help", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("minimum", ctypes.c_double),
        ("maximum", ctypes.c_double),
        ("initial", ctypes.c_double),
        ("choices", ctypes.POINTER(ctypes.c_char_p)),
    ]


class _DetectorInfo(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("summary", ctypes.c_char_p),
        ("paper", ctypes.c_char_p),
        ("cost", ctypes.c_char_p),
        ("choose", ctypes.c_char_p),
        ("params", ctypes.POINTER(_Param)),
        ("param_count", ctypes.c_size_t),
    ]


class _Params(ctypes.Structure):
    _fields_ = [("info", ctypes.POINTER(_DetectorInfo)), ("values", ctypes.c_double * PARAMS_MAX)]


class Parameter(NamedTuple):
    name: str
    help: str
    initial: str  # as text, as oif_params_set_text would take it
    choices: Optional[tuple[str, ...]]


_POINTER = ctypes.c_void_p
_ERROR = ctypes.POINTER(_Error)
_PARAMS = ctypes.POINTER(_Params)
_ROWS = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)  # rows, count, stride

_SIGNATURES = {
    "oif_version": (ctypes.c_char_p, ()),
    "oif_detector_info_find": (ctypes.POINTER(_DetectorInfo), (ctypes.c_char_p,)),
    "oif_params_init": (ctypes.c_int, (_PARAMS, ctypes.c_char_p, _ERROR)),
    "oif_params_set_text": (ctypes.c_int, (_PARAMS, ctypes.c_char_p, ctypes.c_char_p, _ERROR)),
    "oif_detector_new": (ctypes.c_int, (_PARAMS, ctypes.c_size_t, ctypes.POINTER(_POINTER), _ERROR)),
    "oif_detector_free": (None, (_POINTER,)),
    "oif_detector_set_threads": (ctypes.c_int, (_POINTER, ctypes.c_uint, _ERROR)),
    "oif_detector_learn_rows": (ctypes.c_int, (_POINTER, *_ROWS, _ERROR)),
    "oif_detector_score_rows": (ctypes.c_int, (_POINTER, *_ROWS, _POINTER, _ERROR)),
    "oif_detector_learn_score_rows": (ctypes.c_int, (_POINTER, *_ROWS, _POINTER, _ERROR)),
}

_libraries = {}


def library_path(path=None):
    """Where the shared library is: `path`, else $OIF_LIBRARY, else that of `make build`."""
    return Path(path or os.environ.get("OIF_LIBRARY") or DEFAULT_LIBRARY).resolve()


def load_library(path=None):
    path = library_path(path)
    if path not in _libraries:
        if not path.is_file():
            raise LibraryMissing(f"{path} does not exist; run `make build` first, or set OIF_LIBRARY")
        library = ctypes.CDLL(str(path))
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        _libraries[path] = library
    return _libraries[path]


def version(library=None):
    return load_library(library).oif_version().decode()


def parameters(detector, library=None):
    """The parameters of a kind of detector, in the order of its table."""
    info = load_library(library).oif_detector_info_find(detector.encode())
    if not info:
        raise ValueError(f"no detector is called '{detector}'")
    return [_read_parameter(info.contents.params[i]) for i in range(info.contents.param_count)]


def _read_parameter(param):
    if param.type != PARAM_CHOICE:
        return Parameter(param.name.decode(), param.help.decode(), f"{param.initial:.17g}", None)
    choices = tuple(param.choices[i].decode() for i in range(int(param.maximum) + 1))
    return Parameter(param.name.decode(), param.help.decode(), choices[int(param.initial)], choices)


class Detector:
    """A detector by name: Detector("online-iforest", 6, variant="paper", seed=3).

    Blocks of rows are C-contiguous float64 arrays of shape (count, dimension).
    """

    def __init__(self, name, dimension, library=None, **params):
        self._pointer = _POINTER()  # first, so that __del__ finds it when the rest fails
        self._library = load_library(library)
        self.dimension = dimension
        chosen = _Params()
        self._call("oif_params_init", chosen, name.encode())
        for param, value in params.items():
            self._call("oif_params_set_text", chosen, param.encode(), str(value).encode())
        self._call("oif_detector_new", chosen, dimension, ctypes.byref(self._pointer))

    def __del__(self):
        if self._pointer:
            self._library.oif_detector_free(self._pointer)

    def set_threads(self, threads):
        self._call("oif_detector_set_threads", self._pointer, threads)

    def learn_rows(self, rows):
        self._call("oif_detector_learn_rows", self._pointer, *self._block(rows))

    def score_rows(self, rows):
        return self._scores("oif_detector_score_rows", rows)

    def learn_score_rows(self, rows):
        """Row after row: learns it, then scores it. The same bits as one row at a time."""
        return self._scores("oif_detector_learn_score_rows", rows)

    def _scores(self, function, rows):
        scores = np.empty(len(rows))
        self._call(function, self._pointer, *self._block(rows), scores.ctypes.data)
        return scores

    def _block(self, rows):
        if rows.dtype != np.float64 or not rows.flags.c_contiguous or rows.shape[1:] != (self.dimension,):
            raise ValueError(
                f"rows must be C-contiguous float64 of shape (count, {self.dimension}), "
                f"not {rows.dtype} of shape {rows.shape}"
            )
        return rows.ctypes.data, len(rows), self.dimension

    def _call(self, function, *arguments):
        error = _Error()
        if getattr(self._library, function)(*arguments, error):
            message = error.message.decode(errors="replace")
            raise OifError(message, error.status, error.line, error.column)

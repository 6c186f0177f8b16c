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

OK, END = 0, 1
FORMATS = {"csv": 0, "ndjson": 1, "raw": 2}
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

    def exception(self):
        return OifError(self.message.decode(errors="replace"), self.status, self.line, self.column)


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


class _ReaderOptions(ctypes.Structure):
    _fields_ = [
        ("format", ctypes.c_int),
        ("header", ctypes.c_int),
        ("delimiter", ctypes.c_char),
        ("columns", ctypes.c_size_t),
        ("max_line_bytes", ctypes.c_size_t),
    ]


class _Text(ctypes.Structure):
    _fields_ = [("text", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class _Record(ctypes.Structure):
    _fields_ = [
        ("values", ctypes.POINTER(ctypes.c_double)),
        ("texts", ctypes.POINTER(_Text)),
        ("text", ctypes.c_void_p),
        ("text_bytes", ctypes.c_size_t),
        ("end_bytes", ctypes.c_size_t),
        ("line", ctypes.c_uint64),
    ]


_READ_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_DESCRIBE_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double)
_POINTER = ctypes.c_void_p
_ERROR = ctypes.POINTER(_Error)
_PARAMS = ctypes.POINTER(_Params)
_RECORD = ctypes.POINTER(_Record)
_COLUMNS = (ctypes.POINTER(ctypes.c_size_t), ctypes.c_size_t)
_ROWS = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)  # rows, count, stride

_SIGNATURES = {
    "oif_version": (ctypes.c_char_p, ()),
    "oif_detector_info_find": (ctypes.POINTER(_DetectorInfo), (ctypes.c_char_p,)),
    "oif_params_init": (ctypes.c_int, (_PARAMS, ctypes.c_char_p, _ERROR)),
    "oif_params_set_text": (ctypes.c_int, (_PARAMS, ctypes.c_char_p, ctypes.c_char_p, _ERROR)),
    "oif_detector_new": (ctypes.c_int, (_PARAMS, ctypes.c_size_t, ctypes.POINTER(_POINTER), _ERROR)),
    "oif_detector_free": (None, (_POINTER,)),
    "oif_detector_describe": (None, (_POINTER, _DESCRIBE_FUNCTION, _POINTER)),
    "oif_detector_set_threads": (ctypes.c_int, (_POINTER, ctypes.c_uint, _ERROR)),
    "oif_detector_learn_rows": (ctypes.c_int, (_POINTER, *_ROWS, _ERROR)),
    "oif_detector_score_rows": (ctypes.c_int, (_POINTER, *_ROWS, _POINTER, _ERROR)),
    "oif_detector_learn_score_rows": (ctypes.c_int, (_POINTER, *_ROWS, _POINTER, _ERROR)),
    "oif_reader_open": (
        ctypes.c_int,
        (ctypes.POINTER(_ReaderOptions), _READ_FUNCTION, _POINTER, ctypes.POINTER(_POINTER), _ERROR),
    ),
    "oif_reader_close": (None, (_POINTER,)),
    "oif_reader_column_count": (ctypes.c_size_t, (_POINTER,)),
    "oif_reader_column_name": (ctypes.c_char_p, (_POINTER, ctypes.c_size_t)),
    "oif_reader_find_column": (
        ctypes.c_int,
        (_POINTER, ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t), _ERROR),
    ),
    "oif_reader_select": (ctypes.c_int, (_POINTER, *_COLUMNS, _ERROR)),
    "oif_reader_select_texts": (ctypes.c_int, (_POINTER, *_COLUMNS, _ERROR)),
    "oif_reader_next": (ctypes.c_int, (_POINTER, _RECORD, _ERROR)),
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

    def describe(self):
        """Figures about what was learned, by name."""
        figures = {}
        tell = _DESCRIBE_FUNCTION(lambda _, name, value: figures.update({name.decode(): value}))
        self._library.oif_detector_describe(self._pointer, tell, None)
        return figures

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
        _call(self._library, function, *arguments)


class Row(NamedTuple):
    values: list[float]
    texts: list[bytes]
    text: bytes  # the line as it came, with its end
    line: int


class Reader:
    """The rows of some bytes: Reader(data, "ndjson"). Names are bytes, as they need not be text."""

    def __init__(self, data, format, columns=0, piece_bytes=None, library=None):
        self._pointer = _POINTER()
        self._library = load_library(library)
        self._rest, self._piece_bytes = memoryview(data), piece_bytes
        self._read = _READ_FUNCTION(self._read_bytes)  # kept, as the library keeps the pointer
        options = _ReaderOptions(format=FORMATS[format], columns=columns)
        _call(self._library, "oif_reader_open", options, self._read, None, ctypes.byref(self._pointer))
        self._value_count, self._text_count = len(self.columns()), 0

    def __del__(self):
        if self._pointer:
            self._library.oif_reader_close(self._pointer)

    def columns(self):
        count = self._library.oif_reader_column_count(self._pointer)
        return [self._library.oif_reader_column_name(self._pointer, i) for i in range(count)]

    def find_column(self, name):
        column = ctypes.c_size_t()
        _call(self._library, "oif_reader_find_column", self._pointer, name, ctypes.byref(column))
        return column.value

    def select(self, names):
        self._select("oif_reader_select", names)
        self._value_count = len(names)

    def select_texts(self, names):
        self._select("oif_reader_select_texts", names)
        self._text_count = len(names)

    def next(self):
        """The next Row, None at the end; raises OifError for a bad one, and may then be called again."""
        record, error = _Record(), _Error()
        status = self._library.oif_reader_next(self._pointer, record, error)
        if status == END:
            return None
        if status != OK:
            raise error.exception()
        texts = [ctypes.string_at(text.text, text.bytes) for text in record.texts[: self._text_count]]
        text = ctypes.string_at(record.text, record.text_bytes + record.end_bytes)
        return Row(record.values[: self._value_count], texts, text, record.line)

    def _select(self, function, names):
        columns = (ctypes.c_size_t * len(names))(*map(self.find_column, names))
        _call(self._library, function, self._pointer, columns, len(names))

    def _read_bytes(self, _context, buffer, capacity):
        count = min(len(self._rest), capacity, self._piece_bytes or capacity)
        ctypes.memmove(buffer, bytes(self._rest[:count]), count)
        self._rest = self._rest[count:]
        return count


def _call(library, function, *arguments):
    error = _Error()
    if getattr(library, function)(*arguments, error):
        raise error.exception()

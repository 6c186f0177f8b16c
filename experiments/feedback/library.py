"""The C library: a pipeline that keeps its episodes, for a program that marks one as soon as it begins."""

import ctypes
from ctypes import POINTER, Structure, byref, c_bool, c_char, c_double, c_int, c_int32, c_size_t, c_uint8, c_uint32, c_uint64
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

USELESS = 1
BEGINS, LASTS = 1, 2  # steps of an episode
REASONS = ("values", "stuck", "season", "partner", "silence", "new", "rare", "first", "jump", "flutter", "shape")
SIZES = (  # of what include/oif.h declares
    ("Error", 296),
    ("Params", 392),
    ("Result", 80),
    ("PastEpisode", 112),
    ("Proposal", 1112),
)


class Failed(Exception):
    """A call failed, or the library is another one."""


class Error(Structure):
    _fields_ = [("status", c_int), ("line", c_uint64), ("column", c_uint64), ("message", c_char * 240), ("rest", c_uint8 * 32)]


class Params(Structure):
    _fields_ = [("rest", c_uint8 * 392)]


class Result(Structure):
    _fields_ = [
        *((name, c_double) for name in ("score", "p", "threshold")),
        *((name, c_bool) for name in ("anomaly", "ready", "learned", "has_no_model")),
        ("episode", c_int),
        ("grade", c_int),
        ("severity", c_double),
        ("reason", c_int),
        ("detector", c_uint32),
        ("pause", c_double),
        ("rule", c_uint32),
        ("rest", c_uint8 * 12),
    ]


class PastEpisode(Structure):
    _fields_ = [
        ("key", ctypes.c_void_p),
        ("key_bytes", c_size_t),
        ("number", c_uint64),
        ("first_row", c_uint64),
        ("first_seconds", c_double),
        ("severity", c_double),
        ("column", c_uint32),
        ("direction", c_int32),
        ("change", c_double),
        ("change_share", c_double),
        ("reason", c_int),
        ("mark", c_int),
        ("is_key_cut", c_bool),
        ("rest", c_uint8 * 31),
    ]


class Proposal(Structure):
    _fields_ = [("rule", c_char * 1024), ("rest", c_uint8 * 88)]


class Kind(NamedTuple):
    """Of an episode: what a proposal is about."""

    column: int
    direction: int
    reason: str


def load(path: Path) -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(str(path.resolve()))
    except OSError as failure:
        raise Failed(f"{path} cannot be loaded: {failure}; make build") from None
    for name, size in SIZES:
        if ctypes.sizeof(globals()[name]) != size:
            raise Failed(f"{name} has another size than in include/oif.h")
    library.oif_pipeline_snapshot_bytes.restype = c_size_t
    library.oif_pipeline_propose.restype = c_size_t
    library.oif_pipeline_past_episode.restype = c_bool
    return library


class Pipeline:
    """One stream without keys, with the options of `oif score`."""

    def __init__(self, library: ctypes.CDLL, columns: int, handle: Any = None) -> None:
        self.library, self.columns = library, columns
        self.result, self.error = Result(), Error()
        self.handle = handle or ctypes.c_void_p()
        self.kept = 0  # episodes in the log
        if handle is None:
            params, options = Params(), Params()
            self.call("oif_params_init", byref(params), b"rolling-iforest")
            library.oif_pipeline_options_init(byref(options))
            self.call("oif_pipeline_new", byref(params), c_size_t(columns), byref(options), byref(self.handle))
            self.call("oif_pipeline_keep_episodes", self.handle, c_bool(True))

    def __del__(self) -> None:
        self.library.oif_pipeline_free(self.handle)

    def call(self, name: str, *arguments: Any) -> None:
        if getattr(self.library, name)(*arguments, byref(self.error)):
            raise Failed(f"{name}: {self.error.message.decode()}")

    def process(self, row: np.ndarray, seconds: float) -> Result:
        """The result is valid until the next row."""
        values = row.ctypes.data_as(POINTER(c_double))
        self.call(
            "oif_pipeline_process_at", self.handle, None, c_size_t(0), c_double(seconds), values, byref(self.result)
        )
        return self.result

    def clone(self) -> "Pipeline":
        handle = ctypes.c_void_p()
        self.call("oif_pipeline_clone", self.handle, byref(handle))
        return Pipeline(self.library, self.columns, handle)

    def save(self) -> bytes:
        bytes_ = ctypes.create_string_buffer(self.library.oif_pipeline_snapshot_bytes(self.handle))
        self.call("oif_pipeline_save_memory", self.handle, bytes_, c_size_t(len(bytes_)))
        return bytes_.raw

    def restarted(self) -> "Pipeline":
        """As after the end of a program: from a snapshot."""
        saved, handle = self.save(), ctypes.c_void_p()
        self.call("oif_pipeline_load_memory", saved, c_size_t(len(saved)), byref(handle))
        return Pipeline(self.library, self.columns, handle)

    def newest(self) -> PastEpisode:
        """The episode that began last."""
        found, other, at = PastEpisode(), PastEpisode(), 0
        while self.library.oif_pipeline_past_episode(self.handle, c_size_t(at), byref(other)):
            found, other, at = other, PastEpisode(), at + 1
        return found

    def newest_kind(self) -> Kind:
        past = self.newest()
        return Kind(past.column, past.direction, REASONS[past.reason])

    def click(self) -> list[str]:
        """Marks the newest episode as useless, and accepts every proposal."""
        proposals = (Proposal * 256)()
        number = c_uint64(self.newest().number)
        self.call("oif_pipeline_mark_episode", self.handle, None, c_size_t(0), number, c_int(USELESS))
        count = self.library.oif_pipeline_propose(self.handle, proposals, c_size_t(256))
        rules = [proposals[i].rule for i in range(count)]
        for rule in rules:
            self.call("oif_pipeline_add_rules", self.handle, rule, c_size_t(len(rule)))
        return [rule.decode() for rule in rules]

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The collector that is preloaded into a recorded process: ranges, and waiting until everything is stored."""

import ctypes
import functools
from typing import Optional

from .error import Error

_LONGEST_PATH = 4096


@functools.lru_cache(maxsize=None)
def _library() -> Optional[ctypes.CDLL]:
    program = ctypes.CDLL(None)
    if not hasattr(program, "streamscope_flush"):
        return None
    program.streamscope_range_push.argtypes = [ctypes.c_char_p]
    program.streamscope_range_push.restype = None
    program.streamscope_range_pop.argtypes = []
    program.streamscope_range_pop.restype = None
    program.streamscope_flush.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint]
    program.streamscope_flush.restype = ctypes.c_int
    return program


def is_loaded() -> bool:
    """Whether this process has a collector."""
    return _library() is not None


def push_range(name: str) -> None:
    """Opens a range of the calling thread. Does nothing without a collector."""
    library = _library()
    if library is not None:
        library.streamscope_range_push(name.encode(errors="replace"))


def pop_range() -> None:
    """Ends the innermost range of the calling thread. Does nothing without a collector."""
    library = _library()
    if library is not None:
        library.streamscope_range_pop()


def flush(timeout: float) -> str:
    """Waits until all work that this process has issued has ended and is stored; returns the path of the trace."""
    trace = ctypes.create_string_buffer(_LONGEST_PATH)
    library = _library()
    result = 1 if library is None else library.streamscope_flush(trace, _LONGEST_PATH, int(timeout * 1000))
    if result == 0:
        return trace.value.decode(errors="surrogateescape")
    if result == 1:
        raise Error("this process is not recorded", remedy="start it with: streamscope record -- PROGRAM")
    if result == 2:
        raise Error(f"the work was not done and stored within {timeout:g} s", where="record", remedy="allow a longer timeout")
    raise Error(f"the path of the trace exceeds {_LONGEST_PATH} bytes", where="record", remedy="record into another folder")

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults that changed a program or lost something without a word before that was mended; every run tries them first."""

# Scene, role, call, a function on the way to it, error, whether it stays.
FAULTS = [
    # A folder that cannot be read was taken for an empty one, and its rings were removed.
    ("recover-early", "recorder", "opendir", "has_rings", "EMFILE", False),
    ("recover-early", "recorder", "readdir", "has_rings", "EIO", False),
    ("record", "recorder", "opendir", "has_rings", "EMFILE", False),
    ("record", "recorder", "readdir", "scan", "EIO", False),
    ("flight-recorder", "recorder", "opendir", "scan", "EMFILE", False),
    # A trace that could not be read for a moment was mistaken for one without tables and overwritten.
    ("recover", "recorder", "read", "open_database", "EIO", False),
    ("recover", "recorder", "pwrite64", "open_database", "ENOSPC", False),
    ("recover", "recorder", "open", "take_over", "EMFILE", False),
    # A process whose state cannot be read was taken for dead: the program then recorded for itself, or lost its rings.
    ("record", "target", "open", "process_alive", "EMFILE", False),
    ("record", "recorder", "open", "process_alive", "EMFILE", False),
    ("record", "recorder", "read", "process_start", "EIO", False),
    # The exit code was the recorder's.
    ("record", "recorder", "getcwd", "short_path", "ENOENT", False),
    ("record", "recorder", "read", "Child", "EIO", False),
    # The rings were kept, and no word of it.
    ("preload", "recorder", "pwrite64", "begin_recording", "ENOSPC", True),
    # The copy of the rings was left behind.
    ("flight-recorder", "recorder", "pwrite64", "begin_dump", "ENOSPC", False),
    # What could not be removed stayed for good, or without a word.
    ("preload", "recorder", "unlink", "fold_wal", "EACCES", False),
    ("preload", "recorder", "remove", "remove", "EACCES", False),
    ("flight-recorder", "recorder", "opendir", "remove", "EMFILE", False),
    ("recover", "recorder", "opendir", "remove", "EMFILE", False),
    # The log stayed beside the trace.
    ("record-code-0", "recorder", "fcntl64", "try_to_fold", "ENOLCK", False),
    # The trace had no start and no tier, and did not report that.
    ("recover-early", "recorder", "mmap", "Drain", "ENOMEM", False),
    ("recover-early", "recorder", "fstat", "Drain", "EACCES", False),
    # The program got limits of nothing.
    ("record-code-0", "recorder", "getrlimit", "RaisedLimits", "EPERM", False),
    # Nothing was recorded, because the library was missing.
    ("record-code-0", "recorder", "realpath", "inject_library[abi:cxx11]", "EACCES", False),
    # The program lacked the place of the rings, was recorded elsewhere, and we said that nothing was recorded.
    ("record-code-0", "recorder", "malloc", "set_variable", "ENOMEM", False),
    # The trace was complete, but the only message was "exists already".
    ("import", "recorder", "stat64", "open_derived", "EACCES", False),
]
CALLS = {call for _, _, call, _, _, _ in FAULTS}

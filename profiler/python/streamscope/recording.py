# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Traces of a part of this process, and of other programs."""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import Iterator, Optional, Sequence, Union

from . import collector, program
from .error import Error
from .ranges import Range
from .trace import Trace

_numbers = itertools.count(1)


@functools.lru_cache(maxsize=None)
def _scratch_folder(pid: int) -> str:
    folder = tempfile.mkdtemp(prefix="streamscope-")
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == pid else None)
    return folder


def _new_file(path: Optional[program.Path], force: bool) -> str:
    if path is None:
        return os.path.join(_scratch_folder(os.getpid()), f"{next(_numbers)}.sqlite")
    if os.path.exists(path) and not force:
        raise Error("exists already", where=os.fspath(path), remedy="choose another name, or use force=True")
    return os.fspath(path)


def is_recorded() -> bool:
    """Whether this process runs under the collector."""
    return collector.is_loaded()


def require_collector(remedy: str = "") -> None:
    """Raises Error, with the remedy or with how to start this program, unless it runs under the collector."""
    if not is_recorded():
        words = [os.path.basename(sys.executable), *sys.argv]
        started = "start it with: streamscope record -- " + " ".join(map(shlex.quote, words))
        raise Error("this process is not recorded", where="record", remedy=remedy or started)


@contextlib.contextmanager
def record(
    path: Optional[program.Path] = None, *, force: bool = False, timeout: float = 60.0, iteration: str = "auto"
) -> Iterator[Trace]:
    """Records a block of a process that runs under `streamscope record`.

    The trace is complete after the block. Without a path it is a temporary file that is deleted when the process ends. `force`
    replaces an existing file. `timeout` is how long to wait, in seconds, until all work that the block issued has ended.

        with streamscope.record("run.sqlite") as trace:
            train_step()
        print(trace.report())
    """
    require_collector()
    trace = Trace(_new_file(path, force), iteration=iteration)
    name = f"streamscope.record {os.getpid()}.{next(_numbers)}"

    def cut() -> None:
        options = ["--force"] if force else []
        program.output("cut", collector.flush(timeout), "--range", name, "-o", trace.path, "--quiet", *options)

    try:
        with Range(name):
            yield trace
    except BaseException:
        with contextlib.suppress(Error):  # the block's own error matters more
            cut()
        raise
    cut()


def run(
    command: Union[str, Sequence[program.Path]],
    output: Optional[program.Path] = None,
    *,
    options: Sequence[str] = (),
    force: bool = False,
    check: bool = True,
    iteration: str = "auto",
) -> Trace:
    """Records another program: `streamscope record OPTIONS -- COMMAND`. Returns its trace.

    Without `output` the trace is a temporary file that is deleted when this process ends. With `check`, an exit code other than 0
    is an error.

    >>> run([race_program, "--device", "sim", "--repaired"]).assert_no_findings()
    """
    words = shlex.split(command) if isinstance(command, str) else [os.fspath(word) for word in command]
    if not words:
        raise Error("no program to record", where="run", remedy="name a command")
    path = _new_file(output, force)
    recorder = [program.find(), "record", "--quiet", "-o", path, *(["--force"] if force else []), *options, "--", *words]
    try:
        code = subprocess.run(recorder).returncode
    except OSError as error:
        raise Error(str(error.strerror), where=recorder[0], remedy="name the program in STREAMSCOPE_BIN") from error
    if check and code != 0:
        raise Error(f"failed with exit code {code}", where=shlex.join(recorder), remedy="see what it printed")
    if not os.path.exists(path):
        raise Error("left no trace: the program used no CUDA stream", where=shlex.join(recorder))
    return Trace(path, iteration=iteration)

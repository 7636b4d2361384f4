# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Finds and calls the program `streamscope`, which does all recording and analysis."""

from __future__ import annotations

import os
import sys

from .error import Error

TYPE_CHECKING = False  # importing typing takes longer than the rest of the command
if TYPE_CHECKING:
    from typing import Collection, NoReturn, Union

    Path = Union[str, "os.PathLike[str]"]

# Where a wheel has the program, with its libraries beside it.
_IN_WHEEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "native", "bin", "streamscope")


def find() -> str:
    """The path of the program: that of STREAMSCOPE_BIN, else that of this package, else that of PATH."""
    named = os.environ.get("STREAMSCOPE_BIN")
    if named:
        return named
    if os.access(_IN_WHEEL, os.X_OK):
        return _IN_WHEEL
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, "streamscope")
        if os.access(path, os.X_OK) and not os.path.isdir(path) and os.path.realpath(path) != os.path.realpath(sys.argv[0]):
            return path
    raise Error("program not found", where="streamscope", remedy="install the wheel, add the program to PATH, or name it in STREAMSCOPE_BIN")


def become(*arguments: str) -> NoReturn:
    """Replaces this process by the program."""
    path = find()
    try:
        os.execv(path, ["streamscope", *arguments])
    except OSError as error:
        raise Error(str(error.strerror), where=path, remedy="name the program in STREAMSCOPE_BIN") from error


def main() -> NoReturn:
    """The command `streamscope`."""
    try:
        become(*sys.argv[1:])
    except Error as error:
        sys.exit(str(error))


def output(*arguments: Path, accepted: Collection[int] = (0,)) -> str:
    """What `streamscope ARGUMENTS` prints. Raises Error if its exit code is not accepted."""
    import subprocess  # not needed by the command

    command = [find(), *(os.fspath(argument) for argument in arguments)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
    except OSError as error:
        raise Error(str(error.strerror), where=command[0], remedy="name the program in STREAMSCOPE_BIN") from error
    if done.returncode not in accepted:
        said = done.stderr.strip().replace("streamscope: ", "") or f"exit code {done.returncode}"
        raise Error(said, where=f"streamscope {command[1]}")
    return done.stdout

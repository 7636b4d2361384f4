# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a page one after the other, as a reader would in one shell, and ends whatever they leave running."""

import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

PR_SET_CHILD_SUBREAPER = 36

# What a command changes in its shell is there for the next one.
SHELL = r"""
source "$1/shell"
cd "$(<"$1/folder")"
source "$1/command"
code=$?
{ declare -px; declare -f; } >"$1/shell" 2>/dev/null
pwd >"$1/folder"
exit $code
"""


def adopt_orphans():
    """Makes this process the parent of all that its descendants leave running, so that it can end them."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    return [int(number) for number in pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def end_children():
    """Ends all descendants: those of an ended one become children. Returns how many there were."""
    ended = 0
    while found := children():
        for process in found:
            try:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
                ended += 1
            except (ProcessLookupError, ChildProcessError):
                pass
    return ended


class Session:
    """A scratch folder with a shell in it."""

    def __init__(self, environment, shims):
        self._state = pathlib.Path(tempfile.mkdtemp(prefix="streamscope-docs-"))
        self.folder = self._state / "work"
        self.folder.mkdir()
        tools = self._state / "tools"
        tools.mkdir()
        for name, target in shims.items():
            (tools / name).write_text(f'#!/bin/sh\nexec {target} "$@"\n')
            (tools / name).chmod(0o755)
        self.path = f"{tools}:{environment['PATH']}"
        self._environment = dict(environment, HOME=str(self.folder), PATH=self.path, TMPDIR=str(self._state))
        (self._state / "shell").touch()
        (self._state / "folder").write_text(str(self.folder))
        adopt_orphans()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end_children()
        shutil.rmtree(self._state, ignore_errors=True)

    def cwd(self):
        return pathlib.Path((self._state / "folder").read_text().strip())

    def run(self, text, time_limit_s, interrupt=False):
        """(exit code, output); None as the code if it did not end in time. With interrupt, Ctrl-C follows the first output, which
        may be what ends it."""
        (self._state / "command").write_text(text + "\n")
        with open(self._state / "output", "wb") as output:  # not a pipe: what stays in the background would keep that open
            with subprocess.Popen(["bash", "-c", SHELL, "bash", str(self._state)], stdin=subprocess.DEVNULL, stdout=output,
                                  stderr=subprocess.STDOUT, env=self._environment, start_new_session=True) as shell:
                end, ended_by = time.monotonic() + time_limit_s, 0
                while shell.poll() is None and time.monotonic() < end:
                    time.sleep(0.005)
                    if interrupt and os.fstat(output.fileno()).st_size > 0:
                        os.killpg(shell.pid, signal.SIGINT)
                        interrupt, ended_by = False, -signal.SIGINT
                code = 0 if shell.poll() == ended_by else shell.poll()
                if code is None:
                    os.killpg(shell.pid, signal.SIGKILL)
                    shell.wait()
                    end_children()
        return code, (self._state / "output").read_text(encoding="utf-8", errors="replace")

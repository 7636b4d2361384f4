# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share. Each runs in a folder of its own."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import streamscope as package
from streamscope import program

BUILD = pathlib.Path(os.environ["STREAMSCOPE_BUILD"])
RACE = BUILD / "bin/examples/race"
HERE = pathlib.Path(__file__).parent


@pytest.fixture(autouse=True)
def work(tmp_path, monkeypatch):
    """The folder that the test works in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def race_file(tmp_path_factory):
    """The path of a trace of the program with the race."""
    path = tmp_path_factory.mktemp("race") / "race.sqlite"
    package.run([RACE, "--device", "sim"], path)
    return path


@pytest.fixture
def race(race_file):
    """That trace, with tables of plain rows."""
    return package.open(race_file, tables="rows")


@contextlib.contextmanager
def recording_in_progress(path):
    """A program that is being recorded into the file `path`, which has work already; the recorder is the value."""
    command = [program.find(), "record", "--quiet", "-o", path, "--", BUILD / "bin/tests/worker", "forever"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as recorder:
        worker = int(recorder.stdout.readline())
        try:
            for _ in range(200):
                recorder.stdout.readline()
            deadline = time.monotonic() + 30
            while not os.path.exists(path) or not package.Trace(path, tables="rows").ops:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield recorder
        finally:
            os.kill(worker, signal.SIGKILL)


def python(*arguments, recorded=False):
    """Runs Python in the current folder, under the recorder if wanted; returns its end and everything that it printed."""
    command = [sys.executable, *map(str, arguments)]
    if recorded:
        command = [program.find(), "record", "--quiet", "--force", "-o", "whole.sqlite", "--", *command]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.environ["PYTHONPATH"], str(HERE)])}
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", env=environment)

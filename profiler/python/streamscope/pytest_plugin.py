# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest: each test records what it wants to check into traces of its own.

    def test_overlap(streamscope):
        with streamscope.record() as run:
            train_steps(20)
        run.assert_may_overlap("*AllGather*", "gemm*")
        run.assert_no_findings()

`pytest --streamscope` restarts pytest under `streamscope record`, which `streamscope.record()` needs; `streamscope.run()` records
another program and needs nothing. Traces of failed tests are kept, and their reports are part of the failure.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sys
import zlib
from typing import Any, Generator, Iterator, List, Sequence, Tuple, Union

import pytest

from . import program, recording
from .error import Error
from .trace import Trace

_LONGEST_NAME = 150


class Recorder:
    """What the fixture `streamscope` gives to a test."""

    def __init__(self, folder: str, test: str, keep: bool) -> None:
        name = re.sub(r"[^\w.-]+", "-", test)
        if len(name) > _LONGEST_NAME:
            name = f"{name[:_LONGEST_NAME]}-{zlib.crc32(test.encode()):08x}"
        self._stem = os.path.join(folder, name)
        self._traces: List[Trace] = []
        self.keep = keep

    @contextlib.contextmanager
    def record(self, *, iteration: str = "auto", timeout: float = 60.0) -> Iterator[Trace]:
        """Records the block, as `streamscope.record` does."""
        recording.require_collector("start the tests with: pytest --streamscope")
        with recording.record(self._next_path(), force=True, timeout=timeout, iteration=iteration) as trace:
            self._traces.append(trace)
            yield trace

    def run(
        self, command: Union[str, Sequence[program.Path]], *, options: Sequence[str] = (), check: bool = True, iteration: str = "auto"
    ) -> Trace:
        """Records another program, as `streamscope.run` does."""
        trace = recording.run(command, self._next_path(), options=options, force=True, check=check, iteration=iteration)
        self._traces.append(trace)
        return trace

    def traces(self) -> List[Trace]:
        """The traces that were written."""
        return [trace for trace in self._traces if os.path.exists(trace.path)]

    def close(self) -> None:
        """Deletes the traces unless they are to be kept."""
        for trace in [] if self.keep else self.traces():
            os.unlink(trace.path)

    def _next_path(self) -> str:
        os.makedirs(os.path.dirname(self._stem), exist_ok=True)
        return f"{self._stem}-{len(self._traces) + 1}.sqlite"


@pytest.fixture
def streamscope(request: pytest.FixtureRequest) -> Iterator[Recorder]:
    """Records parts of this test, or other programs, into traces that are kept if the test fails."""
    option = request.config.getoption
    recorder = Recorder(option("--streamscope-dir"), request.node.nodeid, option("--streamscope-keep"))
    yield recorder
    recorder.close()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("streamscope", "CUDA streams")
    group.addoption("--streamscope", action="store_true", help="run pytest under streamscope record, so that tests can record themselves")
    group.addoption("--streamscope-dir", metavar="DIR", default="streamscope-traces", help="folder of the traces (default: %(default)s)")
    group.addoption("--streamscope-keep", action="store_true", help="keep the traces of passed tests too")
    group.addoption("--streamscope-options", metavar="OPTIONS", default="", help="options of streamscope record, such as '--with accesses'")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, None, None]:
    # Before any output is captured: the new process takes over this one's descriptors.
    options = early_config.known_args_namespace
    if options.streamscope and not recording.is_recorded():
        _restart(options.streamscope_dir, shlex.split(options.streamscope_options))
    yield


def _restart(folder: str, options: Sequence[str]) -> None:
    """Replaces this process by one that the recorder starts with the same arguments."""
    if "STREAMSCOPE_RINGS" in os.environ:
        raise pytest.UsageError("streamscope: the collector in this process does not know ranges; use the program of the same version")
    os.makedirs(folder, exist_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    trace = os.path.join(folder, "session.sqlite")
    try:
        program.become("record", "--quiet", "--force", "-o", trace, *options, "--", *_command_line())
    except Error as error:
        raise pytest.UsageError(str(error)) from error


def _command_line() -> List[str]:
    started: List[str] = getattr(sys, "orig_argv", [])  # since Python 3.10
    if not started:
        is_module = os.path.basename(sys.argv[0]) == "__main__.py"
        started = ["", *(["-m", "pytest"] if is_module else sys.argv[:1]), *sys.argv[1:]]
    return [sys.executable, *started[1:]]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    outcome = yield
    recorder = getattr(item, "funcargs", {}).get("streamscope")
    if not isinstance(recorder, Recorder):
        return
    report = outcome.get_result()
    if report.failed:
        recorder.keep = True
    if report.when != "call":
        return
    for trace in recorder.traces():
        if report.failed:
            report.sections.append((f"streamscope report {trace.path}", _text(trace)))
        if item.config.getoption("xmlpath", None):
            item.user_properties.extend(_properties(trace, recorder.keep))


def _text(trace: Trace) -> str:
    try:
        return trace.report()
    except Error as error:
        return str(error)


def _properties(trace: Trace, kept: bool) -> List[Tuple[str, object]]:
    """What JUnit XML says about a trace."""
    properties: List[Tuple[str, object]] = [("streamscope.trace", trace.path)] if kept else []
    try:
        iteration = trace.diagnosis()["iteration"]
        properties.append(("streamscope.check", trace.check()["result"]))
    except Error as error:
        return [*properties, ("streamscope.error", str(error))]
    if iteration:
        properties.append(("streamscope.iteration_ns", iteration["median_ns"]))
    return properties

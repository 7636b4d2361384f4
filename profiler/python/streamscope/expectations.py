# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What a test expects of a trace: each expectation raises AssertionError unless the trace proves it."""

from __future__ import annotations

import json
from typing import Optional

from . import program
from .analysis import Analysis


def _quoted(pattern: str) -> str:
    for quote in ('"', "'"):
        if quote not in pattern:
            return quote + pattern + quote
    return '"' + pattern.replace('"', "?") + '"'  # any character


class Expectations(Analysis):
    """The expectations of a trace, decided by `streamscope check` and `streamscope diff`."""

    def assert_holds(self, assertion: str) -> None:
        """Expects an assertion of `streamscope check --assert`, such as "launches_per_iteration <= 120".

        >>> trace.assert_holds("syncs_per_iteration <= 1")
        >>> trace.assert_holds("launches_per_iteration > 1")
        Traceback (most recent call last):
          ...
        AssertionError: launches_per_iteration > 1: fails: 15 of 15 iterations are outside the limit; ...
        """
        answer = self.check(assertions=[assertion])["assertions"][0]
        if answer["outcome"] != "holds":
            raise AssertionError(f"{assertion}: {answer['outcome']}: {answer['text']}")

    def assert_may_overlap(self, first: str, second: str, *, across: bool = False) -> None:
        """Expects that work of one pattern is free to overlap with work of the other in each iteration.

        With `across`: with that of the next iteration. Patterns match names of kernels and copies.

        >>> trace.assert_may_overlap("memcpy HtoD", "sum", across=True)
        """
        self.assert_holds(f"may_overlap{'_across' if across else ''}({_quoted(first)}, {_quoted(second)})")

    def assert_ordered(self, first: str, second: str) -> None:
        """Expects that work of the first pattern ends before work of the second that is issued after it.

        >>> trace.assert_ordered("memcpy HtoD", "sum")
        """
        self.assert_holds(f"ordered({_quoted(first)}, {_quoted(second)})")

    def assert_no_sync_in(self, where: str = "iteration") -> None:
        """Expects no blocking call in an iteration, or in ranges such as "nvtx:step".

        >>> trace.assert_no_sync_in("iteration")
        """
        self.assert_holds(f"no_sync_in({_quoted(where)})")

    def assert_no_findings(self, fail_on: str = "error", *, baseline: program.Path = "") -> None:
        """Expects no certain finding of this severity or higher, and that all detectors of errors could decide.

        `baseline` is a file of known findings, from `streamscope check --write-baseline`.

        >>> trace.assert_no_findings()
        Traceback (most recent call last):
          ...
        AssertionError: race · 1 process · Simulated H200 · 404 µs · complete, nothing lost
        <BLANKLINE>
        error: sum on stream 2 math and memcpy HtoD on stream 1 copies access the same memory without ordering
        ...
        """
        if self.check(fail_on=fail_on, baseline=baseline)["result"] != "passed":
            known = ["--baseline", baseline] if baseline else []
            raise AssertionError(self._judge("check", self.path, "--fail-on", fail_on, *known).strip())

    def assert_iteration_time(
        self, limit: str = "", *, relative_to: Optional[program.Path] = None, max_slowdown_percent: float = 5.0
    ) -> None:
        """Expects an iteration that is not longer than a limit, or not slower than in a baseline trace by more than so much.

        The limit is compared with the median of the steady iterations, the baseline as `streamscope diff` does.

        >>> trace.assert_iteration_time("25 us")
        >>> trace.assert_iteration_time(relative_to="race.sqlite")
        >>> trace.assert_iteration_time("20 us")
        Traceback (most recent call last):
          ...
        AssertionError: iteration <= 20 us: exceeded: 21.6 µs
        """
        if bool(limit) == (relative_to is not None):
            raise TypeError("assert_iteration_time takes either a limit or relative_to")
        if relative_to is None:
            budget = self.check(budgets=[f"iteration <= {limit}"])["budgets"][0]
            if budget["outcome"] != "met":
                raise AssertionError(f"iteration <= {limit}: {budget['outcome']}: {budget.get('measured', 'see the losses of the trace')}")
            return
        compared = ["diff", relative_to, self.path, "--max-slowdown", str(max_slowdown_percent)]
        if json.loads(self._judge(*compared, "--format", "json"))["result"] != "no-regression":
            raise AssertionError(self._judge(*compared).strip())

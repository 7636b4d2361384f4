# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What the program `streamscope` says about a trace."""

from __future__ import annotations

import html
import json
import os
import tempfile
from typing import Any, Dict, List, Sequence

from . import program


class Page:
    """An HTML page, which a notebook shows in a frame."""

    def __init__(self, text: str, height: int) -> None:
        self.html = text
        self._height = height

    def save(self, path: program.Path) -> None:
        """Writes the page to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        # A frame of its own: the page has scripts and styles, which must not meet those of the notebook.
        return (
            f'<iframe sandbox="allow-scripts" style="width: 100%; height: {self._height}px; border: 0" '
            f'srcdoc="{html.escape(self.html)}"></iframe>'
        )


class Analysis:
    """The analysis of the trace at `path`, where `iteration` says what one iteration is."""

    def __init__(self, path: program.Path, iteration: str) -> None:
        self.path = os.fspath(path)
        self.iteration = iteration

    def __repr__(self) -> str:
        return f"Trace({self.path!r})"

    def __fspath__(self) -> str:
        return self.path

    def diagnosis(self) -> Dict[str, Any]:
        """The report as data: what bounds an iteration, what is worth fixing first, and everything else.

        >>> trace.diagnosis()["worth_fixing"][0]["detector"]
        'stream-race'
        """
        return dict(json.loads(self.report("json")))

    def check(
        self,
        *,
        fail_on: str = "error",
        require: Sequence[str] = (),
        assertions: Sequence[str] = (),
        budgets: Sequence[str] = (),
        baseline: program.Path = "",
    ) -> Dict[str, Any]:
        """Runs all detectors: the result (passed, failed or not-evaluable), findings, assertions and budgets.

        The options are those of `streamscope check`; `budgets` are lines of a budget file.

        >>> checked = trace.check(assertions=['ordered("memcpy HtoD", "sum")'], budgets=["iteration <= 1 ms"])
        >>> checked["result"], checked["assertions"][0]["outcome"], checked["budgets"][0]["outcome"]
        ('failed', 'holds', 'met')
        """
        options = ["--fail-on", fail_on]
        for detector in require:
            options += ["--require", detector]
        for assertion in assertions:
            options += ["--assert", assertion]
        if baseline:
            options += ["--baseline", os.fspath(baseline)]
        if not budgets:
            return self._checked(options)
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write("\n".join(budgets) + "\n")
            file.flush()
            return self._checked([*options, "--budget", file.name])

    def report(self, format: str = "text") -> str:
        """The report as text, markdown, html or json.

        >>> print(trace.report().splitlines()[0])
        race · 1 process · Simulated H200 · 404 µs · complete, nothing lost
        """
        return program.output("report", self.path, "--format", format, *self._options())

    def page(self) -> Page:
        """The report as a page for a notebook or a browser."""
        return Page(self.report("html"), height=900)

    def timeline(self) -> Page:
        """The timeline of the report.

        >>> trace.timeline().save("timeline.html")
        """
        only_timeline = "<style>main > :not(:has(#timeline)) { display: none }</style></head>"
        return Page(self.report("html").replace("</head>", only_timeline, 1), height=420)

    def _repr_html_(self) -> str:
        return self.timeline()._repr_html_()

    def _checked(self, options: Sequence[str]) -> Dict[str, Any]:
        return dict(json.loads(self._judge("check", self.path, "--format", "json", *options)))

    def _judge(self, *arguments: program.Path) -> str:
        """What a command with a verdict prints, whatever the verdict."""
        return program.output(*arguments, *self._options(), accepted=(0, 1, 3))

    def _options(self) -> List[str]:
        return ["--iteration", self.iteration, "--quiet"]

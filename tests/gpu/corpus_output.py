# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a program's output repeats, and whether another run wrote the same. What a program measures (times, rates, addresses)
is left out; what else varies between unrecorded runs is learned from them."""

import re

ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}|\b(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{10,16}\b")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
# A line with one of these holds measurements: none of its numbers is compared.
MEASURED = re.compile(
    r"\b(times?|timing|elapsed|durations?|seconds?|milliseconds?|microseconds?|nanoseconds?|bandwidth|throughput|latency|speed-?up|rates?"
    r"|performance|overhead|fps|clocks?|cycles|ticks|pid|process id|date)\b"
    r"|[a-z]_?time\b|(?<![a-z])([kmgt]i?b(ytes)?/s|[kmgt]?flops?(/s)?|[kmgt]?iops|ops/s)(?![a-z])"
    r"|(?<=[\d\s(\[])(n|u|µ|m)?s(ecs?)?\b(?!-)", re.IGNORECASE)
OWN_MESSAGE = re.compile(r"streamscope\b")  # further lines of it are indented


def lines_of(text, left_out=""):
    """The lines to compare, without what is measured."""
    found, is_own = [], False
    for line in text.splitlines():
        is_own = bool(OWN_MESSAGE.match(line)) or is_own and line.startswith(" ")
        if is_own or left_out and re.search(left_out, line):
            continue
        line = ADDRESS.sub("ADDRESS", line)
        if MEASURED.search(line):
            line = NUMBER.sub("#", line)
        found.append(line.split())
    return found


class Expected:
    """What unrecorded runs wrote to one stream, as far as they agree."""

    def __init__(self, texts, left_out=""):
        self.left_out, self.varying, self.lines, self.order = left_out, 0, None, "same"
        if left_out == "ignored":
            self.order = "ignored"
            return
        runs = [lines_of(text, left_out) for text in texts]
        if len({len(run) for run in runs}) > 1:
            self.order = "varies"
        elif any(sorted(run) == sorted(runs[0]) and run != runs[0] for run in runs):
            self.order = "any" if all(sorted(run) == sorted(runs[0]) for run in runs) else "varies"
            self.lines = sorted(runs[0]) if self.order == "any" else None
        else:
            self.lines = [self._common(line) for line in zip(*runs)]

    def _common(self, lines):
        """The tokens that all runs share, None where they differ; None for a line that never is the same."""
        if len({len(line) for line in lines}) > 1:
            self.varying += 1
            return None
        tokens = [tokens[0] if len(set(tokens)) == 1 else None for tokens in zip(*lines)]
        self.varying += tokens.count(None)
        return tokens

    @property
    def is_compared(self):
        return self.lines is not None

    def describe(self):
        if self.order in ("ignored", "varies"):
            return self.order
        return "any order" if self.order == "any" else f"{self.varying} places vary" if self.varying else "repeats"

    def difference(self, text):
        """How a text differs from what was expected, or ""."""
        if not self.is_compared:
            return ""
        got = lines_of(text, self.left_out)
        if self.order == "any":
            got = sorted(got)
        for number, (wanted, line) in enumerate(zip(self.lines, got), 1):
            if wanted is None:
                continue
            if len(wanted) != len(line) or any(token is not None and token != other for token, other in zip(wanted, line)):
                shown = " ".join("*" if token is None else token for token in wanted)
                return f"line {number}: '{shown[:120]}' became '{' '.join(line)[:120]}'"
        if len(got) != len(self.lines):
            extra = got[len(self.lines)] if len(got) > len(self.lines) else self.lines[len(got)] or ["*"]
            more = "more" if len(got) > len(self.lines) else "missing"
            return f"{abs(len(got) - len(self.lines))} lines {more}: '{' '.join(token or '*' for token in extra)[:120]}'"
        return ""

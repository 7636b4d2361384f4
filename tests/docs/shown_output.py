# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Compares what a command printed with what a page shows.

Measurements differ from run to run: numbers with a unit or a fraction, those of three digits and more, and the columns that
they are in. `…` stands for any text in a line, and for any lines if it is alone.
"""

import difflib
import re

NUMBER = re.compile(
    r"0x[0-9a-f]+"
    r"|(?<![\w.])[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?\s?(?:ns|µs|us|ms|s|min|h|%|B|KiB|MiB|GiB|kB|MB|GB)(?!\w)"
    r"|(?<![\w.])[-+−]?\d[\d,]*\.\d+(?!\w)"
    r"|(?<![\w.])\d[\d,]{2,}(?!\w)"
    r"|\d\d:\d\d:\d\d")
REST = "…"


def normalized(text):
    lines = []
    for line in text.rstrip().splitlines():
        line = re.sub(r"\x1b\[[0-9;]*m", "", line)
        line = re.sub(r"─+", "─", NUMBER.sub("#", line))
        lines.append(re.sub(r"\s+", " ", line).strip())
    return [line for line in lines if line]


def pattern(shown):
    """A regular expression for the lines that a page shows."""
    result = ""
    for line in shown:
        result += r"(?:[^\n]*\n)*?" if line == REST else ".*".join(re.escape(part) for part in line.split(REST)) + "\n"
    return result


def difference(shown, printed):
    """What is different, as text; empty if nothing is."""
    shown, printed = normalized(shown), normalized(printed)
    if re.fullmatch(pattern(shown), "".join(line + "\n" for line in printed)):
        return ""
    return "\n".join(difflib.unified_diff(shown, printed, "the page", "the program", lineterm="", n=1))

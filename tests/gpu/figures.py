# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Figures of alternated measurements: intervals of paired values, verdicts against limits, tables for docs/performance.md."""

import math
import statistics
import time

from corpus_table import table

LEAST_ROUNDS = 6  # below that, no pair of values encloses a median with 95 %


def interval(values):
    """(low, median, high): the median and its 95 % interval, by order statistics, so that outliers do not widen it."""
    values, count = sorted(values), len(values)
    if count < LEAST_ROUNDS:
        return float("-inf"), statistics.median(values), float("inf")
    outside, below = 0, 0.0  # values left out at each end; chance that the median lies below all others
    while below + math.comb(count, outside) / 2 ** count <= 0.025:
        below += math.comb(count, outside) / 2 ** count
        outside += 1
    return values[outside - 1], statistics.median(values), values[count - outside]


def verdict(low, median, high, limit):
    """"ok" or "miss" if the whole interval is on one side of the limit, else "not resolved"."""
    if high <= limit:
        return "ok"
    return "miss" if low > limit else "not resolved"


def check_interval(harness, name, low, median, high, limit, text):
    """The check of a limit by an interval, which the text gives; what is not resolved is skipped, visibly. Returns the verdict."""
    said = verdict(low, median, high, limit)
    harness.log(f"  {name}: {text}: {said}")
    if said == "not resolved":
        harness.skip(name, f"not resolved: {text}")
    else:
        harness.check(name, said == "ok", text)
    return said


def check_limit(harness, name, values, unit, limit):
    """The check of a limit by the interval of paired values; what is not resolved is skipped, visibly. Returns the verdict."""
    low, median, high = interval(values)
    text = f"{median:+.3g} {unit}, 95 % interval {low:+.3g} to {high:+.3g}, limit {limit:+.3g}, {len(values)} rounds"
    return check_interval(harness, name, low, median, high, limit, text)


def markdown(harness, title, header, rows):
    """Prints a table in the form of docs/performance.md, and adds it to OUT/tables.md."""
    head = f"{title} {harness.gpu()}, {time.strftime('%b %d')}."
    text = f"{head}\n\n{table(header, rows)}\n"
    harness.log(f"\n{text}")
    with open(harness.out / "tables.md", "a") as file:
        file.write(text + "\n")

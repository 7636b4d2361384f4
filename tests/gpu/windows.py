# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What recording costs a step of an eager PyTorch transformer, in windows with and without recording of one process (--measure-cost=step), which
tell less than a percent: the recordings that are meant to be always on, against their limits. --rounds N: thousands of steps of each; --programs REGEX: some of
these recordings."""

import math

import figures
from harness import REPOSITORY, Trace
from pytorch import is_available

SCRIPT = REPOSITORY / "tests/gpu/programs/torch_transformer.py"
THOUSANDS = 6
MOST_STEP_MS = 25  # of a busy host
RECORDINGS = {
    "structure": ["--tier", "structure"],
    "structure with samples": ["--tier", "structure", "--samples", 500],
    "flight recorder": ["--flight-recorder", 8],
}
LIMITS = {"structure": 2, "flight recorder": 1}  # percent
MOST_OF_SAMPLES = 1


def measured_cost(harness, name, options, steps):
    """The cost that a recording measures itself (info --json), and its path; None and the path if it failed, which is a failed check."""
    finished, path = harness.record(name, [harness.python, SCRIPT, "--steps", steps], [*options, "--measure-cost=step"], 60 + steps * MOST_STEP_MS / 1e3)
    if not harness.check(f"{name}: recorded with --measure-cost", finished.code == 0 and path.exists(), finished.why()):
        return None, path
    cost = (harness.info(path, name) or {}).get("recording_cost")
    known = isinstance(cost, dict) and cost.get("percent") is not None
    return (cost if harness.check(f"{name}: info has the measured cost", known, str(cost)) else None), path


def text_of(cost):
    return f"{cost['percent']:+.2f} % ({cost['low']:+.2f} to {cost['high']:+.2f}), {cost['windows']} windows"


def check_limit(harness, way, cost):
    figures.check_interval(harness, f"{way}: cost of a step in windows", cost["low"], cost["percent"], cost["high"], LIMITS[way],
                           f"{text_of(cost)}, limit {LIMITS[way]} %")


def check_samples(harness, without, sampled):
    """The difference of two independent estimates."""
    added = sampled["percent"] - without["percent"]
    half = math.hypot(*((cost["high"] - cost["low"]) / 2 for cost in (without, sampled)))
    figures.check_interval(harness, "samples: cost of a step in windows", added - half, added, added + half, MOST_OF_SAMPLES,
                           f"{added:+.2f} % ({added - half:+.2f} to {added + half:+.2f}), limit {MOST_OF_SAMPLES} %")


def run(harness):
    if not is_available(harness):
        return
    steps, found = 1000 * harness.rounds_of(THOUSANDS), {}
    for way, options in RECORDINGS.items():
        if not harness.options.programs.search(way):
            continue
        if harness.is_over():
            harness.log("  time is over")
            break
        cost, path = measured_cost(harness, f"windows.{way.replace(' ', '_')}", options, steps)
        if cost is None:
            continue
        found[way] = cost
        trace = Trace(path)
        harness.log(f"  {way}: {text_of(cost)}, {trace.collector()}")
        trace.close()
        if way in LIMITS:
            check_limit(harness, way, cost)
    if "structure" in found and "structure with samples" in found:
        check_samples(harness, found["structure"], found["structure with samples"])

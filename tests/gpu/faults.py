#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Planted performance faults: each is found, and its estimated gain matches the gain of its fix.

A section of tests/gpu/run; by itself it does the same on the simulated device: tests/gpu/faults.py BUILD [FAULT...]
"""

import collections
import json
import operator
import pathlib
import re
import statistics
import sys
import tempfile

WITHIN = 0.25  # of the measured gain
OF_TEN = 8  # estimates out of ten that have to be so good
LEAST_GAIN = 0.05  # of the makespan: smaller gains are noise
MAX_ITERATIONS_S = 60
NAMES_A_LINE = ("SS203", "SS205")  # that the programs of tests/apps, built with line tables, let them know


def findings(trace):
    """{detector: estimated gain in ns}, summed over its findings; None if none has an estimate."""
    found = {}
    for detector, gain in trace.rows(
            "SELECT name.value, gain_ns FROM finding JOIN string AS name ON name.id = detector_id"):
        found[detector] = (found.get(detector) or 0) + gain if gain is not None else found.get(detector)
    return found


def command(harness, fault, device, repaired):
    return [harness.app("faults"), fault, "--device", device] + (["--repaired"] if repaired else [])


def took_ns(lines):
    return next((line["ns"] for line in reversed(lines) if "ns" in line), None)


def unrecorded_ns(harness, fault, device, repaired):
    """None after a failed check."""
    finished = harness.run(command(harness, fault, device, repaired), MAX_ITERATIONS_S)
    took = took_ns(finished.lines())
    if not harness.check(f"{fault}{' repaired' if repaired else ''}: ran", finished.code == 0 and took, finished.why()):
        return None
    return took


def recorded(harness, fault, device, repaired):
    """(time, findings()) of a recording; None after a failed check."""
    recording = harness.recorded(f"fault_{fault}{'_repaired' if repaired else ''}", command(harness, fault, device, repaired))
    if recording is None:
        return None
    lines, trace = recording
    found = findings(trace)
    trace.close()
    harness.keep(trace.path)  # so that a wrong estimate can be investigated later
    return took_ns(lines), found


def measure(harness, fault, device, rounds):
    """{question: [an answer per round]}, all four ways in turn, so that all see the same host; None after a failed check."""
    answers = collections.defaultdict(list)
    for _ in range(rounds):
        for repaired in (False, True):
            for name, way in (("unrecorded", unrecorded_ns), ("recorded", recorded)):
                answer = way(harness, fault, device, repaired)
                if answer is None:
                    return None
                answers[name, repaired].append(answer)
    return answers


def compare(harness, device, rounds, chosen=()):
    listed = harness.run([harness.app("faults"), "--list"]).lines()
    rows, good, counted = [], 0, 0
    for fault, detector in ((line["fault"], line["detector"]) for line in listed):
        if chosen and fault not in chosen:
            continue
        answers = measure(harness, fault, device, rounds)
        if answers is None:
            continue
        before = statistics.median(answers["unrecorded", False])
        real = statistics.median(map(operator.sub, answers["unrecorded", False], answers["unrecorded", True]))
        while_recorded = [statistics.median(time for time, _ in answers["recorded", repaired]) for repaired in (False, True)]
        found, clean = (answers["recorded", repaired][-1][1] for repaired in (False, True))
        gain = statistics.median(each.get(detector) or 0 for _, each in answers["recorded", False])
        harness.check(f"{fault}: found", detector in found, f"{detector} among {found}")
        harness.check(f"{fault}: silent when repaired", detector not in clean, f"{clean}")
        matters = real >= LEAST_GAIN * before
        close = bool(gain) and abs(gain - real) <= WITHIN * abs(real)
        counted += matters
        good += matters and close
        others = sorted(name for name in found if name != detector)
        rows.append((fault, detector, f"{before / 1e3:.0f}", f"{real / 1e3:.0f}", f"{gain / 1e3:.0f}",
                     f"{gain / real:.2f}" if real > 0 else "-", "" if not matters else "yes" if close else "NO",
                     f"{while_recorded[0] / 1e3:.0f}", f"{(while_recorded[0] - while_recorded[1]) / 1e3:.0f}", " ".join(others)))
    harness.log(f"  planted faults on {device}, µs, medians of {rounds}")
    harness.table(["fault", "detector", "time", "measured gain", "estimated", "ratio", f"within {WITHIN:.0%}",
                   "recorded", "gain recorded", "also found"], rows)
    if not chosen:
        harness.check("enough faults matter", counted >= 8, f"{counted}")
        harness.check(f"estimates within {WITHIN:.0%} in {OF_TEN} of 10", good * 10 >= OF_TEN * counted, f"{good} of {counted}")
    (harness.out / f"faults-{device}.json").write_text(json.dumps(rows, indent=1))


def named_places(harness):
    """Findings about waiting hosts and the default stream name the line of the program, in all programs recorded so far."""
    for path in sorted(harness.work.glob("*.sqlite")):
        checked = harness.run([harness.streamscope, "check", "--format", "json", path])
        try:
            listed = json.loads(checked.out)["findings"]
        except (ValueError, KeyError):
            continue  # nothing that can be analyzed
        for finding in listed:
            if finding["number"] in NAMES_A_LINE:
                harness.check(f"{path.stem}: {finding['number']} names file and line",
                              re.match(r".+:[0-9]+ .", finding["called_from"] or ""),
                              f"{finding['called_from']!r}: {finding['title']}")


def run(harness):
    compare(harness, "cuda", max(5, harness.rounds_of(9)))
    named_places(harness)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    from harness import Harness

    with tempfile.TemporaryDirectory(prefix="streamscope-faults-") as folder:
        work = pathlib.Path(folder)
        simulated = Harness(pathlib.Path(sys.argv[1]).resolve(), work / "out", work, 1, 0)
        compare(simulated, "sim", 1, sys.argv[2:])
        named_places(simulated)
        failed = [row for row in simulated.results if row[2] == "FAIL"]
        for _, check, _, message in failed:
            print(f"FAIL {check}: {message}")
        simulated.close()
    sys.exit(1 if failed else 0)

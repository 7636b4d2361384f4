#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Planted performance faults: each is found, and its estimated gain is what its repair gains.

A section of tests/gpu/run; by itself it does the same on the simulated device: tests/gpu/faults.py BUILD [FAULT...]
"""

import json
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


def measured_ns(harness, fault, device, repaired, rounds):
    """Median over runs that nobody records."""
    times = []
    for _ in range(rounds):
        command = [harness.app("faults"), fault, "--device", device] + (["--repaired"] if repaired else [])
        finished = harness.run(command, MAX_ITERATIONS_S)
        lines = [line for line in finished.lines() if "ns" in line]
        if finished.code != 0 or not lines:
            harness.check(f"{fault}: ran{' repaired' if repaired else ''}", False, finished.why())
            return None
        times.append(lines[-1]["ns"])
    return statistics.median(times)


def estimate(harness, fault, detector, device, repaired):
    """(gain that the detector estimates, all findings) of a recording, or None."""
    name = f"fault_{fault}{'_repaired' if repaired else ''}"
    command = [harness.app("faults"), fault, "--device", device] + (["--repaired"] if repaired else [])
    recording = harness.recorded(name, command)
    if recording is None:
        return None
    trace = recording[1]
    found = findings(trace)
    trace.close()
    harness.keep(trace.path)  # so that an estimate that is off can be looked into later
    return found.get(detector, None if detector in found else 0), found


def compare(harness, device, rounds, chosen=()):
    listed = harness.run([harness.app("faults"), "--list"]).lines()
    rows, good, counted = [], 0, 0
    for fault, detector in ((line["fault"], line["detector"]) for line in listed):
        if chosen and fault not in chosen:
            continue
        before = measured_ns(harness, fault, device, False, rounds)
        after = measured_ns(harness, fault, device, True, rounds)
        faulty = estimate(harness, fault, detector, device, False)
        clean = estimate(harness, fault, detector, device, True)
        if None in (before, after, faulty, clean):
            continue
        gain, found = faulty
        harness.check(f"{fault}: found", detector in found, f"{detector} among {found}")
        harness.check(f"{fault}: silent when repaired", detector not in clean[1], f"{clean[1]}")
        real = before - after
        matters = real >= LEAST_GAIN * before
        close = bool(gain) and abs(gain - real) <= WITHIN * abs(real)
        counted += matters
        good += matters and close
        others = sorted(name for name in found if name != detector)
        rows.append((fault, detector, f"{before / 1e3:.0f}", f"{real / 1e3:.0f}", f"{(gain or 0) / 1e3:.0f}",
                     f"{(gain or 0) / real:.2f}" if real > 0 else "-",
                     "" if not matters else "yes" if close else "NO", " ".join(others)))
    harness.log(f"  planted faults on {device}, µs, medians of {rounds}")
    harness.table(["fault", "detector", "makespan", "measured gain", "estimated", "ratio", f"within {WITHIN:.0%}", "also found"], rows)
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
            continue  # nothing that can be analysed
        for finding in listed:
            if finding["number"] in NAMES_A_LINE:
                harness.check(f"{path.stem}: {finding['number']} names file and line",
                              re.match(r".+:[0-9]+ .", finding["called_from"] or ""),
                              f"{finding['called_from']!r}: {finding['title']}")


def run(harness):
    compare(harness, "cuda", max(5, harness.rounds_of(5)))
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

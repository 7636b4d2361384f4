# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""streamscope confirm: holding back one side of a planted race changes the bytes that are seen, and nothing once it is repaired."""

import json
import time

import accesses

RACE = "stream-race"
LEAST_CONFIRMED = 20


def verdicts(harness, name, trace, command):
    """[(verdict, reason)] of the races of a trace, with the program run again."""
    done = harness.run([harness.streamscope, "confirm", trace, "--json", "--quiet", "--hold", "100", "--"] + command, timeout=240)
    if not harness.check(f"{name}: confirm ends by itself", done.code in (0, 1, 3), f"{done.code}: {done.err[-300:]}"):
        return None
    rows = json.loads(done.out)["races"]
    harness.equal(f"{name}: exit code", 1 if any(row["verdict"] == "confirmed" for row in rows) else
                  3 if any(row["verdict"] == "not confirmable" for row in rows) else 0, done.code)
    return [(row["verdict"], row["reason"]) for row in rows]


def pair(harness, name, racy, repaired):
    """(name, verdicts of the racy program, of the repaired one)."""
    recording = harness.recorded(name, racy, accesses.OPTIONS, timeout=120)
    if recording is None:
        return None
    recording[1].close()
    trace = harness.trace_path(name)
    found, again = verdicts(harness, name, trace, racy), verdicts(harness, f"{name} repaired", trace, repaired)
    if found is None or again is None:
        return None
    harness.check(f"{name}: not confirmed once repaired", not any(verdict == "confirmed" for verdict, _ in again), f"{again}")
    return name, found, again


def run(harness):
    jobs = []
    for case in harness.run([harness.app("kernel_races"), "--list"]).lines():
        if case["detector"] == RACE:
            command = [harness.app("kernel_races"), case["case"]]
            jobs.append((harness, f"kernel_races_{case['case']}", command, command + ["--fixed"]))
    for case in accesses.TORCH[:2]:
        command = [harness.python, accesses.PROGRAMS / "torch_races.py", case]
        jobs.append((harness, f"torch_{case}", command, command + ["--repaired"]))
    # One after the other: programs beside each other wait while work of one is held back.
    rows = [row for row in (pair(*job) for job in jobs if time.monotonic() < harness.until) if row]
    confirmed = sum(any(verdict == "confirmed" for verdict, _ in found) for _, found, _ in rows)
    for name, found, again in rows:
        for verdict, reason in found:
            harness.log(f"  {name}: {verdict}: {reason}")
        for verdict, reason in again:
            harness.detail(f"  {name} repaired: {verdict}: {reason}")
    harness.log(f"  {confirmed} of {len(rows)} racy programs confirmed")
    harness.check(f"at least {LEAST_CONFIRMED} are confirmed", confirmed >= LEAST_CONFIRMED, f"{confirmed}")

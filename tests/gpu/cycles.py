# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""A thousand starts and stops while a program works: each part has all its calls and their times, and nothing grows."""

import pathlib
import statistics
import subprocess
import time

from harness import Trace
from service import control, end, said, start, wait_for

CYCLES = 500  # of each tier
PART_S = 0.03
MOST_GROWTH_KIB = 32768
GAP = """WITH n AS (SELECT call_number c FROM api_call UNION SELECT call_number FROM event_record UNION SELECT call_number FROM event_wait
  UNION SELECT call_number FROM host_sync) SELECT max(c) - min(c) + 1 - count(*) FROM n WHERE c IS NOT NULL"""


def resident_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1])


def fault_of(part, tier):
    """What is wrong with a part, or None; and its records of events."""
    trace = Trace(part)
    losses, gap = trace.losses(), trace.value(GAP)
    kernels, timed = trace.rows("SELECT count(*), count(end_ns) FROM op WHERE kind = 0")[0]
    records = trace.value("SELECT count(*) FROM event_record")
    trace.close()
    wrong = losses or gap or not kernels or (tier == "times" and kernels != timed)
    return (f"losses {losses}, gap {gap}, {timed} of {kernels} kernels have times" if wrong else None), records


def check_cycles(harness, tier):
    name = f"cycles.{tier}"
    process = start(harness, name, ["--tier", tier, "--quiet"], [harness.app("spin"), "--seconds", "600"])
    out = harness.work / f"{name}.out"
    if not harness.check(f"{name}: the program works", wait_for(lambda: out.stat().st_size > 0), said(harness, name)):
        end(process)
        return
    pid = out.read_text().partition('"pid": ')[2].partition(",")[0]
    faults, sizes, records = [], [], 0
    for cycle in range(harness.rounds or CYCLES):
        if harness.is_over():
            break
        part = control(harness, "start", pid)
        time.sleep(PART_S)
        if part is None or control(harness, "stop", pid) is None:
            break
        fault, found = fault_of(part, tier)
        if fault:
            faults.append(f"part {cycle + 1}: {fault}")
        records += found
        pathlib.Path(part).unlink()
        sizes.append(resident_kib(process.pid))
    subprocess.run(["kill", "-KILL", pid], check=False)
    end(process)
    harness.log(f"  {tier}: {len(sizes)} cycles with {records} records of events; the recorder had {sizes[:1]} KiB after the first, {sizes[-1:]} after the last")
    harness.check(f"{name}: {len(sizes)} parts lose nothing", sizes and not faults, f"{len(faults)} do: {faults[:5]}")
    grown = statistics.median(sizes[-5:]) - statistics.median(sizes[5:10] or sizes) if sizes else 0
    harness.check(f"{name}: the recorder does not grow", grown < MOST_GROWTH_KIB, f"by {grown} KiB")


def run(harness):
    for tier in ("structure", "times"):
        if not harness.is_over():
            check_cycles(harness, tier)

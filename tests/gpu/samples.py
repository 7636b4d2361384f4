# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What samples of the host cost an eager PyTorch transformer: recordings that measure their own cost (--measure-cost), with more and more
samples a second. In the windows without recording there are no samples."""

import figures
import windows
from harness import Trace
from pytorch import is_available

STEPS = 2000
RATES = (0, 200, 500, 1000, 2000)  # Hz
DEFAULT = 500


def measure(harness, rate):
    """A row of the table, or None."""
    cost, path = windows.measured_cost(harness, f"samples.{rate}", ["--tier", "structure", "--samples", rate], STEPS)
    if cost is None:
        return None
    trace = Trace(path)
    samples, with_stack, seconds, threads = trace.rows(
        "SELECT count(*), count(stack_id), (max(at_ns) - min(at_ns)) / 1e9, count(DISTINCT thread_id) FROM host_sample")[0]
    stopped_us = int(trace.value("SELECT value FROM meta WHERE key = 'sample_stop_ns'") or 0) / 1e3
    stops = trace.value("SELECT count(*) FROM host_sample JOIN stack_frame ON stack_frame.stack_id = host_sample.stack_id"
                        " WHERE runs = 1 AND depth = 0 AND kind = 0")
    places = trace.rows("SELECT count(*) AS times, value FROM host_sample AS sample JOIN stack_frame ON stack_frame.stack_id = sample.stack_id"
                        " AND depth = 0 JOIN string ON string.id = symbol_id GROUP BY value ORDER BY times DESC LIMIT 6")
    trace.close()
    for times, place in places:
        harness.detail(f"{rate} Hz: {times} {place}")
    return {"rate": rate, "cost": cost, "samples": samples, "with stack": with_stack, "each": samples / seconds / threads if samples else 0,
            "stops": stops, "stop us": stopped_us / stops if stops else 0}


def run(harness):
    if not is_available(harness):
        return
    rows = [row for row in (measure(harness, rate) for rate in RATES) if row]
    figures.markdown(
        harness, f"`tests/gpu/run samples`: an eager step under `--tier structure --measure-cost=step`, {STEPS} steps.",
        ["Samples a second", "Made, of a thread", "With stack", "Stops", "A stop", "Cost of recording"],
        [(row["rate"], f"{row['each']:.0f}", f"{row['with stack']} of {row['samples']}", row["stops"], f"{row['stop us']:.0f} µs",
          windows.text_of(row["cost"])) for row in rows])
    for row in rows:
        harness.check(f"{row['rate']} Hz: samples have stacks", row["with stack"] >= 0.95 * row["samples"], str(row))
    by_rate = {row["rate"]: row["cost"] for row in rows}
    if 0 in by_rate and DEFAULT in by_rate:
        windows.check_samples(harness, by_rate[0], by_rate[DEFAULT])

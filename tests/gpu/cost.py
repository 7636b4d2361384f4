# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What recording costs per CUDA call: the cost loop bare, under empty handlers (the floor), under StreamScope, under
nsys; alternated runs, medians. Nothing else may run meanwhile."""

import glob
import shutil
import statistics

from harness import Trace

OWN_NS = 60  # what our part of a traced call may add to the floor, entry and exit together


def find_nsys(harness):
    """nsys, also where it only comes along inside Nsight Compute."""
    found = shutil.which("nsys")
    places = ["/opt/nvidia/*/*/host/target-linux-x64/nsys", "/opt/nvidia/*/*/target-linux-x64/nsys",
              "/usr/local/cuda*/**/nsys"]
    candidates = [found] if found else [path for place in places for path in sorted(glob.glob(place, recursive=True))]
    if not candidates:
        candidates = harness.run(["find", "/", "-xdev", "-name", "nsys", "-type", "f"], 30).out.split()
    for candidate in candidates:
        version = harness.run([candidate, "--version"], 30)
        if version.code == 0:
            harness.log(f"  nsys: {candidate}: {version.out.strip()}")
            return candidate
    return None


def measure(harness):
    """{way: [report of a run]} of alternated runs."""
    loop = [harness.app("cost_loop")]
    nsys = find_nsys(harness)
    ways = {
        "floor, runtime only": lambda: harness.run([*loop, "--floor-runtime"], 60),
        "floor + kernel activity": lambda: harness.run([*loop, "--floor-kernel"], 60),
        "kernel activity": lambda: harness.run([*loop, "--kernel-activity"], 60),
        "bare": lambda: harness.run(loop, 60),
        "floor": lambda: harness.run([*loop, "--floor"], 60),
        "structure": lambda: harness.record("cost.structure", loop, ["--tier", "structure"], 90)[0],
        "times": lambda: harness.record("cost.times", loop, ["--tier", "times"], 90)[0],
    }
    if nsys:
        ways["nsys -t cuda"] = lambda: harness.run(
            [nsys, "profile", "-t", "cuda", "--sample=none", "--cpuctxsw=none", "-f", "true", "-o", "cost_nsys", *loop], 120)
    else:
        harness.skip("nsys", "not found on this machine: no comparison")
    found = {way: [] for way in ways}
    for _ in range(harness.rounds_of(9)):
        for way, make in list(ways.items()):
            finished = make()
            lines = [line for line in finished.lines() if "ns_per_call" in line]
            # nsys fails to make its report here and says so; what counts is that the loop ran.
            if not lines or (finished.code != 0 and not way.startswith("nsys")):
                harness.check(f"cost loop, {way}", False, finished.why())
                del ways[way]
                continue
            found[way].append(lines[-1])
    return {way: values for way, values in found.items() if values}


def check_trace(harness, tier):
    """The recordings that were timed must be whole: nothing dropped, every call there."""
    path = harness.work / f"cost.{tier}.sqlite"
    if not path.exists():
        return
    trace = Trace(path)
    harness.equal(f"cost.{tier}: losses", [], trace.losses())
    rounds = 84_000  # 80 timed batches and 4 before, of 1000 rounds
    for table in ("event_record", "event_wait"):
        harness.equal(f"cost.{tier}: rows of {table}", rounds, trace.value(f"SELECT count(*) FROM {table}"))
    kernels, timed = trace.rows("SELECT count(*), count(end_ns) FROM op WHERE kind = 0")[0]
    harness.equal(f"cost.{tier}: kernels", rounds, kernels)
    harness.equal(f"cost.{tier}: kernels with times", rounds if tier == "times" else 0, timed)
    rows = sum(trace.value(f"SELECT count(*) FROM {table}") for table in ("api_call", "event_record", "event_wait", "op", "host_sync"))
    harness.log(f"  cost.{tier}: {path.stat().st_size / max(1, rows):.1f} bytes per row in {rows} rows")
    trace.close()


def run(harness):
    reports = measure(harness)
    if "bare" not in reports:
        return
    found = {way: [line["ns_per_call"] for line in lines] for way, lines in reports.items()}
    # Processors change their speed between runs; the same, as if every run had had the usual speed.
    usual = statistics.median(line["calibration_ns"] for lines in reports.values() for line in lines)
    adjusted = {way: statistics.median(line["ns_per_call"] * usual / line["calibration_ns"] for line in lines)
                for way, lines in reports.items()}
    median = {way: statistics.median(values) for way, values in found.items()}
    bare = median["bare"]
    harness.log(f"  cost loop, ns per call, medians of {max(map(len, found.values()))} alternated runs")
    harness.table(
        ["way", "median", "low", "high", "added", "at usual speed", "added"],
        [(way, f"{median[way]:.0f}", f"{min(values):.0f}", f"{max(values):.0f}", f"{median[way] - bare:+.0f}", f"{adjusted[way]:.0f}", f"{adjusted[way] - adjusted['bare']:+.0f}")
         for way, values in found.items()])
    for tier in ("structure", "times"):
        check_trace(harness, tier)
    # The speed of the host drifts over minutes, so runs are compared within their round.
    rounds = [dict(zip(found, values)) for values in zip(*found.values())]
    added = [{way: value - times["bare"] for way, value in times.items()} for times in rounds]
    if all(way in found for way in ("floor", "structure")):
        above = statistics.median(of["structure"] - of["floor"] for of in added)
        harness.budget("structure_above_floor_ns", above, "ns", OWN_NS, above <= OWN_NS)
    if all(way in found for way in ("floor", "times", "kernel activity")):
        above = statistics.median(of["times"] - of["floor"] - of["kernel activity"] for of in added)
        harness.budget("times_above_floor_and_activity_ns", above, "ns", OWN_NS, above <= OWN_NS)
    for tier, goal in (("structure", 0.6), ("times", 0.85)):
        if tier in found and "nsys -t cuda" in found:
            ratio = statistics.median(of[tier] / of["nsys -t cuda"] for of in added)
            harness.budget(f"{tier}_against_nsys", ratio, "x", goal, ratio <= goal)

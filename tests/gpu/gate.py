# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The documented job of a build server with a real GPU: runs that only vary in timing pass, planted regressions do not."""

import json

BASE_RUNS = 5
NEW_RUNS = 5
SAMPLES = {"pipeline": ("examples/pipeline", ["--device", "cuda", "--iterations", 200]),
           "without_syncs": ("apps/faults", ["device_syncs", "--device", "cuda", "--repaired"])}
SLOW_HOST = "no more than the host is at everything"  # the machine was too busy for a verdict


def gate(harness, name, program, arguments, options=()):
    """Runs the job. Returns what it did and the trace that it left."""
    out = harness.work / f"gate_{name}"
    finished = harness.run([harness.streamscope, "gate", "-o", out, *options, "--", harness.build / "bin" / program, *arguments], 60)
    return finished, out / "trace.sqlite"


def times_of(harness, base, new):
    """How long both traces took, in ms, as `diff` compares them."""
    finished = harness.run([harness.streamscope, "diff", base, new, "--quiet", "--format", "json"], 30)
    try:
        answer = json.loads(finished.out)
        return answer["base_ns"] / 1e6, answer["new_ns"] / 1e6
    except (ValueError, KeyError, TypeError):
        return None


def run(harness):
    bases = {}
    for name, (program, arguments) in SAMPLES.items():
        bases[name] = []
        for number in range(BASE_RUNS):
            finished, trace = gate(harness, f"{name}_base{number}", program, arguments)
            if harness.equal(f"{name}: base run {number} passes", 0, finished.code, finished.why()):
                bases[name].append(trace)
        if not bases[name]:
            return
        first, *others = bases[name]
        options = ["--base", first] + [word for other in others for word in ("--base-run", other)]
        for number in range(NEW_RUNS):
            finished, trace = gate(harness, f"{name}_new{number}", program, arguments, options)
            slow_host = finished.code == 3 and SLOW_HOST in finished.out
            harness.check(f"{name}: run {number}, which only varies in timing, passes", finished.code == 0 or slow_host, finished.why())
            harness.log(f"  {name}: ms of the base and of run {number}: {times_of(harness, first, trace)}")
        if name == "without_syncs":
            finished, trace = gate(harness, "with_syncs", program, arguments[:-1], options)
            harness.equal("device_syncs: the planted regression is caught", 1, finished.code, finished.why())
            harness.log(f"  with the synchronizations: {times_of(harness, first, trace)}")
    finished, _ = gate(harness, "race", "examples/race", ["--device", "cuda"])
    harness.equal("race: the planted race is caught", 1, finished.code, finished.why())

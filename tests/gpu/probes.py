# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Questions about CUPTI, the driver and the clock that only a real machine answers. Answers are printed; only a
question that got no answer fails, except where the design of the collector or the analysis depends on it."""


def injection_from_constructor(harness):
    """Does the driver load what a preloaded library's constructor puts into CUDA_INJECTION64_PATH?"""
    said = harness.work / "probe.said"
    library = harness.app("probe_inject.so")
    finished = harness.run([harness.app("forkjoin")], env={"LD_PRELOAD": str(library), "PROBE_FILE": str(said)})
    loaded = said.read_text().count("initialized") if said.exists() else 0
    harness.check("constructor's CUDA_INJECTION64_PATH is honoured by the driver", finished.code == 0 and loaded == 1,
                  f"entry point called {loaded} times; {finished.why()}")
    late = harness.run([harness.app("driver_api")],
                       env={"CUDA_INJECTION64_PATH": str(library), "PROBE_FILE": str(said)})
    twice = said.read_text().count("initialized") if said.exists() else 0
    harness.check("CUDA_INJECTION64_PATH works for a driver program", late.code == 0 and twice == loaded + 1,
                  f"entry point called {twice - loaded} times; {late.why()}")


def nested_callbacks(harness):
    for app in ("cupti_probe", "cupti_probe_shared"):
        finished = harness.run([harness.app(app)])
        lines = finished.lines()
        if not harness.check(f"{app}: answered", finished.code == 0 and lines, finished.why()):
            continue
        nested = lines[-1]["nested"]
        harness.log(f"  {app}: driver callbacks nested in runtime calls")
        harness.table(["runtime call", "driver call", "cbid", "same correlation id"],
                      [(row["runtime"], row["driver"], row["cbid"], row["same_correlation"]) for row in nested])
        harness.check(f"{app}: nested driver callbacks carry the runtime call's correlation id",
                      nested and all(row["same_correlation"] for row in nested if row["runtime"]), str(nested))


def clock(harness):
    finished = harness.run([harness.app("clock_probe")])
    lines = finished.lines()
    if not harness.check("clock_probe: answered", finished.code == 0 and lines, finished.why()):
        return
    line = lines[-1]
    harness.log(f"  clock: {line}")
    # Where it is not invariant the collector must use CLOCK_MONOTONIC; an invariant one must not run backwards.
    harness.check("an invariant counter never runs backwards between processors",
                  not line["invariant"] or line["worst_step_back_ticks"] <= 0, str(line))


def legacy_synchronize(harness):
    """Whom does synchronizing with a stream wait for while a kernel on the legacy stream runs? docs/analysis.md, rule F."""
    finished = harness.run([harness.app("legacy_sync")])
    cases = {line["case"]: line for line in finished.lines() if "case" in line}
    if not harness.check("legacy_sync: answered", finished.code == 0 and cases, finished.why()):
        return
    harness.table(["stream synchronized with", "answer", "waited", "ms"],
                  [(name, case["answer"], case["waited"], case["ms"]) for name, case in cases.items()])
    for name, case in cases.items():
        # A record waits with its event only: the stream that it is on stays idle.
        idle = "idle" in name or "never used" in name or "record" in name
        waits = case["waited"] or case["answer"] == 600
        harness.check(f"legacy_sync: {name}: {'is done' if idle else 'waits'}", waits != idle, str(case))


def run(harness):
    injection_from_constructor(harness)
    nested_callbacks(harness)
    clock(harness)
    legacy_synchronize(harness)

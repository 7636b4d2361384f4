# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Tier structure beside other tools: nsys and ncu on the same program, torch.profiler inside it, another library that wraps
dlsym. Both sides must have all of their results."""

import json
import shutil

import cost
from counts import check_counts
from harness import REPOSITORY, Trace
from pytorch import SCRIPT, is_available

STRUCTURE = ["--tier", "structure"]
APPS = ("pipeline", "pipeline_shared")


def check_trace(harness, name, lines, path):
    """The recording is by wrappers and complete."""
    trace = Trace(path)
    collector = trace.value("SELECT value FROM process JOIN string ON string.id = collector_id ORDER BY process.id DESC LIMIT 1")
    harness.equal(f"{name}: source of calls", "interposed", collector)
    # The tool may be several processes of its own that use the driver.
    check_counts(harness, name, lines, trace, tier="structure", processes=trace.value("SELECT count(*) FROM process"))
    trace.close()


def under(harness, name, app, tool, result, inside):
    """`inside`: the tool runs inside the recording, else the recording inside the tool."""
    path = harness.work / f"beside.{name}.sqlite"
    record = [harness.streamscope, "record", "-o", path, "--force", *STRUCTURE, "--"]
    command = [*record, *tool, harness.app(app)] if inside else [*tool, *record, harness.app(app)]
    finished = harness.run(command, 120)
    if not harness.check(f"{name}: recorded", path.exists(), finished.why()):
        return
    lines = [line for line in finished.lines() if "app" in line]
    check_trace(harness, name, lines, path)
    files = sorted(harness.work.glob(result))
    harness.check(f"{name}: the other tool has its result", files and files[0].stat().st_size > 1000, f"{[str(file) for file in files]}: {finished.why()}")


def beside_nsys(harness):
    nsys = cost.find_nsys(harness)
    if nsys is None:
        harness.skip("nsys", "not found")
        return
    for app in APPS:
        for inside in (True, False):
            name = f"{app} {'under nsys in a recording' if inside else 'recorded under nsys'}"
            output = f"beside_{app}_{int(inside)}"
            under(harness, name, app, [nsys, "profile", "-t", "cuda", "--sample=none", "--cpuctxsw=none", "-f", "true", "-o", output],
                  f"{output}.*", inside)


def beside_ncu(harness):
    ncu = shutil.which("ncu") or "/opt/nvidia/nsight-compute/2025.3.1/ncu"
    version = harness.run([ncu, "--version"], 30)
    if version.code != 0:
        harness.skip("ncu", f"not found: {version.why()}")
        return
    name = "pipeline under ncu in a recording"
    path = harness.work / "beside.ncu.sqlite"
    finished = harness.run([harness.streamscope, "record", "-o", path, "--force", *STRUCTURE, "--", ncu, "--launch-count", 2,
                            "--metrics", "gpu__time_duration.sum", harness.app("pipeline")], 120)
    if "ERR_NVGPUCTRPERM" in finished.out + finished.err:
        harness.skip("ncu", "this machine does not permit performance counters")
        return
    harness.check(f"{name}: ncu measured", "gpu__time_duration.sum" in finished.out, finished.why())
    if harness.check(f"{name}: recorded", path.exists(), finished.why()):
        check_trace(harness, name, [line for line in finished.lines() if "app" in line], path)


def beside_torch_profiler(harness):
    """The same measured part, profiled by PyTorch with and without a recording: the profiles must have the same work."""
    work = {}
    for way in ("alone", "recorded"):
        profile = harness.work / f"beside.{way}.json"
        command = [harness.python, SCRIPT, "--steps", 20, "--kineto", profile]
        if way == "alone":
            finished = harness.run(command, 120)
        else:
            finished, path = harness.record("beside_torch", command, STRUCTURE, 120)
        if not harness.check(f"torch.profiler {way}", finished.code == 0 and profile.exists(), finished.why()):
            return
        events = json.loads(profile.read_text())["traceEvents"]
        work[way] = {category: len([event for event in events if event.get("cat") == category])
                     for category in ("kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime")}
    harness.check("torch.profiler sees as much as without a recording", work["alone"] == work["recorded"], str(work))
    harness.equal("nobody is warned", "", "".join(line for line in finished.err.splitlines() if "profiler" in line and "streamscope" in line))
    trace = Trace(path)
    harness.equal("torch: source of calls", "interposed", trace.value("SELECT value FROM process JOIN string ON string.id = collector_id"))
    harness.equal("torch: losses", [], trace.losses())
    trace.close()


def beside_another_hook(harness):
    hook = harness.work / "other_hook.so"
    built = harness.run(["gcc", "-shared", "-fPIC", "-O2", "-o", hook, REPOSITORY / "tests/gpu/programs/other_hook.c", "-ldl"], 60)
    if not harness.check("the other hook compiles", built.code == 0, built.why()):
        return
    calls, collector = harness.build / "lib/libstreamscope_calls.so", harness.build / "lib/libstreamscope_inject.so"
    for order, preload in (("before us", f"{hook}:{calls}:{collector}"), ("after us", f"{calls}:{collector}:{hook}")):
        for app in APPS:
            name = f"{app} with another hook {order}"
            said = harness.work / f"hook.{app}.{order.split()[0]}"
            folder = harness.work / f"hook.{app}.{order.split()[0]}.d"
            folder.mkdir(exist_ok=True)
            finished = harness.run([harness.app(app)], 60, env={
                "LD_PRELOAD": preload, "OTHER_HOOK_FILE": str(said), "STREAMSCOPE_TIER": "structure",
                "STREAMSCOPE_OUTPUT": str(folder / "hook.sqlite")}, cwd=folder)
            harness.check(f"{name}: ends well", finished.code == 0, finished.why())
            trace = harness.finished_trace(folder, name)
            if trace is None:
                continue
            trace.close()
            check_trace(harness, name, finished.lines(), folder / "hook.sqlite")
            seen = int(said.read_text()) if said.exists() else 0
            harness.check(f"{name}: the other saw look-ups", seen > 0, f"{seen} look-ups")


def run(harness):
    beside_nsys(harness)
    beside_ncu(harness)
    beside_another_hook(harness)
    if is_available(harness):
        beside_torch_profiler(harness)

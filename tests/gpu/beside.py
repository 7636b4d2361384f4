# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Tier structure beside other tools: nsys and ncu on the same program, torch.profiler inside it, another library that wraps
dlsym. Both sides must have all of their results. In tier times, torch.profiler has CUPTI's buffers for a while: there, and only
there, device times may be missing, and the trace marks it."""

import json
import shutil

import cost
from counts import check_counts
from harness import REPOSITORY, Trace
from pytorch import SCRIPT, is_available

STRUCTURE = ["--tier", "structure"]
TIMES = ["--tier", "times", "--source", "interposed"]
MARGIN_NS = 20_000_000  # around the interval of the loss, which begins and ends between two synchronizations
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


def work_of(profile):
    """{category: number of events} of an exported profile."""
    events = json.loads(profile.read_text())["traceEvents"]
    return {category: len([event for event in events if event.get("cat") == category])
            for category in ("kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime")}


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
        work[way] = work_of(profile)
    harness.check("torch.profiler sees as much as without a recording", work["alone"] == work["recorded"], str(work))
    harness.equal("nobody is warned", "", "".join(line for line in finished.err.splitlines() if "profiler" in line and "streamscope" in line))
    trace = Trace(path)
    harness.equal("torch: source of calls", "interposed", trace.value("SELECT value FROM process JOIN string ON string.id = collector_id"))
    harness.equal("torch: losses", [], trace.losses())
    trace.close()


def beside_torch_profiler_with_times(harness):
    """The profiler is active in the middle third of the program. Its profile must be as complete as without a recording; the
    recording must have all calls, and all device times before that part; from there on it marks them as lost."""
    if not harness.can_record(*TIMES):
        harness.skip("torch.profiler beside tier times", "this build records tier times by callbacks only")
        return
    found, profiles = {}, {}
    for way, options in (("alone", None), ("structure", STRUCTURE), ("times", TIMES)):
        profiles[way] = harness.work / f"beside.inner.{way}.json"
        command = [harness.python, SCRIPT, "--steps", 20, "--inner-profiler", "--kineto", profiles[way]]
        finished, path = (harness.run(command, 120), None) if options is None else harness.record(f"beside_inner_{way}", command, options, 120)
        if not harness.check(f"torch.profiler inside, {way}", finished.code == 0 and profiles[way].exists(), finished.why()):
            return
        found[way] = path
    work = {way: work_of(profile) for way, profile in profiles.items()}
    harness.check("times: torch.profiler sees as much as without a recording", work["alone"] == work["times"], str(work))
    structure, times = Trace(found["structure"]), Trace(found["times"])
    check_calls_complete(harness, structure, times)
    check_marked_interval(harness, times)
    structure.close()
    times.close()


def check_calls_complete(harness, structure, times):
    """Tier structure, which does not use CUPTI, has all calls of the same program."""
    harness.check("times: source of calls", times.collector().startswith("interposed"), times.collector())
    kinds = "('launch', 'memcpy_async', 'memset_async', 'event_record', 'stream_wait', 'device_synchronize')"
    expected, got = (trace.counted(f"SELECT kind, count(*) FROM v_api_call WHERE kind IN {kinds} GROUP BY kind") for trace in (structure, times))
    harness.equal("times: calls by kind, as in tier structure", expected, got)
    expected, got = (trace.counted("SELECT kind, count(*) FROM op GROUP BY kind") for trace in (structure, times))
    harness.equal("times: device work by kind, as in tier structure", expected, got)


def check_marked_interval(harness, trace):
    """The loss has the interval, nothing else is lost, and times are missing only inside it."""
    spans = trace.rows("SELECT start_ns, end_ns FROM loss JOIN string ON string.id = name_id WHERE value = 'profiler-conflict'")
    if not harness.check("times: the interval of the other profiler is marked", spans and None not in sum(spans, ()), f"{spans}; losses {trace.losses(0)}"):
        return
    # Which times are missing is checked below.
    others = [loss for loss in trace.losses() if not loss.startswith(("profiler-conflict", "times-not-delivered"))]
    harness.equal("times: other losses", [], others)
    first, last = min(start for start, _ in spans), max(end for _, end in spans)
    missing, outside, inside = trace.rows(
        "SELECT sum(op.end_ns IS NULL), sum(op.end_ns IS NULL AND NOT in_span), sum(in_span) FROM op JOIN"
        " (SELECT id, start_ns BETWEEN ? AND ? AS in_span FROM api_call) AS call ON call.id = op.api_call_id WHERE op.kind IN (0, 1, 2)",
        first - MARGIN_NS, last + MARGIN_NS)[0]
    harness.equal("times: kernels, copies and memsets without times outside the interval", 0, outside)
    orphans = trace.value("SELECT count(*) FROM op WHERE kind IN (0, 1, 2) AND api_call_id IS NULL")
    harness.equal("times: device work without its call", 0, orphans)
    harness.log(f"  beside torch.profiler in tier times: interval {(last - first) / 1e6:.1f} ms, {inside} pieces of work called in it,"
                f" {missing} without times")


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
        beside_torch_profiler_with_times(harness)

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Two runs of one seeded PyTorch script, one under `record`, one under PyTorch's own profiler (Kineto): calls and event
edges of the recording against the profile as it is, and step by step against what `streamscope import` makes of it."""

import bisect
import collections
import json

import counts
from harness import Trace
from pytorch import SCRIPT, is_available

STEPS = 40
# Calls whose number follows from the script alone; queries depend on timing.
COMPARED = ("cudaLaunchKernel", "cuLaunchKernel", "cuLaunchKernelEx", "cudaMemcpyAsync",
            "cudaMemsetAsync", "cudaEventRecord", "cudaEventRecordWithFlags", "cudaStreamWaitEvent",
            "cudaEventSynchronize", "cudaStreamSynchronize", "cudaDeviceSynchronize")


def seen_as(name):
    """Only libraries that contain a runtime of their own launch by this function here, so wrappers see the driver's."""
    return "cuLaunchKernelEx" if counts.plain(name) == "cudaLaunchKernelExC" else counts.plain(name)


class KinetoWindow:
    """What Kineto saw between the two device synchronizations that enclose the measured part."""

    def __init__(self, path):
        events = [event for event in json.loads(path.read_text())["traceEvents"] if event.get("ph") == "X"]
        calls = sorted((event for event in events if event.get("cat") in ("cuda_runtime", "cuda_driver")),
                       key=lambda event: float(event["ts"]))
        syncs = [event for event in calls if event["name"] == "cudaDeviceSynchronize"]
        pairs = list(zip(syncs, syncs[1:]))
        if not pairs:
            raise ValueError(f"{len(syncs)} cudaDeviceSynchronize in {path}; two enclose the measured part")
        first, last = max(pairs, key=lambda pair: float(pair[1]["ts"]) - float(pair[0]["ts"]))
        start, end = float(first["ts"]) + float(first["dur"]), float(last["ts"]) + float(last["dur"])

        def inside(event):
            return start <= float(event["ts"]) <= end

        runtime = {event["args"].get("correlation") for event in calls if event["cat"] == "cuda_runtime"}
        self.calls = [event for event in calls if inside(event)
                      and (event["cat"] == "cuda_runtime" or event["args"].get("correlation") not in runtime)]
        self.by_name = collections.Counter(seen_as(event["name"]) for event in self.calls)
        self.ops = collections.Counter()
        for event in events:
            if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") and inside(event):
                self.ops[event["cat"].replace("gpu_", "")] += 1
        self.edges, self.named = self.wait_edges(events)

    def ordinals(self, *names):
        matching = [event for event in self.calls if counts.plain(event["name"]) in names]
        return {event["args"].get("correlation"): number for number, event in enumerate(matching)}

    def wait_edges(self, events):
        """{number of the wait in the window: number of its record} twice: by Kineto's records of events, of which a wait
        takes the last one before it, and as Kineto names them itself, which until April 2026 was the one read last."""
        wait_number = self.ordinals("cudaStreamWaitEvent")
        record_number = self.ordinals("cudaEventRecord", "cudaEventRecordWithFlags")
        records = collections.defaultdict(list)
        for event in events:
            if event.get("cat") == "cuda_event":
                records[event["args"]["context"], event["args"]["event_id"]].append(event["args"]["correlation"])
        for history in records.values():
            history.sort()
        edges, named = {}, {}
        for wait in events:
            if wait["name"] != "Stream Wait Event" or wait["args"].get("correlation") not in wait_number:
                continue
            facts = wait["args"]
            number = wait_number[facts["correlation"]]
            history = records[facts["context"], facts["wait_on_cuda_event_id"]]
            before = bisect.bisect_left(history, facts["correlation"])
            if before > 0 and history[before - 1] in record_number:
                edges[number] = record_number[history[before - 1]]
            if facts["wait_on_cuda_event_record_corr_id"] in record_number:
                named[number] = record_number[facts["wait_on_cuda_event_record_corr_id"]]
        return edges or named, named


class OurWindow:
    """The same part of a trace: the range that the script opens around it."""

    def __init__(self, trace):
        span = trace.rows("SELECT range.start_ns, range.end_ns FROM range JOIN string ON string.id = name_id"
                          " WHERE value = 'measured' ORDER BY range.id LIMIT 1")
        if not span:
            raise ValueError("the trace has no NVTX range 'measured'")
        self.by_name = collections.Counter()
        for name, count in trace.rows("SELECT name, count(*) FROM v_api_call WHERE start_ns BETWEEN ? AND ? GROUP BY name", *span[0]):
            self.by_name[seen_as(name)] += count
        self.ops = collections.Counter(
            {counts.OP_KINDS[kind]: count for kind, count in trace.rows(
                "SELECT kind, count(*) FROM op WHERE kind < 3 AND start_ns BETWEEN ? AND ? GROUP BY kind", *span[0])})
        records = trace.rows("SELECT id FROM event_record WHERE start_ns BETWEEN ? AND ? ORDER BY start_ns", *span[0])
        number = {record: index for index, (record,) in enumerate(records)}
        waits = trace.rows("SELECT record_id FROM event_wait WHERE start_ns BETWEEN ? AND ? ORDER BY start_ns", *span[0])
        self.edges = {index: number[record] for index, (record,) in enumerate(waits) if record in number}
        self.bindings = trace.counted("SELECT binding, count(*) FROM event_wait WHERE start_ns BETWEEN ? AND ? GROUP BY 1", *span[0])


def compare_with_kineto(harness):
    python = harness.python
    exported = harness.work / "kineto.json"
    results = harness.parallel([
        (harness.run, [python, SCRIPT, "--steps", STEPS, "--kineto", exported], 120),
        (harness.recorded, "torch", [python, SCRIPT, "--steps", STEPS], ["--tier", "times"], 120),
        (harness.recorded, "torch_small", [python, SCRIPT, "--steps", 4, "--warm-up", 2], ["--tier", "times"], 120),
    ])
    theirs, recording, small = results
    if small:
        small[1].close()
        harness.keep(small[1].path, "torch_streams")
    if not harness.check("Kineto's run", theirs and theirs.code == 0 and exported.exists(), theirs.why() if theirs else "") or not recording:
        return
    trace = recording[1]
    harness.equal("torch: losses", [], trace.losses())
    info = harness.info(trace.path, "torch")
    harness.log(f"  torch: counts of the whole run {info and info.get('counts')}")
    kineto, ours = KinetoWindow(exported), OurWindow(trace)
    names = [name for name in COMPARED if kineto.by_name[name] or ours.by_name[name]]
    harness.log(f"  {STEPS} steps, the measured part: Kineto and StreamScope")
    harness.table(["what", "Kineto", "StreamScope"],
                  [(kind, kineto.ops[kind], ours.ops[kind]) for kind in ("kernel", "memcpy", "memset")]
                  + [(name, kineto.by_name[name], ours.by_name[name]) for name in names]
                  + [("edges of events", len(kineto.edges), len(ours.edges))])
    for kind in ("kernel", "memcpy", "memset"):
        harness.equal(f"torch: {kind}s", kineto.ops[kind], ours.ops[kind])
    harness.check("torch: kernels were seen at all", ours.ops["kernel"] > STEPS, str(ours.ops))
    for name in names:
        harness.equal(f"torch: {name}", kineto.by_name[name], ours.by_name[name])
    differing = {wait: (record, ours.edges.get(wait)) for wait, record in kineto.edges.items() if ours.edges.get(wait) != record}
    same = sum(kineto.edges[wait] == record for wait, record in kineto.named.items() if wait in kineto.edges)
    harness.log(f"  {len(kineto.edges)} of {kineto.by_name['cudaStreamWaitEvent']} waits have their record in Kineto's window;"
                f" Kineto itself names {len(kineto.named)} records, {same} of them these")
    if kineto.edges:
        harness.check("torch: event edges are Kineto's where it has them", not differing,
                      f"{len(kineto.edges)} compared, (Kineto, ours) by wait: {dict(list(differing.items())[:5])}")
    else:
        harness.skip("torch: event edges", "this Kineto tells none")
    harness.equal("torch: waits that are not exact", {0}, set(ours.bindings), str(ours.bindings))
    report = harness.run([harness.streamscope, "report", trace.path], 60)
    harness.check("torch: report", report.code == 0 and report.out, report.why())
    harness.detail(report.out)
    imported = harness.work / "kineto.sqlite"
    import_run = harness.run([harness.streamscope, "import", exported, "-o", imported, "--force", "--quiet"], 60)
    if harness.check("kineto: the profile is imported", import_run.code == 0 and imported.exists(), import_run.why()):
        other = Trace(imported)
        compare_steps(harness, trace, other, STEPS)
        other.close()
    trace.close()


# What a step of the script records, in order: trained, judged, fetched.
RECORDS_OF_STEP = 3


class Step:
    """What one step put on the device and what it tied together."""

    def __init__(self):
        self.ops = collections.Counter()
        self.waits = 0
        self.edges = []  # (number of the wait in its step, steps back to the record, number of the record in its step)

    def counted(self):
        return {**self.ops, "wait": self.waits}


def steps_of(trace):
    """The measured part of a trace, ours or imported, cut behind every third record. [(Step)], ops without a call."""
    span = trace.rows("SELECT range.start_ns, range.end_ns FROM range JOIN string ON string.id = name_id"
                      " WHERE value = 'measured' ORDER BY range.id LIMIT 1")
    if not span:  # Kineto has no ranges: use the part between the two device synchronizations that are farthest apart
        syncs = trace.rows("SELECT start_ns, end_ns FROM host_sync WHERE kind = 0 ORDER BY start_ns")
        pairs = list(zip(syncs, syncs[1:]))
        if not pairs:
            raise ValueError(f"{len(syncs)} device synchronizations in {trace.path}; two enclose the measured part")
        first, last = max(pairs, key=lambda pair: pair[1][0] - pair[0][0])
        span = [(first[1], last[1])]
    records = trace.rows("SELECT start_ns, id FROM event_record WHERE start_ns BETWEEN ? AND ? ORDER BY start_ns", *span[0])
    place = {record: divmod(number, RECORDS_OF_STEP) for number, (_, record) in enumerate(records)}
    ends = [start for start, _ in records][RECORDS_OF_STEP - 1::RECORDS_OF_STEP]
    steps = [Step() for _ in ends]

    def step_at(start_ns):
        number = sum(end < start_ns for end in ends)
        return number if number < len(steps) else None

    for start, record in trace.rows("SELECT start_ns, record_id FROM event_wait WHERE start_ns BETWEEN ? AND ? ORDER BY start_ns", *span[0]):
        at = step_at(start)
        if at is None:
            continue
        if record in place:
            of_step, number = place[record]
            steps[at].edges.append((steps[at].waits, at - of_step, number))
        steps[at].waits += 1
    lost = trace.value("SELECT count(*) FROM op WHERE kind < 3 AND start_ns BETWEEN ? AND ? AND api_call_id IS NULL", *span[0])
    for kind, start in trace.rows("SELECT op.kind, api_call.start_ns FROM op JOIN api_call ON api_call.id = op.api_call_id"
                                  " WHERE op.kind < 3 AND api_call.start_ns BETWEEN ? AND ?", *span[0]):
        at = step_at(start)
        if at is not None:
            steps[at].ops[counts.OP_KINDS[kind]] += 1
    return steps, lost


def compare_steps(harness, recorded, imported, step_count):
    ours, ours_lost = steps_of(recorded)
    theirs, theirs_lost = steps_of(imported)
    harness.equal("kineto, per step: number of steps", (step_count, step_count), (len(ours), len(theirs)))
    harness.equal("kineto, per step: work without its call", (0, 0), (ours_lost, theirs_lost))
    differing = [(number, a.counted(), b.counted()) for number, (a, b) in enumerate(zip(ours, theirs)) if a.counted() != b.counted()]
    harness.check("kineto, per step: kernels, copies, memsets and waits agree", ours and not differing,
                  f"{len(ours)} steps, (step, recorded, imported): {differing[:3]}")
    if not any(step.edges for step in theirs):
        harness.skip("kineto, per step: edges", "this Kineto tells none")
        return
    differing = [(number, a.edges, b.edges) for number, (a, b) in enumerate(zip(ours, theirs)) if a.edges != b.edges]
    harness.check("kineto, per step: edges agree", not differing,
                  f"{sum(len(step.edges) for step in theirs)} edges, (step, recorded, imported): {differing[:3]}")
    harness.log(f"  per step, recorded and imported: {ours[-1].counted()}, {len(ours[-1].edges)} edges")


def run(harness):
    if is_available(harness):
        compare_with_kineto(harness)

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch: counts and event edges against PyTorch's own profiler (Kineto) on the same seeded script, a program that
starts that profiler itself, several processes in one trace, and step times in alternation."""

import collections
import json
import statistics
import subprocess
import threading

import counts
from harness import REPOSITORY

SCRIPT = REPOSITORY / "tests/apps/torch_streams.py"
STEPS = 40
# Calls whose number follows from the script alone; queries depend on timing.
COMPARED = ("cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx", "cudaMemcpyAsync",
            "cudaMemsetAsync", "cudaEventRecord", "cudaEventRecordWithFlags", "cudaStreamWaitEvent",
            "cudaEventSynchronize", "cudaStreamSynchronize", "cudaDeviceSynchronize")


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
        self.by_name = collections.Counter(counts.plain(event["name"]) for event in self.calls)
        self.ops = collections.Counter()
        for event in events:
            if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") and inside(event):
                self.ops[event["cat"].replace("gpu_", "")] += 1
        self.edges = self.wait_edges([event for event in events if event["name"] == "Stream Wait Event"])

    def ordinals(self, *names):
        matching = [event for event in self.calls if counts.plain(event["name"]) in names]
        return {event["args"].get("correlation"): number for number, event in enumerate(matching)}

    def wait_edges(self, waits):
        """{number of the wait in the window: number of its record}, where Kineto names a record in the window."""
        wait_number = self.ordinals("cudaStreamWaitEvent")
        record_number = self.ordinals("cudaEventRecord", "cudaEventRecordWithFlags")
        return {wait_number[wait["args"]["correlation"]]: record_number[wait["args"]["wait_on_cuda_event_record_corr_id"]]
                for wait in waits if wait["args"].get("correlation") in wait_number
                and wait["args"].get("wait_on_cuda_event_record_corr_id") in record_number}


class OurWindow:
    """The same part of a trace: the range that the script opens around it."""

    def __init__(self, trace):
        span = trace.rows("SELECT range.start_ns, range.end_ns FROM range JOIN string ON string.id = name_id"
                          " WHERE value = 'measured' ORDER BY range.id LIMIT 1")
        if not span:
            raise ValueError("the trace has no NVTX range 'measured'")
        self.by_name = collections.Counter()
        for name, count in trace.rows("SELECT name, count(*) FROM v_api_call WHERE start_ns BETWEEN ? AND ? GROUP BY name", *span[0]):
            self.by_name[counts.plain(name)] += count
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
    if kineto.edges:
        harness.check("torch: event edges are Kineto's where it has them", not differing,
                      f"{len(kineto.edges)} compared, (Kineto, ours) by wait: {dict(list(differing.items())[:5])}")
    else:
        harness.skip("torch: event edges", "this Kineto tells none")
    harness.equal("torch: waits that are not exact", {0}, set(ours.bindings), str(ours.bindings))
    report = harness.run([harness.streamscope, "report", trace.path], 60)
    harness.check("torch: report", report.code == 0 and report.out, report.why())
    harness.detail(report.out)
    trace.close()


def inner_profiler(harness):
    """The program starts torch.profiler itself: it ends normally, its user is warned, the trace says what is missing."""
    finished, path = harness.record("torch_inner", [harness.python, SCRIPT, "--steps", 10, "--inner-profiler"], timeout=120)
    if not harness.check("a program with its own profiler ends normally", finished.code == 0 and path.exists(), finished.why()):
        return
    info = harness.info(path, "torch_inner")
    said = [line for line in finished.err.splitlines() if "streamscope" in line.lower()]
    harness.check("its user is warned", said, f"stderr: {finished.err[-400:]}")
    # CUPTI 13.0 refuses the second subscriber: then it is the other profiler that misses everything, and says so.
    expected = "profiler-refused" if "MULTIPLE_SUBSCRIBERS" in finished.err else "profiler-conflict"
    harness.check(f"the trace marks it as loss {expected}", info and any(loss["name"] == expected for loss in info["losses"]),
                  f"losses {info and info.get('losses')}")


def two_processes(harness):
    command = [harness.python, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", 2, SCRIPT,
               "--steps", 5, "--warm-up", 5, "--distributed"]
    recording = harness.recorded("torchrun", command, timeout=150,
                                 env={"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"})
    if recording is None:
        return
    lines, trace = recording
    harness.equal("torchrun: processes that reported", 2, len([line for line in lines if "app" in line]))
    kernels = trace.rows("SELECT context.process_id, count(*) FROM op JOIN stream ON stream.id = stream_id"
                         " JOIN context ON context.id = context_id WHERE op.kind = 0 GROUP BY 1")
    harness.check("torchrun: two processes in one trace, with the same number of kernels", len(kernels) == 2 and kernels[0][1] == kernels[1][1] > 0, str(kernels))
    harness.equal("torchrun: losses", [], trace.losses())
    trace.close()


class Player:
    """A process of the script that measures when told to."""

    def __init__(self, harness, command):
        self.errors = open(harness.work / f"player-{id(self)}.err", "w+")
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
            env=harness.environment(), cwd=harness.work, start_new_session=True)

    def answer(self, seconds=60):
        """The next JSON line, or None."""
        timer = threading.Timer(seconds, self.process.kill)
        timer.start()
        try:
            for line in self.process.stdout:
                if line.startswith("{"):
                    return json.loads(line)
        finally:
            timer.cancel()
        return None

    def turn(self):
        try:
            self.process.stdin.write("go\n")
            self.process.stdin.flush()
        except OSError:
            return None
        return self.answer()

    def end(self):
        try:
            self.process.stdin.close()
            self.process.wait(timeout=30)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
        self.errors.seek(0)
        text = self.errors.read()
        self.errors.close()
        return text


def step_times(harness):
    """ms per step: two processes for each way, all waiting, one measuring at a time, in alternation."""
    script = [harness.python, SCRIPT, "--turns", "--steps", 60]

    def recorded(tier, number):
        return [harness.streamscope, "record", "-o", harness.work / f"turns.{tier}.{number}.sqlite", "--force", "--tier", tier, "--", *script]

    ways = {
        "bare": lambda number: script,
        "structure": lambda number: recorded("structure", number),
        "times": lambda number: recorded("times", number),
        "Kineto": lambda number: [*script, "--kineto", "unused"],
    }
    players = [(way, Player(harness, command(number))) for number in range(2) for way, command in ways.items()]
    ready = [player.answer(120) is not None for _, player in players]
    found = collections.defaultdict(list)
    if all(ready):
        for number in range(1 + harness.rounds_of(7)):
            for way, player in players:
                answer = player.turn()
                if answer and number > 0:  # the first turn warms up
                    found[way].append(answer["step_ms"])
    messages = [player.end() for _, player in players]
    complete = all(ready) and set(found) == set(ways)
    harness.check("step times measured", complete, f"ready {ready}, found {dict(found)}, {[text[-200:] for text in messages if text] if not complete else ''}")
    if not found:
        return
    bare = statistics.median(found["bare"]) if found["bare"] else float("nan")
    harness.log("  ms per training step, medians over two processes each, in alternation")
    harness.table(["way", "ms", "low", "high", "against bare"],
                  [(way, f"{statistics.median(values):.3f}", f"{min(values):.3f}", f"{max(values):.3f}",
                    f"{100 * (statistics.median(values) / bare - 1):+.1f} %") for way, values in found.items() if values])


def run(harness):
    available = harness.run([harness.python, "-c", "import torch; print(torch.__version__, torch.cuda.is_available())"], 60)
    if available.code != 0 or "True" not in available.out:
        harness.skip("torch", f"no PyTorch with a GPU: {available.why()}")
        return
    harness.log(f"  PyTorch {available.out.strip()}")
    harness.parallel([(compare_with_kineto, harness), (inner_profiler, harness), (two_processes, harness)])
    step_times(harness)

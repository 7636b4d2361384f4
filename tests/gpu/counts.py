# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""A recording against the program's own numbers: `info --json`, every traced call by name, bindings, op kinds, times."""

import collections
import functools
import re

from harness import REPOSITORY, terms

OP_KINDS = terms("op_kind.h", "kOpKinds")
BINDINGS = terms("event_binding.h", "kBindings")
STREAM_KINDS = terms("stream_kind.h", "kStreamKinds")
TIMED_KINDS = (0, 1, 2)  # kernel, memcpy, memset


def plain(name):
    """A call's name without the suffixes that CUDA gives its variants."""
    return re.sub(r"(_v\d+|_ptsz|_ptds)+$", "", name or "?")


@functools.cache
def call_kinds():
    """Kinds of calls by name, from the call table."""
    text = (REPOSITORY / "profiler/ring/calls.def").read_text()
    calls = re.findall(r"^CALL_(?:RUNTIME|DRIVER)\((\w+),(?: v\d+,)? (k\w+)", text, re.MULTILINE)
    return {plain(name): kind for name, kind in calls}


@functools.cache
def seen_in_driver():
    """Functions of the runtime that wrappers see in the driver only (cmake/GenerateCallTable.cmake says why)."""
    text = (REPOSITORY / "cmake/GenerateCallTable.cmake").read_text()
    return set(re.search(r"^set\(ambiguous ([\w ]+)\)", text, re.MULTILINE).group(1).split())


@functools.cache
def traced_calls():
    """Names in the call table, without those traced only on request (plain allocation)."""
    return {name: kind not in ("kMalloc", "kFree") for name, kind in call_kinds().items()}


def total(lines):
    """Sums the reports of all processes of a run."""
    sums = collections.Counter()
    calls = collections.Counter()
    for line in lines:
        for key, value in line.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                sums[key] += int(value)
        calls.update({plain(name): count for name, count in line.get("calls", {}).items()})
    return sums, calls


def expected_counts(app, processes, nodes):
    """What `info --json` must report for an app's numbers; `nodes`: nodes of graphs are recorded one by one."""

    def in_graphs(what):
        return app[f"graph_{what}"] if nodes else 0

    exact = app["exact_waits"] if "exact_waits" in app else app["waits"] - app["never_recorded_waits"]
    counts = {
        "process": processes,
        "kernel": app["launches"] + in_graphs("kernels"),
        "memcpy": app["copies"] + app["sync_copies"] + in_graphs("copies"),
        "memset": app["memsets"] + in_graphs("memsets"),
        "event_record": app["records"] + app["captured_records"],
        "event_wait": app["waits"] + app["captured_waits"],
        "event_edge": exact,
        "host_sync": app["syncs"] + app["sync_copies"],
        "query": app["queries"],
        "host_function": app["host_functions"],
    }
    if not nodes:  # node by node, a launch is recorded as its nodes
        counts["graph_launch"] = app["graph_launches"]
    for field, name in (("ranges", "range"), ("marks", "mark")):
        if app[field]:
            counts[name] = app[field]
    return counts, exact


def check_counts(harness, name, lines, trace, nodes=False, tier="times", processes=None):
    """All checks of a finished recording; `lines` are the JSON lines of the recorded program."""
    lines = [line for line in lines if "app" in line]
    if not harness.check(f"{name}: the program reported", bool(lines), f"{len(lines)} JSON lines"):
        return
    app, calls = total(lines)
    info = harness.info(trace.path, name)
    if info is None:
        return
    expected, exact = expected_counts(app, processes or len(lines), nodes)
    got = {key: info.get("counts", {}).get(key) for key in expected}
    wrong = {key: f"expected {expected[key]}, got {got[key]}" for key in expected if expected[key] != got[key]}
    harness.check(f"{name}: info counts", not wrong, f"{wrong or expected}")
    harness.equal(f"{name}: complete", True, info.get("complete"))
    harness.equal(f"{name}: losses", [], trace.losses())

    check_calls_by_name(harness, name, calls, trace)
    kinds = trace.counted("SELECT kind, count(*) FROM op GROUP BY kind")
    for field, kind in (("memory_waits", 4), ("memory_writes", 5)):
        harness.equal(f"{name}: ops of kind {OP_KINDS[kind]}", app[field], kinds.get(kind, 0))
    bindings = trace.counted("SELECT binding, count(*) FROM event_wait GROUP BY binding")
    harness.equal(
        f"{name}: bindings of waits",
        {"exact": exact, "never_recorded": app["never_recorded_waits"], "captured": app["captured_waits"],
         "ambiguous": 0, "unknown_history": 0},
        {text: bindings.get(number, 0) for number, text in enumerate(BINDINGS)},
    )
    captured = trace.value("SELECT count(*) FROM event_record WHERE flags & 1")
    harness.equal(f"{name}: records marked as captured", app["captured_records"], captured)
    failed = trace.rows("SELECT name, result, count(*) FROM v_api_call WHERE result NOT IN (0, 600) GROUP BY 1, 2")
    harness.equal(f"{name}: calls that failed", [], failed)
    check_times(harness, name, trace, tier)
    check_order(harness, name, trace, tier)
    if len(lines) == 1:
        check_stream_kinds(harness, name, lines[0], trace)


def by_kind(calls):
    """Counts of calls by kind: wrappers see the driver's functions behind a runtime that is linked statically."""
    kinds = collections.Counter()
    for call, count in calls.items():
        kinds[call_kinds().get(call)] += count
    return {kind: count for kind, count in kinds.items() if kind not in (None, "kOther", "kMalloc", "kFree", "kModuleLoad")}


def check_calls_by_name(harness, name, calls, trace):
    got = collections.Counter()
    for call, count in trace.rows("SELECT name, count(*) FROM v_api_call GROUP BY name"):
        got[plain(call)] += count
    if trace.collector().startswith("interposed") and not any(call.startswith("cuda") for call in got):
        harness.equal(f"{name}: calls by kind", by_kind(calls), by_kind(got))
        return
    wrong = {}
    if trace.collector().startswith("interposed"):
        moved = [call for call in calls if call in seen_in_driver()]
        wrong = {call: f"expected {by_kind(calls)}, got {by_kind(got)}" for call in moved
                 if by_kind(calls).get(call_kinds()[call]) != by_kind(got).get(call_kinds()[call])}
        calls = {call: count for call, count in calls.items() if call not in moved}
    for call, count in calls.items():
        always = traced_calls().get(call)
        if always is None or (not always and got[call] == 0):
            continue
        if got[call] != count:
            wrong[call] = f"expected {count}, got {got[call]}"
    harness.check(f"{name}: calls by name", not wrong, f"{wrong or dict(calls)}; in the trace {dict(got)}")


def check_times(harness, name, trace, tier):
    """Every op has times in tiers with times, none has in tier structure; no op starts before its call."""
    kinds = ", ".join(map(str, TIMED_KINDS))
    timed, untimed = trace.rows(
        f"SELECT sum(start_ns IS NOT NULL AND end_ns IS NOT NULL), sum(start_ns IS NULL OR end_ns IS NULL)"
        f" FROM op WHERE kind IN ({kinds})"
    )[0]
    if tier == "structure":
        harness.equal(f"{name}: ops with times in tier structure", 0, timed or 0)
        return
    harness.equal(f"{name}: kernels, copies and memsets without times", 0, untimed or 0)
    early = trace.rows(
        "SELECT op.id, op.start_ns, call.start_ns FROM op JOIN api_call AS call ON call.id = op.api_call_id"
        " WHERE op.start_ns < call.start_ns - 2000 LIMIT 3"
    )
    harness.equal(f"{name}: ops that start before their call", [], early)
    backwards = trace.value("SELECT count(*) FROM op WHERE end_ns < start_ns")
    harness.equal(f"{name}: ops that end before they start", 0, backwards)
    orphans = trace.value(f"SELECT count(*) FROM op WHERE kind IN ({kinds}) AND api_call_id IS NULL")
    harness.equal(f"{name}: ops without their call", 0, orphans)
    homeless = trace.value("SELECT count(*) FROM op WHERE stream_id IS NULL")
    harness.equal(f"{name}: ops without a stream", 0, homeless)


def check_order(harness, name, trace, tier):
    """What the edges promise the GPU must have kept (1 us of tolerance between engines)."""
    if tier == "structure":
        return
    broken = trace.rows(
        "SELECT kind, from_op, to_op, lag_ns FROM v_edge WHERE kind IN ('fifo', 'event') AND lag_ns < -1000 LIMIT 5"
    )
    edges = trace.counted("SELECT kind, count(*) FROM v_edge GROUP BY kind")
    harness.check(f"{name}: the GPU kept every edge", not broken, f"broken {broken} of {edges}")


def check_stream_kinds(harness, name, line, trace):
    if "ops_by_stream_kind" in line:
        ops = trace.counted(
            "SELECT stream.kind, count(*) FROM op JOIN stream ON stream.id = stream_id GROUP BY 1")
        harness.equal(f"{name}: ops by kind of stream", line["ops_by_stream_kind"],
                      {STREAM_KINDS[kind]: count for kind, count in ops.items()})
        streams = trace.counted(
            "SELECT stream.kind, count(DISTINCT stream_id) FROM op JOIN stream ON stream.id = stream_id GROUP BY 1")
        harness.equal(f"{name}: streams in use by kind", line["streams_by_kind"],
                      {STREAM_KINDS[kind]: count for kind, count in streams.items()})


# What is recorded: name, variants, arguments, whether the trace is small enough and worth keeping.
VARIANTS = {
    "pipeline": ["", "_shared", "_ptds"],
    "forkjoin": ["", "_shared", "_ptds"],
    "default_streams": ["", "_shared", "_ptds"],
    "host_function": ["", "_shared"],
    "never_recorded": ["", "_shared"],
    "memops": ["", "_shared"],
    "alloc_async": ["", "_shared"],
    "graph_replay": ["", "_shared"],
    "driver_api": [""],
    "late_dlopen": [""],
    "own_sqlite": [""],
    "forker": [""],
}
KEPT = ["pipeline", "forkjoin", "default_streams", "host_function", "never_recorded", "memops", "alloc_async",
        "graph_replay", "driver_api"]


def record_and_check(harness, app, tier="times", options=(), nodes=False):
    """Records one app at one tier and checks everything."""
    name = app if tier == "times" and not nodes else f"{app}.{'nodes' if nodes else tier}"
    recording = harness.recorded(name, [harness.app(app)], ["--tier", tier, *options])
    if recording is None:
        return
    lines, trace = recording
    check_counts(harness, name, lines, trace, nodes=nodes, tier=tier)
    trace.close()
    if name in KEPT:
        harness.keep(trace.path)


# The examples of libcoord: what each operation's function issues, by the operation's description.
EXAMPLES = {
    "pipeline": {"clear": ["memset"], "upload": ["memcpy"], "compute": ["kernel"], "download": ["memcpy"]},
    "fork_join": {"load": ["memcpy"], "fork": ["kernel"], "branch": ["kernel"], "join": ["kernel"], "store": ["memcpy"]},
}


def check_example(harness, example, device="cuda"):
    """An example of libcoord on the real device: the same counts, and every operation has exactly its ops."""
    name = f"example_{example}"
    recording = harness.recorded(name, [harness.build / "bin/examples" / example, "--device", device, "--verify"])
    if recording is None:
        return
    lines, trace = recording
    info = harness.info(trace.path, name)
    if info is None or not harness.check(f"{name}: the program reported", bool(lines), "a JSON line"):
        return
    app, _ = total(lines)
    expected = {"kernel": app["launches"], "memcpy": app["copies"], "memset": app["memsets"],
                "event_record": app["records"], "event_wait": app["waits"], "event_edge": app["waits"],
                "operation": app["operations"]}
    harness.equal(f"{name}: info counts", expected, {key: info.get("counts", {}).get(key) for key in expected})
    syncs = trace.value("SELECT count(*) FROM host_sync WHERE kind IN (0, 1, 2)")
    harness.equal(f"{name}: syncs", app["syncs"], syncs)
    harness.equal(f"{name}: losses", [], trace.losses())
    check_times(harness, name, trace, "times")
    check_order(harness, name, trace, "times")
    check_operations(harness, name, EXAMPLES[example], trace)
    trace.close()
    harness.keep(trace.path)


def check_operations(harness, name, issued, trace):
    """operation_op lists exactly what each operation's function issued."""
    wrong = []
    for operation, description in trace.rows(
            "SELECT operation.id, value FROM operation LEFT JOIN string ON string.id = name_id"):
        expected = issued.get(re.sub(r" \d+$", "", description or ""), ["an operation that is not the program's"])
        got = [OP_KINDS[kind] for (kind,) in trace.rows(
            "SELECT kind FROM operation_op JOIN op ON op.id = op_id WHERE operation_id = ? ORDER BY op.id", operation)]
        if got != expected:
            wrong.append((operation, description, f"expected {expected}, got {got}"))
    harness.equal(f"{name}: operations with other ops than their own", 0, len(wrong), str(wrong[:5]))
    twice = trace.rows("SELECT op_id FROM operation_op GROUP BY op_id HAVING count(*) > 1 LIMIT 5")
    harness.equal(f"{name}: ops of two operations", [], twice)
    unfinished = trace.value("SELECT count(*) FROM operation WHERE state <> 3")
    harness.equal(f"{name}: operations not completed", 0, unfinished)


def run(harness):
    tasks = [(record_and_check, harness, app + variant) for app, variants in VARIANTS.items() for variant in variants]
    tasks += [(record_and_check, harness, app, "structure") for app in ("pipeline", "forkjoin", "graph_replay", "driver_api")]
    tasks += [(record_and_check, harness, app, "events") for app in ("pipeline", "never_recorded")]
    tasks += [(check_example, harness, example) for example in EXAMPLES]
    harness.parallel(tasks)

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Which call each kernel belongs to where eight threads launch one kernel on shared streams (apps/many_threads): against what
the kernels show of their thread themselves, by grid or by duration, and against the order in which a stream must run them.

The grid could be taken from the call instead of the device; how long a kernel ran cannot."""

LAUNCHES, MARKED_LAUNCHES = 1_048_576, 24_000
TIMEOUT_S = 180
# Program, what its kernels show, number of launches, source of calls. Callbacks show that the checks themselves are right.
RECORDINGS = [
    ("many_threads", "shape", LAUNCHES, "interposed"),
    ("many_threads", "none", LAUNCHES, "interposed"),
    ("many_threads", "duration", MARKED_LAUNCHES, "interposed"),
    ("many_threads_shared", "shape", LAUNCHES, "interposed"),
    ("many_threads_shared", "duration", MARKED_LAUNCHES, "interposed"),
    ("many_threads", "shape", LAUNCHES // 4, "cupti"),
    ("many_threads", "duration", MARKED_LAUNCHES, "cupti"),
]
SHORTER_NS = 3_000  # than its thread's kernels are: certainly another thread's

# Every kernel with its call, as (op, thread by number, number of the call in its thread from 0, ...).
PAIRS = """
CREATE TEMP TABLE launched AS
  SELECT call.id AS id, thread.os_tid AS tid, call.thread_id AS thread, call.stream_id AS stream, call.start_ns AS called, call.end_ns AS returned,
         row_number() OVER (PARTITION BY call.thread_id ORDER BY call.start_ns, call.id) - 1 AS number
    FROM api_call AS call JOIN thread ON thread.id = call.thread_id WHERE call.kind = 1;
CREATE UNIQUE INDEX temp.launched_id ON launched(id);
CREATE TEMP TABLE pair AS
  SELECT op.id AS op, op.stream_id AS stream, op.start_ns AS started, op.end_ns AS ended, op.launch_shape_id AS shape, launched.id AS call,
         launched.stream AS call_stream, tid, thread, called, returned, number
    FROM op JOIN launched ON launched.id = op.api_call_id WHERE op.kind = 0;
"""
# Name of the check, query of the number that must be 0.
ZERO = {
    "kernels without a call": "SELECT count(*) FROM op WHERE kind = 0 AND api_call_id IS NULL",
    "kernels of a call that launches nothing":
        "SELECT count(*) FROM op WHERE kind = 0 AND api_call_id IS NOT NULL AND api_call_id NOT IN (SELECT id FROM launched)",
    "calls without a kernel": "SELECT count(*) FROM launched WHERE id NOT IN (SELECT call FROM pair)",
    "kernels that share a call": "SELECT count(*) - count(DISTINCT call) FROM pair",
    "kernels without times": "SELECT count(*) FROM op WHERE kind = 0 AND (start_ns IS NULL OR end_ns IS NULL)",
    "kernels on another stream than their call's": "SELECT count(*) FROM pair WHERE stream IS NOT call_stream",
    "kernels that start before their call": "SELECT count(*) FROM pair WHERE started < called - 2000",
    # Of one thread and stream, in order of the device: each must have been launched after the one before.
    "inversions within a thread and stream":
        "SELECT count(*) FROM (SELECT number, lag(number) OVER (PARTITION BY thread, stream ORDER BY started, number) AS before FROM pair)"
        " WHERE number < before",
    # Of one stream, whatever the thread: no kernel may come after one whose call began when its own had returned.
    "inversions of calls that did not overlap":
        "SELECT count(*) FROM (SELECT returned, max(called) OVER (PARTITION BY stream ORDER BY started, called"
        " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS newest FROM pair) WHERE newest > returned",
}


def marked_wrong(trace, mark, line):
    """How many kernels show another thread than the one whose call they have; the first few."""
    trace.database.execute("CREATE TEMP TABLE IF NOT EXISTS truth(tid INTEGER PRIMARY KEY, number INTEGER)")
    trace.database.executemany("INSERT OR REPLACE INTO truth VALUES (?, ?)", [(tid, number) for number, tid in enumerate(line["threads"])])
    if mark == "shape":
        source = (f"FROM pair JOIN launch_shape AS shape ON shape.id = pair.shape LEFT JOIN truth ON truth.tid = pair.tid"
                  f" WHERE shape.grid_z IS NOT truth.number + 1 OR shape.grid_y IS NOT 1 + pair.number % {int(line['shapes'])}")
        columns = "op, truth.number, pair.number, shape.grid_z - 1, shape.grid_y - 1"
    else:
        source = (f"FROM pair LEFT JOIN truth ON truth.tid = pair.tid"
                  f" WHERE truth.number IS NULL OR ended - started < (1 + truth.number) * {int(line['unit_ns'])} - {SHORTER_NS}")
        columns = "op, truth.number, pair.number, ended - started"
    return trace.value(f"SELECT count(*) {source}"), trace.rows(f"SELECT {columns} {source} LIMIT 3")


def check_trace(harness, name, mark, launches, line, trace):
    """All checks of one recording. Returns its row of the table."""
    trace.database.executescript(PAIRS)
    made = trace.value("SELECT count(*) FROM launched")
    kernels = trace.value("SELECT count(*) FROM op WHERE kind = 0")
    harness.equal(f"{name}: calls", launches, made)
    harness.equal(f"{name}: kernels", launches, kernels)
    counts = {what: trace.value(sql) for what, sql in ZERO.items()}
    for what, count in counts.items():
        harness.equal(f"{name}: {what}", 0, count)
    wrong = "-"
    if mark != "none":
        wrong, first = marked_wrong(trace, mark, line)
        harness.equal(f"{name}: kernels of another thread or launch than their call's", 0, wrong, f"first {first}")
        without = trace.value("SELECT count(*) FROM pair WHERE shape IS NULL")
        harness.equal(f"{name}: kernels without a grid", 0, without)
    losses = trace.losses(0)
    ambiguous = trace.value("SELECT total(count) FROM loss JOIN string ON string.id = name_id WHERE value LIKE '%ambiguous%'")
    harness.equal(f"{name}: losses", [], trace.losses())
    harness.log(f"  {name}: {ambiguous:.0f} of {kernels} ambiguous ({100 * ambiguous / max(1, kernels):.4f} %); losses of all severities: {losses}")
    unjoined = counts["kernels without a call"] + counts["calls without a kernel"]
    inversions = counts["inversions within a thread and stream"] + counts["inversions of calls that did not overlap"]
    return name, kernels, unjoined, counts["kernels that share a call"], wrong, inversions, f"{ambiguous:.0f}"


def check(harness, app, mark, launches, source):
    name = f"{app}.{mark}.{source}"
    recording = harness.recorded(name, [harness.app(app), "--launches", launches, "--mark", mark],
                                 ["--tier", "times", "--source", source], TIMEOUT_S)
    if recording is None:
        return None
    lines, trace = recording
    try:
        collector = trace.collector()
        harness.check(f"{name}: source of calls", collector.startswith(source), collector)
        if not harness.check(f"{name}: the program reported", bool(lines), "a JSON line"):
            return None
        return check_trace(harness, name, mark, launches, lines[-1], trace)
    finally:
        trace.close()
        trace.path.unlink()  # hundreds of megabytes


def run(harness):
    rows = []
    for app, mark, launches, source in RECORDINGS:  # one at a time: they use eight cores, and the recorder more
        name = f"{app}.{mark}.{source}"
        if not harness.app(app).exists():
            harness.skip(name, "the program is not built")
        elif not harness.can_record("--tier", "times", "--source", source):
            harness.skip(name, f"this build does not record tier times with --source {source}")
        elif harness.is_over():
            harness.skip(name, "time is over")
        else:
            rows.append(check(harness, app, mark, launches, source))
    rows = [row for row in rows if row]
    if rows:
        harness.table(["recording", "kernels", "not joined", "share a call", "wrong", "inversions", "ambiguous"], rows)

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks the table wait_cause of traces against their other tables.

usage: check_causes.py [--shared] STREAMSCOPE FILE...

FILE is a trace, a profile of another tool, a folder of such files, or "corpus": the folder that
$STREAMSCOPE_CORPUS names. Each trace is copied and analyzed, each profile imported. Then, from the
tables alone:
- the parts of each op sum to the gap before it on its stream;
- a condition is charged only while it was in the stream: an event from the entry of the wait's call
  to the end of the awaited op, everything else from the entry of the call that issued the op (or,
  for memory waits and host functions, their own call) until it was over;
- the host is charged only while nothing that holds the op up was in the stream, and only for what
  its thread did then: synchronizations, other calls, outside CUDA;
- what is called unknown is at most 5 % of all gaps, if the trace was recorded and not imported: what
  other tools do not record cannot be known. Nor is it checked with --shared, of programs that had to
  share their GPU with others: what another process did there is in no trace.

Prints one line per trace and one per violation; exit code 1 if there is any.
"""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

LAUNCH, EVENT, START, LEGACY, MEMORY, FUNCTION, ENGINE, FULL, ALIASING = range(9)
PROFILER, UNKNOWN, SYNC, GRAPH, CALL, CODE, LOCK, HOST = range(9, 17)
HOST_CAUSES = {LAUNCH, PROFILER, SYNC, CALL, CODE, LOCK, HOST}
NAMES = ("launch event_wait start_latency legacy_stream memory_wait host_function copy_engine sm_full queue_aliasing profiler "
         "unknown host_sync graph host_call code_loading host_lock host").split()
MEMORY_WAIT = 4
FIRST_PAGE_MIGRATION = 11
SYNCHRONOUS_COPY = 5
BLOCKING = (0, 1, 2, SYNCHRONOUS_COPY)
LONGEST_START_NS = 500_000
MOST_UNKNOWN = 0.05


def measure(intervals):
    """Length of the union."""
    total, until = 0, None
    for start, end in sorted(i for i in intervals if i[1] > i[0]):
        if until is None or start > until:
            total += end - start
        elif end > until:
            total += end - until
        until = end if until is None else max(until, end)
    return total


def clip(interval, low, high):
    return max(interval[0], low), min(interval[1], high)


class Checker:
    def __init__(self, path, is_shared=False):
        self.db = sqlite3.connect(path)
        self.is_shared = is_shared
        self.violations = []
        self.op = {row[0]: row[1:] for row in self.rows(
            "SELECT id, kind, stream_id, start_ns, end_ns, api_call_id, call_number FROM op")}
        self.migrations = {row[0] for row in self.rows(f"SELECT id FROM op WHERE kind = 1 AND detail >= {FIRST_PAGE_MIGRATION}")}
        self.call = {row[0]: row[1:] for row in self.rows("SELECT id, thread_id, start_ns, end_ns FROM api_call")}
        self.edge = {row[0]: row[1:] for row in self.rows("SELECT id, kind, from_op_id, to_op_id, event_wait_id FROM edge")}
        self.wait_entry = dict(self.rows("SELECT id, start_ns FROM event_wait"))
        self.read_issues()
        self.read_host()

    def rows(self, sql):
        return self.db.execute(sql)

    def read_issues(self):
        """Per op: thread, entry and exit of the call that issued it."""
        process_of_stream = dict(self.rows(
            "SELECT stream.id, context.process_id FROM stream JOIN context ON context.id = stream.context_id"))
        copies = {(process, number): (thread, start, end) for process, number, thread, start, end in self.rows(
            "SELECT thread.process_id, call_number, thread_id, host_sync.start_ns, host_sync.end_ns FROM host_sync "
            f"JOIN thread ON thread.id = thread_id WHERE host_sync.kind = {SYNCHRONOUS_COPY}")}
        self.issue = {}
        for op, (_, stream, _, _, call, number) in self.op.items():
            if call in self.call:
                self.issue[op] = self.call[call]
            else:
                self.issue[op] = copies.get((process_of_stream.get(stream), number), (None, None, None))

    def read_host(self):
        """Per thread: its calls by start, as (start, end, blocking)."""
        self.host = {}
        blocks = f"kind IN {BLOCKING}"
        if ("polls",) in self.rows("SELECT name FROM pragma_table_info('host_sync')").fetchall():
            blocks = f"({blocks} OR coalesce(polls, 1) > 1)"
        for table, blocking in (("api_call", "0"), ("event_record", "0"), ("event_wait", "0"), ("host_sync", blocks)):
            for thread, start, end, is_blocking in self.rows(
                    f"SELECT thread_id, start_ns, end_ns, {blocking} FROM {table} "
                    "WHERE start_ns IS NOT NULL AND end_ns IS NOT NULL"):
                self.host.setdefault(thread, []).append((start, end, is_blocking))
        self.host_starts = {}
        for thread, calls in self.host.items():
            calls.sort()
            until = None  # one thread is in one call at a time
            for i, (start, end, blocks) in enumerate(calls):
                if until is not None and start < until:
                    calls[i] = (until, max(end, until), blocks)
                until = end if until is None else max(until, end)
            self.host_starts[thread] = [call[0] for call in calls]

    def calls_within(self, thread, low, high):
        import bisect
        calls = self.host.get(thread, [])
        first = max(0, bisect.bisect_right(self.host_starts.get(thread, []), low) - 1)
        for start, end, blocks in calls[first:]:
            if start >= high:
                break
            if end > low:
                yield *clip((start, end), low, high), blocks

    def gaps(self):
        """Per timed op that is work: when the gap before it began."""
        by_stream = {}
        for op, (kind, stream, start, end, _, _) in self.op.items():
            if start is not None and end is not None and start <= end and kind != MEMORY_WAIT and stream is not None:
                by_stream.setdefault(stream, []).append((start, end, op))
        begin = {}
        for ops in by_stream.values():
            until = None
            for start, end, op in sorted(ops):
                came = until if until is not None else self.issue[op][1]
                if came is not None and came < start and op not in self.migrations:
                    begin[op] = came
                until = end if until is None else max(until, end)
        return begin

    def fail(self, op, text):
        self.violations.append(f"op {op}: {text}")

    def allowed(self, op, cause, edge, because):
        """The interval in which the condition was in the stream."""
        entry = self.issue[op][1]
        if cause in (EVENT, LEGACY, GRAPH):
            if edge not in self.edge:
                self.fail(op, f"{NAMES[cause]} without an edge")
                return 0, 0
            kind, source, target, wait = self.edge[edge]
            if cause == EVENT:
                entry = self.wait_entry.get(wait)
            elif target != op:
                entry = self.issue[target][1]
            if target != op and not self.between(target, op):
                self.fail(op, f"edge {edge} ends at op {target}, which is not before it on its stream")
            return entry, self.op[source][3]
        if cause in (MEMORY, FUNCTION) and because is not None:
            if self.op[because][1] == self.op[op][1]:
                end = self.op[because][3]
                return self.issue[because][1], end if end is not None else self.op[op][2]
            return entry, self.op[because][3]  # the thread of host functions had another one
        if cause == FUNCTION:
            return entry, self.op[op][2]
        if because is None:
            self.fail(op, f"{NAMES[cause]} names no op")
            return 0, 0
        return entry, self.op[because][2 if cause == ALIASING else 3]

    def between(self, earlier, later):
        a, b = self.op[earlier], self.op[later]
        return a[1] == b[1] and (self.issue[earlier][1] or 0) <= (self.issue[later][1] or 0)

    def run(self):
        parts = {}
        for op, cause, duration, edge, because in self.rows(
                "SELECT op_id, cause, duration_ns, edge_id, because_op_id FROM wait_cause ORDER BY id"):
            parts.setdefault(op, []).append((cause, duration, edge, because))
        begin = self.gaps()
        total, by_cause = 0, {}
        for op in sorted(set(begin) | set(parts)):
            if op not in begin:
                self.fail(op, "has parts but no gap")
                continue
            gap = begin[op], self.op[op][2]
            total += gap[1] - gap[0]
            mine = parts.get(op, [])
            if sum(p[1] for p in mine) != gap[1] - gap[0]:
                self.fail(op, f"parts sum to {sum(p[1] for p in mine)} ns, the gap is {gap[1] - gap[0]} ns")
            for cause, duration, _, _ in mine:
                by_cause[cause] = by_cause.get(cause, 0) + duration
                if duration <= 0:
                    self.fail(op, f"{NAMES[cause]} of {duration} ns")
            self.check_conditions(op, gap, mine)
            self.check_host(op, gap, mine)
        unknown = by_cause.get(UNKNOWN, 0)
        recorded = not self.db.execute("SELECT 1 FROM meta WHERE key = 'imported_from'").fetchall()
        if recorded and not self.is_shared and total and unknown > MOST_UNKNOWN * total:
            self.violations.append(f"{unknown / total:.1%} of all gaps are unknown")
        return total, by_cause

    def check_conditions(self, op, gap, parts):
        sums = {}
        for cause, duration, edge, because in parts:
            if cause not in HOST_CAUSES | {START, UNKNOWN}:
                sums[cause, edge, because] = sums.get((cause, edge, because), 0) + duration
            if cause == START and duration > LONGEST_START_NS:
                self.fail(op, f"{duration} ns of start latency")
        intervals = []
        for (cause, edge, because), duration in sums.items():
            low, high = self.allowed(op, cause, edge, because)
            low, high = clip((gap[0] if low is None else low, gap[0] if high is None else high), *gap)
            intervals.append((low, high))
            if duration > max(0, high - low):
                self.fail(op, f"{duration} ns of {NAMES[cause]}, which held it up for {max(0, high - low)} ns at most")
        if sum(sums.values()) > measure(intervals):
            self.fail(op, f"{sum(sums.values())} ns of conditions, which held it up for {measure(intervals)} ns together")

    def check_host(self, op, gap, parts):
        host = {}
        for cause, duration, _, _ in parts:
            if cause in HOST_CAUSES:
                host[cause] = host.get(cause, 0) + duration
        if not host:
            return
        thread, entry, returned = self.issue[op]
        if returned is None:
            self.fail(op, "host time, but its call is not known")
            return
        low, high = gap[0], min(gap[1], returned)
        held = [clip((self.wait_entry[wait], self.op[source][3]), low, high)
                for kind, source, target, wait in self.edges_into(op)
                if kind == 1 and wait in self.wait_entry and self.op[source][3] is not None]
        free = max(0, high - low) - measure(held)
        if sum(host.values()) > free:
            self.fail(op, f"{sum(host.values())} ns of host time, but its stream was empty for {free} ns")
        if host.get(LAUNCH, 0) > max(0, high - max(low, entry)):
            self.fail(op, f"{host[LAUNCH]} ns in a call of {high - max(low, entry)} ns")
        sync = call = 0
        for start, end, blocks in self.calls_within(thread, low, min(high, entry)):
            if blocks:
                sync += end - start
            else:
                call += end - start
        outside = max(0, min(high, entry) - low) - sync - call
        for cause, most in ((SYNC, sync), (CALL, call), (HOST, outside)):
            if host.get(cause, 0) > most:
                self.fail(op, f"{host[cause]} ns of {NAMES[cause]}, but its thread spent {most} ns so")

    def edges_into(self, op):
        if not hasattr(self, "incoming"):
            self.incoming = {}
            for edge in self.edge.values():
                self.incoming.setdefault(edge[2], []).append(edge)
        return self.incoming.get(op, [])


def files_of(arguments):
    files = []
    for argument in arguments:
        if argument == "corpus":
            argument = os.environ.get("STREAMSCOPE_CORPUS", "")
            if not os.path.isdir(argument):
                print("skipped: STREAMSCOPE_CORPUS names no folder of profiles")
                continue
        if not os.path.isdir(argument):
            files.append(argument)
            continue
        for folder, _, names in os.walk(argument):
            files += [os.path.join(folder, name) for name in sorted(names) if name.endswith((".sqlite", ".json", ".json.gz"))]
    return files


def is_trace(path):
    with open(path, "rb") as file:
        head = file.read(72)
    return head.startswith(b"SQLite format 3") and head[68:72] == b"StSc"


def main():
    words = [word for word in sys.argv[1:] if word != "--shared"]
    is_shared = len(words) < len(sys.argv) - 1
    if len(words) < 2:
        sys.exit(__doc__)
    streamscope, failed = words[0], False
    traces = files_of(words[1:])
    if not traces:
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch:
        for path in traces:
            copy = os.path.join(scratch, "trace.sqlite")
            if is_trace(path):
                shutil.copy(path, copy)
                os.chmod(copy, 0o600)
            else:
                subprocess.run([streamscope, "import", "--quiet", "-o", copy, path], check=True, capture_output=True, timeout=300)
            subprocess.run([streamscope, "analyze", copy], check=True, capture_output=True, timeout=300)
            checker = Checker(copy, is_shared)
            total, by_cause = checker.run()
            shares = ", ".join(f"{NAMES[cause]} {ns / total:.1%}" for cause, ns in
                               sorted(by_cause.items(), key=lambda item: -item[1])[:6]) if total else "no gaps"
            print(f"{os.path.basename(path)}: {len(checker.violations)} violations; {total / 1e6:.3f} ms of gaps: {shares}")
            for violation in checker.violations[:10]:
                print(f"  {violation}")
            failed = failed or bool(checker.violations)
            checker.db.close()
            os.remove(copy)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

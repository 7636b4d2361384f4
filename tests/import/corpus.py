#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Imports every profile in $STREAMSCOPE_CORPUS and counts it a second time, with sqlite3 and json.

    corpus.py STREAMSCOPE

Exit code 77 if there is no corpus.
"""
import gzip
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from decimal import Decimal

failures = 0


def expect(what, wanted, got):
    global failures
    if wanted != got:
        failures += 1
        print(f"FAILED: {what}: counted {wanted}, imported {got}")


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120)


def import_file(program, file, folder):
    trace = folder / (file.name + ".trace")
    result = run(program, "import", str(file), "-o", str(trace), "--quiet")
    if result.returncode != 0:
        expect(f"{file.name}: exit code of import", 0, (result.returncode, result.stderr))
        return None
    for command in ("info", "report", "check"):
        code = run(program, command, str(trace)).returncode
        if code not in (0, 1, 3):
            expect(f"{file.name}: exit code of {command}", "0, 1 or 3", code)
    return trace


def counts_of(program, trace):
    return json.loads(run(program, "info", "--json", str(trace)).stdout)["counts"]


def base(name):
    """cudaStreamWaitEvent of cudaStreamWaitEvent_v3020, hipStreamWaitEvent and cuStreamWaitEvent."""
    return "cuda" + re.sub(r"^(cuda|cu|hip)", "", re.sub(r"(_ptsz|_ptds)?(_v\d+)?$", "", name or ""))


# Calls in tables without a column for stacks.
NO_STACK = {"cudaEventRecord", "cudaEventRecordWithFlags", "cudaStreamWaitEvent"}
RECORDS = {"cudaEventRecord", "cudaEventRecordWithFlags"}
SYNCS = {"cudaDeviceSynchronize", "cudaCtxSynchronize", "cudaThreadSynchronize", "cudaStreamSynchronize",
         "cudaEventSynchronize"}


def expect_counts(file, calls, wanted, got):
    names = Counter(map(base, calls))
    wanted |= {
        "api_call": len(calls),
        "event_record": sum(names[name] for name in RECORDS),
        "event_wait": names["cudaStreamWaitEvent"],
        "host_sync": sum(names[name] for name in SYNCS),
        "query": names["cudaEventQuery"] + names["cudaStreamQuery"],
    }
    for key, count in wanted.items():
        expect(f"{file.name}: {key}", count, got[key])


# ---- Nsight Systems

# Scripts that read only tables which a trace has as views; %s is the version of a function's name, which a trace drops.
EXAMPLES = {
    "kernels by name": """SELECT value, count(*), sum(end - start), min(end - start), max(end - start)
        FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON demangledName = StringIds.id GROUP BY value ORDER BY value""",
    "kernels by short name": """SELECT value, count(*), count(DISTINCT demangledName), sum(end - start), min(start)
        FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON shortName = StringIds.id GROUP BY shortName ORDER BY value""",
    "short and whole names": """SELECT DISTINCT short.value, whole.value FROM CUPTI_ACTIVITY_KIND_KERNEL
        JOIN StringIds AS short ON short.id = shortName JOIN StringIds AS whole ON whole.id = demangledName ORDER BY 1, 2""",
    "longest kernels by short name": """SELECT substr(value, 1, 40), max(end - start), CAST(avg(gridX * gridY * gridZ) AS INTEGER)
        FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON StringIds.id = shortName GROUP BY value ORDER BY 2 DESC, 1 LIMIT 10""",
    "time from launch to kernel by short name": """SELECT s.value, count(*), sum(k.start - r.start), max(k.start - r.end)
        FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.correlationId = r.correlationId
         AND k.globalPid / 0x1000000 = r.globalTid / 0x1000000 JOIN StringIds AS s ON s.id = k.shortName
        GROUP BY s.value ORDER BY 1""",
    "launches with their kernels": """SELECT r.start, r.end, k.start, k.end, k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ,
            k.streamId FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r
        ON k.correlationId = r.correlationId AND k.globalPid / 0x1000000 = r.globalTid / 0x1000000
        ORDER BY k.start, r.start""",
    "calls by name": """SELECT name, count(*), sum(duration) FROM (
        SELECT CASE WHEN instr(value, '_v') > 0 AND value LIKE 'cuda%' THEN substr(value, 1, instr(value, '_v') - 1) ELSE value END
               AS name, end - start AS duration
          FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON nameId = StringIds.id) GROUP BY name ORDER BY name""",
    "calls by process and thread": """SELECT globalTid / 0x1000000 % 0x1000000, globalTid % 0x1000000, count(*)
        FROM CUPTI_ACTIVITY_KIND_RUNTIME GROUP BY 1, 2 ORDER BY 1, 2""",
    "copies by direction": """SELECT copyKind, streamId, deviceId, count(*), sum(bytes), sum(end - start), min(start)
        FROM CUPTI_ACTIVITY_KIND_MEMCPY GROUP BY 1, 2, 3 ORDER BY 1, 2, 3""",
    "memory kinds of copies": """SELECT srcKind, dstKind, count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY
        GROUP BY 1, 2 ORDER BY 1, 2""",
    "memsets": """SELECT start, end, streamId, bytes, memKind FROM CUPTI_ACTIVITY_KIND_MEMSET ORDER BY start""",
    "ranges": """SELECT start, end, coalesce(text, (SELECT value FROM StringIds WHERE id = textId)), globalTid % 0x1000000
        FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60) ORDER BY 1, 2 DESC, 3""",
    "busy time of devices": """SELECT deviceId, count(*), min(start), max(end), sum(end - start)
        FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1 ORDER BY 1""",
    "synchronizations and their calls": """SELECT s.correlationId, r.start, r.end
        FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION AS s JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r
          ON s.correlationId = r.correlationId AND s.globalPid / 0x1000000 = r.globalTid / 0x1000000 ORDER BY r.start""",
    "streams": """SELECT DISTINCT processId, contextId, streamId, priority FROM TARGET_INFO_CUDA_STREAM
        WHERE priority IS NOT NULL AND (processId, contextId, streamId) IN (SELECT globalPid / 0x1000000 % 0x1000000, contextId, streamId
                                                   FROM CUPTI_ACTIVITY_KIND_KERNEL) ORDER BY 1, 2, 3""",
}


def rows_or_none(database, sql):
    try:
        return database.execute(sql).fetchall()
    except sqlite3.OperationalError:
        return None  # the export lacks a table or column


def check_nsys(program, file, folder):
    trace = import_file(program, file, folder)
    if trace is None:
        return
    source = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    imported = sqlite3.connect(f"file:{trace}?mode=ro", uri=True)
    imported.execute("PRAGMA trusted_schema=1")

    def count(sql):
        rows = rows_or_none(source, sql)
        return rows[0][0] if rows else 0

    calls = [name for name, in rows_or_none(source, """SELECT value FROM CUPTI_ACTIVITY_KIND_RUNTIME
        LEFT JOIN StringIds ON nameId = StringIds.id""") or []]
    got = counts_of(program, trace)
    # A wait is bound if a record of its process has its number, and the call of each is there.
    bound = """SELECT count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION AS w
        JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS c ON c.correlationId = w.correlationId AND c.globalTid >> 24 = w.globalPid >> 24
        JOIN StringIds ON StringIds.id = c.nameId AND value LIKE 'cu%StreamWaitEvent%'
        JOIN CUPTI_ACTIVITY_KIND_CUDA_EVENT AS e ON e.eventSyncId = w.eventSyncId AND e.globalPid = w.globalPid
        JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r ON r.correlationId = e.correlationId AND r.globalTid >> 24 = e.globalPid >> 24"""
    expect_counts(file, calls, {
        "kernel": count("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"),
        "memcpy": count("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY"),
        "memset": count("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMSET"),
        "page_migration": count("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind >= 11"),
        "range": count("SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (59, 60)"),
        "mark": count("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34"),
        "event_edge": count(bound),
    }, got)
    # Samples while a thread that makes calls ran, those with a stack, and their frames in the program and its libraries.
    samples = "COMPOSITE_EVENTS AS s WHERE s.globalTid IN (SELECT globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME)"
    chains = f"""FROM SAMPLING_CALLCHAINS AS c JOIN StringIds ON StringIds.id = c.symbol AND value NOT LIKE '[%'
        WHERE ifnull(kernelMode, 0) = 0 AND c.id IN (SELECT s.id FROM {samples})"""
    expect(f"{file.name}: samples with a stack, frames", (count(f"SELECT count(DISTINCT c.id) {chains}"), count(f"SELECT count(*) {chains}")),
           imported.execute("""SELECT count(DISTINCT host_sample.id), count(stack_frame.id) FROM host_sample
               JOIN stack_frame ON stack_frame.stack_id = host_sample.stack_id
               WHERE runs = 1 AND host_sample.at_ns IN (SELECT value FROM json_each(?))""",
               (json.dumps([start for start, in rows_or_none(source, f"SELECT start FROM {samples}") or []]),)).fetchone())
    asked = 0
    for name, sql in EXAMPLES.items():
        wanted = rows_or_none(source, sql)
        if wanted is None:
            continue
        asked += len(wanted) > 0
        expect(f"{file.name}: {name}", wanted, rows_or_none(imported, sql))
    print(f"{file.name}: {got['op']} ops, {got['api_call']} calls, {got['event_edge']} edges, {asked} examples")
    texts = "\n".join(value for value, in imported.execute("SELECT value FROM string"))
    for secret in ("LD_LIBRARY_PATH=", "HOME=", "PATH="):
        if secret in texts:
            expect(f"{file.name}: holds the environment", False, secret)


# ---- Kineto

DEVICE = {"kernel": "kernel", "Kernel": "kernel", "gpu_memcpy": "memcpy", "Memcpy": "memcpy", "gpu_memset": "memset",
          "Memset": "memset"}
CALLS = {"cuda_runtime", "cuda_driver", "Runtime"}
OTHER = {"cuda_sync", "cuda_event", "overhead", "gpu_user_annotation", "Trace"}


FRAME = re.compile(r".+?\(\d+\): ")


def python_frames(complete):
    """(calls during Python functions, frames of their stacks). Not by "Python parent id", which skips functions now and then."""
    calls = frames = 0
    open_on = {}  # by thread: (end, frames of a function or operator)
    in_order = [event for event in complete if event.get("cat") in CALLS | {"python_function", "Operator"}]
    for event in sorted(in_order, key=lambda event: (event["ts"], event["cat"] in CALLS, -event["dur"])):
        around = open_on.setdefault((event["pid"], event["tid"]), [])
        while around and around[-1][0] <= event["ts"]:
            around.pop()
        outer = around[-1][1] if around else 0
        end = event["ts"] + event["dur"]
        if event["cat"] in CALLS:
            calls += outer > 0 and base(event["name"]) not in NO_STACK
            frames += min(outer, 64) if base(event["name"]) not in NO_STACK else 0
        elif event["cat"] == "python_function" and FRAME.match(event["name"]):
            around.append((end, outer + 1))
        elif (depth := sum(bool(FRAME.match(name)) for name in event.get("args", {}).get("Call stack", "").split(";"))) > 0:
            around.append((end, depth))
    return calls, frames


def check_kineto(program, file, folder):
    trace = import_file(program, file, folder)
    if trace is None:
        return
    with (gzip.open if file.suffix == ".gz" else open)(file, "rb") as stream:
        profile = json.load(stream, parse_float=Decimal)
    events = profile["traceEvents"] if isinstance(profile, dict) else profile
    complete = [event for event in events if event.get("ph") == "X"]
    calls = {}
    for event in complete:
        if event.get("cat") in CALLS:
            calls.setdefault(event["args"].get("correlation"), event)
    kinds = Counter(DEVICE[event["cat"]] for event in complete if event.get("cat") in DEVICE)
    bound = 0
    for event in complete:
        record = calls.get(event.get("args", {}).get("wait_on_cuda_event_record_corr_id"))
        wait = calls.get(event.get("args", {}).get("correlation"))
        bound += bool(event.get("name") == "Stream Wait Event" and record and wait and
                      base(record["name"]) in RECORDS and record["ts"] + record["dur"] <= wait["ts"])
    got = counts_of(program, trace)
    expect_counts(file, [event["name"] for event in complete if event.get("cat") in CALLS], {
        "kernel": kinds["kernel"], "memcpy": kinds["memcpy"], "memset": kinds["memset"],
        "range": sum(event.get("cat") not in DEVICE.keys() | CALLS | OTHER for event in complete),
        "event_edge": bound,
    }, got)
    # Times, as decimals: nothing of them may be lost.
    device = [event for event in complete if event.get("cat") in DEVICE]
    if device:
        span = max(event["ts"] + event["dur"] for event in device) - min(event["ts"] for event in device)
        total = sum(event["dur"] for event in device)
        imported = sqlite3.connect(f"file:{trace}?mode=ro", uri=True)
        expect(f"{file.name}: span and sum of op times in ns", (int(span * 1000), int(total * 1000)), imported.execute(
            "SELECT max(end_ns) - min(start_ns), sum(end_ns - start_ns) FROM op").fetchone())
        expect(f"{file.name}: ops with their calls", sum(event["args"].get("correlation") in calls for event in device),
               imported.execute("""SELECT count(*) FROM op WHERE api_call_id IS NOT NULL OR call_number IN (
                   SELECT call_number FROM host_sync WHERE kind = 5)""").fetchone()[0])
        expect(f"{file.name}: streams", len({(e["pid"], e["args"].get("device"), e["args"].get("stream")) for e in device}),
               imported.execute("SELECT count(DISTINCT stream_id) FROM op").fetchone()[0])
    expect(f"{file.name}: calls with Python frames, frames", python_frames(complete), sqlite3.connect(f"file:{trace}?mode=ro", uri=True).execute(
        """SELECT count(*), total(frame_count) FROM (SELECT stack_id FROM api_call UNION ALL SELECT stack_id FROM host_sync) AS call
           JOIN stack ON stack.id = call.stack_id""").fetchone())
    print(f"{file.name}: {got['op']} ops, {got['api_call']} calls, {got['event_edge']} edges, {got['range']} ranges")


def main():
    corpus = os.environ.get("STREAMSCOPE_CORPUS")
    if not corpus or not pathlib.Path(corpus).is_dir():
        print("skipped: STREAMSCOPE_CORPUS names no folder of profiles")
        return 77
    files = 0
    with tempfile.TemporaryDirectory() as scratch:
        for part, check in (("nsys", check_nsys), ("kineto", check_kineto)):
            for file in sorted((pathlib.Path(corpus) / part).iterdir()):
                check(sys.argv[1], file, pathlib.Path(scratch))
                files += 1
    print(f"{files} files, {failures} differences")
    return 1 if failures or not files else 0


if __name__ == "__main__":
    sys.exit(main())

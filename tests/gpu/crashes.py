# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Every way to end at every stage of work (apps/crash): the program ends as it does without us, and leaves a trace that can be
read, with every call that had returned, with losses for what is missing, without a ring and without a process."""

import json
import os
import signal
import subprocess
import time

from harness import Trace
from kill import FLUSH_NS

KINDS = {"launches": "launch", "records": "event_record", "waits": "stream_wait"}  # of calls; names depend on the source of calls
ABRUPT = ("_exit", "abort", "kill", "terminate", "fault", "linger")
# cudaDeviceReset while another thread calls CUDA has no defined end, with us or without.
UNDEFINED = {("device-reset", "inside-a-call"), ("device-reset", "while-others-work")}


def processes_of(path):
    """The processes whose command line names the trace."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if str(path).encode() in file.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def check_left(harness, name, how, when, said, path):
    """What must hold for the trace of a program that printed how many calls it had made."""
    if not path.exists():
        harness.check(f"{name}: a program that used no CUDA leaves no trace", when == "before-cuda", str(path))
        return
    info = harness.info(path, name)
    if info is None:
        return
    trace = Trace(path)
    harness.equal(f"{name}: undamaged", "ok", trace.value("PRAGMA integrity_check"))
    harness.equal(f"{name}: complete", how not in ABRUPT, info.get("complete"))
    calls = trace.counted("SELECT kind, count(*) FROM v_api_call WHERE end_ns IS NOT NULL GROUP BY kind")
    missing = {field: (count, calls.get(KINDS[field], 0)) for field, count in said.items() if calls.get(KINDS[field], 0) < count}
    harness.check(f"{name}: every call that had returned is recorded", not missing, f"said and recorded: {missing}")
    ended = trace.value("SELECT max(end_ns) FROM v_api_call") or 0
    late = trace.value("SELECT count(*) FROM op JOIN api_call AS call ON call.id = op.api_call_id WHERE op.end_ns IS NULL"
                       " AND call.start_ns < ?", ended - FLUSH_NS)
    lost = trace.value("SELECT total(count) FROM loss JOIN string ON string.id = name_id"
                       " WHERE value IN ('times-not-delivered', 'work-not-ended')")
    harness.check(f"{name}: work without times is counted as lost", late <= lost, f"{late} without, {lost} counted")
    if how == "sticky-error":
        errors = trace.value("SELECT count(*) FROM host_sync WHERE result = 700")
        harness.check(f"{name}: the error is recorded", errors >= 3, f"{errors} syncs answered 700")
    rings = path.with_name(path.name + ".rings")
    harness.check(f"{name}: no ring is left", not rings.exists(), str(rings))
    trace.close()


def said_by(finished):
    lines = finished.lines()
    return lines[-1] if lines else {}


def cell(harness, how, when):
    name = f"crash_{how}_{when}"
    bare = harness.run([harness.app("crash"), how, when], 30)
    finished, path = harness.record(name, [harness.app("crash"), how, when])
    as_seen_by_shell = 128 - bare.code if bare.code is not None and bare.code < 0 else bare.code
    harness.equal(f"{name}: exit code as without us", as_seen_by_shell, finished.code, finished.why())
    harness.equal(f"{name}: no process is left", [], processes_of(path))
    check_left(harness, name, how, when, said_by(finished), path)


def abandoned(harness, when):
    """The program stays at its stage; then it and its recorder are killed."""
    name = f"crash_abandoned_{when}"
    path = harness.trace_path(name)
    words = [*harness.record_words(path, "--hang-timeout", 0), harness.app("crash"), "linger", when]
    launcher = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                stderr=subprocess.DEVNULL, env=harness.environment(), cwd=harness.work, start_new_session=True)
    line = launcher.stdout.readline()
    os.killpg(launcher.pid, signal.SIGKILL)
    launcher.communicate()
    if not harness.check(f"{name}: comes to its stage", line.startswith("{"), line):
        return
    end = time.monotonic() + 10
    while processes_of(path) and time.monotonic() < end:
        time.sleep(0.1)
    harness.equal(f"{name}: no process is left", [], processes_of(path))
    if when == "before-cuda":
        return
    harness.run([harness.streamscope, "info", path], 30)  # the command that restores it
    check_left(harness, name, "linger", when, json.loads(line), path)


def run(harness):
    listed = harness.run([harness.app("crash"), "--list"], 10)
    cells = [pair for pair in map(tuple, map(str.split, listed.out.splitlines())) if pair not in UNDEFINED]
    harness.check("cells", len(cells) >= 70, f"{len(cells)} listed")
    harness.parallel([(abandoned, harness, when) if how == "linger" else (cell, harness, how, when) for how, when in cells])
    harness.log(f"  {len(cells)} cells")

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the target, and of target and launcher together: what was reported before must be in the trace."""

import json
import os
import signal
import subprocess
import time

from harness import Trace

FLUSH_NS = 100_000_000
KINDS = ("launch", "event_record", "stream_wait")  # of calls in each round; names depend on the source of calls


def start_and_kill(harness, name, victims):
    """Records spin for a while, kills `victims` ('target', 'launcher') at once. Returns (last report, trace, code)."""
    path = harness.trace_path(name)
    progress = open(harness.work / f"{name}.out", "w+")
    launcher = subprocess.Popen(
        [str(word) for word in (*harness.record_words(path), harness.app("spin"), "--seconds", 20)],
        stdin=subprocess.DEVNULL, stdout=progress, stderr=subprocess.DEVNULL, env=harness.environment(),
        cwd=harness.work, start_new_session=True)

    def reports():
        with open(progress.name) as file:
            return [json.loads(line) for line in file.read().splitlines() if line.endswith("}")]

    end = time.monotonic() + 20
    while time.monotonic() < end and launcher.poll() is None and not reports():
        time.sleep(0.05)
    time.sleep(1.5)
    seen = reports()
    if not seen:
        os.killpg(launcher.pid, signal.SIGKILL)
        launcher.wait()
        harness.check(f"{name}: the target started", False, "no report of spin within 20 s")
        return None
    pids = {"target": seen[-1]["pid"], "launcher": launcher.pid}
    for victim in victims:
        os.kill(pids[victim], signal.SIGKILL)
    try:
        code = launcher.wait(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(launcher.pid, signal.SIGKILL)
        code = None
    last = [line for line in reports() if "rounds" in line][-1]
    progress.close()
    return last, path, code


def check_trace(harness, name, last, path):
    info = harness.info(path, name)
    if info is None or not harness.check(f"{name}: the trace exists", path.exists(), str(path)):
        return
    harness.equal(f"{name}: complete", False, info.get("complete"))
    rings = path.with_name(path.name + ".rings")
    harness.check(f"{name}: the rings are gone after the next command", not rings.exists(), f"{rings}")
    trace = Trace(path)
    calls = trace.counted("SELECT kind, count(*) FROM v_api_call GROUP BY kind")
    for kind in KINDS:
        harness.check(f"{name}: {kind} calls that were reported are recorded", calls.get(kind, 0) >= last["rounds"],
                      f"reported {last['rounds']}, recorded {calls.get(kind, 0)}")
    newest = trace.value("SELECT max(end_ns) FROM v_api_call") or 0
    missing, late = trace.rows(
        "SELECT count(*), sum(call.start_ns < ?) FROM op JOIN api_call AS call ON call.id = op.api_call_id"
        " WHERE op.kind = 0 AND op.end_ns IS NULL", newest - FLUSH_NS)[0]
    lost = trace.value("SELECT sum(count) FROM loss JOIN string ON string.id = name_id WHERE value = 'times-not-delivered'")
    harness.check(f"{name}: GPU times at most 100 ms behind, or counted as lost", not late or (lost or 0) >= late,
                  f"{missing} kernels without times, {late} of them launched more than 100 ms before the end, {lost} counted as lost")
    harness.log(f"  {name}: reported {3 * last['rounds']} calls, recorded {sum(calls.get(kind, 0) for kind in KINDS)};"
                f" {missing} kernels without times, {late or 0} older than 100 ms, losses {trace.losses(1)}")
    trace.close()


def kill_target(harness):
    name = "kill_target"
    started = start_and_kill(harness, name, ["target"])
    if started:
        last, path, code = started
        harness.equal(f"{name}: exit code of the launcher", 128 + 9, code)
        check_trace(harness, name, last, path)


def kill_both(harness):
    name = "kill_both"
    started = start_and_kill(harness, name, ["launcher", "target"])
    if started:
        last, path, _ = started
        time.sleep(0.5)
        check_trace(harness, name, last, path)


def run(harness):
    harness.parallel([(kill_target, harness), (kill_both, harness)])

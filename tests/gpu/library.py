#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The parts of libcoord beyond the Coordinator, recorded by their examples: groups, pools, memory, profiler and queues of
tasks, each with its rows. What is recorded is kept for traces/.

A section of tests/gpu/run; by itself it does the same on the simulated device: tests/gpu/library.py BUILD
"""

import pathlib
import sys
import tempfile

# What each part leaves in a trace besides calls and device work: at least this many rows.
EXAMPLES = {
    "deadline_queue": {"SELECT count(*) FROM operation JOIN string ON string.id = name_id WHERE value = 'report'": 4},
    "stream_group": {},
    "stream_memory": {"SELECT count(*) FROM pool_sample JOIN pool ON pool.id = pool_id WHERE kind = 2 AND in_use > 0": 1},
    "stream_pool": {"SELECT count(*) FROM pool_sample JOIN pool ON pool.id = pool_id WHERE kind = 1 AND in_use > 0": 1},
    "stream_profiler": {},
    "task_queue": {"SELECT count(*) FROM v_task WHERE queue = 'blocks' AND thread IS NOT NULL AND end_ns >= start_ns": 32},
}
# Programs with queues on a GPU.
DEVICE_QUEUES = {
    "task_queue_balance": ["--quick", "--records", 1500],
    "task_queue_dag": ["--quick", "--records", 1500],
}
SLACK_NS = 5000  # between the times of the kernel, by CUPTI, and of its tasks, by the device's timer
COUNTS = {"launches": "kernel", "copies": "memcpy", "memsets": "memset", "records": "event_record", "waits": "event_wait",
          "operations": "operation"}


def keep(harness, name, trace):
    """Of a trace with too many rows nothing is kept, which is to be noticed."""
    trace.close()
    harness.check(f"{name}: small enough to be kept", harness.keep(trace.path), f"{trace.path.stat().st_size} bytes")


def example(harness, name, rows, device):
    name_of_trace = f"example_{name}"
    recording = harness.recorded(name_of_trace, [harness.build / "bin/examples" / name, "--device", device])
    if recording is None:
        return
    lines, trace = recording
    info = harness.info(trace.path, name_of_trace)
    if info is None or not harness.check(f"{name}: the program reported", bool(lines), "no JSON line"):
        return
    expected = {COUNTS[key]: count for key, count in lines[-1].items() if key in COUNTS}
    harness.equal(f"{name}: its counts", expected, {key: info["counts"].get(key) for key in expected})
    harness.equal(f"{name}: losses", [], trace.losses())
    for sql, least in rows.items():
        count = trace.value(sql)
        harness.check(f"{name}: rows of its part", count >= least, f"{count}: {sql}")
    keep(harness, name, trace)


def device_queue(harness, name, arguments):
    recording = harness.recorded(name, [harness.app(name), *arguments], timeout=120)
    if recording is None:
        return
    trace = recording[1]
    harness.equal(f"{name}: losses", [], trace.losses())
    if "--records" in arguments:
        check_tasks(harness, name, trace)
    keep(harness, name, trace)


def check_tasks(harness, name, trace):
    """Every recorded task ran on a multiprocessor of the device, while the kernel of its run did."""
    tasks = trace.value("SELECT count(*) FROM task")
    outside = trace.value("SELECT count(*) FROM v_task LEFT JOIN op ON op.id = op WHERE op.id IS NULL"
                          f" OR v_task.start_ns < op.start_ns - {SLACK_NS} OR v_task.end_ns > op.end_ns + {SLACK_NS}")
    harness.equal(f"{name}: tasks outside of their kernel", 0, outside, f"of {tasks}")
    sms = trace.value("SELECT count(DISTINCT sm) FROM task")
    limit = trace.value("SELECT sm_count FROM device")
    harness.check(f"{name}: multiprocessors", tasks > 0 and 1 < sms <= limit, f"{sms} of {limit} ran {tasks} tasks")
    for queue, count, left_out in trace.rows(
            "SELECT string.value, (SELECT count(*) FROM task WHERE task.task_queue_id = task_queue.id), sum(left_out) FROM task_run"
            " JOIN task_queue ON task_queue.id = task_queue_id JOIN string ON string.id = name_id GROUP BY task_queue.id"):
        harness.log(f"  {queue}: {count} tasks recorded, {left_out} left out")


def run(harness, device="cuda"):
    for name, rows in EXAMPLES.items():
        example(harness, name, rows, device)
    if device == "cuda":
        for name, arguments in DEVICE_QUEUES.items():
            device_queue(harness, name, arguments)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    from harness import Harness

    with tempfile.TemporaryDirectory(prefix="streamscope-library-") as folder:
        work = pathlib.Path(folder)
        simulated = Harness(pathlib.Path(sys.argv[1]).resolve(), work / "out", work, 1, 0)
        run(simulated, "sim")
        failed = [row for row in simulated.results if row[2] == "FAIL"]
        for _, check, _, message in failed:
            print(f"FAIL {check}: {message}")
        simulated.close()
    sys.exit(1 if failed else 0)

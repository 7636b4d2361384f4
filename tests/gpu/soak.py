# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""A flight recorder over two minutes of the cost loop: memory of the recorder and disk space must not grow, and what
is written at the end is the newest part."""

import pathlib
import time

from cost import Turns
from harness import Trace

SECONDS = 120
CALLS_PER_TURN = 3 * 1000  # cost_loop: as many timed rounds of a launch, a record and a wait
LEAST_PER_SECOND = 100_000


def resident_kib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def room_kib(path):
    return sum(file.stat().st_blocks for file in [*path.parent.glob(path.name + "*"), *path.parent.glob(path.name + "*/*")]) // 2


def run(harness):
    path = harness.work / "soak.sqlite"
    loop = Turns(harness, "soak", [harness.streamscope, "record", "--flight-recorder", "8", "-o", path, "--force", "--"], [])
    samples, calls = [], 0
    try:
        for _ in range(10):
            loop.take()
        begin = sampled = time.monotonic()
        while time.monotonic() - begin < SECONDS:
            loop.take()
            calls += CALLS_PER_TURN
            if not samples or time.monotonic() - sampled > 2:
                sampled = time.monotonic()
                samples.append((resident_kib(loop.process.pid), room_kib(path)))
        seconds = time.monotonic() - begin
    except (OSError, ValueError):
        harness.check("soak", False, loop.why())
        return
    finally:
        well = loop.finish()
    harness.check("ended well", well, loop.why())
    memory, room = zip(*samples)
    harness.log(f"  {calls / seconds:.0f} calls a second for {seconds:.0f} s; recorder {memory[0]} to {max(memory)} KiB;"
                f" disk {room[0]} to {max(room)} KiB")
    harness.check("rate", calls / seconds >= LEAST_PER_SECOND, f"{calls / seconds:.0f} calls a second")
    harness.check("memory is bounded", max(memory) < memory[0] + 16384, f"{memory[0]} to {max(memory)} KiB")
    harness.check("disk is bounded", max(room) < 2 * room[0] + 16384, f"{room[0]} to {max(room)} KiB")
    trace = Trace(path)
    waits = trace.value("SELECT count(*) FROM event_wait")
    harness.check("newest part", 10_000 < waits < 8 * 2**20 / 64, f"{waits} waits of {calls // 3}")
    harness.check("says that it is a part", any(loss.startswith("flight-recorder") for loss in trace.losses(0)), str(trace.losses(0)))
    trace.close()

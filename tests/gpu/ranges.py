# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Recording only a part: the capture ranges, a delay, a duration."""

import counts


def check_range(harness, app, capture_range):
    name = f"{app} {capture_range}"
    recording = harness.recorded(name.replace(":", "."), [harness.app(app)], ["--capture-range", capture_range])
    if recording is None:
        return
    lines, trace = recording
    counts.check_counts(harness, name, lines, trace)
    trace.close()


def check_delay(harness):
    """spin works for four seconds; recorded is the second one, give or take."""
    name = "delay and duration"
    recording = harness.recorded("delay", [harness.app("spin"), "--seconds", 4], ["--delay", "1", "--duration", "1"])
    if recording is None:
        return
    _, trace = recording
    first, last, calls = trace.rows("SELECT min(start_ns), max(end_ns), count(*) FROM v_api_call WHERE name = 'cudaEventRecord'")[0]
    span = ((last or 0) - (first or 0)) / 1e9
    harness.check(f"{name}: about one second is recorded", calls > 0 and 0.7 <= span <= 1.4, f"{calls} records over {span:.2f} s")
    kernels, timed = trace.rows("SELECT count(*), count(end_ns) FROM op WHERE kind = 0")[0]
    harness.check(f"{name}: kernels of that second have times", kernels > 0 and kernels == timed, f"{timed} of {kernels}")
    launches = trace.value("SELECT count(*) FROM v_api_call WHERE kind = 'launch'")
    harness.equal(f"{name}: kernels of other times", launches, kernels, "launches against kernels")
    trace.close()


def run(harness):
    harness.parallel([(check_range, harness, app, capture_range) for app in ("ranges", "ranges_shared")
                      for capture_range in ("nvtx:inside", "cudaProfilerApi")] + [(check_delay, harness)])

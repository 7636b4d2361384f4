# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Is everything here, does every program run bare, and does one recording work at all?"""

import platform

import counts


def run_bare(harness, app, *arguments):
    finished = harness.run([harness.app(app), *arguments], 60)
    lines = finished.lines()
    harness.check(f"{app} runs bare", finished.code == 0 and lines and lines[-1].get("ok"), finished.why())


def run(harness):
    gpu = harness.run(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"], 30)
    harness.log(f"  {gpu.out.strip()} | {platform.platform()} | python {platform.python_version()}")
    for path in (harness.streamscope, harness.collector):
        harness.check(f"{path.name} is built", path.exists(), str(path))
    doctor = harness.run([harness.streamscope, "doctor"], 30)
    harness.log(doctor.out.rstrip() or doctor.err.rstrip())
    harness.check("doctor", doctor.code in (0, 1), doctor.why())  # 1: it has findings

    apps = [app + variant for app, variants in counts.VARIANTS.items() for variant in variants] + ["no_cuda"]
    harness.parallel([(run_bare, harness, app) for app in apps]
                     + [(run_bare, harness, "pairing_stress", "--waits", 5000),
                        (run_bare, harness, "pairing_race", "--trials", 200),
                        (run_bare, harness, "graph_replay", "--chain", 20),
                        (run_bare, harness, "spin", "--seconds", 1)])
    recording = harness.recorded("smoke", [harness.app("forkjoin")])
    if recording is None:
        return
    lines, trace = recording
    counts.check_counts(harness, "smoke", lines, trace)
    trace.close()
    report = harness.run([harness.streamscope, "report", trace.path], 30)
    harness.check("report", report.code == 0 and report.out, report.why())
    harness.detail(report.out)

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""libcoord's benchmarks on the cuda backend, one check per budget. Their lines go to the log."""

import re
import subprocess

PROGRAMS = ("coord", "waiting", "chains", "tasks", "traced")


def run(harness):
    for name in PROGRAMS:
        program = harness.build / "bin" / "bench" / f"{name}_bench"
        try:
            finished = subprocess.run([program], capture_output=True, text=True, timeout=120, check=False,
                                      env=harness.environment({"STREAMSCOPE_BENCH_DEVICE": "cuda"}))
        except (OSError, subprocess.TimeoutExpired) as error:
            harness.check(f"{name} runs to its end", False, str(error))
            continue
        harness.log(finished.stdout)
        harness.check(f"{name} runs to its end", finished.returncode == 0, finished.stderr)
        for budget, value, unit, limit, verdict in re.findall(
                r"^budget (\S+) (\S+) (\S+) (\S+) (ok|miss)$", finished.stdout, re.MULTILINE):
            harness.check(budget, verdict == "ok", f"{value} {unit}, limit {limit}")

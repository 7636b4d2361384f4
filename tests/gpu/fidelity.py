# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulated device's predictions compared with GPU times, one check per program (tests/bench/fidelity_bench.cpp)."""

import re
import subprocess


def run(harness):
    program = harness.build / "bin" / "bench" / "fidelity_bench"
    try:
        finished = subprocess.run([program, "--device", "cuda"], capture_output=True, text=True, timeout=180, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        harness.check("runs to its end", False, str(error))
        return
    harness.log(finished.stdout)
    harness.check("runs to its end", finished.returncode == 0, finished.stderr)
    for name, error in re.findall(r"^(\w+) +[\d.]+ +[\d.]+ +([-+][\d.]+)%$", finished.stdout, re.MULTILINE):
        harness.check(f"{name} within 15 %", abs(float(error)) <= 15, f"{error} %")

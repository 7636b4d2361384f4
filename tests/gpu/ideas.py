# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What ideas that libcoord leaves out would bring: figures for docs/decisions/0020-ideas-left-out.md and docs/performance.md, not limits."""


def run(harness):
    finished = harness.run([harness.app("ideas")], 120)
    lines = finished.lines()
    if harness.check("ideas runs to its end", finished.code == 0 and lines, finished.why()):
        for key, value in lines[-1].items():
            if key.startswith(("prefetch", "kinds", "energy", "deadlines")):
                harness.log(f"  {key} {value if isinstance(value, str) else f'{value:.6g}'}")

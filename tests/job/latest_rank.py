# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Which rank starts each collective last, from Kineto profiles of ranks that share a clock: a second opinion on who is waited for.

  latest_rank.py FOLDER

Prints the rank for each kernel of NCCL, in their order.
"""

import json
import pathlib
import sys


def starts_by_rank(folder):
    for path in sorted(pathlib.Path(folder).rglob("*.json")):
        profile = json.loads(path.read_text())
        kernels = [event for event in profile["traceEvents"] if event.get("cat", "").lower() == "kernel" and event["name"].startswith("nccl")]
        yield profile["distributedInfo"]["rank"], sorted(kernel["ts"] for kernel in kernels)


starts = dict(starts_by_rank(sys.argv[1]))
for position in range(min(len(times) for times in starts.values())):
    print(max(starts, key=lambda rank: starts[rank][position]))

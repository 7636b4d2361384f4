# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Times or marks the steps of a program."""
import argparse
import json
import statistics
import sys
import time

import torch


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("tree", choices=["before", "after"])
    parser.add_argument("--mark", action="store_true", help="an NVTX range around each step, to record them")
    parser.add_argument("--without", default="", help="what is removed")
    parser.add_argument("--part", default="", help="of a driver of several programs")
    options = parser.parse_args()
    sys.path.insert(0, options.tree)
    return options


def measured(step, options, steps=60, windows=5, warm_up=10):
    for _ in range(warm_up):
        step()
    torch.cuda.synchronize()
    if options.mark:
        for _ in range(steps):
            torch.cuda.nvtx.range_push("step")
            step()
            torch.cuda.nvtx.range_pop()
        torch.cuda.synchronize()
        return
    times = []
    for _ in range(windows):
        begin = time.perf_counter()
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) / steps * 1e3)
    print(json.dumps({"step_ms": statistics.median(times), "all": times}))

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Definitions of other projects without what their files import, and steps of programs, timed or marked."""
import argparse
import ast
import json
import pathlib
import statistics
import sys
import time
import typing

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


def taken(tree, file, *path, **names):
    """A definition of a file, as if the file had been imported: taken(tree, file, CLASS, METHOD). All definitions if none is named. `names` is
    what they use of what the file imports, besides torch and typing."""
    full = pathlib.Path(tree, file).resolve()
    found = [node for node in ast.parse(full.read_text(), str(full)).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    for name in path:
        found = [next(node for node in found if getattr(node, "name", "") == name)]
        chosen, found = found, getattr(found[0], "body", [])
    names = {"torch": torch, "nn": torch.nn, **{each: getattr(typing, each) for each in typing.__all__}, **names}
    exec(compile(ast.Module(chosen if path else found, []), str(full), "exec"), names)
    return names[path[-1]] if path else names


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

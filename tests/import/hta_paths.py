#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Compares critical paths with those that Holistic Trace Analysis marked in its end-to-end fixtures.

    hta_paths.py STREAMSCOPE

$STREAMSCOPE_HTA is a checkout of github.com/facebookresearch/HolisticTraceAnalysis; exit code 77 without one. HTA's path
is one of CPU operators, calls and device work: the device work of both must be the same, and every synchronization on ours
on HTA's too. HTA continues through all calls of the CPU, where ours has "launch".
"""
import gzip
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

DEVICE_WORK = ("kernel", "gpu_memcpy", "gpu_memset")


def marked(overlaid):
    """Correlation ids of the device work and of the synchronizations that HTA marked."""
    work, syncs = set(), set()
    with gzip.open(overlaid) as file:
        for event in json.load(file)["traceEvents"]:
            arguments = event.get("args", {})
            if not arguments.get("critical"):
                continue
            if event.get("cat") in DEVICE_WORK:
                work.add(arguments["correlation"])
            elif event.get("cat") == "cuda_runtime" and event["name"].endswith("Synchronize"):
                syncs.add(arguments["correlation"])
    return work, syncs


def ours(streamscope, profile, folder):
    """The same of our path."""
    trace = pathlib.Path(folder) / "trace.sqlite"
    subprocess.run([streamscope, "import", profile, "-o", trace, "--force", "--quiet"], check=True, timeout=120)
    subprocess.run([streamscope, "analyze", trace, "--quiet"], check=True, timeout=120)
    with sqlite3.connect(trace) as database:
        work = database.execute("SELECT correlation_id FROM critical_path JOIN op ON op.id = op_id WHERE critical_path.kind = 0")
        work = {row[0] for row in work}
        syncs = database.execute("SELECT correlation_id FROM critical_path JOIN host_sync ON host_sync.id = host_sync_id")
        return work, {row[0] for row in syncs}


def main():
    checkout = os.environ.get("STREAMSCOPE_HTA")
    cases = sorted(pathlib.Path(checkout).glob("tests/data/critical_path/end_to_end/*/output/*.json.gz")) if checkout else []
    if not cases:
        print("skipped: STREAMSCOPE_HTA names no checkout of HolisticTraceAnalysis")
        return 77
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for overlaid in cases:
            case = overlaid.parent.parent
            (their_work, their_syncs), (work, syncs) = marked(overlaid), ours(sys.argv[1], case / "input" / "trace.json.gz", folder)
            same = bool(work) and work == their_work and syncs <= their_syncs
            failures += not same
            print(f"{'ok' if same else 'FAILED'}: {case.name}: {len(work & their_work)} kernels, copies and memsets on both paths,"
                  f" {len(their_work - work)} on HTA's alone, {len(work - their_work)} on ours alone;"
                  f" {len(syncs & their_syncs)} synchronizations on both, {len(syncs - their_syncs)} on ours alone")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

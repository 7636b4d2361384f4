# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Copies between two GPUs: each is recorded once, with its times, by wrappers and by callbacks."""

import counts
from harness import terms

TO_OTHER_DEVICE = terms("copy_kind.h", "kCopyKinds").index("PtoP")


def run(harness):
    command = [harness.app("peer_copies")]
    bare = harness.run(command, 60)
    if bare.code == 77:
        harness.skip("peers", bare.err.strip())
        return
    if not harness.check("peer_copies runs bare", bare.code == 0, bare.why()):
        return
    for source in ("interposed", "cupti"):
        name = f"peer_copies.{source}"
        recording = harness.recorded(name, command, ["--tier", "times", "--source", source])
        if recording is None:
            continue
        lines, trace = recording
        counts.check_counts(harness, name, lines, trace)
        between = trace.value(f"SELECT count(*) FROM op WHERE kind = 1 AND detail = {TO_OTHER_DEVICE} AND start_ns IS NOT NULL")
        harness.equal(f"{name}: timed copies between the devices", lines[0]["between_devices"], between)
        trace.close()

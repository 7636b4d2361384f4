#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The harness must detect what it tests for: a `streamscope` with planted faults, and one injected fault of each kind.

usage: self_test.py BUILD
"""
import shutil
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # the sources stay as they are

import places
import running
from judge import judge
from run import Harness
from scenes import Build, scene

# What a wrapper around `streamscope record` does wrong, and the class that must be found.
PLANTED = {
    "": None,
    "code += 1": "exit code",
    "print('one more line')": "target's output",
    "print('target: one more line', file=sys.stderr)": "target's messages",
    "os.kill(os.getpid(), 11)": "crash",
    "subprocess.Popen(['sleep', '60'])": "process left",
    "time.sleep(60)": "hangs",
    "open('t.sqlite-wal', 'w')": "left behind",
    "os.truncate('t.sqlite', 5000)": "unreadable",
    "os.remove('t.sqlite')": "silent loss",
    "sqlite3.connect('t.sqlite', isolation_level=None).execute('DELETE FROM op WHERE id = 7')": "silent loss",
    "code = 2": "no clear line",
}
WRAPPER = """#!{python}
import os, sqlite3, subprocess, sys, time
code = subprocess.run(["{streamscope}", *sys.argv[1:]]).returncode
{planted}
sys.stdout.flush()
sys.exit(code)
"""
# A call of each kind, a fault, and how the run must end.
INJECTED = [
    ("record", "recorder", "pwrite64", "ENOSPC", True, ("kept, recovered", "refused, said")),
    ("record", "target", "open", "EMFILE", False, None),
    ("record", "recorder", "mkdir", "EACCES", False, ("refused, said",)),
    ("analyze", "recorder", "pwrite64", "EIO", False, ("error, said",)),
]


class Planted(Build):
    def __init__(self, build, folder, planted):
        super().__init__(build.folder)
        self.streamscope = folder / "streamscope"
        self.streamscope.write_text(WRAPPER.format(python=sys.executable, streamscope=build.streamscope, planted=planted))
        self.streamscope.chmod(0o755)


def check_planted(harness, failures):
    wanted = scene("record-code-0")
    wanted.seconds = 5
    for planted, kind in PLANTED.items():
        folder = harness.folder("planted")
        harness.fixtures.put(wanted, folder)
        wrong = Planted(harness.build, folder.parent, planted)
        result = running.run(wrong, wanted, folder)
        found = {found for found, _ in judge(harness.build, wanted, harness.normal[wanted.name], result, folder).broken}
        if (kind is None and found) or (kind is not None and kind not in found):
            failures.append(f"planted {planted!r}: found {sorted(found)}, expected {kind}")


def check_injected(harness, failures):
    for name, role, call, error, stays, outcomes in INJECTED:
        pair = next(pair for pair in sorted(harness.pairs[name], key=lambda pair: pair.frames) if (pair.role, pair.call) == (role, call))
        fault = places.Fault(pair, places.ERROR, error, stays)
        _, _, fired, verdict = harness.try_fault((name, fault))
        if not fired:
            failures.append(f"{name}: {call} {error} was not injected")
        if verdict.broken or (outcomes and verdict.outcome not in outcomes):
            failures.append(f"{name}: {call} {error} ends as '{verdict.outcome}', {verdict.broken}")
    pair = next(pair for pair in harness.pairs["record"] if (pair.role, pair.call) == ("recorder", "rename"))
    _, _, fired, verdict = harness.try_fault(("record", places.Fault(pair, places.KILL_BEFORE)))
    if not fired or verdict.broken:
        failures.append(f"kill before rename: {fired}, {verdict.broken}")


def main():
    build = Build(sys.argv[1])
    if build.missing():
        print(f"faults: not built: {', '.join(build.missing())}")
        return 77
    running.adopt()
    scratch = Path(tempfile.mkdtemp(prefix="faults-"))
    failures = []
    try:
        harness = Harness(build, scratch)
        for name in ("record", "record-code-0", "analyze"):
            harness.learn(scene(name))
            if not any(pair.role == "target" for pair in harness.pairs["record"]):
                failures.append("no call of the collector was seen")
        check_planted(harness, failures)
        check_injected(harness, failures)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print("\n".join(failures) or f"{len(PLANTED) - 1} planted and {len(INJECTED) + 1} injected faults were found")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

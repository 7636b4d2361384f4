# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Programs that hang are killed; `check` explains why they hung. Their fixed twins pass. Others are explained while they
hang, and slow ones raise no alarm."""

import json
import re
import sqlite3

HUNG_S = 4  # how long each may hang: the detectors believe in a hang after a second
TIMEOUT_S = 3  # after which a hung program must be explained
DIAGNOSIS_S = 2  # how long that may take
SLOW_S = 14  # how long the slow ones run


def verdicts(harness, name, path):
    """(exit code, [(detector, confidence, title)] of all errors) of `streamscope check`."""
    finished = harness.run([harness.streamscope, "check", path, "--format", "json"], 60)
    try:
        found = json.loads(finished.out)["findings"]
    except (ValueError, KeyError):
        harness.check(f"{name}: check", False, finished.why())
        return finished.code, []
    return finished.code, [(each["detector"], each["confidence"], each["title"]) for each in found if each["severity"] == "error"]


def hung(harness, name, detector):
    # The launcher ends with the program, whatever ends that: timeout(1) inside kills only the program.
    _, path = harness.record(f"hang_{name}", ["timeout", "-s", "KILL", HUNG_S, harness.app("hangs"), name, "--device", "cuda"],
                             timeout=HUNG_S + 40)
    code, found = verdicts(harness, name, path)
    harness.check(f"{name}: found", any(each[0] == detector for each in found), f"exit code {code}, {found}")
    harness.check(f"{name}: fails or abstains", code in (1, 3), f"exit code {code}, {found}")
    extra = [each for each in found if each[0] != detector]
    harness.log(f"  {name}: exit code {code}, {found}; {len(extra)} besides {detector}")
    harness.keep(path)


def repaired(harness, name):
    recording = harness.recorded(f"hang_{name}_repaired", [harness.app("hangs"), name, "--repaired", "--device", "cuda"])
    if recording is None:
        return
    recording[1].close()
    code, found = verdicts(harness, name, recording[1].path)
    harness.equal(f"{name}: repaired passes", 0, code, f"{found}")


def explained(harness, program, command):
    name = program["program"]
    finished, path = harness.record(f"explained_{name}", command,
                                    ["--hang-timeout", TIMEOUT_S, "--on-hang", "abort"], timeout=TIMEOUT_S + 40)
    harness.equal(f"{name}: ended", 124, finished.code, finished.why())
    found = re.search(r"hangs: ([a-z-]+): ", finished.err)
    harness.equal(f"{name}: verdict", program["verdict"], found.group(1) if found else None, finished.err[-1500:])
    harness.check(f"{name}: culprit", re.search(program["culprit"], finished.err), f"{program['culprit']} in {finished.err[-1500:]}")
    # A name of the program's own, in whichever thread is blocked.
    harness.check(f"{name}: stack", re.search(r"^      .*hang::", finished.err, re.M), finished.err[-1500:])
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as trace:
            late_ns, = trace.execute(
                "SELECT (SELECT min(start_ns) FROM hang) - max(ns) FROM (SELECT max(end_ns) AS ns FROM api_call"
                " UNION ALL SELECT max(end_ns) FROM host_sync WHERE result IS NOT 600"
                " UNION ALL SELECT max(end_ns) FROM event_record)").fetchone()
    except sqlite3.Error as error:
        harness.check(f"{name}: trace", False, str(error))
        return
    limit_ns = (TIMEOUT_S + DIAGNOSIS_S) * 1e9
    harness.check(f"{name}: in time", late_ns is not None and late_ns < limit_ns, f"{(late_ns or 0) / 1e9:.2f} s after the last call")
    harness.log(f"  {name}: {found.group(1) if found else 'nothing'} after {(late_ns or 0) / 1e9:.2f} s")
    harness.keep(path)


def slow(harness, program):
    name = program["program"]
    finished, path = harness.record(f"slow_{name}", ["timeout", "-s", "KILL", SLOW_S, harness.app("hang"), name],
                                    ["--hang-timeout", TIMEOUT_S], timeout=SLOW_S + 40)
    harness.check(f"{name}: no alarm", "hangs:" not in finished.err, finished.err[-1500:])


def run(harness):
    listed = harness.run([harness.app("hangs"), "--list"]).lines()
    harness.parallel([(hung, harness, line["hang"], line["detector"]) for line in listed])
    harness.parallel([(repaired, harness, line["hang"]) for line in listed])
    programs = harness.run([harness.app("hang"), "--list"]).lines()
    harness.parallel([(explained, harness, program, [harness.app("hang"), program["program"]])
                      for program in programs if program["verdict"]])
    in_coord = harness.run([harness.app("coord_hang"), "--list"]).lines()
    harness.parallel([(explained, harness, program, [harness.app("coord_hang"), program["program"], "--device", "cuda"])
                      for program in in_coord])
    harness.parallel([(slow, harness, program) for program in programs if not program["verdict"]])

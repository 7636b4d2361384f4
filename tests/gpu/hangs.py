# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Programs that hang are killed; `check` says why they hung. Their repaired twins pass."""

import json

HUNG_S = 4  # how long each may hang: the detectors believe in a hang after a second


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


def run(harness):
    listed = harness.run([harness.app("hangs"), "--list"]).lines()
    harness.parallel([(hung, harness, line["hang"], line["detector"]) for line in listed])
    harness.parallel([(repaired, harness, line["hang"]) for line in listed])

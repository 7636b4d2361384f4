# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The Python package: a block that a PyTorch script records has what `record --capture-range` records of it; tests of the pytest plugin
pass and fail as they should."""

from harness import REPOSITORY, Trace
from pytorch import is_available

PROGRAMS = REPOSITORY / "tests/gpu/programs"
STEPS = 20
COUNTS = {
    "kernels": "SELECT count(*) FROM op WHERE kind = 0",
    "copies": "SELECT count(*) FROM op WHERE kind = 1",
    "memsets": "SELECT count(*) FROM op WHERE kind = 2",
    "ops with times": "SELECT count(*) FROM op WHERE start_ns IS NOT NULL AND end_ns IS NOT NULL",
    "ops with their call": "SELECT count(*) FROM op WHERE api_call_id IS NOT NULL",
    "event records": "SELECT count(*) FROM event_record WHERE start_ns >= (SELECT min(start_ns) FROM range)",  # waits may refer to earlier ones
    "waits": "SELECT count(*) FROM event_wait",
    "waits that refer to a record": "SELECT count(*) FROM event_wait WHERE record_id IS NOT NULL",
    "steps": "SELECT count(*) FROM range JOIN string ON string.id = name_id WHERE string.value = 'step'",
    "launches": "SELECT count(*) FROM api_call JOIN string ON string.id = name_id WHERE string.value LIKE '%LaunchKernel%'",
}


def environment(harness):
    return {"PYTHONPATH": str(REPOSITORY / "profiler/python"), "STREAMSCOPE_BIN": str(harness.streamscope)}


def counts_of(path):
    trace = Trace(path)
    try:
        return {name: trace.value(sql) for name, sql in COUNTS.items()}
    finally:
        trace.close()


def check_block(harness, tier):
    name, part = f"python.block.{tier}", harness.work / f"python.part.{tier}.sqlite"
    command, env = [harness.python, PROGRAMS / "torch_parts.py", STEPS], environment(harness)
    whole = harness.recorded(name, [*command, part], ["--tier", tier], 120, env)
    ranged = harness.recorded(f"{name}.range", command, ["--tier", tier, "--capture-range", "nvtx:part"], 120, env)
    if whole is None or ranged is None:
        return
    whole[1].close()
    ranged[1].close()
    expected, got = counts_of(harness.trace_path(f"{name}.range")), counts_of(part)
    harness.log(f"  {tier}: {got}")
    for what, count in expected.items():
        harness.equal(f"{name}: {what} of the block and of the capture range", count, got[what])
    harness.check(f"{name}: every step of the block", got["steps"] == STEPS and got["kernels"] > STEPS, str(got))
    info = harness.info(part, name) or {}
    harness.equal(f"{name}: the part is complete", True, info.get("complete"))


def check_tests(harness):
    if harness.run([harness.python, "-c", "import pytest"]).code != 0:
        harness.skip("python.tests", "there is no pytest")
        return
    for options, failing in (([], {"test_overlap[serial]"}), (["--streamscope-options", "--with accesses"], {"test_race[racy]", "test_overlap[serial]"})):
        name = "python.tests" + (".accesses" if options else "")
        finished = harness.run([harness.python, "-m", "pytest", "-p", "streamscope.pytest_plugin", "--streamscope", "--streamscope-dir", harness.work / name,
                                "-p", "no:cacheprovider", "-rA", *options, PROGRAMS / "test_parts.py"], 300, environment(harness))
        failed = {line.split("::")[1].split(" ")[0] for line in finished.out.splitlines() if line.startswith("FAILED ")}
        passed = {line.split("::")[1].split(" ")[0] for line in finished.out.splitlines() if line.startswith("PASSED ")}
        if not harness.equal(f"{name}: tests that fail", failing, failed, finished.why()):
            continue
        harness.equal(f"{name}: tests that pass", {"test_race[good]", "test_race[racy]", "test_overlap[good]", "test_overlap[serial]"} - failing, passed)
        harness.check(f"{name}: the failure has the report", "streamscope report" in finished.out, finished.why())
        kept = sorted(path.name for path in (harness.work / name).iterdir() if path.suffix == ".sqlite" and path.name != "session.sqlite")
        harness.equal(f"{name}: traces kept of the tests that failed", len(failing), len(kept), str(kept))


def run(harness):
    if not is_available(harness):
        return
    for tier in ("structure", "times"):
        check_block(harness, tier)
    check_tests(harness)

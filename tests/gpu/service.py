# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""A recording that is started and stopped from outside: a part of a PyTorch script has what a capture range has; what a collector costs that is
there and off."""

import pathlib
import signal
import statistics
import subprocess
import time

import cost
import figures
import transformer
from harness import Trace
from python_package import COUNTS, PROGRAMS, STEPS, counts_of, environment
from pytorch import is_available

LIMIT_S = 60
OFF_NS = 5
SETS, PAIRS = 15, 400
TURNS = 120
COPIES, STEP_TURNS = 3, 12


def start(harness, name, options, program, env=None):
    """The recorder of a program that records nothing yet."""
    with open(harness.work / f"{name}.err", "w") as err, open(harness.work / f"{name}.out", "w") as out:
        return subprocess.Popen([str(word) for word in [harness.streamscope, "record", "--start-later", "--force", "-o", harness.trace_path(name), *options,
                                                        "--", *program]],
                                cwd=harness.work, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=harness.environment(env), start_new_session=True)


def said(harness, name):
    return (harness.work / f"{name}.err").read_text(errors="replace")[-800:]


def control(harness, verb, pid, *options):
    """What `streamscope VERB` printed, or None after a failed check."""
    finished = harness.run([harness.streamscope, verb, "--pid", pid, *options], LIMIT_S)
    if not harness.check(f"service: {verb}", finished.code == 0, finished.why()):
        return None
    return finished.out.strip()


def wait_for(condition, limit_s=LIMIT_S):
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def end(process):
    try:
        return process.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return None


def check_part(harness, tier):
    """The steps of a script, by start and stop, and by a capture range."""
    name = f"service.part.{tier}"
    folder = pathlib.Path(harness.work / name)
    folder.mkdir()
    command, env = [harness.python, PROGRAMS / "torch_service.py", STEPS, folder], environment(harness)
    process = start(harness, name, ["--tier", tier], command, env)
    ready = wait_for((folder / "ready").exists, 120)
    if not harness.check(f"{name}: the script is ready", ready, said(harness, name)):
        end(process)
        return
    pid = (folder / "ready").read_text().strip()
    part = control(harness, "start", pid)
    (folder / "go").touch()
    wait_for((folder / "done").exists)
    stopped = control(harness, "stop", pid)
    (folder / "end").touch()
    harness.equal(f"{name}: exit code", 0, end(process), said(harness, name))
    for file in ("go", "end"):
        (folder / file).touch()
    ranged = harness.recorded(f"{name}.range", command, ["--tier", tier, "--capture-range", "nvtx:part"], 120, env)
    if ranged is None or part is None or not harness.equal(f"{name}: the trace that was started is stopped", part, stopped):
        return
    ranged[1].close()
    expected, got = counts_of(harness.trace_path(f"{name}.range")), counts_of(part)
    harness.log(f"  {tier}: {got}")
    for what in COUNTS:
        harness.equal(f"{name}: {what} of the part and of the capture range", expected[what], got[what])
    info = harness.info(part, name) or {}
    harness.equal(f"{name}: the part is complete", True, info.get("complete"))
    trace = Trace(part)
    harness.equal(f"{name}: losses", [], trace.losses())
    trace.close()


def target_of(runner):
    """The program of a recorder."""
    with open(f"/proc/{runner.process.pid}/task/{runner.process.pid}/children") as children:
        return children.read().split()[0]


def waiting(harness, tier, name):
    """The words of a recorder that records nothing yet."""
    return [harness.streamscope, "record", "--start-later", "--quiet", "--force", "-o", harness.trace_path(f"service.{name}"), "--tier", tier,
            "--source", "interposed", "--"]


def check_off(harness):
    """What wrappers add to a call while nothing is recorded: turns by the wrapped and by the driver's own functions in one process, of which some are
    started one after the other, as memory lies elsewhere in each."""
    found = {}
    for number in range(harness.rounds_of(SETS)):
        if harness.is_over():
            break
        for tier in ("bare", "structure", "times"):
            words = waiting(harness, tier, f"off.{tier}.{number}") if tier != "bare" else []
            finished = harness.run([*words, harness.app("wrapper_cost"), "--pairs", PAIRS], LIMIT_S)
            lines = finished.lines()
            if not harness.check(f"service.off, {tier}", finished.code == 0 and lines and lines[0]["wrapped"] == (tier != "bare"), finished.why()):
                return
            for what in ("added_ns", "again_ns"):
                found.setdefault((tier, what), []).append(lines[0][what])
            harness.log(f"  off, {tier}: {statistics.median(lines[0]['direct_ns']):.0f} ns a call, {statistics.median(lines[0]['added_ns']):+.2f} added,"
                        f" {statistics.median(lines[0]['again_ns']):+.2f} by the driver's own a second time")
    for (tier, what), values in found.items():
        low, median, high = figures.interval([statistics.median(process) for process in values])
        harness.log(f"  off, {tier}, {what}: {median:+.2f} ns a call, 95 % interval {low:+.2f} to {high:+.2f} by the medians of {len(values)} processes")
    for tier in ("structure", "times"):
        if (tier, "added_ns") in found:
            pairs = [pair for process in found[tier, "added_ns"] for pair in process]
            figures.check_limit(harness, f"service: added by a collector that is off, {tier}", pairs, "ns", OFF_NS)


def check_after(harness):
    """The call loop after a part, when CUPTI's records of driver calls stay on, beside the bare one."""
    ways = {"bare": [], "again": []}
    for tier in ("structure", "times"):
        ways[f"after a part, {tier}"] = waiting(harness, tier, f"after.{tier}")
    runners = [cost.Turns(harness, way, command, []) for way, command in ways.items()]
    for runner in runners:
        runner.take()
    for runner in runners:
        if runner.way.startswith("after"):
            control(harness, "start", target_of(runner))
            runner.take()
            control(harness, "stop", target_of(runner))
    found = cost.take_turns(harness, "service.after", runners, 2, TURNS)
    if found is None:
        return
    for way in list(ways)[1:]:
        low, median, high = figures.interval([mine - bare for mine, bare in zip(found[way], found["bare"])])
        harness.log(f"  {way}: {median:+.1f} ns a call, 95 % interval {low:+.1f} to {high:+.1f}, {TURNS} pairs of two processes")


def check_off_step(harness):
    """A step of an eager transformer under a collector that is off: copies of the process side by side, as one differs from the next by percents."""
    ways = {"bare": None, "again": None, "off, structure": "structure", "off, times": "times"}
    runners = []
    for way, tier in ways.items():
        for copy in range(COPIES):
            name = f"{way} {copy}"
            command = waiting(harness, tier, f"step.{copy}.{tier}") if tier else []
            runners.append((way, copy, cost.Turns(harness, name, command, [], [harness.python, transformer.SCRIPT])))
    turns = cost.take_turns(harness, "service.step", [runner for _, _, runner in runners], 1, STEP_TURNS, transformer.START_S)
    if turns is None:
        return
    steps = {way: [turns[f"{way} {copy}"] for copy in range(COPIES)] for way in ways}
    for way in list(ways)[1:]:
        # Each turn of each copy beside the bare one of the same turn.
        added = [100 * (mine / bare - 1) for copy in range(COPIES) for mine, bare in zip(steps[way][copy], steps["bare"][copy])]
        low, median, high = figures.interval(added)
        said = "resolved" if low > 0 or high < 0 else "not resolved"
        harness.log(f"  eager step, {way}: {median:+.2f} %, 95 % interval {low:+.2f} to {high:+.2f}, {len(added)} pairs: {said}")
        if way != "again":
            harness.check(f"service: an eager step, {way}: at most +2 % is certain", low <= 2, f"{median:+.2f} % ({low:+.2f} to {high:+.2f})")


def run(harness):
    check_off(harness)
    check_after(harness)
    has_torch = is_available(harness)
    if not has_torch:
        harness.skip("service.part", "there is no PyTorch")
    if has_torch and not harness.is_over():
        check_off_step(harness)
    for tier in ("structure", "times"):
        if has_torch and not harness.is_over():
            check_part(harness, tier)

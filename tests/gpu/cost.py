# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What recording costs per CUDA call: the cost loop bare, under empty handlers (the floor), under StreamScope, under
nsys. All of them live at once and take turns on one processor, a batch each, so that every difference is taken within
milliseconds; medians over the turns, then over fresh sets of processes. Nothing else may run meanwhile.

In tier structure calls are seen by wrappers ("structure") or by CUPTI's callbacks."""

import glob
import os
import select
import shutil
import signal
import statistics
import subprocess
import time

from harness import Trace

OWN_NS = 60  # what our part of a traced call may add, entry and exit together: to the bare call, or to CUPTI's floor
WARM_UP_TURNS, TURNS = 4, 80  # 240,000 timed calls of each process
TURN_LIMIT_S = 60  # the first one waits for the program to start


def find_nsys(harness):
    """nsys, also where it only comes along inside Nsight Compute."""
    found = shutil.which("nsys")
    places = ["/opt/nvidia/*/*/host/target-linux-x64/nsys", "/opt/nvidia/*/*/target-linux-x64/nsys",
              "/usr/local/cuda*/**/nsys"]
    candidates = [found] if found else [path for place in places for path in sorted(glob.glob(place, recursive=True))]
    if not candidates:
        candidates = harness.run(["find", "/", "-xdev", "-name", "nsys", "-type", "f"], 30).out.split()
    for candidate in candidates:
        version = harness.run([candidate, "--version"], 30)
        if version.code == 0:
            harness.log(f"  nsys: {candidate}: {version.out.strip()}")
            return candidate
    return None


class Turns:
    """One process of the cost loop, waiting for its turns."""

    def __init__(self, harness, way, command, arguments):
        self.way = way
        self.pipes = [harness.work / f"cost.{way.replace(' ', '_')}.{end}" for end in ("go", "done")]
        for pipe in self.pipes:
            pipe.unlink(missing_ok=True)
            os.mkfifo(pipe)
        self.log = harness.work / f"cost.{way.replace(' ', '_')}.log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [str(word) for word in [*command, harness.app("cost_loop"), *self.pipes, *arguments]], cwd=harness.work,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=harness.environment(), start_new_session=True)
        # Both ends of both pipes are ours too, so that opening and reading never wait for a program that has ended.
        self.go, self.done = (os.open(pipe, os.O_RDWR | os.O_NONBLOCK) for pipe in self.pipes)

    def take(self):
        """ns per call of the next batch; ValueError if the program ends or stops."""
        os.write(self.go, b"turn\n")
        answer = b""
        end = time.monotonic() + TURN_LIMIT_S
        while not answer.endswith(b"\n"):
            if select.select([self.done], [], [], 0.2)[0]:
                answer += os.read(self.done, 100)
            elif self.process.poll() is not None or time.monotonic() > end:
                raise ValueError("no answer")
        return float(answer)

    def processor_s(self):
        """What the process that was started has used: the loop, or the recorder of one."""
        try:
            with open(f"/proc/{self.process.pid}/stat") as stat:
                user, system = stat.read().rsplit(")", 1)[1].split()[11:13]
        except (OSError, ValueError):
            return 0.0
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def finish(self):
        """Whether the program ended well."""
        os.close(self.go)
        os.close(self.done)
        try:
            return self.process.wait(60) == 0
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            return False

    def why(self):
        return f"code {self.process.returncode}: {self.log.read_text(errors='replace')[-800:]}"


def take_turns(harness, ways):
    """{way: [ns per call, one per turn]} of one set of processes; None after a failed check."""
    runners = [Turns(harness, way, *how) for way, how in ways.items()]
    found = {runner.way: [] for runner in runners}
    failed = None
    try:
        for turn in range(WARM_UP_TURNS + TURNS):
            first = turn % len(runners)  # none always follows the same neighbor
            for runner in runners[first:] + runners[:first]:
                failed = runner
                value = runner.take()
                if turn >= WARM_UP_TURNS:
                    found[runner.way].append(value)
        failed = None
        for runner in runners:
            if runner.way.startswith("structure"):
                harness.log(f"  recorder of {runner.way}: {runner.processor_s():.2f} s of processor time")
    except (OSError, ValueError):
        pass  # of `failed`
    finally:
        ended = {runner: runner.finish() for runner in runners}
    for runner, well in ended.items():
        # nsys reports that it cannot make its report here; what counts is that the loop ran.
        if runner is failed or not (well or runner.way.startswith("nsys")):
            harness.check(f"cost loop, {runner.way}", False, runner.why())
            return None
    return found


def recording(harness, tier, *options, name=None):
    return [harness.streamscope, "record", "-o", harness.work / f"cost.{name or tier}.sqlite", "--force", "--tier", tier, *options, "--"]


def measure(harness):
    """[{way: [ns per call, one per turn]}], one of each set of processes."""
    nsys = find_nsys(harness)
    ways = {
        "bare": ([], []),
        "floor": ([], ["--floor"]),
        "structure": (recording(harness, "structure"), []),
        "structure by callbacks": (recording(harness, "structure", "--source", "cupti", name="callbacks"), []),
        "structure without watch": (recording(harness, "structure", "--hang-timeout", "0", name="unwatched"), []),
        "kernel activity": ([], ["--kernel-activity"]),
        "times": (recording(harness, "times"), []),
        "floor, runtime only": ([], ["--floor-runtime"]),
        "floor + kernel activity": ([], ["--floor-kernel"]),
    }
    if nsys:
        ways["nsys -t cuda"] = ([nsys, "profile", "-t", "cuda", "--sample=none", "--cpuctxsw=none", "-f", "true",
                                 "-o", "cost_nsys"], [])
    else:
        harness.skip("nsys", "not found on this machine: no comparison")
    sets = []
    for _ in range(harness.rounds_of(5)):
        found = take_turns(harness, ways)
        if found is None:
            break
        sets.append(found)
    return sets


def check_trace(harness, tier):
    """The recordings that were timed must be whole: nothing dropped, every call there."""
    path = harness.work / f"cost.{tier}.sqlite"
    if not path.exists():
        return
    trace = Trace(path)
    harness.equal(f"cost.{tier}: losses", [], trace.losses())
    rounds = 1000 + (WARM_UP_TURNS + TURNS) * 1100  # with those that are not timed
    for table in ("event_record", "event_wait"):
        harness.equal(f"cost.{tier}: rows of {table}", rounds, trace.value(f"SELECT count(*) FROM {table}"))
    kernels, timed = trace.rows("SELECT count(*), count(end_ns) FROM op WHERE kind = 0")[0]
    harness.equal(f"cost.{tier}: kernels", rounds, kernels)
    harness.equal(f"cost.{tier}: kernels with times", rounds if tier == "times" else 0, timed)
    rows = sum(trace.value(f"SELECT count(*) FROM {table}") for table in ("api_call", "event_record", "event_wait", "op", "host_sync"))
    harness.log(f"  cost.{tier}: {path.stat().st_size / max(1, rows):.1f} bytes per row in {rows} rows")
    trace.close()


def bare_ns(harness):
    """ns of a call of the bare loop: 1200 on a quiet H200 host, up to 2000 where others keep its processors busy."""
    found = []
    for _ in range(5):
        finished = harness.run([harness.app("cost_loop")], 60)
        lines = finished.lines()
        if finished.code != 0 or not lines:
            raise RuntimeError(f"the cost loop failed: {finished.why()}")
        found.append(lines[-1]["ns_per_call"])
    return statistics.median(found)


def run(harness):
    sets = measure(harness)
    if not sets:
        return
    ways = list(sets[0])

    def of_sets(value):
        """The median over a set's turns of value({way: ns per call}), for every set."""
        return [statistics.median(value(dict(zip(ways, turn))) for turn in zip(*found.values())) for found in sets]

    harness.log(f"  cost loop, ns per call: medians of {TURNS} turns, then of {len(sets)} sets of processes")
    rows = []
    for way in ways:
        cost, added = of_sets(lambda turn: turn[way]), of_sets(lambda turn: turn[way] - turn["bare"])
        rows.append((way, f"{statistics.median(cost):.0f}", f"{min(cost):.0f}", f"{max(cost):.0f}",
                     f"{statistics.median(added):+.0f}", f"{min(added):+.0f}", f"{max(added):+.0f}"))
    harness.table(["way", "median", "low", "high", "added", "low", "high"], rows)
    for tier in ("structure", "times"):
        check_trace(harness, tier)

    def limit(name, unit, most, values):
        harness.log(f"  {name}, by set: {' '.join(f'{value:.3g}' for value in values)}")
        value = statistics.median(values)
        harness.budget(name, value, unit, most, value <= most)

    limit("structure_added_ns", "ns", OWN_NS, of_sets(lambda turn: turn["structure"] - turn["bare"]))
    limit("callbacks_above_floor_ns", "ns", OWN_NS, of_sets(lambda turn: turn["structure by callbacks"] - turn["floor"]))
    # What kernel activity alone adds is taken over the bare loop.
    limit("times_above_floor_and_activity_ns", "ns", OWN_NS,
          of_sets(lambda turn: turn["times"] - turn["floor"] - (turn["kernel activity"] - turn["bare"])))
    # Watching for hangs.
    limit("watch_share", "x", 0.01, of_sets(lambda turn: (turn["structure"] - turn["structure without watch"]) / turn["bare"]))
    if "nsys -t cuda" in ways:
        theirs = of_sets(lambda turn: turn["nsys -t cuda"] - turn["bare"])
        for tier, goal in (("structure", 0.1), ("times", 0.85)):
            ours = of_sets(lambda turn: turn[tier] - turn["bare"])
            limit(f"{tier}_against_nsys", "x", goal, [mine / other for mine, other in zip(ours, theirs)])

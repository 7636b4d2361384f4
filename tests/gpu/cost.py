# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What recording costs per CUDA call: the cost loop bare, under empty handlers (the floor), under StreamScope, under
nsys. All of them live at once and take turns on one processor, a batch each, so that every difference is taken within
milliseconds; medians over the turns, then over fresh sets of processes. Then the launch of a graph (graph_cost.py). Nothing
else may run meanwhile.

Calls are seen by wrappers ("structure", "times") or by CUPTI's callbacks ("... by callbacks")."""

import glob
import os
import select
import shutil
import signal
import statistics
import subprocess
import time

import figures
import graph_cost
from harness import Trace

OWN_NS = 60  # what our part of a traced call may add, entry and exit together: to the bare call, or to CUPTI's floor
WARM_UP_TURNS, TURNS = 4, 80  # 240,000 timed calls of each process
TURN_LIMIT_S = 60  # the first one waits for the program to start
SETS = 9
AGAINST_NSYS = {"structure": 0.10, "times": 0.60}  # the most that a tier may add, as a share of what nsys adds


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
    """One process that measures on request, waiting for its turns: of the cost loop or of another program that takes two named
    pipes."""

    def __init__(self, harness, way, command, arguments, program=None):
        self.way = way
        self.pipes = [harness.work / f"cost.{way.replace(' ', '_')}.{end}" for end in ("go", "done")]
        for pipe in self.pipes:
            pipe.unlink(missing_ok=True)
            os.mkfifo(pipe)
        self.log = harness.work / f"cost.{way.replace(' ', '_')}.log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [str(word) for word in [*command, *(program or [harness.app("cost_loop")]), *self.pipes, *arguments]], cwd=harness.work,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=harness.environment(), start_new_session=True)
        # Both ends of both pipes are ours too, so that opening and reading never wait for a program that has ended.
        self.go, self.done = (os.open(pipe, os.O_RDWR | os.O_NONBLOCK) for pipe in self.pipes)

    def take(self):
        """What it measured in this turn, ns per call for the loop; ValueError if the program ends or stops."""
        os.write(self.go, b"turn\n")
        return self.answer(TURN_LIMIT_S)

    def answer(self, limit_s):
        """The next number that it reports."""
        answer = b""
        end = time.monotonic() + limit_s
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


def take_turns(harness, name, runners, warm_up, turns, start_s=0):
    """{way: [what each turn measured]} of one set of processes (Turns), without the turns to warm up; None after a failed check.
    `start_s`: programs say first that they are ready, after this many seconds at most."""
    found = {runner.way: [] for runner in runners}
    failed = None
    try:
        for failed in runners if start_s else ():
            failed.answer(start_s)
        for turn in range(warm_up + turns):
            first = turn % len(runners)  # none always follows the same neighbor
            for runner in runners[first:] + runners[:first]:
                failed = runner
                value = runner.take()
                if turn >= warm_up:
                    found[runner.way].append(value)
        failed = None
        for runner in runners:
            if runner.way.startswith(("structure", "times", "flight")):
                harness.log(f"  recorder of {runner.way}: {runner.processor_s():.2f} s of processor time")
    except (OSError, ValueError):
        pass  # of `failed`
    finally:
        ended = {runner: runner.finish() for runner in runners}
    return found if all_ended_well(harness, name, ended, failed) else None


def all_ended_well(harness, name, ended, failed):
    """Reports the first of {runner: ended well} that did not, or `failed`. False if there is one."""
    for runner, well in ended.items():
        # nsys reports that it cannot make its report here; what counts is that the program ran.
        if runner is failed or not (well or runner.way.startswith("nsys")):
            harness.check(f"{name}, {runner.way}", False, runner.why())
            return False
    return True


def recording(harness, tier, *options, name=None):
    return [harness.streamscope, "record", "-o", harness.work / f"cost.{name or tier}.sqlite", "--force", "--tier", tier, *options, "--"]


def measure(harness):
    """[{way: [ns per call, one per turn]}], one of each set of processes."""
    nsys = find_nsys(harness)
    ways = {
        "bare": ([], []),
        "floor": ([], ["--floor"]),
        "structure": (recording(harness, "structure", "--source", "interposed"), []),
        "structure by callbacks": (recording(harness, "structure", "--source", "cupti", name="callbacks"), []),
        "structure without watch": (recording(harness, "structure", "--hang-timeout", "0", name="unwatched"), []),
        "kernel activity": ([], ["--kernel-activity"]),
        "times": (recording(harness, "times", "--source", "interposed"), []),
        "times by callbacks": (recording(harness, "times", "--source", "cupti", name="times_callbacks"), []),
        "floor, runtime only": ([], ["--floor-runtime"]),
        "floor + kernel activity": ([], ["--floor-kernel"]),
    }
    if nsys:
        ways["nsys -t cuda"] = ([nsys, "profile", "-t", "cuda", "--sample=none", "--cpuctxsw=none", "-f", "true",
                                 "-o", "cost_nsys"], [])
    else:
        harness.skip("nsys", "not found on this machine: no comparison")
    if not harness.can_record("--tier", "times", "--source", "interposed"):
        harness.skip("times by wrappers", "this build records tier times by callbacks only")
        del ways["times"]
    sets = []
    for _ in range(harness.rounds_of(SETS)):
        if harness.is_over():
            harness.log(f"  time is over after {len(sets)} sets")
            break
        runners = [Turns(harness, way, *how) for way, how in ways.items()]
        found = take_turns(harness, "cost loop", runners, WARM_UP_TURNS, TURNS)
        if found is None:
            break
        sets.append(found)
    return sets


def check_trace(harness, tier, source):
    """The recordings that were timed must be whole: nothing dropped, every call there."""
    path = harness.work / f"cost.{tier}.sqlite"
    if not path.exists():
        return
    trace = Trace(path)
    harness.check(f"cost.{tier}: source of calls", trace.collector().startswith(source), trace.collector())
    harness.equal(f"cost.{tier}: losses", [], trace.losses())
    rounds = 1000 + (WARM_UP_TURNS + TURNS) * 1100  # with those that are not timed
    for table in ("event_record", "event_wait"):
        harness.equal(f"cost.{tier}: rows of {table}", rounds, trace.value(f"SELECT count(*) FROM {table}"))
    kernels, timed = trace.rows("SELECT count(*), count(end_ns) FROM op WHERE kind = 0")[0]
    harness.equal(f"cost.{tier}: kernels", rounds, kernels)
    harness.equal(f"cost.{tier}: kernels with times", rounds if tier.startswith("times") else 0, timed)
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


class Sets:
    """What all sets of processes measured."""

    def __init__(self, sets):
        self.sets, self.ways = sets, list(sets[0])

    def medians(self, value):
        """The median over a set's turns of value({way: ns per call}), for every set."""
        return [statistics.median(value(dict(zip(self.ways, turn))) for turn in zip(*found.values())) for found in self.sets]

    def added(self, way, base="bare"):
        return self.medians(lambda turn: turn[way] - turn[base])


def print_ways(harness, found):
    harness.log(f"  cost loop, ns per call: medians of {TURNS} turns, then of {len(found.sets)} sets of processes")
    rows = []
    for way in found.ways:
        cost, added = found.medians(lambda turn, way=way: turn[way]), found.added(way)
        rows.append((way, f"{statistics.median(cost):.0f}", f"{min(cost):.0f}", f"{max(cost):.0f}",
                     f"{statistics.median(added):+.0f}", f"{min(added):+.0f}", f"{max(added):+.0f}"))
    harness.table(["way", "median", "low", "high", "added", "low", "high"], rows)


def check_limits(harness, found):
    """The budgets. Returns {way: its limit, as text}."""
    limits = {}

    def limit(name, unit, most, values):
        harness.log(f"  {name}, by set: {' '.join(f'{value:.3g}' for value in values)}")
        value = statistics.median(values)
        harness.budget(name, value, unit, most, value <= most)

    limit("structure_added_ns", "ns", OWN_NS, found.added("structure"))
    limits["structure"] = f"{OWN_NS} ns"
    limit("callbacks_above_floor_ns", "ns", OWN_NS, found.added("structure by callbacks", "floor"))
    # What kernel activity alone adds is taken over the bare loop.
    limit("times_above_floor_and_activity_ns", "ns", OWN_NS,
          found.medians(lambda turn: turn["times by callbacks"] - turn["floor"] - (turn["kernel activity"] - turn["bare"])))
    # Watching for hangs.
    limit("watch_share", "x", 0.01,
          found.medians(lambda turn: (turn["structure"] - turn["structure without watch"]) / turn["bare"]))
    if "nsys -t cuda" in found.ways:
        theirs = found.added("nsys -t cuda")
        for tier, goal in AGAINST_NSYS.items():
            if tier not in found.ways:
                continue
            limit(f"{tier}_against_nsys", "x", goal, [mine / other for mine, other in zip(found.added(tier), theirs)])
            limits[tier] = ", ".join(filter(None, (limits.get(tier), f"{goal:.2f} of nsys")))
    return limits


def print_markdown(harness, found, limits):
    """The part of docs/performance.md on the cost of a call."""
    theirs = found.added("nsys -t cuda") if "nsys -t cuda" in found.ways else None
    rows = []
    for way in found.ways:
        name = f"**{way}**" if way in limits else way
        if way == "bare":
            rows.append((name, f"{statistics.median(found.medians(lambda turn: turn['bare'])):.0f}", "", "", ""))
            continue
        added = found.added(way)
        share = f"{statistics.median(mine / other for mine, other in zip(added, theirs)):.2f}" if theirs else ""
        rows.append((name, f"{statistics.median(added):+.0f}", f"{min(added):+.0f} to {max(added):+.0f}", share, limits.get(way, "")))
    figures.markdown(harness, f"`tests/gpu/run cost`: medians of {TURNS} turns, then of {len(found.sets)} sets.",
                     ["Way", "ns per call, added", "by set", "share of nsys", "Limit"], rows)


def run(harness):
    # The graph first: it is short, so that it is there if time is over.
    graph_cost.run(harness)
    sets = measure(harness)
    if not harness.check("cost loop measured", bool(sets), "no set of processes was measured"):
        return
    found = Sets(sets)
    print_ways(harness, found)
    for tier, source in (("structure", "interposed"), ("times", "interposed"), ("times_callbacks", "cupti")):
        check_trace(harness, tier, source)
    print_markdown(harness, found, check_limits(harness, found))

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs recordings and commands with a fault at every call by which they reach the system.

usage: run.py BUILD [--faults N] [--kills N] [--limits none|few|all] [--scenes NAME,...] [--seed N] [--jobs N] [--seconds N]
       run.py BUILD --again SCENE CALL KEY FAULT       one fault again, as a line of the summary names it

First each scene (scenes.py) runs a few times with the injector only counting: this gives the pairs of call and place, and
what is normal. Then one run per fault, each judged (judge.py). Prints a table and a line per violation; exit code 1 if
there is any.
"""
import argparse
import collections
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True  # the sources stay as they are

import found
import places
import running
from judge import Normal, judge
from limits import limit_cases, run_limit
from places import COUNT, Fault
from scenes import SCENES, TRACE, Build, Fixtures, scene as scene_of

NORMAL_RUNS = 2
MOST_KILLS_OF_A_PAIR = 40


class Harness:
    def __init__(self, build, scratch):
        self.build, self.scratch = build, scratch
        self.fixtures = Fixtures(build, scratch / "fixtures")
        self.normal, self.pairs = {}, {}

    def folder(self, name):
        folder = self.scratch / f"run-{os.getpid()}" / name
        shutil.rmtree(folder.parent, ignore_errors=True)
        folder.parent.mkdir(parents=True)
        return folder

    def learn(self, scene):
        self.normal[scene.name], self.pairs[scene.name] = self.look_at(scene)

    def look_at(self, scene):
        """Runs the scene without faults: what is normal, and which calls it makes."""
        seen, counts, same = {}, collections.Counter(), None
        for heap in (False,) * NORMAL_RUNS + (True,):
            folder = self.folder("learn")
            self.fixtures.put(scene, folder)
            table, log = folder.with_name("table"), folder.with_name("log")
            places.write_table(table, COUNT, heap=heap)
            result = running.run(self.build, scene, folder, table, log)
            found = running.contents(self.build, folder / TRACE, folder.with_name("alone"))
            if result.code is None or result.processes or (scene.fixture != "profile" and not found.opens):
                raise SystemExit(f"faults: {scene.name} does not run without faults: exit {result.code}, {result.err} {found.why}")
            for pair, _ in places.read_log(log, "seen"):
                seen[pair.key] = pair
            for key, count in places.read_counts(table).items():
                counts[key] = max(counts[key], count)
            if same is None:
                same = dict(found.counts)
                normal = Normal(result.code, result.out, result.err, result.left, same, found.losses, found.complete)
            for name in [name for name, count in same.items() if found.counts.get(name) != count]:
                del same[name]  # differs from run to run
            if result.out != normal.out:
                raise SystemExit(f"faults: {scene.name} says something else in every run: {result.out}")
        return normal, {pair: counts[key] for key, pair in seen.items() if counts[key]}

    def try_fault(self, case):
        """Runs one fault; returns (scene's name, fault, whether it was injected, verdict)."""
        name, fault = case
        scene = scene_of(name)
        folder = self.folder("case")
        self.fixtures.put(scene, folder)
        table, log = folder.with_name("table"), folder.with_name("log")
        places.arm(table, fault)
        result = running.run(self.build, scene, folder, table, log)
        return name, fault, bool(result.fired), judge(self.build, scene, self.normal[name], result, folder, fault)


def known_faults(harness, scenes, names):
    """Those that found something once (found.py), at the places where they are now."""
    cases, gone = [], []
    pairs = {scene.name: [pair for pair in harness.pairs[scene.name] if pair.call in found.CALLS] for scene in scenes}
    names.learn(pair for of_scene in pairs.values() for pair in of_scene)
    for name, role, call, function, error, stays in found.FAULTS:
        if name not in pairs:
            continue
        there = [pair for pair in pairs[name] if (pair.role, pair.call) == (role, call) and names.passes(pair, function)]
        cases += [(name, Fault(pair, places.ERROR, error, stays)) for pair in there]
        if not there:
            gone.append(f"{name}: {role} {call} in {function}")
    return cases, gone


def plan(harness, scenes, faults, kills, seed):
    """The faults to try: pair after pair, each one's most informative first, so that any number of them covers many pairs."""
    chance = random.Random(seed)
    queues, heap, deaths = [], [], []
    for scene in scenes:
        for pair, count in sorted(harness.pairs[scene.name].items(), key=lambda item: item[0].key):
            (heap if pair.is_heap else queues).append([(scene.name, fault) for fault in places.faults_of(pair, count)])
            if pair.role == "recorder":
                deaths.append([(scene.name, fault) for fault in places.kills_of(pair, count, MOST_KILLS_OF_A_PAIR)])
    chosen = []
    allocations = faults // 10
    for lists, wanted in ((queues, faults - allocations), (heap, allocations), (deaths, kills)):
        chance.shuffle(lists)
        rounds = [case for turn in range(max(map(len, lists), default=0)) for case in (queue[turn] for queue in lists if turn < len(queue))]
        chosen.append(rounds[:wanted])
    # Evenly mixed, so that whoever stops early has had some of all.
    places_of = [(index + 1) / (len(cases) + 1) for cases in chosen for index in range(len(cases))]
    return [case for _, _, case in sorted(zip(places_of, range(len(places_of)), sum(chosen, [])))]


harness = None


def start_worker():
    running.adopt()


def look_at(scene):
    try:
        return scene.name, harness.look_at(scene)
    except SystemExit as error:  # would end the worker without a word
        return scene.name, str(error)


def try_fault(case):
    try:
        return harness.try_fault(case)
    except Exception as error:  # an error of the harness must not look like success
        return (*case, True, error)


def try_limit(case):
    try:
        return run_limit(harness, case)
    except Exception as error:
        return case, error


def again_line(build, name, fault):
    return f"tests/faults/run.py {build} --again {name} {fault.pair.call} {fault.pair.key:016x} {fault.text()}"


def parse_fault(harness, name, call, key, text):
    what, nth = text.split("@")
    stays = what.endswith("+")
    what = what.rstrip("+")
    pair = next((pair for pair in harness.pairs[name] if pair.key == int(key, 16)), None)
    if pair is None:
        raise SystemExit(f"faults: {name} makes no call {key}; the programs have been rebuilt, so use a line that this build printed")
    action = {"short": places.SHORT, "kill-before": places.KILL_BEFORE, "kill-after": places.KILL_AFTER}.get(what, places.ERROR)
    return Fault(pair, action, what if action == places.ERROR else "", stays, int(nth))


class Summary:
    def __init__(self, harness, names):
        self.harness, self.names = harness, names
        self.outcomes = collections.defaultdict(collections.Counter)
        self.pairs, self.places = set(), set()  # of system calls, of allocations
        self.faults, self.kills, self.missed = 0, 0, 0
        self.broken = collections.defaultdict(list)

    def add(self, name, fault, fired, verdict):
        if isinstance(verdict, Exception):
            self.broken["harness"].append((name, fault, repr(verdict)))
            return
        if not fired:
            self.missed += 1
        else:
            (self.places if fault.pair.is_heap else self.pairs).add(fault.pair.key)
            self.kills += fault.kills
            self.faults += not fault.kills
            self.outcomes[name][verdict.outcome or "violation"] += 1
        for kind, detail in verdict.broken:
            self.broken[kind].append((name, fault, detail))
            print(f"  {kind}: {again_line(self.harness.build.folder, name, fault)}", flush=True)

    def add_limit(self, case, verdict):
        if isinstance(verdict, Exception):
            self.broken["harness"].append((str(case), None, repr(verdict)))
            return
        self.outcomes[f"limit {case.kind}"][verdict.outcome or "violation"] += 1
        for kind, detail in verdict.broken:
            self.broken[kind].append((str(case), None, detail))
            print(f"  {kind}: {case}: {detail}", flush=True)

    def violations(self):
        return sum(map(len, self.broken.values()))

    def print(self):
        labels = sorted({label for counter in self.outcomes.values() for label in counter})
        print(f"{'':24}" + "".join(f"{label:>18}" for label in labels))
        for name, counter in self.outcomes.items():
            print(f"{name:24}" + "".join(f"{counter[label]:>18}" for label in labels))
        for kind, cases in sorted(self.broken.items()):
            print(f"\n{kind}: {len(cases)}")
            shown = collections.Counter()
            for name, fault, detail in cases:
                where = self.names.of(fault.pair) if fault else ""
                shown[(name, where)] += 1
                if shown[(name, where)] > 2:
                    continue
                print(f"  {name}: {fault.pair.role + ' ' + fault.pair.call + ' ' + fault.text() if fault else ''} at {where}\n"
                      f"    {detail}\n    {again_line(self.harness.build.folder, name, fault) if fault else ''}")
        print(f"\nfaults: {self.faults} injected at {len(self.pairs)} pairs of system call and place and"
              f" {len(self.places)} places of allocations, {self.kills} kills, {self.missed} not reached; {self.violations()} violations in {len(self.broken)} classes")
        return self.violations()


def run_all(arguments, build, scratch):
    global harness
    running.adopt()
    harness = Harness(build, scratch)
    scenes = [scene for scene in SCENES if not arguments.scenes or scene.name in arguments.scenes.split(",")]
    context = multiprocessing.get_context("fork")
    with context.Pool(arguments.jobs, start_worker) as pool:
        for name, seen in pool.imap_unordered(look_at, scenes, chunksize=1):
            if isinstance(seen, str):
                raise SystemExit(seen)
            harness.normal[name], harness.pairs[name] = seen
            pairs = harness.pairs[name]
            calls = {pair: count for pair, count in pairs.items() if not pair.is_heap}
            print(f"{name}: {sum(calls.values())} system calls at {len(calls)} places,"
                  f" {len(pairs) - len(calls)} places of allocations", flush=True)
    names = places.Names([build.streamscope, build.library])
    summary = Summary(harness, names)
    cases, gone = known_faults(harness, scenes, names)
    for place in gone:
        summary.broken["known place is gone"].append((place, None, "correct found.py"))
    cases += plan(harness, scenes, arguments.faults, arguments.kills, arguments.seed)
    begin = time.monotonic()
    limits = [] if arguments.limits == "none" else limit_cases(arguments.limits)
    with context.Pool(arguments.jobs, start_worker) as pool:
        for case, verdict in pool.imap_unordered(try_limit, limits, chunksize=1):
            summary.add_limit(case, verdict)
        print(f"  {len(limits)} limits after {time.monotonic() - begin:.0f} s, {summary.violations()} violations", flush=True)
        for done, answer in enumerate(pool.imap_unordered(try_fault, cases, chunksize=1), 1):
            summary.add(*answer)
            if done % 250 == 0:
                print(f"  {done} of {len(cases)} after {time.monotonic() - begin:.0f} s, {summary.violations()} violations", flush=True)
            if arguments.seconds and time.monotonic() - begin > arguments.seconds:
                print(f"  stopped after {done} of {len(cases)}")
                break
    return 1 if summary.print() else 0


def run_again(arguments, build, scratch):
    global harness
    running.adopt()
    harness = Harness(build, scratch)
    name, call, key, text = arguments.again
    harness.learn(scene_of(name))
    fault = parse_fault(harness, name, call, key, text)
    names = places.Names([build.streamscope, build.library])
    print(f"{fault.pair.role} {call} {fault.text()} at {names.of(fault.pair)}")
    scene = scene_of(name)
    folder = harness.folder("case")
    harness.fixtures.put(scene, folder)
    places.arm(folder.with_name("table"), fault)
    result = running.run(build, scene, folder, folder.with_name("table"), folder.with_name("log"))
    print(f"exit code {result.code}\nout: {result.out}\nerr: {result.err}\nleft: {result.left}\nfired: {len(result.fired)}")
    verdict = judge(build, scene, harness.normal[name], result, folder, fault)
    print(f"{verdict.outcome}: {verdict.broken}")
    return 1 if verdict.broken else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("--faults", type=int, default=int(os.environ.get("STREAMSCOPE_FAULTS", "150")))
    parser.add_argument("--kills", type=int, default=int(os.environ.get("STREAMSCOPE_KILLS", "50")))
    parser.add_argument("--limits", choices=("none", "few", "all"), default=os.environ.get("STREAMSCOPE_FAULT_LIMITS", "few"))
    parser.add_argument("--seconds", type=float, help="begin no fault after so long")
    parser.add_argument("--scenes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--again", nargs=4)
    arguments = parser.parse_args()
    build = Build(arguments.build)
    if build.missing():
        print(f"faults: not built: {', '.join(build.missing())}")
        return 77
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    scratch = Path(tempfile.mkdtemp(prefix="faults-", dir=memory))
    scratch.chmod(0o755)  # limits.py runs programs as another user
    try:
        return run_again(arguments, build, scratch) if arguments.again else run_all(arguments, build, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())

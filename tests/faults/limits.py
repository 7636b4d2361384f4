# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Limits of the system, from useless to just enough: of resources, of the disk, of open outputs, and files that vanish."""

import os
import resource
import shutil
import subprocess
import threading
import time
from dataclasses import dataclass, replace

import running
from judge import Verdict, again, clear, fewer, own_lines, target_lines
from scenes import TRACE, Scene, filled, scene as scene_of

KIB, MIB = 1 << 10, 1 << 20
STEPS = {
    "FSIZE": [0, KIB, 4 * KIB, 16 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, MIB, 2 * MIB, 8 * MIB],
    "NOFILE": [*range(3, 25), 28, 32, 40, 64],
    "AS": [16 * MIB, 32 * MIB, 48 * MIB, 64 * MIB, 96 * MIB, 128 * MIB, 192 * MIB, 256 * MIB, 384 * MIB, 512 * MIB, 1024 * MIB],
    "DATA": [MIB, 2 * MIB, 4 * MIB, 8 * MIB, 12 * MIB, 16 * MIB, 24 * MIB, 32 * MIB, 64 * MIB, 128 * MIB],
    "STACK": [16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, MIB],
    "MEMLOCK": [0, 16 * KIB, 64 * KIB],
    "NPROC": [1, 2, 3, 4, 5, 6, 8, 12],
}
# What the collector uses of these, like any library: a program that fails with this much less has no space for it.
# Documented in docs/architecture.md, "System limits". Of the stack the dynamic loader takes 2 KiB for any preloaded library,
# and the kernel moves its begin by up to 8 KiB from run to run.
TAKEN = {"AS": 32 * MIB, "DATA": 16 * MIB, "STACK": 12 * KIB, "NPROC": 4}
FEW = {"FSIZE": [0, 64 * KIB, MIB], "NOFILE": [4, 9, 12], "AS": [64 * MIB], "STACK": [64 * KIB], "NPROC": [2]}
DISK = [64 * KIB, 256 * KIB, 512 * KIB, MIB, 1536 * KIB, 2 * MIB, 3 * MIB, 4 * MIB, 5 * MIB, 6 * MIB, 8 * MIB, 12 * MIB]
FIRST_OTHER_USER = 61000  # of each worker an own one: what a user has running is counted together
OTHER_USERS = 4096


@dataclass(frozen=True)
class Case:
    kind: str       # of limit
    amount: int
    scene: str
    own: bool = False   # the program sets the limit itself, so that it does not strike the recorder

    def __str__(self):
        return f"limit {self.kind} {self.amount} {self.scene}{' own' if self.own else ''}"


def limit_cases(which):
    steps = STEPS if which == "all" else FEW
    cases = [Case(kind, amount, scene, own) for kind, amounts in steps.items() for amount in amounts
             for scene, own in (("record", False), ("record", True), ("preload", False)) if kind != "NPROC" or not own]
    cases += [Case("closed", closed, scene) for closed in range(1, 8) for scene in ("record", "preload")]
    cases += [Case("full outputs", full, scene) for full in (2, 4, 6) for scene in ("record", "preload")]
    cases += [Case("full disk", size, scene) for size in (DISK if which == "all" else DISK[::4]) for scene in ("record", "preload")]
    cases += [Case("read-only disk", 0, scene) for scene in ("record", "preload")]
    cases += [Case("vanishes", what, scene) for what in range(3) for scene in ("record", "preload")]
    return cases


def set_limit(case):
    other_user = FIRST_OTHER_USER + os.getpid() % OTHER_USERS

    def apply():
        limit = getattr(resource, f"RLIMIT_{case.kind}")
        hard = resource.getrlimit(limit)[1]
        if case.kind == "NPROC":
            os.setgroups([])
            os.setgid(other_user)
            os.setuid(other_user)
        resource.setrlimit(limit, (case.amount, hard if case.kind == "STACK" else case.amount))
    return apply


def close_outputs(case):
    """Bit n of `amount`: descriptor n is closed, or is a full device."""
    def apply():
        for file in range(3):
            if case.amount >> file & 1:
                os.close(file)
                if case.kind == "full outputs":
                    os.open("/dev/full", os.O_RDWR)
    return apply


class Disk:
    """A small tmpfs in the folder."""

    def __init__(self, folder, case):
        self.folder = folder
        size = case.amount if case.kind == "full disk" else 64 * MIB
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "faults", folder], check=True)

    def close(self):
        subprocess.run(["umount", "-l", self.folder], check=False)


def mounts():
    if os.geteuid() != 0:
        return False
    return subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode == 0


def cut(folder, what, until):
    """Truncates the control file, the rings or the trace as soon as they are there."""
    pattern = ("*.rings/control", "*.rings/*.ring", TRACE)[what]
    while time.monotonic() < until:
        files = [file for file in folder.glob(pattern)]
        if files:
            time.sleep(0.05)
            for file in files:
                if file.exists():
                    os.truncate(file, 0)
            return
        time.sleep(0.001)


STILL = ["{target}", "--still", "350", "--code", "7"]
LONG = {"record": Scene("record", [*scene_of("record").words[:5], *STILL], STILL, True),
        "preload": Scene("preload", STILL, STILL, False, scene_of("preload").environment)}


def scene_for(case):
    if case.kind == "vanishes":
        return LONG[case.scene]
    scene = scene_of(case.scene)
    if not case.own:
        return scene
    by_shell = ["prlimit", f"--{case.kind.lower()}={case.amount}", *scene.target]
    return Scene("own limit", [*scene.words[:5], *by_shell], by_shell, True)


def bare(harness, case, scene, apply):
    """The program under the same limit without us."""
    folder = harness.folder("bare")
    folder.mkdir()
    if case.kind == "NPROC":
        folder.chmod(0o777)
    words = filled(scene.target, harness.build, folder)
    return running.run(harness.build, Scene("bare", words, words), folder, before=apply)


def put(harness, case, scene):
    folder = harness.folder("limit")
    folder.mkdir()
    disk = Disk(folder, case) if case.kind in ("full disk", "read-only disk") else None
    if case.scene == "preload":
        wrapper = folder / "streamscope"
        wrapper.write_text(f'#!/bin/sh\nexec {harness.build.streamscope} "$@"\n')
        wrapper.chmod(0o755)
    if case.kind == "read-only disk":
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    if case.kind == "NPROC":
        folder.chmod(0o777)
    return folder, disk


def is_tight(harness, case, without):
    """The program itself could not do with as much less as the collector takes."""
    if case.kind not in TAKEN:
        return False
    less = replace(case, amount=max(0, case.amount - TAKEN[case.kind]))
    try:
        return bare(harness, less, scene_for(less), None if less.own else set_limit(less)).code != without.code
    except (subprocess.SubprocessError, OSError):
        return True


def judge_limit(harness, case, scene, without, tight, result, folder):
    verdict = Verdict()
    verdict.require("hangs", result.code is not None)
    verdict.require("process left", not result.processes, result.processes)
    started = result.out != "" or bool(target_lines(result.err))
    can_speak = not (case.kind in ("closed", "full outputs") and case.amount & 4) and not (case.kind == "FSIZE" and case.amount == 0)
    if case.kind in ("closed", "full outputs") and case.amount & 2:
        started = True
    expected = 128 - without.code if scene.launched and without.code is not None and without.code < 0 else without.code
    by_chance = case.kind == "STACK" and without.code is not None and without.code < 0  # as the kernel lays the stack
    if result.code != expected and (tight or by_chance):
        verdict.outcome = "no room for both"
        return verdict
    if result.code != expected:
        refused = scene.launched and not started and (result.code in (2, 126, 127) or without.code not in (0, 7))
        failed = result.code == 2 and expected == 0
        if not verdict.require("exit code", refused or failed, f"{result.code} instead of {expected}; {own_lines(result.err)}"):
            return verdict
        verdict.require("no clear line", clear(result) or not can_speak or result.err, f"exit {result.code}: {result.err}")
        verdict.outcome = "refused, said"
        return verdict
    verdict.require("target's output", result.out == without.out, result.out)
    verdict.require("target's messages", target_lines(result.err) == target_lines(without.err), result.err)
    found = running.contents(harness.build, folder / TRACE, folder.with_name("alone"))
    names = [name for name in result.left if name != TRACE]
    kept = ".rings" in result.err and "streamscope info" in result.err
    verdict.require("left behind", not names or kept or not can_speak, f"{names}; {own_lines(result.err)}")
    said = clear(result) or not can_speak
    if names and case.kind not in ("full disk", "read-only disk"):
        info = again(harness.build, folder)
        found = running.contents(harness.build, folder / TRACE, folder.with_name("alone"))
        said = said or info.returncode != 0
    normal = harness.normal[case.scene]
    if not found.opens:
        verdict.require("silent loss", said or without.out == "", f"no trace: {found.why}; {result.err}")
        verdict.outcome = "lost, said"
        return verdict
    if case.kind == "vanishes":  # it has other work
        verdict.require("silent loss", said or not found.complete or found.losses, "nothing is said of what vanished")
        verdict.outcome = "lost, said"
        return verdict
    missing = fewer(normal, found)
    stated = said or found.losses or not found.complete or without.out != normal.out
    verdict.require("silent loss", not missing or stated, f"{missing}; complete {found.complete}, losses {found.losses}; {result.err}")
    verdict.outcome = "lost, said" if missing else "as without" if not said else "whole, said"
    return verdict


def run_limit(harness, case):
    """Runs one case; returns it with its verdict, whose outcome is `skipped` where the machine does not allow it."""
    if (case.kind in ("full disk", "read-only disk") and not mounts()) or (case.kind == "NPROC" and os.geteuid() != 0):
        return case, Verdict("skipped")
    scene = scene_for(case)
    apply = set_limit(case) if hasattr(resource, f"RLIMIT_{case.kind}") and not case.own else None
    if case.kind in ("closed", "full outputs"):
        apply = close_outputs(case)
    try:
        without = bare(harness, case, scene, apply)
    except (subprocess.SubprocessError, OSError):
        return case, Verdict("cannot run at all")
    tight = is_tight(harness, case, without)
    folder, disk = put(harness, case, scene)
    try:
        cutter = None
        if case.kind == "vanishes":
            cutter = threading.Thread(target=cut, args=(folder, case.amount, time.monotonic() + 5))
            cutter.start()
        try:
            result = running.run(harness.build, scene, folder, before=apply)
        except (subprocess.SubprocessError, OSError):
            return case, Verdict("cannot run at all")  # the recorder itself, which says so by the shell
        if cutter:
            cutter.join()
        return case, judge_limit(harness, case, scene, without, tight, result, folder)
    finally:
        if disk:
            disk.close()
        shutil.rmtree(folder, ignore_errors=True)

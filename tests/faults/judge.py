# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The property: the target ends as it does bare; the trace opens, or a clear line explains why not; nothing is lost unreported; nothing
is left behind that is not named."""

import re
import subprocess
import time
from dataclasses import dataclass, field

from running import contents
from scenes import TRACE, filled

UNUSABLE = 2
# Messages of runs without errors.
ORDINARY = re.compile(r"^streamscope: (wrote |waiting for |no CUDA call |process \d+ hangs|.* still being recorded;"
                      r"|.* its recorder was killed; added )")
CRASHES = {-4, -6, -7, -8, -11, 132, 134, 135, 136, 139, -25, 153}


@dataclass
class Normal:
    """A scene without a fault."""
    code: int
    out: str
    err: str
    left: list
    counts: dict
    losses: list
    complete: bool


@dataclass
class Verdict:
    outcome: str = ""
    broken: list = field(default_factory=list)  # (class, detail)

    def require(self, kind, holds, detail=""):
        if not holds:
            self.broken.append((kind, str(detail).strip()[:400]))
        return holds


def target_lines(text):
    return [line for line in text.splitlines() if line.startswith("target:")]


def own_lines(text):
    return "\n".join(line for line in text.splitlines() if not line.startswith("target:"))


def clear(result):
    """There is a line that names the problem."""
    return any(line.startswith("streamscope: ") and len(line) > 30 and not ORDINARY.match(line) for line in result.err.splitlines())


def names_kept(result):
    return any(end in result.err for end in (".rings", "-wal", "-shm")) and "streamscope info" in result.err


def is_copy(name):
    """Of a trace that is being changed."""
    return name.startswith(".") and ".streamscope-" in name


def beside(folder):
    """Files beside the trace that belong to it."""
    return sorted(path.name for path in folder.iterdir() if TRACE in path.name and path.name != TRACE)


def fewer(normal, found):
    return {table: (count, found.counts.get(table, 0)) for table, count in normal.counts.items() if found.counts.get(table, 0) < count}


def again(build, folder):
    """The next command that touches the trace."""
    return subprocess.run([build.streamscope, "info", TRACE], cwd=folder, env=build.environment(), capture_output=True, text=True,
                          timeout=30, check=False)


def mute(fault):
    """The fault hit the message itself, so that it cannot be required."""
    return fault is not None and (fault.pair.file in (1, 2) or fault.pair.call in ("fwrite", "fputs", "fflush"))


def judge_target(verdict, scene, normal, result, fault, died):
    """Exit code and outputs of the recorded program. False if it was not started."""
    started = result.out.strip() != "" or target_lines(result.err) != []
    if died and not (scene.launched and died == result.pid):
        if fault.pair.role == "target":
            killed = (-9, 137) if scene.launched or died == result.pid else (normal.code, 97)
            return verdict.require("exit code", result.code in killed, f"{result.code} of a killed program") and False
        if scene.launched and result.code != normal.code:  # the child that was to become the program
            return verdict.require("exit code", result.code in (137, UNUSABLE), f"{result.code}") and False
    if died and died == result.pid and scene.launched:
        verdict.require("exit code", result.code == -9, result.code)
        if not started:
            return False
    elif not scene.launched:
        verdict.require("exit code", result.code == normal.code, f"{result.code} instead of {normal.code}; {result.err}")
    elif result.code != normal.code:
        refused = result.code == UNUSABLE and not started
        failed = result.code == UNUSABLE and normal.code == 0
        verdict.require("exit code", refused or failed, f"{result.code} instead of {normal.code}; {own_lines(result.err)}")
        verdict.require("no clear line", clear(result) or mute(fault), f"exit {result.code}: {own_lines(result.err)}")
        if refused:
            verdict.outcome = "refused, said"
            return False
    verdict.require("target's output", result.out == normal.out, result.out)
    verdict.require("target's messages", target_lines(result.err) == target_lines(normal.err), result.err)
    return True


def cannot_remove(fault):
    return fault is not None and fault.pair.call in ("unlink", "unlinkat", "remove", "rmdir")


def judge_trace(verdict, build, scene, normal, result, folder, fault, died):
    """What was recorded, and what is reported about the rest."""
    # A child of a program that was not recorded is recorded by itself.
    names = [name for name in result.left if name != TRACE and f"streamscope: wrote {name}: " not in result.err]
    if fault is not None and fault.stays:  # where no name can be changed any more, the next change removes the copy
        copies = [name for name in names if is_copy(name)]
        names = [name for name in names if name not in copies]
        if copies:
            changed = subprocess.run([build.streamscope, "analyze", TRACE], cwd=folder, env=build.environment(), capture_output=True,
                                     text=True, timeout=30, check=False)
            verdict.require("left after repeating", not any((folder / name).exists() for name in copies), changed.stderr)
    kept = names_kept(result) or bool(died) or cannot_remove(fault)
    found = contents(build, folder / TRACE, folder.with_name(folder.name + ".alone"))
    verdict.require("left behind", not names or kept, f"{names}; {own_lines(result.err)}")
    verdict.require("unreadable", found.opens or not (folder / TRACE).exists() or kept, found.why)
    said = clear(result) or mute(fault)
    if names and kept:
        info = again(build, folder)
        verdict.require("kept and not recovered", info.returncode == 0 or "streamscope: " in info.stderr, info.stderr)
        found = contents(build, folder / TRACE, folder.with_name(folder.name + ".alone"))
        if any(name.startswith(".") for name in names):  # the copy of a killed `analyze` goes with the next one
            subprocess.run([build.streamscope, "analyze", TRACE], cwd=folder, env=build.environment(), capture_output=True, timeout=30,
                           check=False)
        rest = beside(folder)
        if died and rest and not any((folder / f"{TRACE}.rings").glob("*.ring")):
            # A folder without a ring counts as being made for a second, of which nobody knows when it began.
            time.sleep(1.1)
            again(build, folder)
            rest = beside(folder)
        verdict.require("left after recovery", not rest, f"{rest}; {info.stderr}")
        verdict.outcome = "kept, recovered"
        said = said or info.returncode != 0
    if not found.opens:
        verdict.require("silent loss", said or died, f"no trace ({found.why}); {own_lines(result.err)}")
        verdict.outcome = verdict.outcome or "lost, said"
        return
    missing = fewer(normal, found)
    more = [loss for loss in found.losses if loss not in normal.losses]
    stated = said or bool(more) or (normal.complete and not found.complete)
    verdict.require("silent loss", not missing or stated, f"{missing}; complete {found.complete}, losses {found.losses}")
    verdict.outcome = verdict.outcome or ("lost, said" if missing else "as without" if not stated else "whole, said")


def judge_command(verdict, build, scene, normal, result, folder, fault, died):
    """A command on a trace: it does its work, or explains why not and leaves the trace intact."""
    fails = result.code == UNUSABLE
    if died != result.pid:  # a process that only looked up names
        died = 0
    if died:
        verdict.require("exit code", result.code == -9, result.code)
    else:
        verdict.require("exit code", result.code in (normal.code, UNUSABLE), f"{result.code}; {result.err}")
        if fails:
            verdict.require("no clear line", clear(result) or mute(fault), f"exit {result.code}: {result.err}")
    alone = folder.with_name(folder.name + ".alone")
    if scene.fixture in ("trace", "two"):
        found = contents(build, folder / TRACE, alone)
        verdict.require("unreadable", found.opens, found.why)
        verdict.require("silent loss", not fewer(normal, found), fewer(normal, found))
    if not died and not fails:
        found = contents(build, folder / TRACE, alone)
        more = [loss for loss in found.losses if loss not in normal.losses]
        missing = fewer(normal, found)
        verdict.require("silent loss", not missing or more or clear(result), f"{missing}; {result.err}")
        same = result.out == normal.out or more or mute(fault) or own_lines(result.err) != own_lines(normal.err)
        verdict.require("other output", same, result.out)
        verdict.require("left behind", result.left == normal.left or cannot_remove(fault), f"{result.left}; {result.err}")
        verdict.outcome = "as without" if result.out == normal.out else "less, said"
        return
    verdict.outcome = "error, said" if fails else "killed, repeated"
    whole = "streamscope analyze" in result.err  # what was made is whole, and only lacks what is derived
    later = died or whole or cannot_remove(fault) or scene.name.startswith("recover")  # the next command continues
    left = [name for name in result.left if not (name == scene.part and fault is not None and fault.stays)]
    verdict.require("left behind", later or not left, f"{left}; {result.err}")
    force = ["--force"] if scene.writes else []
    repeated = subprocess.run(filled(scene.words, build, folder) + force, cwd=folder, env=build.environment(), capture_output=True,
                              text=True, timeout=30, check=False)
    verdict.require("not repeatable", repeated.returncode == normal.code, f"{repeated.returncode}: {repeated.stderr}")
    found = contents(build, folder / TRACE, alone)
    rest = sorted(path.name for path in folder.iterdir() if any(path.name.endswith(end) for end in ("-wal", "-shm", "-journal", ".rings"))
                  or path.name.startswith("."))
    verdict.require("left after repeating", not rest, f"{rest}; {repeated.stderr}")
    verdict.require("lost for good", found.opens and not fewer(normal, found), f"{found.why} {fewer(normal, found)}")


def judge(build, scene, normal, result, folder, fault=None):
    verdict = Verdict()
    died = 0
    if fault is not None and fault.kills:
        died = next((pid for _, pid in result.fired), 0)
    verdict.require("hangs", result.code is not None, f"ended after {scene.seconds} s")
    verdict.require("process left", not result.processes, result.processes)
    verdict.require("crash", result.code not in CRASHES and "terminate called" not in result.err, f"exit {result.code}; {result.err}")
    if verdict.broken:
        return verdict
    if not scene.records:
        judge_command(verdict, build, scene, normal, result, folder, fault, died)
        return verdict
    ran = judge_target(verdict, scene, normal, result, fault, died)
    if not ran and not died:
        left = [name for name in result.left]
        verdict.require("left behind", not left, f"{left} of a program that was not started; {own_lines(result.err)}")
        return verdict
    judge_trace(verdict, build, scene, normal, result, folder, fault, died)
    return verdict

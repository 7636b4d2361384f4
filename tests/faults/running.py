# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs a scene once, with all the processes it starts, and collects the results to check."""

import ctypes
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import places
from scenes import TRACE, filled

PR_SET_CHILD_SUBREAPER = 36
# Computed from the others, or different in every run (which thread comes first decides the id of a default stream).
NOT_COUNTED = {"string", "stream", "edge", "wait_cause", "critical_path", "finding", "lod", "iteration", "meta", "loss", "clock_anchor", "overhead", "thread_sample", "host_sample",
               "probe", "sqlite_sequence"}
# The recorder's own threads are in the trace, too. Whether one of them could be started does not depend on the program.
OWN_THREADS = "name_id IN (SELECT id FROM string WHERE value LIKE 'streamscope%')"


@dataclass
class Result:
    code: int = None            # as subprocess has it; None: it had to be ended
    out: str = ""
    err: str = ""
    pid: int = 0
    left: list = field(default_factory=list)        # names in the folder beside those of the fixture
    processes: list = field(default_factory=list)   # that had to be ended
    fired: list = field(default_factory=list)       # (pair, process)
    hits: int = 0


def adopt():
    """Orphans of this process's children become its own children."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = Path("/proc", entry, "stat").read_text()
        except OSError:
            continue
        fields = stat[stat.rindex(")") + 2:].split()
        if int(fields[1]) == os.getpid():
            found.append((int(entry), stat[stat.index("(") + 1:stat.rindex(")")]))
    return found


def reap(until):
    """Waits for all children; ends those that are there at the deadline and returns their names."""
    ended = []
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            if time.monotonic() > until:
                for child, name in children():
                    ended.append(name)
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                until = time.monotonic() + 1
            time.sleep(0.002)


def run(build, scene, folder, table=None, log=None, before=None, words=None, extra=None):
    """Runs the scene in its folder. `before` is called in the child (limits)."""
    environment = build.environment({name: value.format(library=build.library, folder=folder)
                                     for name, value in scene.environment.items()})
    environment.update(extra or {})
    if table:
        environment.update(FAULTS_TABLE=str(table), FAULTS_LOG=str(log), FAULTS_INJECTOR=str(build.injector))
        theirs = environment.get("LD_PRELOAD")
        environment["LD_PRELOAD"] = f"{theirs}:{build.injector}" if theirs else str(build.injector)
    had = {path.name for path in folder.iterdir()}
    outputs = [folder.with_name(folder.name + ending) for ending in (".out", ".err")]
    result = Result()
    with open(outputs[0], "wb") as out, open(outputs[1], "wb") as err:
        process = subprocess.Popen(words or filled(scene.words, build, folder), env=environment, cwd=folder,
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=before)
        result.pid = process.pid
        until = time.monotonic() + scene.seconds
        try:
            result.code = process.wait(timeout=scene.seconds)
        except subprocess.TimeoutExpired:
            result.processes.append("the command itself")
            process.kill()
            process.wait()
        result.processes += reap(until)
    result.out, result.err = (path.read_text(errors="replace") for path in outputs)
    result.left = sorted(path.name for path in folder.iterdir() if path.name not in had)
    if table:
        result.fired = places.read_log(log, "fired")
    return result


@dataclass
class Contents:
    """What a trace holds, read from a copy of its one file."""
    opens: bool = False
    why: str = ""               # it does not open
    plain: bool = False         # one file without a log beside it
    counts: dict = field(default_factory=dict)
    complete: bool = False
    losses: list = field(default_factory=list)


def contents(build, trace, scratch):
    """Copies the `.sqlite` alone and reads it without a way to write."""
    if not trace.exists():
        return Contents(why="it does not exist")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    copy = scratch / "alone.sqlite"
    shutil.copy(trace, copy)
    said = subprocess.run([build.streamscope, "info", copy], env=build.environment(), capture_output=True, text=True, timeout=30,
                          check=False)
    if said.returncode != 0:
        return Contents(why=said.stderr.strip() or f"info exits {said.returncode}")
    found = Contents(opens=True, plain=trace.read_bytes()[18] == 1)
    database = sqlite3.connect(f"file:{copy}?mode=ro", uri=True)
    try:
        check = database.execute("PRAGMA integrity_check").fetchone()[0]
        if check != "ok":
            return Contents(why=f"integrity check: {check}")
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        found.counts = {table: database.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0] for table in tables
                        if table not in NOT_COUNTED}
        if "thread" in found.counts:
            found.counts["thread"] -= database.execute(f"SELECT count(*) FROM thread WHERE {OWN_THREADS}").fetchone()[0]
        meta = dict(database.execute("SELECT key, value FROM meta"))
        found.complete = meta.get("complete") == "1" and meta.get("finished") == "1"
        found.losses = [f"{name}×{count}" for name, count in database.execute(
            "SELECT value, count FROM loss JOIN string ON string.id = name_id")]
    except sqlite3.DatabaseError as error:
        return Contents(why=str(error))
    finally:
        database.close()
    return found

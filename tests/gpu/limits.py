# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""A CUDA program and PyTorch under limits of file size, open files, stack and locked memory, and with closed outputs: they end and
print what they do unrecorded, and what could not be recorded is reported. tests/e2e/limits.sh does the same on the simulated device."""

import sqlite3

import pytorch
from corpus import DATA_LOSS, ended, wait_for_writer
from harness import REPOSITORY, Trace

KIB = 1024
# A limit of resource.setrlimit and its values, from useless to just enough; "CLOSED": bit n closes descriptor n.
STEPS = {
    "FSIZE": (0, 20 * KIB, 100 * KIB, 1000 * KIB, 4000 * KIB),
    "NOFILE": (16, 20, 24, 28, 32, 40, 64),
    "STACK": (64 * KIB, 256 * KIB, 1024 * KIB),
    "MEMLOCK": (0, 64 * KIB),
    "CLOSED": range(1, 8),
}
UNDER_LIMIT = """
import os, resource, sys
kind, amount = sys.argv[1], int(sys.argv[2])
if kind == "CLOSED":
    for file in range(3):
        if amount >> file & 1:
            os.close(file)
else:
    limit = getattr(resource, "RLIMIT_" + kind)
    hard = resource.getrlimit(limit)[1]
    resource.setrlimit(limit, (amount, hard if kind == "STACK" else amount))
os.execv(sys.argv[3], sys.argv[3:])
"""
WAYS = ("recorder and program", "program", "library")
NOT_RECORDED = (2, 127)  # codes of the recorder under a limit in which it cannot begin, or cannot write the trace in the end
WRITER_SECONDS = 10


class Program:
    """What is run under the limits, and the kernels that it launches; 0 if they are not known."""

    def __init__(self, name, command, kernels=0):
        self.name, self.command, self.kernels = name, command, kernels


def words(harness, way, under_limit, program, path):
    """(command, environment) that records a program under a limit."""
    record = [harness.streamscope, "record", "--force", "-o", path, "--"]
    if way == "library":
        setting = {"LD_PRELOAD": str(harness.collector), "STREAMSCOPE_OUTPUT": str(path)}
        # Only the program: not the one that sets the limit.
        return [*under_limit, "/usr/bin/env", *(f"{key}={value}" for key, value in setting.items()), *program.command], None
    return ([*under_limit, *record, *program.command] if way == "recorder and program" else [*record, *under_limit, *program.command]), None


def says_what_it_lacks(harness, name, program, path, finished):
    """There is a trace that has everything or reports what it lacks, or a line explains why there is none."""
    if not path.exists():
        harness.check(f"{name}: no trace, and a line says why", "streamscope" in finished.err, finished.why())
        return
    info = harness.info(path, name)
    if info is None:
        return
    try:
        trace = Trace(path)
        kernels, losses = trace.value("SELECT count(*) FROM op WHERE kind = 0"), trace.losses(DATA_LOSS)
        trace.close()
    except sqlite3.Error as error:
        harness.check(f"{name}: trace", False, str(error))
        return
    enough = kernels == program.kernels if program.kernels else kernels > 0
    harness.check(f"{name}: has all, or says what it lacks", enough or losses, f"{kernels} of {program.kernels} kernels, no loss")


def case(harness, python, program, kind, amount):
    under_limit = [python, "-c", UNDER_LIMIT, kind, amount]
    name = f"limit_{program.name}_{kind}_{amount}"
    bare = harness.run([*under_limit, *program.command], 60)
    again = harness.run([*under_limit, *program.command], 60)
    unlimited = harness.run(program.command, 60)
    if bare.code != unlimited.code or (again.code, again.out) != (bare.code, bare.out):
        harness.skip(name, f"the program cannot live with it: {bare.why()[-200:]}")
        return
    for number, way in enumerate(WAYS):
        path = harness.work / f"{name}_{number}.sqlite"
        command, extra = words(harness, way, under_limit, program, path)
        finished = harness.run(command, 90, extra)
        if way == "recorder and program" and ended(finished.code) in NOT_RECORDED and ended(finished.code) != ended(bare.code):
            cannot_say = kind == "CLOSED" and amount & 4
            ran = f"ended with exit code {ended(bare.code)}" in finished.err and finished.out == bare.out
            harness.check(f"{name}, {way}: runs nothing or what it would run, and says why",
                          (cannot_say or "streamscope" in finished.err) and (ran or not finished.out), finished.why())
            continue
        harness.equal(f"{name}, {way}: exit code", ended(bare.code), ended(finished.code), finished.why())
        harness.equal(f"{name}, {way}: output", bare.out, finished.out)
        if way == "library":
            wait_for_writer(path, WRITER_SECONDS)
        if kind != "CLOSED" or not amount & 4:
            says_what_it_lacks(harness, f"{name}, {way}", program, path, finished)


def run(harness):
    python = harness.run(["sh", "-c", f"command -v {harness.python}"], 10).out.strip()
    programs = [Program("cuda", [harness.app("crash"), "exit", "delivered"], 300)]
    if pytorch.is_available(harness):
        programs.append(Program("torch", [python, REPOSITORY / "tests/gpu/programs/torch_programs.py", "host_bound"]))
    harness.parallel([(case, harness, python, program, kind, amount) for kind, amounts in STEPS.items() for amount in amounts
                      for program in programs])

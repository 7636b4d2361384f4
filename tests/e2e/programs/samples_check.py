# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks the samples of samples.py, under the interpreter that ran it.

    python3 samples_check.py PROGRAM SPENT.json FRAMES.json

SPENT.json is what the program printed. FRAMES.json has a row per frame of each sample, innermost first: sample, runs,
system_call, kind (null: no stack) and text.
"""

import json
import os
import re
import sys
import types

TOLERANCE = 0.15  # of all time
# nanosleep, clock_nanosleep, select, pselect6, restart_syscall of x86-64 and aarch64
SLEEPS = {35, 230, 23, 270, 219, 101, 115, 72, 128}


def fail(text):
    sys.exit("FAILED: " + text)


class Source:
    """The lines of the functions of a file, by name."""

    def __init__(self, path):
        self.lines = {}
        with open(path, encoding="utf-8") as file:
            self.add(compile(file.read(), path, "exec"))

    def add(self, code):
        lines = {code.co_firstlineno}  # of a function that is just being called
        if hasattr(code, "co_lines"):
            lines |= {line for _, _, line in code.co_lines() if line is not None}
        else:
            line = code.co_firstlineno
            for difference in code.co_lnotab[1::2]:
                line += difference - 256 if difference > 127 else difference
                lines.add(line)
        self.lines.setdefault(getattr(code, "co_qualname", code.co_name), set()).update(lines)
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                self.add(inner)


def read_samples(path):
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)
    samples = {}
    for row in rows:
        sample = samples.setdefault(row["sample"], {"runs": row["runs"], "call": row["system_call"], "frames": []})
        if row["kind"] is not None:
            sample["frames"].append(row["text"] if row["kind"] == "python" else "")
    return list(samples.values())


def check_frames(samples, program):
    sources, seen = {}, set()
    for sample in samples:
        for text in sample["frames"]:
            match = re.fullmatch(r"(.*):(\d+) (.*)", text)
            if text == "" or (match and match[1].startswith("<")):
                continue
            if not match:
                fail("frame " + text)
            path, line, name = match[1], int(match[2]), match[3]
            if path not in sources:
                sources[path] = Source(path)
            lines = sources[path].lines.get(name, ())
            if line not in lines:
                fail("{}: that function has the lines {}".format(text, lines))
            if os.path.realpath(path) == os.path.realpath(program):
                seen.add((name, line))
    return seen


def check_lines(seen, program):
    """Each step is sampled where it spends its time, and called from one line."""
    with open(program, encoding="utf-8") as file:
        lines = file.read().splitlines()
    expected = {"busy": "total += i * i", "rest": "time.sleep", "encode": "json.dumps", "main": "step()"}
    for name, content in expected.items():
        if not any(name == function and content in lines[line - 1] for function, line in seen):
            fail("no sample of {} at '{}', but at {}".format(name, content, sorted(seen)))


def check_shares(samples, spent, program):
    def is_step(text, step):  # not a function of a library with the same name
        return text.startswith(program + ":") and text.endswith(" " + step)

    for step in ("busy", "rest", "encode"):
        inside = [s for s in samples if any(is_step(text, step) for text in s["frames"])]
        share, truth = len(inside) / len(samples), spent[step] / spent["all"]
        print("  {}: {:.1%} of samples, {:.1%} of time".format(step, share, truth))
        if abs(share - truth) > TOLERANCE:
            fail("{} has {:.1%} of the samples, and {:.1%} of the time".format(step, share, truth))
        for sample in inside:  # innermost first: this file's callers come last
            outer = [text.rsplit(" ", 1)[1] for text in sample["frames"] if text]  # native frames have none
            if outer[-3:] != [step, "main", "<module>"]:
                fail("the callers of {} are {}".format(step, outer))
        running = sum(s["runs"] for s in inside) / max(1, len(inside))
        if step == "busy" and running < 0.9:
            fail("busy() runs in only {:.0%} of its samples".format(running))
        if step == "rest":
            if running > 0.6:  # on a busy machine it waits for a processor afterwards
                fail("rest() runs in {:.0%} of its samples".format(running))
            sleeps = sum(s["call"] in SLEEPS for s in inside if not s["runs"])
            if sleeps < 0.95 * (len(inside) - sum(s["runs"] for s in inside)):
                fail("rest() waits in the calls " + str({s["call"] for s in inside}))


def main():
    program, spent_path, frames_path = sys.argv[1:]
    with open(spent_path, encoding="utf-8") as file:
        spent = json.load(file)
    samples = read_samples(frames_path)
    if len(samples) < 100 * spent["all"]:
        fail("only {} samples in {:.1f} s".format(len(samples), spent["all"]))
    python = sum(any(s["frames"]) for s in samples)
    if python < 0.95 * len(samples):
        fail("{} of {} samples have no Python frame".format(len(samples) - python, len(samples)))
    for sample in samples:
        if sample["runs"] != (sample["call"] is None):
            fail("a running thread waits in a call, or the reverse: " + str(sample))
    check_lines(check_frames(samples, program), program)
    check_shares(samples, spent, program)


main()

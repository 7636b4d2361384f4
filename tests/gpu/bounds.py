# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What bounds an iteration, and what a repair would bring: the programs of programs/torch_bounds.py and their repaired variants."""

import re

import diagnosis
from harness import REPOSITORY
from pytorch import is_available

SCRIPT = REPOSITORY / "tests/gpu/programs/torch_bounds.py"
SLOW = {"compiled"}  # compiling takes minutes
STEPS, WINDOWS, RECORDED_STEPS = 40, 3, 60


def run(harness):
    if not is_available(harness):
        return
    wanted = harness.options.programs

    def words(name, *options):
        return [harness.python, SCRIPT, name, *map(str, options)]

    def program(case):
        name, timed, recorded = case["case"], ("--steps", STEPS, "--windows", WINDOWS), ("--steps", RECORDED_STEPS, "--mark")
        return diagnosis.Program(name, words(name, *timed), words(name, *timed, "--repaired"), words(name, *recorded), words(name, *recorded, "--repaired"),
                                 case["lacks"], case["rule"], re.escape(case["place"]),
                                 together=words(name, *timed, "--variants") if case["others"] else None)
    cases = harness.run(words("list"), 60).lines()
    diagnosis.run_all(harness, "`tests/gpu/run bounds`, ms per iteration.",
                      [program(case) for case in cases if (wanted.search(case["case"]) if wanted.pattern else case["case"] not in SLOW)])

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The programs of programs/torch_bounds.py, recorded five times each: the bound and the first repair have to be the same every time."""

import collections

import bounds
import figures
from pytorch import is_available

ROUNDS, STEPS, LEAST_SAME = 5, 40, 0.95


def answers(harness, name):
    """[(bound, first repair)] of the recordings."""
    found = []
    for number in range(harness.rounds_of(ROUNDS)):
        recording = harness.recorded(f"repeat_{name}_{number}", bounds.program(harness, name, "--steps", STEPS, "--mark"), ["--tier", "times"], 90)
        if recording is None:
            continue
        trace = recording[1].path
        recording[1].close()
        diagnosis = bounds.diagnosis(harness, trace)
        trace.unlink()
        if not diagnosis or not diagnosis[0]:
            continue
        repair = bounds.first_repair(diagnosis[1])
        found.append((diagnosis[0]["bound"], repair["number"] if repair else "none"))
    return found


def run(harness):
    if not is_available(harness):
        return
    wanted = harness.options.programs
    cases = [case["case"] for case in harness.run(bounds.program(harness, "list"), 60).lines()]
    rows = []
    for name in cases:
        if not (wanted.search(name) if wanted.pattern else name not in bounds.SLOW):
            continue
        if harness.is_over():
            harness.skip(name, "time is over")
            continue
        counted = collections.Counter(answers(harness, name))
        rows.append((name, ", ".join(f"{times} × {bound} {rule}" for (bound, rule), times in counted.most_common()), len(counted) == 1))
        harness.detail(str(rows[-1]))
    figures.markdown(harness, f"`tests/gpu/run repeats`, {ROUNDS} recordings each.", ["Program", "Bound and first repair", "Same"],
                     [(name, text, "yes" if same else "**no**") for name, text, same in rows])
    same = sum(row[2] for row in rows)
    harness.check("same answer in every recording", same >= LEAST_SAME * len(rows), f"{same} of {len(rows)}")

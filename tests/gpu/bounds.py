# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What bounds an iteration, and what a repair would bring: the programs of programs/torch_bounds.py and their repaired variants. Each is
run bare, both variants in turn, and recorded; the report has to name the bound and the repair, and to predict the bare iteration time of
the repaired variant."""

import json
import statistics

import figures
from harness import REPOSITORY
from pytorch import is_available

SCRIPT = REPOSITORY / "tests/gpu/programs/torch_bounds.py"
SLOW = {"compiled"}  # compiling takes minutes
STEPS, WINDOWS, RECORDED_STEPS = 40, 3, 60
CLOSE = 15  # percent: a good prediction
LEAST_CLOSE, LEAST_RIGHT = 0.8, 0.9  # of the programs


def program(harness, case, *options):
    return [harness.python, SCRIPT, case, *map(str, options)]


def bare_ms(harness, case, repaired):
    """The step time of one process; None if it failed."""
    run = harness.run(program(harness, case, "--steps", STEPS, "--windows", WINDOWS, *(["--repaired"] if repaired else [])), 90)
    lines = run.lines()
    harness.check(f"{case}{' repaired' if repaired else ''} runs", run.code == 0 and lines, run.why())
    return lines[-1]["step_ms"] if run.code == 0 and lines else None


def diagnosis(harness, trace, *options):
    """The iteration and the findings of a report."""
    run = harness.run([harness.streamscope, "report", trace, "--format", "json", "--quiet", *options], 60)
    if not harness.check(f"report of {trace.name}", run.code == 0, run.why()):
        return None
    report = json.loads(run.out)
    return report["iteration"], report["worth_fixing"]


def first_repair(found):
    """The first finding with a predicted iteration time."""
    return next((finding for finding in found if finding["repaired_iteration_ns"] is not None), None)


def boundaries_agree(harness, case, trace, marked):
    """Iterations found without the ranges begin where the ranges do, to within one op. None if none are found."""
    found = diagnosis(harness, trace, "--iteration", "sequence")
    if not found or not found[0]:
        found = diagnosis(harness, trace, "--iteration", "graph")
    if not found or not found[0]:
        return None
    harness.detail(f"{case}: {found[0]['source']} {found[0]['count']} of {marked['count']}, {found[0]['ops']} ops, median {found[0]['median_ns']} ns")
    return abs(found[0]["ops"] - marked["ops"]) <= 1 and abs(found[0]["median_ns"] / marked["median_ns"] - 1) < 0.1


def judge(harness, case):
    """A row of the table, or None if a part failed."""
    name = case["case"]
    before = [bare_ms(harness, name, False)]
    after = [bare_ms(harness, name, True)]
    before.append(bare_ms(harness, name, False))
    after.append(bare_ms(harness, name, True))
    recording = harness.recorded(f"bound_{name}", program(harness, name, "--steps", RECORDED_STEPS, "--mark"), ["--tier", "times"], 120)
    if recording is None or None in before + after:
        return None
    trace = recording[1].path
    recording[1].close()
    found = diagnosis(harness, trace)
    if not found or not harness.check(f"{name}: iterations are found", found[0]):
        return None
    iteration, findings = found
    repair = first_repair(findings)
    rule = repair["number"] if repair else ""
    total = iteration["steady_ns"]
    row = {"case": name, "bound": iteration["bound"], "expected bound": case["bound"], "rule": rule, "expected rule": case["rule"],
           "bare ms": statistics.median(before), "recorded ms": iteration["median_ns"] / 1e6,
           "model ms": iteration["without_recording_ns"] / 1e6, "repaired ms": statistics.median(after), "predicted ms": None,
           "place": repair["called_from"] if repair else "", "expected place": case["place"], "samples": sum(line["samples"] for line in iteration["host"]),
           "unknown": iteration["shares_ns"]["unknown"] / total, "unmarked": boundaries_agree(harness, name, trace, iteration)}
    harness.check(f"{name}: shares sum to the iterations", sum(iteration["shares_ns"].values()) == total)
    if repair and rule == case["rule"]:
        row["predicted ms"] = repair["repaired_iteration_ns"] / 1e6
    return row


def off(row):
    """How far a prediction is from the measured time, in percent."""
    return 100 * (row["predicted ms"] / row["repaired ms"] - 1)


def is_place_right(row):
    return not row["expected place"] or row["place"].split()[-1].endswith(row["expected place"]) if row["place"] else not row["expected place"]


def print_table(harness, rows):
    figures.markdown(
        harness, "`tests/gpu/run bounds`, ms per iteration.",
        ["Program", "Bound", "First repair", "Bare", "Recorded", "Repaired", "Predicted", "Off", "Line", "Found unmarked"],
        [(row["case"], row["bound"] if row["bound"] == row["expected bound"] else f"**{row['bound']}** ({row['expected bound']})",
          row["rule"] if row["rule"] == row["expected rule"] else f"**{row['rule'] or 'none'}** ({row['expected rule'] or 'none'})",
          f"{row['bare ms']:.2f}", f"{row['recorded ms']:.2f}", f"{row['repaired ms']:.2f}",
          f"{row['predicted ms']:.2f}" if row["predicted ms"] else "", f"{off(row):+.0f} %" if row["predicted ms"] else "",
          row["place"] if is_place_right(row) else f"**{row['place'] or 'none'}** ({row['expected place']})",
          {True: "yes", False: "elsewhere", None: "no"}[row["unmarked"]]) for row in rows])


def run(harness):
    if not is_available(harness):
        return
    listed = harness.run(program(harness, "list"), 60)
    wanted = harness.options.programs
    cases = [case for case in listed.lines() if (wanted.search(case["case"]) if wanted else case["case"] not in SLOW)]
    rows = []
    for case in cases:
        if harness.is_over():
            harness.skip(case["case"], "time is over")
            continue
        row = judge(harness, case)
        if row:
            rows.append(row)
            harness.detail(json.dumps(row))
    if not rows:
        return
    print_table(harness, rows)
    predicted = [abs(off(row)) for row in rows if row["predicted ms"]]
    right_bound = sum(row["bound"] == row["expected bound"] for row in rows)
    right_rule = sum(row["rule"] == row["expected rule"] for row in rows)
    close = sum(value <= CLOSE for value in predicted)
    unmarked = sum(row["unmarked"] is True for row in rows)
    harness.log(f"  bound right in {right_bound} of {len(rows)}, first repair in {right_rule}; {close} of {len(predicted)} predictions within {CLOSE} %,"
                f" mean error {statistics.mean(predicted) if predicted else 0:.1f} %; iterations found unmarked in {unmarked}")
    harness.check("bound", right_bound >= LEAST_RIGHT * len(rows), f"{right_bound} of {len(rows)}")
    harness.check("first repair", right_rule >= LEAST_RIGHT * len(rows), f"{right_rule} of {len(rows)}")
    placed = [row for row in rows if row["expected place"]]
    right_place = sum(map(is_place_right, placed))
    harness.check("lines", right_place == len(placed), f"{right_place} of {len(placed)}")
    harness.check("predictions", close >= LEAST_CLOSE * len(predicted), f"{close} of {len(predicted)} within {CLOSE} %")
    harness.check("unmarked iterations", unmarked >= LEAST_RIGHT * len(rows), f"{unmarked} of {len(rows)}")
    harness.check("unknown shares", all(row["unknown"] <= 0.05 for row in rows), str({row["case"]: row["unknown"] for row in rows}))

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Programs and their repaired variants: does the report of a program name what bounds it and the repair, and predict the bare iteration time
of the repaired variant? Each is run bare, both variants in turn, and recorded several times: the answers have to be the same. What bounds
a program is established by measurement: its repair has to shorten the iteration, and where variants without something else are listed,
that one counts which shortens it most, and all that do so but for 5 % of the iteration. The processes take turns: beside the one whose turn it is,
others only start, up to what they import (turns/sitecustomize.py), and reports are made."""

import collections
import json
import re
import shutil
import statistics
from typing import NamedTuple

import figures
from harness import REPOSITORY

RUNS, RECORDINGS = 5, 5  # --rounds sets both
RUN_S, RECORD_S = 120, 150
TURNS = REPOSITORY / "tests/gpu/turns"
CLOSE = 15  # percent: a good prediction
ALIKE = 0.15  # launches of one program take the host longer or shorter by less: it is equally fast
SHORTENED = 0.05  # of the iteration: below this a repair, or the difference of two, establishes no bound
LEAST_BOUND, LEAST_REPAIR, LEAST_CLOSE, LEAST_UNMARKED, LEAST_SAME = 22 / 24, 20 / 24, 0.8, 0.9, 0.95
MOST_UNKNOWN = 0.05  # of the iteration


class Program(NamedTuple):
    """Commands are lists of words; before and after print {"step_ms": …} last. The marked ones have an NVTX range "step" around each step:
    iterations have to be found without. `line`: a regular expression for the line to repair, or "". `just_this`: the repaired program does what
    the rule proposes and nothing else, so that its prediction can be compared, and the finding has to be gone. The repaired program lacks
    `bound`, those of `others` lack what they are named after: the bound of the shortest is the one that the report has to name."""
    name: str
    before: list
    after: list
    marked: list
    marked_after: list
    bound: str
    rule: str
    line: str
    folder: object = None
    just_this: bool = True
    held_out: bool = False
    others: dict = {}  # by the bound that it has not: the command of a variant
    together: list | None = None  # prints {"variants_ms": {"before": …, bound: …}}: all of them in turns, instead of the commands above


class Answer(NamedTuple):
    iteration: dict
    findings: list
    unmarked: bool  # iterations were found without the ranges, and begin where these do

    def first_repair(self):
        return next((finding for finding in self.findings if finding["repaired_iteration_ns"] is not None), None)

    def short(self):
        repair = self.first_repair()
        return self.iteration["bound"], repair["number"] if repair else ""

    def launch_ns(self):
        return self.iteration["host_pace"]["launch_call_ns"]


def run_in_turn(harness, program, command, limit_s):
    """Runs one process of a program when no other one uses the device or measures."""
    turn = harness.work / "turn"
    turn.touch()
    if not any("python" in str(word) for word in command):
        return harness.run(["flock", "--close", turn, *command], limit_s, cwd=program.folder)
    return harness.run(command, limit_s, {"PYTHONPATH": str(TURNS), "STREAMSCOPE_TURN": str(turn)}, program.folder)


def printed(harness, program, command, what, value):
    """The value that one process prints last, or None."""
    run = run_in_turn(harness, program, command, RUN_S)
    lines = run.lines()
    ok = harness.check(f"{program.name}{what} runs", run.code == 0 and bool(lines) and value in lines[-1], run.why())
    return lines[-1][value] if ok else None


def bare_ms(harness, program):
    """{variant: the step times of its processes}, or None; "before" is the program itself."""
    variants = {"before": program.before, program.bound: program.after, **program.others}
    runs = []
    for _ in range(harness.rounds_of(RUNS)):
        if program.together:
            runs.append(printed(harness, program, program.together, " and its variants", "variants_ms"))
        else:
            runs.append({variant: printed(harness, program, command, "" if variant == "before" else f" without {variant}", "step_ms")
                         for variant, command in variants.items()})
        if not runs[-1] or None in runs[-1].values():
            return None
    return {variant: [run[variant] for run in runs] for variant in runs[0]}


def report(harness, trace, *options):
    """The iteration, None if there is none, and the findings of a report; None if it failed."""
    run = harness.run([harness.streamscope, "report", trace, "--format", "json", "--quiet", *options], 60)
    if not harness.check(f"report of {trace.name}", run.code == 0, run.why()):
        return None
    found = json.loads(run.out)
    return found["iteration"], found["worth_fixing"]


def answer_of(harness, program, trace):
    """What the report of a marked recording says, without the marks if it finds iterations without them; None if it finds none."""
    marked = report(harness, trace)
    if not marked or not harness.check(f"{trace.name}: iterations are found", bool(marked[0])):
        return None
    harness.check(f"{trace.name}: shares sum to the iterations", sum(marked[0]["shares_ns"].values()) == marked[0]["steady_ns"])
    for source in ("sequence", "graph"):
        found = report(harness, trace, "--iteration", source)
        if found and found[0]:
            agrees = abs(found[0]["ops"] - marked[0]["ops"]) <= 1 and abs(found[0]["median_ns"] / marked[0]["median_ns"] - 1) < 0.15
            harness.detail(f"{program.name}: {source} {found[0]['count']} of {marked[0]['count']}, {found[0]['ops']} ops of {marked[0]['ops']}")
            return Answer(*(found if agrees else marked), agrees)
    return Answer(*marked, False)


def recorded(harness, program, name, command):
    """The answer of one recording, or None."""
    path = harness.trace_path(name)
    run = run_in_turn(harness, program, [*harness.record_words(path, "--tier", "times"), *command], RECORD_S)
    if not harness.check(f"{name}: recorded", run.code == 0 and path.exists(), run.why()):
        return None
    return answer_of(harness, program, path)


def all_answers(harness, program):
    """Those of several recordings of the program; None if one failed. Recordings that say different things come with the result."""
    names = [f"{program.name}_{number}" for number in range(harness.rounds_of(RECORDINGS))]
    answers = [recorded(harness, program, name, program.marked) for name in names]
    if None in answers:
        return None
    if len({answer.short() for answer in answers}) > 1:
        differ = harness.kept / "differ"
        differ.mkdir(exist_ok=True)
        for name in names:
            shutil.copy(harness.trace_path(name), differ)
    return answers


def at_usual_pace(answers):
    """Those of recordings whose host was as fast as in the usual one."""
    known = [answer.launch_ns() for answer in answers if answer.launch_ns()]
    usual = statistics.median_low(known) if known else 0
    return [answer for answer in answers if not answer.launch_ns() or abs(answer.launch_ns() / usual - 1) <= ALIKE]


def counted_answers(answers):
    """{"BOUND RULE": how many gave it}"""
    return {" ".join(answer): times for answer, times in collections.Counter(answer.short() for answer in answers).items()}


def judge(harness, program):
    """A row of the table, or None if a part failed."""
    bare = bare_ms(harness, program)
    answers = all_answers(harness, program)
    repaired = recorded(harness, program, f"{program.name}_repaired", program.marked_after)
    if None in (bare, answers, repaired):
        return None
    usual = collections.Counter(answer.short() for answer in answers).most_common(1)[0][0]
    of_usual = [answer for answer in answers if answer.short() == usual]
    repair = of_usual[0].first_repair()
    medians = {variant: statistics.median(times) for variant, times in bare.items()}
    before = medians.pop("before")
    shortest = min(medians.values())
    predicted = [answer.first_repair()["repaired_iteration_ns"] / 1e6 for answer in of_usual] if repair and program.just_this and usual[1] == program.rule else []
    shares = [answer.iteration["shares_ns"]["unknown"] / answer.iteration["steady_ns"] for answer in answers]
    return {"name": program.name, "held out": program.held_out, "just this": program.just_this, "bound": usual[0],
            "expected bounds": [bound for bound, ms in medians.items() if ms <= shortest + SHORTENED * before], "rule": usual[1],
            "expected rule": program.rule, "line": repair["called_from"] if repair else "", "expected line": program.line,
            "answers": counted_answers(answers), "at usual pace": counted_answers(at_usual_pace(answers)), "bare ms": before, "repaired ms": medians[program.bound],
            "without ms": medians, "runs ms": bare,
            "recorded ms": statistics.median(answer.iteration["median_ns"] for answer in answers) / 1e6,
            "model ms": statistics.median(answer.iteration["without_recording_ns"] for answer in answers) / 1e6,
            "predicted ms": statistics.median(predicted) if predicted else None, "unknown": max(shares),
            "unmarked": sum(answer.unmarked for answer in answers) * 2 > len(answers),
            "after": repaired.short()[1], "title": repair["title"] if repair else ""}


def off(row):
    """How far a prediction is from the measured time, in percent."""
    return 100 * (row["predicted ms"] / row["repaired ms"] - 1)


def is_line_right(row):
    return bool(re.search(row["expected line"], row["line"] or ""))


def is_established(row):
    """The repair shortens the iteration."""
    return row["repaired ms"] <= (1 - SHORTENED) * row["bare ms"]


def has_bound(row):
    """Something that a variant lacks does."""
    return min(row["without ms"].values()) <= (1 - SHORTENED) * row["bare ms"]


def print_table(harness, title, rows):
    def shown(said, expected):
        return said or "none" if said in expected else f"**{said or 'none'}** ({' or '.join(expected) or 'none'})"

    figures.markdown(
        harness, title,
        ["Program", "Bound", "First repair", "Line", "Bare", "Recorded", "Repaired", "Predicted", "Same answers", "Repaired gets", "Found unmarked"],
        [(row["name"] + (" *" if row["held out"] else "") + ("" if is_established(row) else " (not shortened)"),
          shown(row["bound"], row["expected bounds"]), shown(row["rule"], [row["expected rule"]]),
          row["line"] if is_line_right(row) else f"**{row['line'] or 'none'}** ({row['expected line']})", f"{row['bare ms']:.3f}",
          f"{row['recorded ms']:.3f}", f"{row['repaired ms']:.3f}", f"{row['predicted ms']:.3f} ({off(row):+.0f} %)" if row["predicted ms"] else "",
          f"{max(row['answers'].values())} of {sum(row['answers'].values())}", row["after"] or "none", "yes" if row["unmarked"] else "no") for row in rows])


def enough(harness, text, right, of, least):
    harness.check(text, right >= least * of, f"{right} of {of}")
    harness.log(f"  {text}: {right} of {of}")


def check_same(harness, rows):
    alike = sum(len(row["at usual pace"]) == 1 for row in rows)
    harness.log(f"  same answers in the recordings with a host that was as fast as usual: {alike} of {len(rows)}")
    enough(harness, "same answers in every recording", sum(len(row["answers"]) == 1 for row in rows), len(rows), LEAST_SAME)


def summarize(harness, title, rows):
    """Prints the table of the rows and checks the limits."""
    print_table(harness, title, rows)
    established = [row for row in rows if is_established(row)]
    predicted = [abs(off(row)) for row in established if row["predicted ms"]]
    placed = [row for row in established if row["expected line"]]

    bounds = [row["bound"] in row["expected bounds"] for row in rows if has_bound(row)]
    enough(harness, "bound right", sum(bounds), len(bounds), LEAST_BOUND)
    enough(harness, "first repair right", sum(row["rule"] == row["expected rule"] for row in established), len(established), LEAST_REPAIR)
    enough(harness, "line right", sum(map(is_line_right, placed)), len(placed), 1)
    enough(harness, f"predictions within {CLOSE} %", sum(value <= CLOSE for value in predicted), len(predicted), LEAST_CLOSE)
    check_same(harness, rows)
    enough(harness, "iterations found unmarked", sum(row["unmarked"] for row in rows), len(rows), LEAST_UNMARKED)
    accused = [row for row in established if row["just this"] and row["rule"]]
    enough(harness, "no longer accused of the same", sum(row["after"] != row["rule"] for row in accused), len(accused), 1)
    enough(harness, "unknown shares small", sum(row["unknown"] <= MOST_UNKNOWN for row in rows), len(rows), 1)
    harness.log(f"  mean error of predictions {statistics.mean(predicted) if predicted else 0:.1f} %, median {statistics.median(predicted) if predicted else 0:.1f} %")


def judge_answers(harness, program):
    """The same of the recordings alone (--answers)."""
    answers = all_answers(harness, program)
    return answers and {"name": program.name, "answers": counted_answers(answers), "at usual pace": counted_answers(at_usual_pace(answers)),
                        "launch ns": [answer.launch_ns() for answer in answers]}


def summarize_answers(harness, title, rows):
    def shown(answers):
        return ", ".join(f"{answer} {times}" for answer, times in answers.items())
    figures.markdown(harness, title, ["Program", "Bound and first repair", "The same with a host as fast as usual", "A launch takes, ns"],
                     [(row["name"], shown(row["answers"]), shown(row["at usual pace"]), row["launch ns"]) for row in rows])
    check_same(harness, rows)


def run_all(harness, title, programs):
    each, sum_up = (judge_answers, summarize_answers) if harness.options.answers else (judge, summarize)

    def row_of(program):
        if harness.is_over():
            return harness.skip(program.name, "time is over")
        row = each(harness, program)
        if row:
            harness.detail(json.dumps(row))
        return row
    rows = [row for row in harness.parallel([(row_of, program) for program in programs]) if row]
    if rows:
        sum_up(harness, title, rows)

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Programs of other projects before and after the commit that repaired them: does the report of the first say what the commit says? The
archive (--corpus) has a folder for each pair and pairs.json: a list of {name, repository, commit, build, before, after, expected_bound,
expected_rule, expected_line, held_out}. `build`, `before` and `after` are commands in the pair's folder; `before` and `after` print
{"step_ms": …} last. `before_mark` is `before` with an NVTX range "step" around each step: iterations have to be found without."""

import concurrent.futures
import json
import re
import shlex
import statistics
import tarfile

import figures
from bounds import CLOSE, diagnosis, first_repair, off

BUILD_S, RUN_S, RECORD_S = 120, 60, 100
BARE_RUNS = 1  # each gives the median of its windows


def command(pair, which):
    words = pair[which]
    return ["bash", "-c", words if "=" in words.split()[0] else f"exec {words}"]


def step_ms(harness, pair, folder, which):
    run = harness.run(command(pair, which), RUN_S, cwd=folder)
    lines = run.lines()
    if not harness.check(f"{pair['name']} {which} runs", run.code == 0 and lines and "step_ms" in lines[-1], run.why()):
        return None
    return lines[-1]["step_ms"]


def recorded(harness, pair, folder, which):
    """Iteration and findings of a recording, or None."""
    name = f"pair_{pair['name']}_{which}"
    path = harness.trace_path(name)
    run = harness.run([*harness.record_words(path, "--tier", "times"), *command(pair, which)], RECORD_S, cwd=folder)
    if not harness.check(f"{name}: recorded", run.code == 0 and path.exists(), run.why()):
        return None
    return diagnosis(harness, path)


def judge(harness, pair, folder):
    """A row of the table, or None."""
    bare = {which: [step_ms(harness, pair, folder, which) for _ in range(BARE_RUNS)] for which in ("before", "after")}
    if None in bare["before"] + bare["after"]:
        return None
    found, marked, repaired = (recorded(harness, pair, folder, which) for which in ("before", "before_mark", "after"))
    if not found or not marked or not repaired:
        return None
    row = {"name": pair["name"], "held out": pair.get("held_out", False), "expected bound": pair["expected_bound"],
           "expected rule": pair["expected_rule"], "expected line": pair.get("expected_line", ""), "bare ms": statistics.median(bare["before"]),
           "repaired ms": statistics.median(bare["after"]), "bound": "", "rule": "", "line": "", "predicted ms": None, "after": "", "unmarked": False}
    iteration = found[0] or marked[0]
    findings = found[1] if found[0] else marked[1]
    if found[0] and marked[0]:
        row["unmarked"] = abs(found[0]["ops"] - marked[0]["ops"]) <= 1 and abs(found[0]["median_ns"] / marked[0]["median_ns"] - 1) < 0.15
    if not iteration:
        return row
    repair = first_repair(findings)
    row |= {"bound": iteration["bound"], "rules": [finding["number"] for finding in findings][:3]}
    if repair:
        row |= {"rule": repair["number"], "line": repair["called_from"], "title": repair["title"]}
        if repair["number"] == pair["expected_rule"]:
            row["predicted ms"] = repair["repaired_iteration_ns"] / 1e6
    again = first_repair(repaired[1])
    row["after"] = again["number"] if again else ""
    return row


def print_table(harness, rows):
    def shown(row, what):
        wanted = row[f"expected {what}"]
        return row[what] or "none" if row[what] == wanted else f"**{row[what] or 'none'}** ({wanted or 'none'})"

    figures.markdown(
        harness, "`tests/gpu/run pairs`, ms per iteration.",
        ["Program", "Bound", "First repair", "Line", "Bare", "Repaired", "Predicted", "After the commit", "Found unmarked"],
        [(row["name"] + (" (held out)" if row["held out"] else ""), shown(row, "bound"), shown(row, "rule"),
          row["line"] if is_line_right(row) else f"**{row['line'] or 'none'}** ({row['expected line']})", f"{row['bare ms']:.3f}", f"{row['repaired ms']:.3f}",
          f"{row['predicted ms']:.3f} ({off(row):+.0f} %)" if row["predicted ms"] else "", row["after"], "yes" if row["unmarked"] else "no") for row in rows])


def is_line_right(row):
    return not row["expected line"] or bool(re.search(row["expected line"], row["line"] or ""))


def run(harness):
    if not harness.options.corpus:
        return harness.skip("pairs", "no archive of pairs (--corpus)")
    root = harness.work / "pairs"
    root.mkdir()
    with tarfile.open(harness.options.corpus) as archive:
        archive.extractall(root, filter="data")
    listed = next(root.rglob("pairs.json"))
    pairs = [pair for pair in json.loads(listed.read_text()) if harness.options.programs.search(pair["name"])]

    def build(pair):
        return harness.run(["bash", "-c", pair["build"]], BUILD_S, cwd=listed.parent / pair["name"]) if pair["build"] else None
    with concurrent.futures.ThreadPoolExecutor(harness.options.jobs) as pool:
        built = list(pool.map(build, pairs))
    rows = []
    for pair, result in zip(pairs, built):
        if result and not harness.check(f"{pair['name']} builds: {shlex.quote(pair['build'])}", result.code == 0, result.why()):
            continue
        if harness.is_over():
            harness.skip(pair["name"], "time is over")
            continue
        row = judge(harness, pair, listed.parent / pair["name"])
        if row:
            rows.append(row)
            harness.detail(json.dumps(row))
    if not rows:
        return
    print_table(harness, rows)
    predicted = [abs(off(row)) for row in rows if row["predicted ms"]]
    for text, right, of in (("bound right", sum(row["bound"] == row["expected bound"] for row in rows), len(rows)),
                            ("first repair right", sum(row["rule"] == row["expected rule"] for row in rows), len(rows)),
                            ("line right", sum(map(is_line_right, rows)), len(rows)),
                            (f"predictions within {CLOSE} %", sum(value <= CLOSE for value in predicted), len(predicted)),
                            ("iterations found unmarked", sum(row["unmarked"] for row in rows), len(rows)),
                            ("no longer accused of the same", sum(row["after"] != row["expected rule"] for row in rows), len(rows))):
        harness.log(f"  {text}: {right} of {of}")

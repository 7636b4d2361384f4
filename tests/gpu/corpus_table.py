# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables of a corpus run. Reads only what the run saved, so that parts of several runs make one table:

  python3 tests/gpu/corpus_table.py CORPUS.json [CORPUS.json...]      later files win
"""

import collections
import json
import pathlib
import statistics
import sys

TIMED_WAYS = ("structure", "times", "events", "args")
ABNORMAL = ("crash", "hang", "exit code", "output", "trace")


def ways_of(row):
    return row.get("ways", {}).items()


def differences(row):
    """[(way, kind, text)] of a program."""
    return [(way, kind, text) for way, got in ways_of(row) for kind, text in got["differences"]]


def certain(row):
    """{(number, title): (finding, [ways])}: a finding once, with the ways that report it."""
    found = {}
    for way, got in ways_of(row):
        for finding in got.get("certain", []):
            found.setdefault((finding["number"], finding["title"]), (finding, []))[1].append(way)
    return found


def cost(row, way):
    """How much longer a recorded run takes, 0.1 for 10 %; None where it was not timed."""
    timing = row.get("timing")
    return timing[way] / timing["bare"] - 1 if timing and timing["bare"] > 0 else None


def percent(values):
    values = [value for value in values if value is not None]
    return f"{100 * statistics.median(values):+.0f} %" if values else "-"


def table(header, rows):
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "\n".join(["| " + " | ".join(line) + " |" for line in (header, ["---"] * len(header), *cells)])


def errors(row):
    return {key: value for key, value in certain(row).items() if value[0]["severity"] == "error"}


def most_possible(row):
    """The possible findings of the way that has most of them."""
    return max((got.get("possible", 0) for _, got in ways_of(row)), default=0)


def causes(row):
    """[result of the check of causes] of the program's traces that it checked; "" is right."""
    said = [*(got.get("causes") for _, got in ways_of(row)), row.get("causes_alone")]
    return [text for text in said if text is not None]


def project_line(name, rows):
    ran = [row for row in rows if row.get("ways")]
    kinds = collections.Counter(kind for row in ran for kind in {kind for _, kind, _ in differences(row)})
    timed = [row["timing"]["bare"] for row in ran if row.get("timing")]
    return [name, len(rows), len(ran), *(kinds[kind] for kind in ABNORMAL),
            sum(any(got.get("losses") for _, got in ways_of(row)) for row in ran), sum(len(errors(row)) for row in ran),
            sum(len(certain(row)) - len(errors(row)) for row in ran), sum(map(most_possible, ran)),
            sum(len(causes(row)) for row in ran), sum(any(causes(row)) for row in ran),
            *(percent([cost(row, way) for row in ran]) for way in TIMED_WAYS),
            f"{statistics.median(timed):.2f} s" if timed else "-"]


def markdown(results):
    programs = results["programs"]
    by_project = collections.defaultdict(list)
    for name, row in programs.items():
        by_project[row.get("project", name.partition("/")[0])].append(row)
    header = ["project", "programs", "ran", *ABNORMAL, "with losses", "certain errors", "certain below", "possible",
              "causes checked", "wrong",
              *(f"cost {way}" for way in TIMED_WAYS), "unrecorded"]
    rows = [project_line(name, rows) for name, rows in sorted(by_project.items())]
    if len(rows) > 1:
        rows.append(project_line("all", list(programs.values())))
    parts = [f"Corpus of real programs, {results.get('date', '?')}, {results.get('gpu') or 'unknown GPU'},"
             f" {results.get('streamscope', '?')}, {results.get('cores', '?')} cores. Columns of differences count programs;"
             " cost is the median of (recorded / unrecorded - 1) of whole runs, start and end included."
             f" Left to run: {results.get('left', 0)}.", table(header, rows)]
    kinds = collections.Counter(kind for row in programs.values() if row.get("ways") for kind in row.get("kinds", []))
    parts.append("Ran by kind: " + (", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())) or "none") + ".")

    def listed(title, header, rows):
        if rows:
            parts.extend([f"## {title}", table(header, rows)])

    listed("Differences", ["program", "recorded as", "what", "how"],
           [(name, *found) for name, row in programs.items() for found in differences(row)])
    listed("Certain errors, to be confirmed in the source", ["program", "finding", "recorded as", "text"],
           [(name, number, " ".join(ways), finding["text"]) for name, row in programs.items()
            for (number, _), (finding, ways) in errors(row).items()])
    listed("Other certain findings", ["program", "finding", "severity", "recorded as", "title"],
           [(name, number, finding["severity"], " ".join(ways), finding["title"]) for name, row in programs.items()
            for (number, _), (finding, ways) in certain(row).items() if finding["severity"] != "error"])
    listed("Wrong causes", ["program", "what"], [(name, text) for name, row in programs.items() for text in causes(row) if text])
    listed("Losses", ["program", "recorded as", "loss"],
           [(name, way, "; ".join(got["losses"])) for name, row in programs.items() for way, got in ways_of(row) if got.get("losses")])
    listed("Counts that differ from CUPTI's", ["program", "recorded as", "counted", "CUPTI"], counted_otherwise(programs))
    compared = {name: row["sources"] for name, row in programs.items() if row.get("sources")}
    if compared:
        equal = sum(got["is_equal"] for got in compared.values())
        parts.append(f"Recorded by callbacks and by wrappers: {len(compared)} programs, {equal} with the same counts.")
    listed("Differences between the sources of calls", ["program", "fact", "what", "by callbacks", "by wrappers"],
           [(name, *each) for name, got in compared.items() for each in got["differences"]]
           + [(name, "recording", got["why"], "", "") for name, got in compared.items() if got["why"] and not got["is_equal"]])
    listed("Facts that vary between recordings of one source", ["program", "facts"],
           [(name, ", ".join(got["varies"])) for name, got in compared.items() if got["varies"]])
    listed("Programs that fail unrecorded too", ["program", "exit code"],
           [(name, row["bare"]["code"]) for name, row in programs.items() if row.get("bare", {}).get("code")])
    listed("Not run", ["program", "why"], [(name, row["not_run"]) for name, row in programs.items() if row.get("not_run")])
    listed("Output that is not compared", ["program", "stdout", "stderr"],
           [(name, row["bare"]["stdout"], row["bare"]["stderr"]) for name, row in programs.items()
            if {"varies", "ignored"} & {row.get("bare", {}).get("stdout"), row.get("bare", {}).get("stderr")}])
    return "\n\n".join(parts) + "\n"


def counted_otherwise(programs):
    found = []
    for name, row in programs.items():
        if row.get("cupti", {}).get("vary"):
            continue  # without a recording, too
        for way, got in ways_of(row):
            wanted = row.get("cupti", {}).get("nodes" if way == "nodes" else "launches")
            counts = got.get("counts")
            kinds = [kind for kind in wanted or [] if counts and counts[kind] != wanted[kind] and (way, kind) != ("nodes", "graph_launch")]
            if kinds:
                found.append((name, way, *(" ".join(f"{kind} {source[kind]}" for kind in kinds) for source in (counts, wanted))))
    return found


def merged(paths):
    """The rows of several runs: what a later file has wins; one of only times adds them."""
    total = {"programs": {}}
    for path in paths:
        results = json.loads(pathlib.Path(path).read_text())
        rows = results.pop("programs")
        total.update(results)
        for name, row in rows.items():
            if row.get("ways") or row.get("not_run") or name not in total["programs"]:
                total["programs"][name] = row
            else:
                total["programs"][name].update((key, row[key]) for key in ("timing", "causes_alone", "sources") if key in row)
    return total


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print(markdown(merged(sys.argv[1:])), end="")

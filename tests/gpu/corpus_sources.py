# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Phase "sources" of a corpus run: each program is recorded by CUPTI's callbacks and by wrappers, and both traces must have the
same counts. What differs between two recordings by callbacks too is the program's own and is not compared."""

import sqlite3

from harness import Trace

SOURCES = ("cupti", "interposed")
TIER = "times"
FACTS = {
    # Copies and memsets are compared as ops: those of 0 bytes end in the runtime, which only callbacks see where it is linked
    # statically. How often a program polls until work is done depends on time alone.
    "calls": "SELECT kind, count(*) FROM v_api_call WHERE kind NOT IN ('other', 'malloc', 'free', 'module_load', 'memcpy', 'memset')"
             " AND NOT (kind IN ('event_query', 'stream_query') AND result = 600) GROUP BY 1",
    "ops": "SELECT kind, count(*) FROM v_op GROUP BY 1",
    "ops with their call": "SELECT 'ops', count(*) FROM op WHERE kind IN (0, 1, 2) AND api_call_id IS NOT NULL",
    "edges": "SELECT 'of events', count(*) FROM event_wait WHERE record_id IS NOT NULL",
    "findings": "SELECT string.value, count(*) FROM finding JOIN string ON string.id = detector_id GROUP BY 1",
}
# Listed only: many findings are derived from measured times.
NOT_JUDGED = ("findings",)


def facts_of(trace):
    facts = {what: trace.counted(sql) for what, sql in FACTS.items()}
    facts["losses"] = dict.fromkeys((loss.partition(":")[0] for loss in trace.losses()), 1)
    return facts


def record(machine, program, source, number=0):
    """(facts, what saw the calls, "") of one recording, or (None, None, why there is none)."""
    harness = machine.harness
    path = harness.work / f"{program.file_name}.{source}{number}.sqlite"
    command = [harness.streamscope, "record", "-o", path, "--force", "--quiet", "--tier", TIER, "--source", source, "--"]
    finished = machine.run([*command, *machine.command(program)], program, machine.options.patience)
    if finished.code is None:
        return None, None, "ended after its limit"
    if not path.exists():
        return None, None, f"no trace, exit code {finished.code}"
    try:
        harness.run([harness.streamscope, "analyze", path], 120)
        trace = Trace(path)
        facts, collector = facts_of(trace), trace.collector()
        trace.close()
    except sqlite3.Error as error:
        return None, None, f"cannot be read: {error}"
    finally:
        path.unlink()
    facts["exit code"] = {str(finished.code): 1}
    return facts, collector, ""


def differences(first, second):
    """[(fact, key, in the first, in the second)]."""
    return [(what, key, first[what].get(key, 0), second[what].get(key, 0)) for what in first
            for key in sorted({**first[what], **second[what]}) if first[what].get(key, 0) != second[what].get(key, 0)]


def compare(machine, program):
    """The row of one program."""
    recorded = {source: record(machine, program, source) for source in SOURCES}
    row = {"collectors": {source: collector for source, (_, collector, _) in recorded.items()}, "differences": [], "varies": [], "why": ""}
    (by_callbacks, _, why), (by_wrappers, _, other_why) = recorded.values()
    if by_callbacks is None or by_wrappers is None:
        row["why"] = why if why == other_why else f"by callbacks: {why or 'recorded'}; by wrappers: {other_why or 'recorded'}"
        row["is_equal"] = why == other_why
        return row
    found = differences(by_callbacks, by_wrappers)
    varying = set()
    if found:
        again, *_ = record(machine, program, "cupti", 1)
        varying = {what for what, *_ in differences(by_callbacks, again)} if again else set()
    row["differences"] = [list(each) for each in found if each[0] not in varying]
    row["varies"] = sorted({each[0] for each in found} & varying)
    row["is_equal"] = not any(each[0] not in NOT_JUDGED for each in row["differences"])
    return row


def judge(harness, program, row):
    got = row["sources"]
    wrong = [each for each in got["differences"] if each[0] not in NOT_JUDGED]
    harness.check(f"{program.name} sources: equal", got["is_equal"], got["why"] or f"(fact, what, by callbacks, by wrappers) {wrong[:8]}")
    collector = got["collectors"]["interposed"]
    if collector is not None:
        harness.check(f"{program.name} sources: wrappers", collector.startswith("interposed"), collector)


def run(harness, machine, programs, rows, update):
    """The phase, for the programs that are built; `update` saves a row."""

    def one(program):
        if not harness.is_over() and "sources" not in rows[program.name]:
            update(program, project=program.project.name, sources=compare(machine, program))
        if "sources" in rows[program.name]:
            judge(harness, program, rows[program.name])

    harness.parallel([(one, program) for program in programs])

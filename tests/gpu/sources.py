# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Calls seen by wrappers against calls seen by CUPTI's callbacks: the same program recorded both ways, in tier structure and
in tier times, must give the same facts. A fact that differs is recorded by callbacks twice more; if it varies between these
recordings too, it is the program's. Names of calls may differ where the runtime is linked statically: wrappers then see the
driver's."""

import collections
import re

import corpus_table
from counts import VARIANTS, plain
from harness import REPOSITORY
from pytorch import SCRIPT, is_available

# A fact: its name and the query of two columns, what and how often.
FACTS = {
    "ops": "SELECT kind, count(*) FROM op GROUP BY 1",
    "kernels": "SELECT name.value, count(*) FROM op JOIN string AS name ON name.id = op.name_id WHERE op.kind = 0 GROUP BY 1",
    # Copies and memsets are compared as ops: those of 0 bytes end in the runtime, which only callbacks see where it is linked statically.
    "kinds of calls": "SELECT kind, count(*) FROM v_api_call WHERE kind NOT IN ('other', 'malloc', 'free', 'module_load', 'memcpy', 'memset')"
                      " GROUP BY 1",
    "bytes": "SELECT kind || ' ' || bytes, count(*) FROM op WHERE kind IN (1, 2) GROUP BY 1",
    "streams": "SELECT stream.kind || ' ' || ifnull(stream.priority, ''), count(*) FROM stream"
               " WHERE id IN (SELECT stream_id FROM op) GROUP BY 1",
    "ops of streams": "SELECT stream.kind || ' x' || n, count(*) FROM (SELECT stream_id, count(*) AS n FROM op GROUP BY 1)"
                      " JOIN stream ON stream.id = stream_id GROUP BY 1",
    "records": "SELECT ifnull(flags, 0), count(*) FROM event_record GROUP BY 1",
    "waits": "SELECT binding, count(*) FROM event_wait GROUP BY 1",
    "edges": "SELECT 'edges', count(*) FROM event_wait WHERE record_id IS NOT NULL",
    "syncs": "SELECT kind, count(*) FROM host_sync WHERE kind <> 5 GROUP BY 1",
    "contexts": "SELECT 'contexts', count(*) FROM context",
    "devices": "SELECT ifnull(compute_capability, 0) || ' ' || ifnull(sm_count, 0), count(*) FROM device GROUP BY 1",
    # CUPTI also reports clones that the driver makes for itself.
    "graphs": "SELECT executable, count(*) FROM graph WHERE executable = 1 GROUP BY 1",
    "nodes": "SELECT graph_node.kind, count(*) FROM graph_node JOIN graph ON graph.id = graph_id WHERE executable = 1 GROUP BY 1",
    "node names": "SELECT name.value, count(*) FROM graph_node JOIN graph ON graph.id = graph_id"
                  " JOIN string AS name ON name.id = graph_node.name_id WHERE executable = 1 GROUP BY 1",
    "graph edges": "SELECT executable, count(*) FROM graph_edge JOIN graph ON graph.id = graph_id WHERE executable = 1 GROUP BY 1",
    "accesses": "SELECT source, count(*) FROM access GROUP BY 1",
    "findings": "SELECT string.value || ' ' || severity || ' ' || confidence, count(*) FROM finding"
                " JOIN string ON string.id = detector_id WHERE string.value <> 'poll-storm' GROUP BY 1",  # depends on time alone
}
# Also compared in tier times. Its other findings are derived from measured times, so they may differ.
FACTS_OF_TIMES = {
    "errors": "SELECT string.value, count(*) FROM finding JOIN string ON string.id = detector_id WHERE severity = 2 GROUP BY 1",
    "timed ops": "SELECT kind, count(*) FROM op WHERE start_ns IS NOT NULL AND end_ns IS NOT NULL GROUP BY 1",
    "ops with their call": "SELECT kind, count(*) FROM op WHERE kind IN (0, 1, 2) AND api_call_id IS NOT NULL GROUP BY 1",
    "grids": "SELECT grid_x || 'x' || grid_y || 'x' || grid_z || ' ' || block_x || 'x' || block_y || 'x' || block_z, count(*)"
             " FROM op JOIN launch_shape AS shape ON shape.id = launch_shape_id GROUP BY 1",
    "kernels of calls": "SELECT kernel.value || ' by a call of kind ' || call.kind, count(*) FROM op"
                        " JOIN api_call AS call ON call.id = op.api_call_id JOIN string AS kernel ON kernel.id = op.name_id"
                        " WHERE op.kind = 0 GROUP BY 1",
}
# A copy that blocks the host has its call in host_sync.
WITHOUT_CALL = ("SELECT max(0, (SELECT count(*) FROM op WHERE kind IN (0, 1, 2) AND api_call_id IS NULL AND graph_node IS NULL)"
                " - (SELECT count(*) FROM host_sync WHERE kind = 5))")
MORE_RECORDINGS = 2  # by callbacks, of facts that differ
TIERS = ("structure", "times")
# Programs of tests/apps that no other section counts; those that end after a fixed time or need a second library are left out.
MORE_APPS = {
    "legacy_sync": [], "ranges": [], "cost_loop": [],
    "pairing_stress": ["--waits", 5000], "many_threads": ["--launches", 4000],
    "races": [], "faults": ["device_syncs", "--device", "cuda"], "hangs": ["crossed_signals", "--repaired", "--device", "cuda"],
    "task_queue_balance": ["--quick"], "task_queue_dag": ["--quick"], "task_queue_stress": ["--runs", 5],
}
TORCH_PROGRAMS = REPOSITORY / "tests/gpu/programs/torch_programs.py"
TORCH_TIMEOUT_S = 150
ON_TWO_DEVICES = ("torch nccl", "torch two_devices")


def facts_of(harness, trace, tier):
    """{name of a fact: {key: how often}}."""
    facts = {}
    for what, sql in {**FACTS, **(FACTS_OF_TIMES if tier == "times" else {})}.items():
        try:
            facts[what] = trace.counted(sql)
        except Exception as error:  # a query that does not fit the schema is a failed check of its own
            harness.check(f"query {what}", False, str(error))
    names = collections.Counter()
    for name, count in trace.rows("SELECT name, count(*) FROM v_api_call GROUP BY name"):
        names[plain(name)] += count
    facts["calls"] = dict(names)
    facts["losses"] = dict.fromkeys(trace.losses(), 1)
    return facts


def record(harness, name, command, tier, source, options, timeout):
    """The facts of one recording, or None after a failed check."""
    label = f"{name}.{tier}.{source}"
    recording = harness.recorded(label, command, ["--tier", tier, "--source", source, *options], timeout)
    if recording is None:
        return None
    _, trace = recording
    harness.check(f"{label}: source of calls", trace.collector().startswith(source), f"collector {trace.collector()!r}")
    harness.run([harness.streamscope, "analyze", trace.path], 60)
    facts = facts_of(harness, trace, tier)
    if tier == "times":
        facts["work without its call"] = {"ops": trace.value(WITHOUT_CALL)}
        if facts["work without its call"]["ops"]:
            harness.log(f"  {label}: {facts['work without its call']['ops']} kernels, copies or memsets without their call")
    trace.close()
    return facts


def is_expected(what, tier, by_callbacks, by_wrappers):
    """Whether a difference is one of those that the sources have by nature."""
    if what == "calls":
        return True
    if what == "node names":  # callbacks do not report the kernels of nodes that were added one by one
        return all(by_wrappers.get(key, 0) >= count for key, count in by_callbacks.items())
    return what == "findings" and tier == "times"


def differences(by_callbacks, by_wrappers):
    """[(fact, key, by callbacks, by wrappers)] of what differs."""
    found = []
    for what in by_callbacks:
        ours, theirs = by_callbacks[what], by_wrappers.get(what, {})
        found += [(what, key, ours.get(key, 0), theirs.get(key, 0)) for key in {**ours, **theirs} if ours.get(key, 0) != theirs.get(key, 0)]
    return found


def varying_facts(harness, name, arguments, first):
    """The facts that differ between recordings by callbacks alone."""
    varying = set()
    for number in range(MORE_RECORDINGS):
        again = record(harness, f"{name}.again{number}", *arguments)
        if again is not None:
            varying |= {what for what, *_ in differences(first, again)}
    return varying


def compare(harness, name, command, tier="structure", options=(), timeout=60):
    """Records a program by both sources. Returns the rows of its differences."""
    facts = {source: record(harness, name, command, tier, source, options, timeout) for source in ("cupti", "interposed")}
    if None in facts.values():
        return []
    by_callbacks, by_wrappers = facts["cupti"], facts["interposed"]
    rows = differences(by_callbacks, by_wrappers)
    unexpected = {what for what, *_ in rows if not is_expected(what, tier, by_callbacks[what], by_wrappers.get(what, {}))}
    varying = varying_facts(harness, name, (command, tier, "cupti", options, timeout), by_callbacks) if unexpected else set()
    for what in by_callbacks:
        wrong = [row[1:] for row in rows if row[0] == what] if what in unexpected - varying else []
        harness.check(f"{name}, {tier}: {what}", not wrong, f"(what, by callbacks, by wrappers): {wrong[:6]}")
    if "calls" in dict.fromkeys(row[0] for row in rows):
        harness.detail(f"  {name}, {tier}: calls by callbacks {by_callbacks['calls']}, by wrappers {by_wrappers['calls']}")
    return [(name, tier, what, str(key)[:80], ours, theirs,
             "WRONG" if what in unexpected - varying else "varies" if what in varying else "expected")
            for what, key, ours, theirs in rows if what != "calls"]


def torch_cases():
    """{name: command behind the interpreter} of the PyTorch programs."""
    listed = re.search(r"^CASES = \[(.*?)\]", TORCH_PROGRAMS.read_text(), re.M | re.S).group(1)
    cases = {f"torch {case}": [TORCH_PROGRAMS, case] for case in re.findall(r"\w+", listed)}
    for name in ("torch distributed", "torch nccl"):
        cases[name] = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", 2, *cases[name]]
    cases["torch streams"] = [SCRIPT, "--steps", 10]
    return cases


def programs(harness):
    """[(name, command, options, timeout)] of all programs that are there."""
    found = [(app + variant, [harness.app(app + variant)], [], 60) for app, variants in VARIANTS.items() for variant in variants]
    for app, arguments in MORE_APPS.items():
        found += [(name, [harness.app(name), *arguments], [], 60) for name in (app, f"{app}_shared") if name == app or harness.app(name).exists()]
    found += [(f"{app} with args", [harness.app(app)], ["--with", "args"], 60) for app in ("pipeline", "graph_replay", "races")]
    missing = [name for name, command, *_ in found if not command[0].exists()]
    for name in missing:
        harness.skip(name, "the program is not built")
    return [program for program in found if program[0] not in missing]


def print_differences(harness, rows):
    header = ["program", "tier", "fact", "what", "by callbacks", "by wrappers", "verdict"]
    if rows:
        harness.table(header, rows)
    (harness.out / "sources.md").write_text(corpus_table.table(header, rows) + "\n")
    harness.log(f"  {len(rows)} differences, {sum(row[-1] == 'WRONG' for row in rows)} of them wrong; also in {harness.out / 'sources.md'}")


def run(harness):
    wanted = harness.options.programs
    tiers = [tier for tier in TIERS if harness.can_record("--tier", tier, "--source", "interposed")]
    for tier in set(TIERS) - set(tiers):
        harness.skip(f"tier {tier}", "this build does not record it by wrappers")
    found = programs(harness)
    if any(wanted.search(name) for name in torch_cases()) and is_available(harness):
        two_devices = harness.run(["nvidia-smi", "--list-gpus"], 30).out.count("GPU ") > 1
        for name, words in torch_cases().items():
            if name in ON_TWO_DEVICES and not two_devices:
                harness.skip(name, "needs two GPUs")
            else:
                found.append((name, [harness.python, *words], [], TORCH_TIMEOUT_S))
    tasks = [(compare, harness, name, command, tier, options, timeout)
             for tier in tiers for name, command, options, timeout in found if wanted.search(name)]
    harness.log(f"  {len(tasks)} comparisons")
    print_differences(harness, sorted(row for rows in harness.parallel(tasks) for row in rows or []))

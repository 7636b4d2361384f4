# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Calls seen by wrappers against calls seen by CUPTI's callbacks: the same program recorded both ways in tier structure
must give the same facts. Names of calls may differ where the runtime is linked statically: wrappers then see the driver's."""

import collections

from counts import VARIANTS, plain

# A fact: its name and the query of two columns, what and how often.
FACTS = {
    "ops": "SELECT kind, count(*) FROM op GROUP BY 1",
    "kernels": "SELECT name.value, count(*) FROM op JOIN string AS name ON name.id = op.name_id WHERE op.kind = 0 GROUP BY 1",
    "bytes": "SELECT kind || ' ' || bytes, count(*) FROM op WHERE kind IN (1, 2) GROUP BY 1",
    "streams": "SELECT stream.kind || ' ' || ifnull(stream.priority, ''), count(*) FROM stream"
               " WHERE id IN (SELECT stream_id FROM op) GROUP BY 1",
    "ops of streams": "SELECT stream.kind || ' x' || n, count(*) FROM (SELECT stream_id, count(*) AS n FROM op GROUP BY 1)"
                      " JOIN stream ON stream.id = stream_id GROUP BY 1",
    "records": "SELECT ifnull(flags, 0), count(*) FROM event_record GROUP BY 1",
    "waits": "SELECT binding, count(*) FROM event_wait GROUP BY 1",
    "edges": "SELECT 'edges', count(*) FROM event_wait WHERE record_id IS NOT NULL",
    "syncs": "SELECT kind, count(*) FROM host_sync GROUP BY 1",
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
                " JOIN string ON string.id = detector_id GROUP BY 1",
}


def facts_of(harness, trace, path):
    facts = {}
    for what, sql in FACTS.items():
        try:
            facts[what] = trace.counted(sql)
        except Exception as error:  # a query that does not fit the schema is a failed check of its own
            harness.check(f"query {what}", False, str(error))
    facts["calls"] = collections.Counter()
    for name, count in trace.rows("SELECT name, count(*) FROM v_api_call GROUP BY name"):
        facts["calls"][plain(name)] += count
    facts["losses"] = trace.losses()
    return facts


def compare(harness, name, command, options=(), timeout=60):
    facts = {}
    for source in ("cupti", "interposed"):
        recording = harness.recorded(f"{name}.{source}", command, ["--tier", "structure", "--source", source, *options], timeout)
        if recording is None:
            return
        _, trace = recording
        collector = trace.value("SELECT value FROM process JOIN string ON string.id = collector_id")
        harness.check(f"{name}: seen by {source}", str(collector).startswith(source), f"collector {collector!r}")
        harness.run([harness.streamscope, "analyze", trace.path], 60)
        facts[source] = facts_of(harness, trace, trace.path)
        trace.close()
    for what, expected in facts["cupti"].items():
        got = facts["interposed"].get(what)
        if what == "calls" and expected != got:
            harness.log(f"  {name}: calls only by callbacks {dict(expected - got)}, only by wrappers {dict(got - expected)}")
            continue
        if what == "node names":  # callbacks do not report the kernels of nodes that were added one by one
            harness.check(f"{name}: {what}", all(got.get(key, 0) >= count for key, count in expected.items()), f"{expected}, {got}")
            continue
        if expected != got:
            expected = {key: value for key, value in dict(expected).items() if dict(got).get(key) != value} if isinstance(got, dict) else expected
        harness.check(f"{name}: {what}", expected == got or facts["cupti"][what] == got, f"by callbacks {expected}, by wrappers {got}")


def run(harness):
    tasks = []
    for app, variants in VARIANTS.items():
        for variant in variants:
            tasks.append((compare, harness, app + variant, [harness.app(app + variant)]))
    for app in ("pipeline", "graph_replay", "races"):
        tasks.append((compare, harness, f"{app} with args", [harness.app(app)], ["--with", "args"]))
    harness.parallel(tasks)

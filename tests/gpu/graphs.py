# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Graphs: topology against CUDA's own, counts at both levels of detail, and late attach. graph_cost.py measures what a launch costs."""

import counts


def colors(kinds, edges):
    """Canonical colors of the nodes of a small graph, refined by their neighbors until nothing changes."""
    color = [str(kind) for kind in kinds]
    for _ in kinds:
        color = [
            f"{color[node]}<{sorted(color[a] for a, b in edges if b == node)}>{sorted(color[b] for a, b in edges if a == node)}"
            for node in range(len(kinds))
        ]
        names = {text: str(number) for number, text in enumerate(sorted(set(color)))}
        color = [f"{kind}:{names[text]}" for kind, text in zip(kinds, color)]
    return color


def isomorphic(first, second):
    """Whether two (kinds, edges) graphs are the same but for numbering: a search over nodes of equal color."""
    (kinds, edges), (other_kinds, other_edges) = first, second
    if len(edges) != len(other_edges) or len(kinds) != len(other_kinds):
        return False
    mine, theirs = colors(kinds, edges), colors(other_kinds, other_edges)
    if sorted(mine) != sorted(theirs):
        return False
    edges, other_edges = set(map(tuple, edges)), set(map(tuple, other_edges))

    def extend(mapping):
        node = len(mapping)
        if node == len(kinds):
            return True
        for candidate in range(len(kinds)):
            if candidate in mapping or mine[node] != theirs[candidate]:
                continue
            trial = mapping + [candidate]
            if all(((a, node) in edges) == ((trial[a], candidate) in other_edges)
                   and ((node, a) in edges) == ((candidate, trial[a]) in other_edges) for a in range(node)):
                if extend(trial):
                    return True
        return False

    return extend([])


def recorded_graphs(trace, executable):
    """{graph row: (kinds, edges)} of the graphs in a trace."""
    graphs = {}
    for (graph,) in trace.rows("SELECT id FROM graph WHERE executable = ?", executable):
        nodes = trace.rows("SELECT id, kind FROM graph_node WHERE graph_id = ? ORDER BY native_id", graph)
        index = {node: number for number, (node, _) in enumerate(nodes)}
        edges = [(index.get(a), index.get(b)) for a, b in trace.rows(
            "SELECT from_node_id, to_node_id FROM graph_edge WHERE graph_id = ?", graph)]
        graphs[graph] = ([kind for _, kind in nodes], edges)
    return graphs


def check_topology(harness, name, line, trace):
    for executable, what in ((0, "graph"), (1, "executable graph")):
        found = recorded_graphs(trace, executable)
        for number, graph in enumerate(line["graphs"]):
            expected = (graph["nodes"], [tuple(edge) for edge in graph["edges"]])
            matches = [row for row, got in found.items()
                       if None not in sum(got[1], ()) and isomorphic(expected, got)]
            harness.check(f"{name}: {what} {number} equals cudaGraphGetEdges", bool(matches),
                          f"expected (kinds, edges) {expected}; the trace has {found}")


def check_replay(harness, app, detail):
    name = f"{app}.{detail}"
    recording = harness.recorded(name, [harness.app(app)], ["--graphs", detail])
    if recording is None:
        return
    lines, trace = recording
    counts.check_counts(harness, name, lines, trace, nodes=detail == "nodes")
    check_topology(harness, name, lines[-1], trace)
    if detail == "nodes":
        strangers = trace.value(
            "SELECT count(*) FROM op WHERE graph_node IS NOT NULL AND graph_node NOT IN (SELECT native_id FROM graph_node)")
        harness.equal(f"{name}: ops of graph nodes that the trace does not know", 0, strangers)
    trace.close()
    if app == "graph_replay" and detail == "nodes":
        harness.keep(trace.path, "graph_replay_nodes")


def check_late_attach(harness, app):
    """The library is loaded after a graph was instantiated: launching that graph must not crash."""
    folder = harness.work / f"{app}.late"
    folder.mkdir()
    finished = harness.run([harness.app(app), harness.collector], cwd=folder)
    if not harness.check(f"{app}: runs after a late attach", finished.code == 0, finished.why()):
        return
    found = harness.finished_trace(folder, app)
    if found is None:
        return
    line = finished.lines()[-1]
    # Calls, not ops: without graph tracing the device reports only the nodes.
    launches = found.value("SELECT count(*) FROM v_api_call WHERE name = 'cudaGraphLaunch'")
    harness.equal(f"{app}: graph launches recorded after the attach", line["graph_launches"], launches)
    harness.check(f"{app}: the late attach is stated", found.losses(1), f"losses {found.losses(0)}")
    found.close()


def run(harness):
    harness.parallel([(check_replay, harness, app, detail) for app in ("graph_replay", "graph_replay_shared")
                      for detail in ("launch", "nodes")]
                     + [(check_late_attach, harness, app) for app in ("late_graph", "late_graph_shared")])

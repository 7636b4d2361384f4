# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What recording adds to the launch of a graph of 200 kernels: time until the call returns, and until the graph is done.
Fresh processes in alternation, medians of each, then over the rounds."""

import statistics

import figures

NODES = 200
ROUNDS = 9
STRUCTURE_ADDED_US = 0.3  # to the bare launch
TIMES_US = 25  # of a whole launch
WAYS = {
    "bare": None,
    "structure": ["--tier", "structure", "--source", "interposed"],
    "structure by callbacks": ["--tier", "structure", "--source", "cupti"],
    "times": ["--tier", "times", "--source", "interposed"],
    "times by callbacks": ["--tier", "times", "--source", "cupti"],
    "times by callbacks, nodes": ["--tier", "times", "--source", "cupti", "--graphs", "nodes"],
}


def measure(harness):
    """{way: [the program's line of each round]}, or None after a failed check."""
    chain = [harness.app("graph_replay"), "--chain", NODES]
    ways = {way: options for way, options in WAYS.items() if options is None or harness.can_record(*options)}
    for way in set(WAYS) - set(ways):
        harness.skip(f"graph launch, {way}", "this build does not record it")
    found = {way: [] for way in ways}
    for number in range(harness.rounds_of(ROUNDS)):
        if harness.is_over():
            harness.log(f"  time is over after {number} rounds")
            break
        order = list(ways)
        first = number % len(order)  # none always follows the same neighbor
        for way in order[first:] + order[:first]:
            options = ways[way]
            finished = harness.run(chain, 60) if options is None else harness.record("graph_cost", chain, options)[0]
            if finished.code != 0 or not finished.lines():
                harness.check(f"graph launch, {way}", False, finished.why())
                return None
            found[way].append(finished.lines()[-1])
    return found if harness.check("graph launch measured", bool(found["bare"]), "no round was measured") else None


def run(harness):
    found = measure(harness)
    if found is None:
        return
    launch, done = ({way: [line[key] for line in lines] for way, lines in found.items()} for key in ("launch_us", "done_us"))
    limits = {"structure": f"bare + {STRUCTURE_ADDED_US} µs", "times": f"{TIMES_US} µs"}
    rows = []
    for way, values in launch.items():
        added = [value - bare for value, bare in zip(values, launch["bare"])]
        rows.append((f"**{way}**" if way in limits else way, f"{statistics.median(values):.2f}", f"{min(values):.2f} to {max(values):.2f}",
                     f"{statistics.median(added):+.2f}", f"{statistics.median(done[way]):.1f}", limits.get(way, "")))
    figures.markdown(harness, f"`tests/gpu/run cost`: launch of a graph of {NODES} kernels, µs, medians of {len(launch['bare'])} rounds.",
                     ["Way", "Launch", "by round", "Added", "Until it is done", "Limit"], rows)
    if "structure" in launch:
        added = statistics.median(mine - bare for mine, bare in zip(launch["structure"], launch["bare"]))
        harness.budget("graph_structure_added_us", added, "us", STRUCTURE_ADDED_US, added <= STRUCTURE_ADDED_US)
    if "times" in launch:
        value = statistics.median(launch["times"])
        harness.budget("graph_times_us", value, "us", TIMES_US, value <= TIMES_US)

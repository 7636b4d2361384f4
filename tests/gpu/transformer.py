# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What recording costs an eager PyTorch transformer whose host is the limit (programs/torch_transformer.py). A process per way
starts and warms up, three for the ways that have a limit; then they take turns of 40 steps. The same program differs by some
percent from process to process, so the cost of a way is the median over pairs of processes, with a 95 % interval. Windows with
and without recording in one process (--measure-cost) tell less than a percent. `streamscope cost` runs the program by itself in turns."""

import json
import statistics

import cost
import figures
import windows
from harness import Trace
from pytorch import is_available
from windows import SCRIPT

LEAST_KERNELS = 300  # of a step
SETS, COPIES, TURNS = 4, 3, 4
START_S = 120  # the most that a process may take until it is warm; all start at once
LIMITS = {"structure": 2, "times": 15, "flight recorder": 1}  # percent
MEASURED_STEPS = 3000  # of a recording that measures its own cost
COST_STEPS, COST_S = 400, 400  # of a run of `streamscope cost`; the most that all of them may take
AGREEMENT = 3  # percentage points between these and the alternated measurement
RECORDINGS = {
    "structure": ["--tier", "structure"],
    "times": ["--tier", "times", "--source", "interposed"],
    "times by callbacks": ["--tier", "times", "--source", "cupti"],
    "flight recorder": ["--flight-recorder", 8],
}


def check_kernels(harness, options):
    """Kernels of a step, from a recording."""
    recording = harness.recorded("transformer", [harness.python, SCRIPT, "--steps", 20], options, 120)
    if recording is None:
        return
    lines, trace = recording
    kernels = trace.value(
        "SELECT count(*) FROM op JOIN api_call AS call ON call.id = op.api_call_id, range JOIN string ON string.id = range.name_id"
        " WHERE string.value = 'measured' AND op.kind = 0 AND call.start_ns BETWEEN range.start_ns AND range.end_ns")
    busy_ns = trace.value("SELECT sum(end_ns - start_ns) FROM op JOIN (SELECT range.start_ns AS first, range.end_ns AS last FROM range"
                          " JOIN string ON string.id = name_id WHERE value = 'measured') ON op.start_ns BETWEEN first AND last")
    steps = lines[-1]["steps"] if lines else 20
    harness.log(f"  {kernels / steps:.1f} kernels a step; {(busy_ns or 0) / 1e6 / steps:.2f} ms of device time in a step of"
                f" {lines[-1]['step_ms'] if lines else 0:.2f} ms")
    harness.check(f"at least {LEAST_KERNELS} kernels a step", kernels >= LEAST_KERNELS * steps, f"{kernels} in {steps} steps")
    harness.equal("losses", [], trace.losses())
    trace.close()


def ways_of(harness):
    """{way: (words before the script, words behind its pipes)}."""
    ways = {"bare": ([], [])}
    for way, options in RECORDINGS.items():
        if not harness.can_record(*options):
            harness.skip(way, f"this build does not record with {' '.join(map(str, options))}")
            continue
        ways[way] = ([harness.streamscope, "record", "--force", "--quiet", *options], [])
    nsys = cost.find_nsys(harness)
    if nsys:
        ways["nsys -t cuda"] = ([nsys, "profile", "-t", "cuda", "--sample=none", "--cpuctxsw=none", "-f", "true"], [])
    else:
        harness.skip("nsys", "not found on this machine")
    ways["torch.profiler"] = ([], ["--kineto"])
    return ways


def processes(harness, ways):
    """[(way, copy, process)]; the ways with a limit, and the bare one, have several."""
    found = []
    for way, (before, after) in ways.items():
        for copy in range(COPIES if way == "bare" or way in LIMITS else 1):
            name = f"{way} {copy}".replace(" ", "_")
            words = [*before, "-o", f"transformer.{name}", *(["--"] if before[0] == harness.streamscope else [])] if before else []
            found.append((way, copy, cost.Turns(harness, name, words, after, [harness.python, SCRIPT])))
    return found


def measure(harness):
    """{way: {(set, copy): ms per step, the median of its turns}}."""
    ways = ways_of(harness)
    found = {way: {} for way in ways}
    for number in range(harness.rounds_of(SETS)):
        if harness.is_over():
            harness.log(f"  time is over after {number} sets")
            break
        all_of_them = processes(harness, ways)
        turns = cost.take_turns(harness, "transformer", [process for _, _, process in all_of_them], 1, TURNS, START_S)
        if turns is None:
            break
        for way, copy, process in all_of_them:
            found[way][number, copy] = statistics.median(turns[process.way])
        harness.log(f"  set {number}: " + ", ".join(
            f"{way} {' '.join(f'{value:.2f}' for at, value in values.items() if at[0] == number)}" for way, values in found.items()))
    return found


def added(found, way):
    """[percent that a process of the way adds to the bare one of the same set and number]."""
    return [100 * (value / found["bare"][at] - 1) for at, value in found[way].items()]


def print_table(harness, found):
    rows = []
    for way, values in found.items():
        median = f"{statistics.median(values.values()):.2f}"
        spread = f"{min(values.values()):.2f} to {max(values.values()):.2f}"
        if way == "bare":
            rows.append((way, median, spread, "", "", ""))
            continue
        low, middle, high = figures.interval(added(found, way))
        limit = f"{LIMITS[way]:+} %" if way in LIMITS else ""
        said = figures.verdict(low, middle, high, LIMITS[way]) if way in LIMITS else ""
        name = f"**{way}**" if way in LIMITS else way
        rows.append((name, median, spread, f"{middle:+.1f} %" + (f" ({low:+.1f} to {high:+.1f})" if low > float("-inf") else ""), limit, said))
    figures.markdown(harness, f"`tests/gpu/run transformer`, ms per step, {len(found['bare'])} pairs of processes; added: median of the ratios"
                     " and its 95 % interval.", ["Way", "ms", "by process", "Added", "Limit", "Verdict"], rows)


def check_agreement(harness, what, percent, alternated, text):
    low, middle, high = figures.interval(alternated)
    name = f"{what} agree within {AGREEMENT} points"
    if abs(percent - middle) > AGREEMENT and high - low > 2 * AGREEMENT:
        harness.skip(name, f"not resolved: {text}")
    else:
        harness.check(name, abs(percent - middle) <= AGREEMENT, text)


def check_measured_cost(harness, way, alternated):
    """The cost that a recording measures itself, in windows of one process: against the limit, and against other processes."""
    measured, path = windows.measured_cost(harness, f"transformer.measured.{way.replace(' ', '_')}", RECORDINGS[way], MEASURED_STEPS)
    if measured is None:
        return
    trace = Trace(path)
    collector = trace.collector()
    trace.close()
    low, middle, high = figures.interval(alternated)
    text = f"measured by the recording {windows.text_of(measured)}, alternated {middle:.1f} % ({low:.1f} to {high:.1f}), {collector}"
    harness.log(f"  {way}: {text}")
    windows.check_limit(harness, way, measured)
    check_agreement(harness, f"{way}: both", measured["percent"], alternated, text)


def check_cost_of_runs(harness, way, alternated):
    """What `streamscope cost` says of the same program."""
    words = [harness.streamscope, "cost", "--json", *RECORDINGS[way], "--", harness.python, SCRIPT, "--steps", COST_STEPS]
    finished = harness.run(words, COST_S)
    if not harness.check(f"{way}: streamscope cost", finished.code == 0, finished.why()):
        return
    measured = json.loads(finished.out)
    low, middle, high = figures.interval(alternated)
    pairs = ", ".join(f"{pair['bare_s']:.2f} {pair['recorded_s']:.2f}" for pair in measured["pairs"])
    text = (f"by streamscope cost {measured['percent']:.2f} % ({measured['low']:.2f} to {measured['high']:.2f}), alternated {middle:.1f} % ({low:.1f} to"
            f" {high:.1f}); s: {pairs}")
    harness.log(f"  {way}: {text}")
    check_agreement(harness, f"{way}: streamscope cost and they", measured["percent"], alternated, text)


def run(harness):
    if not is_available(harness):
        return
    by_wrappers = RECORDINGS["times"]
    check_kernels(harness, by_wrappers if harness.can_record(*by_wrappers) else ["--tier", "times"])
    found = measure(harness)
    if not harness.check("steps measured", bool(found["bare"]), "no set of processes was measured"):
        return
    print_table(harness, found)
    for way, limit in LIMITS.items():
        if found.get(way):
            figures.check_limit(harness, f"{way}: cost of a step", added(found, way), "%", limit)
            # CUPTI costs as much in the windows without recording.
            check = check_cost_of_runs if way == "times" else check_measured_cost
            check(harness, way, added(found, way))

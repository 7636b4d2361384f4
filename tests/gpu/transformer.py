# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What recording costs an eager PyTorch transformer whose host is the limit (programs/torch_transformer.py). In each round a
fresh process per way starts and warms up; then one after another measures 120 steps while the others wait. The cost of a way
is the median of its ratios to the bare process of the same round, with a 95 % interval."""

import statistics

import cost
import figures
from harness import REPOSITORY, Trace
from pytorch import is_available

SCRIPT = REPOSITORY / "tests/gpu/programs/torch_transformer.py"
LEAST_KERNELS = 300  # of a step
ROUNDS = 9
START_S = 120  # the most that a process may take until it is warm; all start at once
LIMITS = {"structure": 2, "times": 15, "flight recorder": 1}  # percent
MEASURED_STEPS = 1500  # of a recording that measures its own cost
AGREEMENT = 3  # percentage points between that and the alternated measurement
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
        path = harness.work / f"transformer.{way.replace(' ', '_')}.sqlite"
        ways[way] = ([harness.streamscope, "record", "-o", path, "--force", "--quiet", *options, "--"], [])
    nsys = cost.find_nsys(harness)
    if nsys:
        ways["nsys -t cuda"] = ([nsys, "profile", "-t", "cuda", "--sample=none", "--cpuctxsw=none", "-f", "true", "-o", "transformer_nsys"], [])
    else:
        harness.skip("nsys", "not found on this machine")
    ways["torch.profiler"] = ([], ["--kineto"])
    return ways


def one_round(harness, ways, first):
    """{way: ms per step}, beginning with way number `first`; None after a failed check."""
    runners = [cost.Turns(harness, way, before, after, [harness.python, SCRIPT]) for way, (before, after) in ways.items()]
    found, at = {}, None
    try:
        for at in runners:
            at.answer(START_S)  # is warm
        for at in runners[first:] + runners[:first]:
            found[at.way] = at.take()
        at = None
    except (OSError, ValueError):
        pass  # of `at`
    ended = {runner: runner.finish() for runner in runners}
    return found if cost.all_ended_well(harness, "transformer", ended, at) else None


def measure(harness):
    """{way: [ms per step of each round]}."""
    ways = ways_of(harness)
    found = {way: [] for way in ways}
    for number in range(harness.rounds_of(ROUNDS)):
        if harness.is_over():
            harness.log(f"  time is over after {number} rounds")
            break
        values = one_round(harness, ways, number % len(ways))
        if values is None:
            break
        for way, value in values.items():
            found[way].append(value)
        harness.log(f"  round {number}: " + ", ".join(f"{way} {value:.3f}" for way, value in values.items()))
    return found


def print_table(harness, found):
    rows = []
    for way, values in found.items():
        median = f"{statistics.median(values):.2f}"
        if way == "bare":
            rows.append((way, median, f"{min(values):.2f} to {max(values):.2f}", "", "", ""))
            continue
        low, middle, high = figures.interval(figures.percents(found, way))
        limit = f"{LIMITS[way]:+} %" if way in LIMITS else ""
        said = figures.verdict(low, middle, high, LIMITS[way]) if way in LIMITS else ""
        name = f"**{way}**" if way in LIMITS else way
        rows.append((name, median, f"{min(values):.2f} to {max(values):.2f}", f"{middle:+.1f} % ({low:+.1f} to {high:+.1f})", limit, said))
    figures.markdown(harness, f"`tests/gpu/run transformer`, ms per step, {len(found['bare'])} rounds of fresh processes; added: median of"
                     " the paired ratios and its 95 % interval.", ["Way", "ms", "by round", "Added", "Limit", "Verdict"], rows)


def check_measured_cost(harness, way, alternated):
    """The cost that a recording measures itself, against the alternated measurement."""
    options = [*RECORDINGS[way], "--measure-cost"]
    finished, path = harness.record(f"transformer.measured.{way}", [harness.python, SCRIPT, "--steps", MEASURED_STEPS], options, 180)
    if not harness.check(f"{way}: recorded with --measure-cost", finished.code == 0 and path.exists(), finished.why()):
        return
    info = harness.info(path, way) or {}
    trace = Trace(path)
    collector = trace.collector()
    trace.close()
    measured = info.get("recording_cost")
    if not harness.check(f"{way}: info has the measured cost", isinstance(measured, dict) and measured.get("percent") is not None, str(measured)):
        return
    low, middle, high = figures.interval(alternated)
    text = (f"measured by the recording {measured['percent']:.1f} % ({measured.get('low')} to {measured.get('high')},"
            f" {measured.get('windows')} windows), alternated {middle:.1f} % ({low:.1f} to {high:.1f}), {collector}")
    harness.log(f"  {way}: {text}")
    harness.check(f"{way}: both agree within {AGREEMENT} points", abs(measured["percent"] - middle) <= AGREEMENT, text)


def run(harness):
    if not is_available(harness):
        return
    by_wrappers = RECORDINGS["times"]
    check_kernels(harness, by_wrappers if harness.can_record(*by_wrappers) else ["--tier", "times"])
    found = measure(harness)
    if not harness.check("steps measured", bool(found["bare"]), "no round was measured"):
        return
    print_table(harness, found)
    for way, limit in LIMITS.items():
        if found.get(way):
            figures.check_limit(harness, f"{way}: cost of a step", figures.percents(found, way), "%", limit)
    if not harness.can_record("--measure-cost"):
        harness.skip("--measure-cost", "this build does not have the option")
        return
    for way in ("structure", "times"):
        if found.get(way):
            check_measured_cost(harness, way, figures.percents(found, way))

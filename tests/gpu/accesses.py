# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""--with accesses: races of unmodified programs, random programs against an oracle of bytes and order, and the cost."""

import collections
import shutil
import statistics

import races
from harness import REPOSITORY

TORCH = ("side_read", "side_write", "copy_into_read", "gemm_output", "two_writers", "freed_while_read")
RANDOM_PROGRAMS, AT_ONCE = 2000, 100
OPTIONS = ["--with", "accesses"]
KERNELS = 12  # of a random program
PROGRAMS = REPOSITORY / "tests/gpu/programs"
MEMCHECK = shutil.which("compute-sanitizer")


def unknown_launches(trace):
    return trace.value("SELECT count(*) FROM access WHERE source = 4 AND address IS NULL AND bytes IS NULL")


def torch_pair(harness, case):
    for repaired in (False, True):
        name = f"torch_{case}{'_repaired' if repaired else ''}"
        command = [harness.python, PROGRAMS / "torch_races.py", case] + (["--repaired"] if repaired else [])
        recording = harness.recorded(name, command, OPTIONS, timeout=120)
        if recording is None:
            continue
        trace = recording[1]
        found = races.findings(trace)
        texts = [row[0] for row in trace.rows("SELECT value FROM finding JOIN string ON string.id = text_id")]
        unknown = unknown_launches(trace)
        trace.close()
        harness.check(f"{name}: {'silent' if repaired else 'one certain race'}",
                      not found if repaired else [row[2] for row in found] == [races.CERTAIN], f"{found}")
        if not repaired:
            advice = "call record_stream() of that tensor" if case == "freed_while_read" else "a tensor of"
            harness.check(f"{name}: names the tensor", any(advice in text for text in texts), f"{texts}")
        harness.check(f"{name}: every access is known", unknown == 0, f"{unknown} launches are not known")


def torch_tensor_map(harness):
    """Which part of a tensor such a kernel copies is not known."""
    for repaired in (False, True):
        name = f"torch_gemm_output_of_16_bits{'_repaired' if repaired else ''}"
        command = [harness.python, PROGRAMS / "torch_races.py", "gemm_output_of_16_bits"] + (["--repaired"] if repaired else [])
        recording = harness.recorded(name, command, OPTIONS, timeout=120)
        if recording is None:
            continue
        found = races.findings(recording[1])
        recording[1].close()
        harness.check(f"{name}: {'silent' if repaired else 'a possible race'}",
                      not found if repaired else [row[2] for row in found] == [races.POSSIBLE], f"{found}")


def sanitizer_case(harness, case, races_expected):
    """A case of PyTorch's own sanitizer, which sees operators: the same verdict here, where kernels are seen."""
    command = [harness.python, PROGRAMS / "torch_sanitizer_cases.py", case]
    recording = harness.recorded(f"sanitizer_{case}", command, OPTIONS, timeout=120)
    if recording is None:
        return
    found = races.findings(recording[1])
    recording[1].close()
    harness.check(f"{case} of PyTorch's sanitizer: {races_expected} certain", [row[2] for row in found] == [races.CERTAIN] * races_expected,
                  f"{found}")


def beyond_the_table(harness):
    """Kernels that touch more than their table has room for are known as exactly as others."""
    races.run_programs(harness, "many_granules", OPTIONS)
    for case in harness.run([harness.app("many_granules"), "--list"]).lines():
        name = f"exact_{case['case']}"
        recording = harness.recorded(name, [harness.app("many_granules"), case["case"]], OPTIONS)
        if recording is None:
            continue
        trace = recording[1]
        pieces = trace.rows("SELECT writes, bytes, rows, pitch_bytes FROM access WHERE source = 4 AND bytes > 4")
        words = trace.rows("SELECT writes, sum(bytes * coalesce(rows, 1)) FROM access WHERE source = 4 AND bytes = 4 GROUP BY writes")
        unknown = unknown_launches(trace)
        trace.close()
        harness.check(f"{case['case']}: every byte is exact", (pieces, words) == ([(1, 508 * 512, 4096, 512 * 512)], [(1, 64 * 4)]),
                      f"{pieces[:4]} {words}")
        harness.check(f"{case['case']}: every access is known", unknown == 0, f"{unknown} launches are not known")


# Random programs.


def bytes_of(spans):
    """{how: set of bytes} of what a kernel touches."""
    touched = collections.defaultdict(set)
    for how, offset, count, stride, size in spans:
        for i in range(count):
            touched[how].update(range(offset + i * stride, offset + i * stride + size))
    return touched


def conflict(one, other):
    """Whether two kernels touch a byte in ways that race."""
    return any(one[a] & other[b] for a in one for b in other if (a, b) not in ((0, 0), (2, 2)))


def races_of(steps):
    """(touched bytes of each kernel, the pairs of kernels that race)."""
    before = [set(), set(), set()]  # kernels that the next one of a stream is ordered after
    kernels, pairs = [], set()
    for step in steps:
        if step[0] == "order":
            before[step[2]] |= before[step[1]]
            continue
        number, stream, touched = len(kernels), step[1], bytes_of(step[2])
        for earlier, (_, others) in enumerate(kernels):
            if earlier not in before[stream] and conflict(others, touched):
                pairs.add((earlier, number))
        kernels.append((stream, touched))
        before[stream].add(number)
    return kernels, pairs


def seen_bytes(trace):
    """[{how: set of addresses}] of all kernels, in the order of their calls."""
    seen = collections.defaultdict(lambda: collections.defaultdict(set))
    for call, writes, address, size, rows, pitch in trace.rows(
            "SELECT call_number, writes, address, bytes, coalesce(rows, 1), coalesce(pitch_bytes, 0) FROM access"
            " WHERE source = 4 AND address IS NOT NULL"):
        for row in range(rows):
            seen[call][writes].update(range(address + row * pitch, address + row * pitch + size))
    calls = [row[0] for row in trace.rows("SELECT call_number FROM op WHERE kind = 0 ORDER BY call_number")]
    return calls, [seen[call] for call in calls]


def random_programs(harness, seed):
    """(programs, racy programs, kernels whose bytes are wrong, false races, programs with races of which none was found)."""
    recording = harness.recorded(f"random_{seed}", [harness.app("random_accesses"), str(AT_ONCE), str(seed)], OPTIONS, timeout=180)
    if recording is None:
        return None
    lines, trace = recording
    programs = [line["steps"] for line in lines]
    calls, seen = seen_bytes(trace)
    found = trace.rows(
        "SELECT a.call_number, b.call_number FROM finding JOIN string ON string.id = detector_id"
        " JOIN op a ON a.id = first_op_id JOIN op b ON b.id = second_op_id WHERE string.value = 'stream-race' AND confidence = 0")
    trace.close()
    if not harness.check(f"random programs {seed}: all kernels recorded", len(calls) == KERNELS * len(programs), f"{len(calls)}"):
        return None
    place = {call: i for i, call in enumerate(calls)}
    found_in = collections.defaultdict(set)
    for first, second in found:
        found_in[place[first] // KERNELS].add((place[first] % KERNELS, place[second] % KERNELS))
    racy = wrong = false = missed = 0
    for number, steps in enumerate(programs):
        kernels, pairs = races_of(steps)
        racy += bool(pairs)
        false += len({tuple(sorted(pair)) for pair in found_in[number]} - pairs)
        missed += bool(pairs) and not found_in[number]
        own = seen[number * KERNELS:(number + 1) * KERNELS]
        # All touch one piece of memory: where it begins shows at its lowest byte.
        base = min((min(values) for kernel in own for values in kernel.values()), default=0)
        base -= min(min(values) for _, touched in kernels for values in touched.values())
        for kernel, (_, touched) in zip(own, kernels):
            moved = {how: {byte - base for byte in values} for how, values in kernel.items()}
            if moved == touched:
                continue
            wrong += 1
            if wrong <= 3:
                differs = {how: sorted(moved.get(how, set()) ^ touched.get(how, set())) for how in (0, 1, 2)}
                harness.log(f"  seed {seed}, program {number}: {differs} differ by reads, writes, atomic operations")
    return len(programs), racy, wrong, false, missed


# Cost.


def copies(harness, command):
    """{name: what the program prints of it}."""
    return {line["copy"]: line for line in harness.run(command, timeout=120).lines() if "copy" in line}


def steps(harness, command):
    """What a run prints about its steps; nothing if it failed."""
    return next((line for line in harness.run(command, timeout=300).lines() if "step_ms" in line), {})


def median_of(runs, key):
    return statistics.median(run.get(key, 0) for run in runs)


def memory_budget(harness, name, bare, observed):
    """What is used beside the program's own; both by medians of runs."""
    bare, observed = median_of(bare, "used_mib"), median_of(observed, "used_mib")
    limit = bare / 10 + 256
    harness.budget(f"accesses_memory_{name}", observed - bare, "MiB", limit, 0 < bare and observed - bare <= limit)


def cost(harness):
    def observed(name, command):
        return harness.record_words(harness.trace_path(name), *OPTIONS, "--stacks", "syncs") + command

    def checked(command):
        return [MEMCHECK, "--tool", "memcheck"] + command

    copy = [harness.app("big_copy")]
    rows = []
    runs = {way: [copies(harness, command) for _ in range(3)]
            for way, command in (("bare", copy), ("observed", observed("copy", copy)), ("memcheck", checked(copy)))}
    for kind in ("float", "float4"):
        of_kind = {way: [run.get(kind, {}) for run in of_way] for way, of_way in runs.items()}
        times = {way: median_of(of_way, "ms") for way, of_way in of_kind.items()}
        ratio = times["observed"] / times["bare"] if times["bare"] else 0
        harness.budget(f"accesses_copy_{kind}_over_bare", ratio, "x", 30, 0 < ratio <= 30)
        harness.budget(f"accesses_copy_{kind}_over_memcheck", times["observed"] / (times["memcheck"] or 1), "x", 1,
                       times["observed"] <= times["memcheck"])
        rows.append([f"copy of 256 MiB by {kind}", *(f"{times[way]:.3f} ms" for way in ("bare", "observed", "memcheck"))])
    memory_budget(harness, "copy", of_kind["bare"], of_kind["observed"])

    step = [harness.python, PROGRAMS / "torch_transformer.py", "--steps"]
    bare = [steps(harness, step + ["60"]) for _ in range(3)]
    seen = [steps(harness, observed("steps", step + ["60"])) for _ in range(3)]
    memcheck = steps(harness, checked(step + ["4"])).get("step_ms", 0)
    bare_ms, seen_ms = median_of(bare, "step_ms"), median_of(seen, "step_ms")
    if harness.check("transformer measured", bare_ms and seen_ms and memcheck, f"{bare_ms} {seen_ms} {memcheck}"):
        harness.budget("accesses_step_over_bare", seen_ms / bare_ms, "x", 6, seen_ms / bare_ms <= 6)
        harness.budget("accesses_step_over_memcheck", seen_ms / memcheck, "x", 0.25, seen_ms / memcheck <= 0.25)
        memory_budget(harness, "step", bare, seen)
    rows.append(["eager PyTorch step", f"{bare_ms:.2f} ms", f"{seen_ms:.2f} ms", f"{memcheck:.2f} ms"])
    harness.table(["", "bare", "observed", "memcheck"], rows)


def run(harness):
    if harness.recorded("seen", [harness.app("kernel_races"), "plain_pointers"], OPTIONS) is None:
        return
    races.run_programs(harness, "kernel_races", OPTIONS)
    races.run_programs(harness, "bulk_races", OPTIONS)
    races.run_programs(harness, "races", OPTIONS)
    beyond_the_table(harness)
    harness.parallel([(torch_pair, harness, case) for case in TORCH])
    torch_tensor_map(harness)
    cases = harness.run([harness.python, PROGRAMS / "torch_sanitizer_cases.py", "--list"]).lines()[0]
    harness.parallel([(sanitizer_case, harness, case, expected) for case, expected in cases.items()])
    results = [row for row in harness.parallel([(random_programs, harness, seed) for seed in range(RANDOM_PROGRAMS // AT_ONCE)]) if row]
    totals = [sum(row[i] for row in results) for i in range(5)] if results else [0] * 5
    harness.log(f"  {totals[0]} random programs, {totals[1]} racy: {totals[2]} kernels with wrong bytes, {totals[3]} false races,"
                f" {totals[4]} programs whose races were missed")
    harness.check("random programs were recorded", totals[0] == RANDOM_PROGRAMS and totals[1] > 0, f"{totals}")
    harness.check("random programs: bytes are exact", totals[2] == 0, f"{totals[2]} kernels")
    harness.check("random programs: no false race", totals[3] == 0, f"{totals[3]}")
    harness.check("random programs: no missed race", totals[4] == 0, f"{totals[4]} programs")
    if MEMCHECK:
        cost(harness)
    else:
        harness.skip("cost of observing accesses", "compute-sanitizer is not there")

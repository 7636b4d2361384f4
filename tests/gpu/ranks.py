# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Jobs of several processes recorded into one folder: a trace of each rank, and one answer for the job."""

import concurrent.futures
import json
import queue
import re
import sqlite3

from harness import REPOSITORY

PROGRAM = REPOSITORY / "tests/gpu/programs/torch_ranks.py"
STAGES = REPOSITORY / "tests/gpu/programs/torch_stages.py"

# What is planted, the width of the model, and the causes that an expert may name: reading a value costs the wait and what was not
# launched ahead; a copy of pageable memory blocks the host for as long as it takes.
FAULTS = {
    "loader": (1024, ["host-outside"]),
    "log": (1024, ["host-outside"]),
    "interpreter": (1024, ["host-outside"]),
    "kernel": (1024, ["kernels"]),
    "batch": (1024, ["kernels"]),
    "tiny": (1024, ["host-launching"]),
    "sync": (4096, ["host-synchronization", "host-launching"]),
    "copy": (1024, ["copies", "host-synchronization"]),
    "memory": (1024, ["memory-management"]),
    "overlap": (4096, ["collectives"]),
}
HEALTHY = [1024, 1024, 4096]  # where the host is the slower part, and where the device is

HANG_S = 30  # after which a job is killed; it hangs after about 9
# What rank 1 does at the end, and what the recorder of rank 0 must say.
HANGS = {"missing": "rank 1 has not called all-reduce", "spins": "rank 1 has not begun all-reduce", "stops": "rank 1 .*it is stopped",
         "kind": "rank 1 calls all-gather", "dies": "rank 1 has not called all-reduce"}

# Programs that send to each other or run their collectives in graphs: what is planted and what may be named. A stage of a pipeline has no
# peer to compare it with, so there it is only said who makes others wait, and what it does meanwhile.
STAGES_FAULTS = {"pipeline": [("loader", ["host-outside"]), ("kernel", ["kernels"])],
                 "graph": [("loader", ["host-outside"]), ("kernel", ["kernels"])]}
STAGES_HANGS = {("pipeline", "silent"): r"rank 1 has not called send \d+ of communicator 0x[0-9a-f]+ to rank \d",
                ("pipeline", "dies"): "rank 1 has not called (receive|send|all-reduce)",
                ("graph", "silent"): "rank 1 has not called graph launch"}


def torchrun(harness, ranks, *options, program=PROGRAM):
    return [harness.python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), program, *options]


def record(harness, name, command, ranks=2, timeout=120, environment=None):
    folder = harness.work / name
    words = [harness.streamscope, "record", "--run", folder, "--quiet", "--"]
    finished = harness.run(words + command, timeout, environment)
    harness.check(f"{name}: recorded", finished.code == 0, finished.why())
    traces = sorted(path.name for path in folder.glob("rank*.sqlite"))
    harness.check(f"{name}: a trace of each rank", len(traces) == ranks, f"{traces}")
    return folder


def report(harness, name, folder):
    finished = harness.run([harness.streamscope, "report", folder, "--format", "json", "--quiet"], 120)
    if not harness.check(f"{name}: reported", finished.code == 0, finished.why()):
        return None
    return json.loads(finished.out)


def mean_step_ns(trace):
    with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
        starts = [row[0] for row in database.execute(
            "select start_ns from range join string on string.id = name_id where value = 'step' order by start_ns")][6:]
    return (starts[-1] - starts[0]) / (len(starts) - 1)


def judge(harness, name, ranks, width, fault="", causes=()):
    guilty = (len(name) + width) % ranks
    options = ["--width", str(width)] + (["--fault", fault, "--rank", str(guilty)] if fault else [])
    folder = record(harness, name, torchrun(harness, ranks, *options), ranks)
    judge_recorded(harness, name, folder, ranks, guilty, fault, causes)


def judge_recorded(harness, name, folder, ranks, guilty, fault="", causes=()):
    answer = report(harness, name, folder)
    if answer is None:
        return
    harness.detail(json.dumps(answer, indent=1)[:6000])
    harness.equal(f"{name}: ranks", list(range(ranks)), sorted(rank["rank"] for rank in answer["ranks"]))
    harness.equal(f"{name}: problems", [], answer["problems"])
    harness.equal(f"{name}: mismatches", [], answer["mismatches"])
    in_graphs = name.startswith("ranks_graph")  # how long collectives take there is not known
    harness.check(f"{name}: every rank communicates", in_graphs or all(rank["communication_ns"] > 0 for rank in answer["ranks"]), f"{answer['ranks']}")
    accused = [delay["ranks"] for delay in answer["delays"] if delay["ranks"]]  # that ranks take turns is no accusation
    if not fault:
        # Hosts differ even so: who is named must be the slowest by the program's own ranges, by at least half of what is said.
        steps = {rank: mean_step_ns(folder / f"rank-{rank:05}.sqlite") for rank in range(ranks)}
        for delay in answer["delays"]:
            for rank in delay["ranks"] if "other iterations" not in delay["text"] else ():
                lead = steps[rank] - min(steps.values())
                harness.check(f"{name}: names only who is slower", steps[rank] == max(steps.values()) and lead >= delay["cost_ns"] / 2,
                              f"{steps}, {delay}")
        harness.check(f"{name}: answered", True, f"{answer['delays']}")
        return
    if name.startswith("ranks_pipeline"):
        first = answer["awaited"][0] if answer["awaited"] else {"rank": None, "cause": None}
        harness.check(f"{name}: rank {guilty} makes others wait", first["rank"] == guilty and not any(set(named) - {guilty} for named in accused),
                      f"{answer['awaited']}, {answer['delays']}")
        harness.check(f"{name}: what it does", first["cause"] in causes, f"{answer['awaited']}")
        return
    harness.check(f"{name}: rank {guilty} alone", bool(accused) and all(named == [guilty] for named in accused), f"{answer['delays']}")
    if answer["delays"]:
        harness.check(f"{name}: cause", answer["delays"][0]["cause"] in causes, f"{answer['delays']}")


def hung(harness, name, number, devices, command, expected):
    """Runs two ranks that come to hang, each under a recorder of its own, until they are killed."""
    folder = harness.work / name

    def rank(which):
        environment = {"RANK": str(which), "LOCAL_RANK": str(which), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                       "MASTER_PORT": str(29611 + number), "STREAMSCOPE_JOB": name, "TORCH_FR_BUFFER_SIZE": "2000",
                       "CUDA_VISIBLE_DEVICES": devices}
        return harness.run([harness.streamscope, "record", "--run", folder, "--quiet", "--", "timeout", "-s", "KILL", HANG_S,
                            harness.python, *command], HANG_S + 60, environment)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        finished = list(pool.map(rank, range(2)))
    said = "\n".join(line for line in finished[0].err.splitlines() if "the job " in line)
    harness.check(f"{name}: verdict", re.search(expected, said), f"{said or finished[0].why()}")
    notes = [path.stat().st_size for path in folder.glob("*.hang")]
    harness.check(f"{name}: notes", len(notes) == 2 and max(notes) <= 4096, f"{notes}")
    after = harness.run([harness.streamscope, "hang", "--quiet", folder], 60)
    harness.check(f"{name}: verdict after the end", re.search(expected, after.out), after.why())
    harness.log(f"  {name}: {said}")


def hung_training(harness, number, fault, devices):
    name = f"ranks_hang_{fault}"
    dumps = harness.work / f"{name}_dumps"
    dumps.mkdir()
    hung(harness, name, number, devices, [PROGRAM, "--fault", fault, "--dump", dumps], HANGS[fault])
    if fault in ("missing", "kind"):  # PyTorch does not say whether a collective that was called has begun
        by_dumps = harness.run([harness.streamscope, "hang", "--quiet", dumps], 60)
        harness.check(f"{name}: dumps", "rank 1" in by_dumps.out.split(":")[0], by_dumps.why())
        harness.log(f"  {name}, by dumps: {by_dumps.out}")


def judge_stages(harness, kind, fault, causes, ranks):
    name = f"ranks_{kind}_{fault or 'healthy'}"
    guilty = len(name) % ranks
    options = [kind] + (["--fault", fault, "--rank", str(guilty)] if fault else []) + (["--reversed"] if guilty % 2 else [])
    folder = record(harness, name, torchrun(harness, ranks, *options, program=STAGES), ranks)
    judge_recorded(harness, name, folder, ranks, guilty, fault, causes)
    sizes = set()
    for rank in range(ranks):
        with sqlite3.connect(f"file:{folder / f'rank-{rank:05}.sqlite'}?mode=ro", uri=True) as database:
            sizes |= {row[0] for row in database.execute("select distinct rank_count from collective_call")}
            inside = database.execute("select count(*) from range r join string s on s.id = r.name_id join range o on o.thread_id = r.thread_id"
                                      " and o.domain_id = r.domain_id and o.start_ns < r.start_ns and o.end_ns is null"
                                      " join string t on t.id = o.name_id where t.value like 'ncclCommInit%'").fetchone()[0]
            harness.equal(f"{name}: ranges inside of one that makes a communicator, rank {rank}", 0, inside)
    harness.equal(f"{name}: sizes of communicators", {ranks}, sizes)


def hung_stages(harness, number, which, devices):
    kind, fault = which
    hung(harness, f"ranks_{kind}_hang_{fault}", number, devices, [STAGES, kind, "--fault", fault], STAGES_HANGS[which])


def run(harness):
    devices = harness.run(["nvidia-smi", "--list-gpus"], 30).out.count("GPU ")
    mpi = harness.run(["mpirun", "--version"], 30).code == 0
    one_device = {"CUDA_VISIBLE_DEVICES": "0"}
    folder = record(harness, "ranks_gloo", torchrun(harness, 2, "--backend", "gloo", "--iterations", "10"), environment=one_device)
    answer = report(harness, "ranks_gloo", folder)
    if answer:
        harness.equal("ranks_gloo: ranks", [0, 1], [rank["rank"] for rank in answer["ranks"]])
    if mpi:
        folder = harness.work / "ranks_mpi"
        finished = harness.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", harness.streamscope, "record", "--run", folder,
                                "--quiet", "--", harness.app("pipeline")], 120, one_device)
        harness.check("ranks_mpi: recorded", finished.code == 0, finished.why())
        harness.equal("ranks_mpi: a trace of each rank", 2, len(list(folder.glob("rank*.sqlite"))))
    else:
        harness.skip("ranks_mpi", "no mpirun")
    if devices < 2:
        harness.skip("ranks of NCCL", f"needs two GPUs, there are {devices}")
        return
    wanted = harness.options.programs
    chosen = lambda name: not wanted or wanted.search(name)
    for number, width in enumerate(HEALTHY):
        if chosen(f"ranks_healthy_{number}"):
            judge(harness, f"ranks_healthy_{number}", 2 + number % (devices - 1), width)
    for number, (fault, (width, causes)) in enumerate(FAULTS.items()):
        if chosen(f"ranks_{fault}"):
            judge(harness, f"ranks_{fault}", 2 + number % (devices - 1), width, fault, causes)
    for kind, faults in STAGES_FAULTS.items():
        for fault, causes in [("", ()), *faults]:
            if chosen(f"ranks_{kind}_{fault or 'healthy'}"):
                judge_stages(harness, kind, fault, causes, devices)
    pairs = queue.SimpleQueue()
    for first in range(0, devices - 1, 2):
        pairs.put(f"{first},{first + 1}")

    def hang(act, number, what):
        pair = pairs.get()
        try:
            act(harness, number, what, pair)
        finally:
            pairs.put(pair)

    with concurrent.futures.ThreadPoolExecutor(max(devices // 2, 1)) as pool:
        tasks = [(hung_training, fault) for fault in HANGS if chosen(f"ranks_hang_{fault}")]
        tasks += [(hung_stages, which) for which in STAGES_HANGS if chosen("ranks_{}_hang_{}".format(*which))]
        for done in [pool.submit(hang, act, number, what) for number, (act, what) in enumerate(tasks)]:
            done.result()

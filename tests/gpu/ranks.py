# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Jobs of two processes recorded into one folder: a trace of each rank, and one answer for the job."""

import json

from harness import REPOSITORY

PROGRAM = REPOSITORY / "tests/gpu/programs/torch_ranks.py"
FAULTS = {"loader": "host-outside", "kernel": "kernels", "sync": None}  # and the cause that is named, where there is only one


def torchrun(harness, *options):
    return [harness.python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", PROGRAM, *options]


def record(harness, name, command, timeout=120):
    folder = harness.work / name
    words = [harness.streamscope, "record", "--run", folder, "--quiet", "--"]
    finished = harness.run(words + command, timeout)
    harness.check(f"{name}: recorded", finished.code == 0, finished.why())
    traces = sorted(path.name for path in folder.glob("rank*.sqlite"))
    harness.check(f"{name}: a trace of each rank", len(traces) == 2, f"{traces}")
    return folder


def report(harness, name, folder):
    finished = harness.run([harness.streamscope, "report", folder, "--format", "json", "--quiet"], 120)
    if not harness.check(f"{name}: reported", finished.code == 0, finished.why()):
        return None
    return json.loads(finished.out)


def judge(harness, fault):
    name = f"ranks_{fault or 'healthy'}"
    options = ["--fault", fault] if fault else []
    answer = report(harness, name, record(harness, name, torchrun(harness, *options)))
    if answer is None:
        return
    harness.detail(json.dumps(answer, indent=1)[:6000])
    harness.equal(f"{name}: ranks", [0, 1], [rank["rank"] for rank in answer["ranks"]])
    harness.equal(f"{name}: problems", [], answer["problems"])
    harness.equal(f"{name}: mismatches", [], answer["mismatches"])
    harness.check(f"{name}: every rank communicates", all(rank["communication_ns"] > 0 for rank in answer["ranks"]), f"{answer['ranks']}")
    ranks = [delay["ranks"] for delay in answer["delays"]]
    if not fault:
        harness.check(f"{name}: accuses nobody", not any(ranks), f"{answer['delays']}")  # that ranks take turns is no accusation
        return
    harness.check(f"{name}: rank 1 first", bool(ranks) and ranks[0] == [1], f"{answer['delays']}")
    if FAULTS[fault] and ranks:
        harness.equal(f"{name}: cause", FAULTS[fault], answer["delays"][0]["cause"])


def run(harness):
    devices = harness.run(["nvidia-smi", "--list-gpus"], 30).out.count("GPU ")
    mpi = harness.run(["mpirun", "--version"], 30).code == 0
    folder = record(harness, "ranks_gloo", torchrun(harness, "--backend", "gloo", "--iterations", "10"))
    answer = report(harness, "ranks_gloo", folder)
    if answer:
        harness.equal("ranks_gloo: ranks", [0, 1], [rank["rank"] for rank in answer["ranks"]])
    if mpi:
        folder = harness.work / "ranks_mpi"
        finished = harness.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", harness.streamscope, "record", "--run", folder,
                                "--quiet", "--", harness.app("pipeline")], 120)
        harness.check("ranks_mpi: recorded", finished.code == 0, finished.why())
        harness.equal("ranks_mpi: a trace of each rank", 2, len(list(folder.glob("rank*.sqlite"))))
    else:
        harness.skip("ranks_mpi", "no mpirun")
    if devices < 2:
        harness.skip("ranks of NCCL", f"needs two GPUs, there are {devices}")
        return
    for fault in ["", *FAULTS]:
        judge(harness, fault)

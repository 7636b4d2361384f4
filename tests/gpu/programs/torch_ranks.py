# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""A data-parallel training that overlaps its reductions with the backward pass; one rank may be held up in a known way.

  torchrun --nproc-per-node N torch_ranks.py [--backend nccl|gloo] [--fault FAULT] [--rank RANK] [--iterations N] [--width N]

Faults: loader and log (the host sleeps, or writes to a disk), interpreter (Python computes), kernel and batch (more to compute), tiny (many
small kernels), sync (a value is read for each parameter), copy (pageable memory), memory (it is given back and allocated again), overlap
(each reduction is waited for at once). At the end it may make the others hang: missing, dies, stops, spins, kind.

With --dump FOLDER, each rank writes PyTorch's flight recorder into FOLDER after some seconds, if TORCH_FR_BUFFER_SIZE is set.
"""

import argparse
import os
import pathlib
import signal
import tempfile
import threading
import time

import torch
import torch.distributed as dist


def load(options, fault):
    if fault == "loader":
        time.sleep(0.02)
    if fault == "copy":
        options.pageable.cuda()
    return torch.randn(16384 if fault == "batch" else 256, options.width, device="cuda")


def compute(fault, spin):
    if fault == "kernel":
        for _ in range(12):
            spin @ spin
    if fault == "interpreter":
        sum(number * number for number in range(400_000))
    if fault == "tiny":
        for _ in range(3000):
            spin[:1, :1].add_(1)


def look_at(fault, model, log):
    if fault == "sync":
        for parameter in model.parameters():
            parameter.grad.flatten()[0].item()
    if fault == "log":
        log.write(b"step" * (1 << 20))
        log.flush()
        os.fsync(log.fileno())
    if fault == "memory":
        torch.cuda.empty_cache()


class Reduction:
    """Of the gradients of all ranks, each as soon as it is there."""

    def __init__(self, options, fault, model):
        self.gloo, self.at_once, self.running = options.backend == "gloo", fault == "overlap", []
        for parameter in model.parameters():
            parameter.register_post_accumulate_grad_hook(self.start)

    def start(self, parameter):
        work = dist.all_reduce(parameter.grad.cpu() if self.gloo else parameter.grad, async_op=True)
        if self.at_once:
            work.wait()
        else:
            self.running.append(work)

    def finish(self):
        for work in self.running:
            work.wait()
        self.running.clear()


def train(options, rank, log):
    fault = options.fault if rank == options.rank else ""
    model = torch.nn.Sequential(*(torch.nn.Linear(options.width, options.width) for _ in range(8))).cuda()
    spin = torch.randn(4096, 4096, device="cuda")
    options.pageable = torch.ones(1 << 24)
    reduction = Reduction(options, fault, model)
    for _ in range(options.iterations):
        torch.cuda.nvtx.range_push("step")
        loss = model(load(options, fault)).square().mean()
        compute(fault, spin)
        loss.backward()
        look_at(fault, model, log)
        reduction.finish()
        for parameter in model.parameters():
            parameter.grad = None
        torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()


def dump(folder, rank):
    time.sleep(4)
    began = time.monotonic()
    (pathlib.Path(folder) / f"nccl_trace_rank_{rank}").write_bytes(torch._C._distributed_c10d._dump_nccl_trace(True, False, False))
    print(f"dumped after {time.monotonic() - began:.1f} s", flush=True)


def hang(options, faulty, device):
    if options.dump:
        threading.Thread(target=dump, args=(options.dump, int(os.environ["RANK"])), daemon=True).start()
    torch.cuda.synchronize()
    if faulty and options.fault == "missing":
        time.sleep(600)
    if faulty and options.fault in ("dies", "stops"):
        os.kill(os.getpid(), signal.SIGKILL if options.fault == "dies" else signal.SIGSTOP)
    if faulty and options.fault == "spins":
        torch.cuda._sleep(1 << 42)
    if faulty and options.fault == "kind":
        dist.all_gather_into_tensor(torch.empty(2 * dist.get_world_size(), device=device), torch.ones(2, device=device))
    else:
        dist.all_reduce(torch.ones(2, device=device))
    torch.cuda.synchronize()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="nccl")
    parser.add_argument("--fault", default="")
    parser.add_argument("--rank", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--dump", default="")
    options = parser.parse_args()
    rank, local_rank = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank % torch.cuda.device_count())
    dist.init_process_group(options.backend)
    with tempfile.NamedTemporaryFile() as log:
        train(options, rank, log)
    if options.fault in ("missing", "dies", "stops", "spins", "kind"):
        hang(options, rank == options.rank, "cuda" if options.backend == "nccl" else "cpu")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

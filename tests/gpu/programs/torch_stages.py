# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Ranks that send to each other, or whose collectives are in CUDA graphs; one may be held up, or make the others hang, in a known way.

  torchrun --nproc-per-node N torch_stages.py pipeline|graph [--fault FAULT] [--rank RANK] [--iterations N]

pipeline: the ranks are the stages of a pipeline with several microbatches, in a group of their own, and reduce a norm at the end.
graph: each step, with its reductions, is one launch of a CUDA graph.
Faults: loader (the host sleeps before each step), kernel (more to compute). At the end: silent (a stage does not send, or a rank does not
launch its graph, and sleeps), dies.
"""

import argparse
import os
import signal
import time

import torch
import torch.distributed as dist

BATCHES = 4


class Pipeline:
    def __init__(self, options, rank, ranks):
        self.previous, self.next = (rank - 1 if rank > 0 else None), (rank + 1 if rank + 1 < ranks else None)
        # Numbers in the group differ from those of the job.
        self.group = dist.new_group(list(reversed(range(ranks)))) if options.reversed else dist.new_group(list(range(ranks)))
        self.weight = torch.randn(2048, 2048, device="cuda")
        self.data = torch.randn(512, 2048, device="cuda")
        self.fault = options.fault if rank == options.rank else ""

    def pass_on(self, source, target, is_silent):
        for _ in range(BATCHES):
            if source is not None:
                dist.recv(self.data, src=source, group=self.group)
            for _ in range(12 if self.fault == "kernel" else 1):
                result = torch.nn.functional.normalize(self.data @ self.weight)
            if target is not None:
                if is_silent:
                    time.sleep(600)
                dist.send(result, dst=target, group=self.group)

    def step(self, is_silent=False):
        self.pass_on(self.previous, self.next, is_silent)
        self.pass_on(self.next, self.previous, is_silent)
        dist.all_reduce(self.weight.norm())


class Graph:
    def __init__(self, options, rank, _):
        self.model = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024) for _ in range(4))).cuda()
        self.data = torch.randn(256, 1024, device="cuda")
        self.spin = torch.randn(4096, 4096, device="cuda")
        self.fault = options.fault if rank == options.rank else ""
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.compute()
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.compute()

    def compute(self):
        self.model(self.data).square().mean().backward()
        for parameter in self.model.parameters():
            dist.all_reduce(parameter.grad)
            parameter.grad.zero_()

    def step(self, is_silent=False):
        if self.fault == "kernel":
            for _ in range(12):
                self.spin @ self.spin
        if is_silent:
            time.sleep(600)
        self.graph.replay()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["pipeline", "graph"])
    parser.add_argument("--fault", default="")
    parser.add_argument("--rank", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--reversed", action="store_true")
    options = parser.parse_args()
    rank, local_rank = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    work = {"pipeline": Pipeline, "graph": Graph}[options.kind](options, rank, dist.get_world_size())
    for _ in range(options.iterations):
        torch.cuda.nvtx.range_push("step")
        if work.fault == "loader":
            time.sleep(0.01)
        work.step()
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()
    if work.fault == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if options.fault in ("dies", "silent"):
        work.step(work.fault == "silent")
        torch.cuda.synchronize()
    del work  # a communicator ends after the graphs that use it
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

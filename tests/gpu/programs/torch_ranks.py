# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""A small data-parallel training; one rank may be held up in a known way.

  torchrun --nproc-per-node N torch_ranks.py [--backend nccl|gloo] [--fault loader|kernel|sync|missing] [--rank RANK] [--iterations N]
"""

import argparse
import os
import time

import torch
import torch.distributed as dist


def load(options, faulty):
    if faulty and options.fault == "loader":
        time.sleep(0.02)
    return torch.randn(256, 1024, device="cuda")


def train(options, rank):
    faulty = rank == options.rank
    model = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024) for _ in range(8))).cuda()
    spin = torch.randn(4096, 4096, device="cuda")
    for _ in range(options.iterations):
        torch.cuda.nvtx.range_push("step")
        loss = model(load(options, faulty)).square().mean()
        if faulty and options.fault == "kernel":
            for _ in range(12):
                spin @ spin
        loss.backward()
        if faulty and options.fault == "sync":
            for parameter in model.parameters():
                parameter.grad.abs().max().item()
                time.sleep(0.0005)
        for parameter in model.parameters():
            gradient = parameter.grad if options.backend == "nccl" else parameter.grad.cpu()
            dist.all_reduce(gradient)
            parameter.grad = None
        torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="nccl")
    parser.add_argument("--fault", default="")
    parser.add_argument("--rank", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=30)
    options = parser.parse_args()
    rank, local_rank = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank % torch.cuda.device_count())
    dist.init_process_group(options.backend)
    train(options, rank)
    if options.fault == "missing" and rank != options.rank:
        dist.all_reduce(torch.ones(1, device="cuda" if options.backend == "nccl" else "cpu"))
        torch.cuda.synchronize()
    if options.fault == "missing" and rank == options.rank:
        time.sleep(600)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""A training step of a small transformer in eager PyTorch: hundreds of short kernels, so that the host is the limit.

  torch_transformer.py [--steps N]             N steps inside the NVTX range "measured"; prints a JSON line
  torch_transformer.py GO DONE [--kineto]      two named pipes: writes 0 to DONE when it is warm; each line on GO asks for 50
                                               steps, whose ms per step (median without the first 10) is the answer on DONE;
                                               the end of GO ends the program. --kineto: under torch.profiler
"""

import argparse
import contextlib
import gc
import json
import os
import statistics
import sys
import time

import torch

LAYERS, WIDTH, HEADS = 12, 128, 4
BATCH, LENGTH, WORDS = 4, 64, 512
WARM_UP = 30
FIRST, STEPS = 10, 50  # of a turn: steps FIRST to STEPS count


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.before_attention, self.before_network = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.projections, self.output = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.network = torch.nn.Sequential(torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.GELU(), torch.nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, values):
        parts = self.projections(self.before_attention(values)).split(WIDTH, dim=2)
        query, key, value = (part.view(BATCH, LENGTH, HEADS, WIDTH // HEADS).transpose(1, 2) for part in parts)
        mixed = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        values = values + self.output(mixed.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))
        return values + self.network(self.before_network(values))


class Training:
    def __init__(self):
        torch.manual_seed(5)
        blocks = [Block() for _ in range(LAYERS)]
        self.model = torch.nn.Sequential(torch.nn.Embedding(WORDS, WIDTH), *blocks, torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, WORDS)).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        self.words = torch.randint(0, WORDS, (BATCH, LENGTH), device="cuda")
        self.next_words = torch.randint(0, WORDS, (BATCH * LENGTH,), device="cuda")

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(self.model(self.words).view(-1, WORDS), self.next_words)
        loss.backward()
        self.optimizer.step()
        torch.cuda.current_stream().synchronize()

    def timed(self, steps):
        """ms of each step, which is the NVTX range "step"."""
        spent = []
        for _ in range(steps):
            start = time.perf_counter()
            with torch.cuda.nvtx.range("step"):
                self.step()
            spent.append(1000 * (time.perf_counter() - start))
        return spent


def pin():
    """Keeps the threads that launch on one processor; all others, of PyTorch or of a recorder, stay free."""
    allowed = sorted(os.sched_getaffinity(0))
    for thread in map(int, os.listdir("/proc/self/task")):
        with contextlib.suppress(OSError):
            with open(f"/proc/self/task/{thread}/comm") as name:
                launches = thread == os.getpid() or name.read().startswith("pt_autograd")
            if launches:
                os.sched_setaffinity(thread, allowed[-1:])


def profiler(options):
    if options.kineto:
        return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
    return contextlib.nullcontext()


def take_turns(training, options):
    with open(options.pipes[0]) as go, open(options.pipes[1], "w", buffering=1) as done:
        done.write("0\n")
        while go.readline():
            with profiler(options):
                spent = training.timed(STEPS)
            done.write(f"{statistics.median(spent[FIRST:]):.6f}\n")  # only now may the next process begin


def measure_once(training, steps):
    torch.cuda.nvtx.range_push("measured")
    spent = training.timed(steps)
    torch.cuda.nvtx.range_pop()
    free, total = torch.cuda.mem_get_info()
    print(json.dumps({"app": "torch_transformer", "ok": True, "steps": steps, "step_ms": statistics.median(spent),
                      "used_mib": (total - free) >> 20}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pipes", nargs="*", metavar="PIPE")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--kineto", action="store_true")
    options = parser.parse_args()
    if len(options.pipes) not in (0, 2):
        parser.error("GO and DONE, or neither")
    if not torch.cuda.is_available():
        print("SKIP: PyTorch sees no GPU", file=sys.stderr)
        return 77
    torch.set_num_threads(1)
    training = Training()
    training.timed(WARM_UP)
    gc.collect()
    gc.disable()
    pin()
    if options.pipes:
        take_turns(training, options)
    else:
        measure_once(training, options.steps)
    return 0


if __name__ == "__main__":
    sys.exit(main())

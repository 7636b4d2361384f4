# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Training steps of PyTorch of which some are a part that is recorded: by streamscope.record(FILE), or, without FILE, by an NVTX range.

  torch_parts.py STEPS [FILE]
"""

import contextlib
import sys

import torch

import streamscope

STEPS_BEFORE, STEPS_AFTER = 5, 3


class Training:
    def __init__(self):
        self.model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512)).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.copies = torch.cuda.Stream()
        self.batches = [torch.randn(256, 512).pin_memory() for _ in range(4)]

    def step(self, number):
        with torch.cuda.stream(self.copies):
            batch = self.batches[number % 4].cuda(non_blocking=True)
        torch.cuda.current_stream().wait_stream(self.copies)
        batch.record_stream(torch.cuda.current_stream())
        self.model(batch).square().mean().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def steps(self, count):
        for number in streamscope.steps(range(count)):
            self.step(number)


@contextlib.contextmanager
def nvtx_range(name):
    with torch.cuda.nvtx.range(name):
        yield
        torch.cuda.synchronize()


def main():
    count, file = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
    training = Training()
    training.steps(STEPS_BEFORE)
    torch.cuda.synchronize()
    with streamscope.record(file, force=True) if file else nvtx_range("part"):
        training.steps(count)
        if file:
            torch.cuda.synchronize()
    training.steps(STEPS_AFTER)
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()

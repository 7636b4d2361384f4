# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The cases on which PyTorch tests its own sanitizer of CUDA streams (its test/test_cuda_sanitizer.py), here as programs whose
kernels run: torch_sanitizer_cases.py CASE, or --list, which prints the cases and whether they race."""

import json
import sys

MANY = 10
TENSORS, STREAMS = MANY, MANY + 1


class Program:
    """Tensors, streams and events by number."""

    def __init__(self):
        import torch

        self.torch = torch
        # So large that each is a piece of device memory of its own.
        self.tensors = [torch.zeros(4 << 20, device="cuda") for _ in range(TENSORS)]
        self.streams = [torch.cuda.Stream() for _ in range(STREAMS)]
        self.results = [torch.zeros(4 << 20, device="cuda") for _ in range(2 * STREAMS)]
        self.events = {}
        torch.cuda.synchronize()

    def read(self, stream, tensor=1):
        with self.torch.cuda.stream(self.streams[stream]):
            self.torch.mul(self.tensors[tensor], 2, out=self.results.pop())

    def write(self, stream, *tensors):
        with self.torch.cuda.stream(self.streams[stream]):
            self.torch._foreach_add_([self.tensors[tensor] for tensor in tensors or (1,)], 1)

    def new_event(self, event):
        self.events[event] = self.torch.cuda.Event()

    def record(self, event, stream):
        if event not in self.events:
            self.new_event(event)
        self.events[event].record(self.streams[stream])

    def wait(self, event, stream):
        self.streams[stream].wait_event(self.events[event])


def simple_passing(run):
    run.read(1)
    run.read(2)


def simple_error(run):
    run.read(1)
    run.write(2)


def simple_sync(run):
    run.read(1)
    run.record(0, 1)
    run.wait(0, 2)
    run.write(2)


def reads_check_last_write(run):
    run.write(1)
    run.record(0, 1)
    run.wait(0, 2)
    run.read(2)
    run.read(3)


def branch_sync(run):
    run.write(1)
    run.record(0, 1)
    run.wait(0, 2)
    run.wait(0, 3)
    run.read(2)
    run.read(3)
    run.write(2)


def chain_sync(run):
    run.read(0)
    for i in range(MANY):
        run.record(i, i)
        run.wait(i, i + 1)
    run.write(MANY)


def expired_record(run):
    run.read(1)
    run.record(0, 1)
    run.read(1)
    run.wait(0, 2)
    run.write(2)


def replaced_event(run):
    run.read(1)
    run.record(0, 1)
    run.new_event(0)
    run.wait(0, 2)
    run.write(2)


def all_reads_checked_failing(run):
    for i in range(1, MANY + 1):
        run.read(i)
        run.record(i, i)
    for i in range(1, MANY):
        run.wait(i, 0)
    run.write(0)


def all_reads_checked_passing(run):
    for i in range(1, MANY):
        run.read(i)
        run.record(i, i)
    for i in range(1, MANY):
        run.wait(i, 0)
    run.write(0)


def multiple_errors(run):
    run.write(0, *range(MANY))
    run.write(1, *range(MANY))


def correct_state_merging(run):
    for i in (1, 2):
        run.write(i, i)
    for i in (1, 2):
        run.record(i, i)
    for i in (1, 2):
        run.write(i, i)
    run.wait(1, 2)
    run.wait(2, 1)
    run.record(3, 2)
    run.wait(3, 1)
    run.write(1, 1, 2)


def record_override(run):
    run.read(1, 1)
    run.read(2, 2)
    run.record(1, 1)
    run.record(1, 2)
    run.wait(1, 3)
    run.write(3, 1)


def multiple_wait(run):
    run.write(1)
    run.record(1, 1)
    run.wait(1, 2)
    run.wait(1, 3)
    run.read(2)
    run.read(3)


# How many findings: one for each missing dependency, however many tensors need it.
RACES = {simple_passing: 0, simple_error: 1, simple_sync: 0, reads_check_last_write: 1, branch_sync: 1, chain_sync: 0, expired_record: 1,
         replaced_event: 1, all_reads_checked_failing: 1, all_reads_checked_passing: 0, multiple_errors: 1, correct_state_merging: 0,
         record_override: 1, multiple_wait: 0}


def main():
    if sys.argv[1:] == ["--list"]:
        print(json.dumps({case.__name__: races for case, races in RACES.items()}))
        return
    case = {case.__name__: case for case in RACES}[sys.argv[1]]
    run = Program()
    case(run)
    run.torch.cuda.synchronize()
    print(case.__name__, "done")


if __name__ == "__main__":
    main()

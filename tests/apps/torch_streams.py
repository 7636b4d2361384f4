# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""A seeded training loop with side streams: batches are fetched from pinned memory in one stream, trained on in the
default stream, and judged in a third; events tie them. It waits for the device only at the ends of the measured part,
which is the NVTX range "measured". Prints JSON lines.

  torch_streams.py [--steps N] [--warm-up N]
  torch_streams.py --kineto FILE        the measured part under torch.profiler, exported to FILE
  torch_streams.py --inner-profiler     torch.profiler is started and stopped half-way, as a separate program would;
                                        with --kineto FILE its profile is exported
  torch_streams.py --turns [--kineto F] one measured part for each line on stdin, timed
  torch_streams.py --distributed        with gradients summed over gloo, for torchrun
"""

import argparse
import contextlib
import ctypes
import json
import os
import sys
import time

import torch

BATCHES = 4
WIDTH = 512
ROWS = 256
CUPTI_ACTIVITY_KIND_CUDA_EVENT = 36


class Training:
    def __init__(self, distributed):
        torch.manual_seed(7)
        self.distributed = distributed
        self.device = torch.device("cuda:0")
        layers = []
        for _ in range(4):
            layers += [torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU()]
        self.model = torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, 16)).to(self.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.host_inputs = [torch.randn(ROWS, WIDTH).pin_memory() for _ in range(BATCHES)]
        self.host_labels = [torch.randint(0, 16, (ROWS,)).pin_memory() for _ in range(BATCHES)]
        self.inputs = [torch.empty(ROWS, WIDTH, device=self.device) for _ in range(2)]
        self.labels = [torch.empty(ROWS, dtype=torch.long, device=self.device) for _ in range(2)]
        self.scores = torch.zeros(ROWS, 16, device=self.device)
        self.hits = torch.zeros((), dtype=torch.long, device=self.device)
        self.host_hits = torch.zeros((), dtype=torch.long).pin_memory()
        self.fetching = torch.cuda.Stream()
        self.judging = torch.cuda.Stream()
        self.fetched = [torch.cuda.Event() for _ in range(2)]
        self.trained = [torch.cuda.Event() for _ in range(2)]
        self.judged = torch.cuda.Event()
        for event in (*self.trained, self.judged):
            event.record()
        self.step_count = 0
        self.fetch()

    def fetch(self):
        """Copies the next batch into its slot as soon as the step that used the slot is over."""
        slot, batch = self.step_count % 2, self.step_count % BATCHES
        self.fetching.wait_event(self.trained[slot])
        with torch.cuda.stream(self.fetching):
            self.inputs[slot].copy_(self.host_inputs[batch], non_blocking=True)
            self.labels[slot].copy_(self.host_labels[batch], non_blocking=True)
            self.fetched[slot].record(self.fetching)

    def step(self):
        slot = self.step_count % 2
        training = torch.cuda.current_stream()
        training.wait_event(self.fetched[slot])
        output = self.model(self.inputs[slot])
        loss = torch.nn.functional.cross_entropy(output, self.labels[slot])
        self.optimizer.zero_grad(set_to_none=False)
        loss.backward()
        if self.distributed:
            self.sum_gradients()
        self.optimizer.step()
        training.wait_event(self.judged)
        self.scores.copy_(output.detach())
        self.trained[slot].record(training)

        self.judging.wait_event(self.trained[slot])
        with torch.cuda.stream(self.judging):
            torch.sum(self.scores.argmax(dim=1), dim=0, out=self.hits)
            self.host_hits.copy_(self.hits, non_blocking=True)
            self.judged.record(self.judging)
        self.step_count += 1
        self.fetch()
        if self.step_count % 10 == 0:
            self.judged.synchronize()

    def sum_gradients(self):
        parameter = next(self.model.parameters())
        gradient = parameter.grad.cpu()
        torch.distributed.all_reduce(gradient)
        parameter.grad.copy_(gradient)

    def measured(self, steps):
        """Runs `steps` steps between two device synchronizations, inside the range. Returns ms per step."""
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_push("measured")
        start = time.perf_counter()
        for _ in range(steps):
            self.step()
        torch.cuda.synchronize()
        spent = time.perf_counter() - start
        torch.cuda.nvtx.range_pop()
        return 1000 * spent / steps


@contextlib.contextmanager
def kineto():
    """PyTorch's own profiler, GPU side only, with the edges of events where this version knows them."""
    try:
        from torch._C._profiler import _ExperimentalConfig

        config = _ExperimentalConfig(enable_cuda_sync_events=True)
    except (ImportError, TypeError):
        config = None
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, experimental_config=config) as profile:
        if config is not None:
            also_record_events()
        yield profile


def also_record_events():
    """Kineto uses CUPTI's event records, but with CUDA 13.0 gets none unless somebody enables them."""
    with open("/proc/self/maps") as maps:
        paths = {line.split()[-1] for line in maps if "/libcupti.so" in line}
    for path in paths:
        ctypes.CDLL(path).cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CUDA_EVENT)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--warm-up", type=int, default=20)
    parser.add_argument("--kineto", default="")
    parser.add_argument("--inner-profiler", action="store_true")
    parser.add_argument("--turns", action="store_true")
    parser.add_argument("--distributed", action="store_true")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("SKIP: PyTorch sees no GPU", file=sys.stderr)
        return 77
    if options.distributed:
        torch.distributed.init_process_group("gloo")
    training = Training(options.distributed)
    for _ in range(options.warm_up):
        training.step()
    torch.cuda.synchronize()

    if options.turns:
        print(json.dumps({"ready": os.getpid()}), flush=True)
        for _ in sys.stdin:
            if options.kineto:
                with kineto():
                    spent = training.measured(options.steps)
            else:
                spent = training.measured(options.steps)
            print(json.dumps({"step_ms": spent}), flush=True)
        return 0

    if options.inner_profiler:
        training.measured(options.steps)
        with kineto() as profile:
            for _ in range(options.steps):
                training.step()
            torch.cuda.synchronize()
        spent = training.measured(options.steps)
        if options.kineto:
            profile.export_chrome_trace(options.kineto)
    elif options.kineto:
        with kineto() as profile:
            spent = training.measured(options.steps)
        profile.export_chrome_trace(options.kineto)
    else:
        spent = training.measured(options.steps)
    print(json.dumps({"app": "torch_streams", "ok": True, "steps": options.steps, "step_ms": spent,
                      "hits": int(training.host_hits)}), flush=True)
    if options.distributed:
        torch.distributed.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Training and inference steps that are bound by different things, each with the repair that shortens the step most.

  torch_bounds.py CASE [--repaired | --variants] [--steps N] [--windows W] [--mark]

W windows of N steps after a warm-up; prints a JSON line with ms per step, the median of the windows. --mark: each step is an NVTX range
"step". --variants: the program, repaired, and without something else, in turns of a window. CASE "list" prints all cases as JSON lines:
what the repaired program lacks, the rule whose finding is the repair ("": there is none that a recording could show), and what other
variants lack. Where there are some, the bound is what shortens the step most once it is gone; else it is what the repair removes.
"""

import argparse
import contextlib
import json
import os
import queue
import statistics
import sys
import threading
import time

import torch

from captured import captured

CASES = {}  # name: (class, what the repaired program lacks, rule of the repair, function with the line to repair)
VARIANTS = {}  # name: {what it lacks: class}
WARM_UP = 12


def case(lacks, rule="", place=""):
    def add(kind):
        CASES[kind.__name__.lower()] = (kind, lacks, rule, place)
        return kind
    return add


def without(lacks):
    """A subclass of a case that lacks something else."""
    def add(kind):
        VARIANTS.setdefault(kind.__bases__[0].__name__.lower(), {})[lacks] = kind
        return kind
    return add


def without_kernels(kind):
    """Registers a variant of a case of Training with as many kernels, which take next to no time."""
    without("kernels")(type(f"Small_{kind.__name__}", (kind,), {"width": 64, "batch": 1, "length": 16}))
    return kind


def workers(work, count=4):
    """Threads that do the work on one processor each."""
    def loop():
        torch.set_num_threads(1)
        while True:
            work()
    for _ in range(count):
        threading.Thread(target=loop, daemon=True).start()


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first_norm, self.second_norm = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.projections, self.output = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.network = torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width))

    def forward(self, values):
        batch, length, width = values.shape
        parts = self.projections(self.first_norm(values)).split(width, dim=2)
        query, key, value = (part.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for part in parts)
        mixed = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        values = values + self.output(mixed.transpose(1, 2).reshape(batch, length, width))
        return values + self.network(self.second_norm(values))


class Training:
    """A step of a small language model; the cases change one thing each."""

    layers, width, heads, words = 6, 256, 4, 512
    batch, length = 4, 64

    def __init__(self, repaired):
        torch.manual_seed(5)
        self.repaired = repaired
        blocks = [Block(self.width, self.heads) for _ in range(self.layers)]
        self.model = torch.nn.Sequential(torch.nn.Embedding(self.words, self.width), *blocks, torch.nn.LayerNorm(self.width),
                                         torch.nn.Linear(self.width, self.words)).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True, capturable=True)
        self.inputs = torch.randint(0, self.words, (self.batch, self.length), device="cuda")
        self.targets = torch.randint(0, self.words, (self.batch * self.length,), device="cuda")

    def loss(self):
        return torch.nn.functional.cross_entropy(self.model(self.inputs).view(-1, self.words), self.targets)

    def train(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss()
        loss.backward()
        self.optimizer.step()
        return loss

    def step(self):
        self.train()


@case("host-launching", "SS301")
class Eager(Training):
    """Short kernels, launched one by one; repaired: one graph."""

    def __init__(self, repaired):
        super().__init__(repaired)
        self.step = captured(self.train) if repaired else self.train


@case("kernels")
class Large(Training):
    """Long kernels in fp32; repaired: bf16."""

    layers, width, heads, batch, length = 4, 1024, 8, 16, 512

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=self.repaired):
            loss = self.loss()
        loss.backward()
        self.optimizer.step()


@case("host-synchronization", "SS302", "step")
@without_kernels
class Item(Training):
    """Reads the norm of each gradient; repaired: adds them up on the device."""

    width, batch, length, heads = 512, 16, 256, 8

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.loss().backward()
        if self.repaired:
            self.norm = torch.stack([parameter.grad.norm() for parameter in self.model.parameters()]).norm()
        else:
            self.norm = sum(parameter.grad.norm().item() ** 2 for parameter in self.model.parameters()) ** 0.5
        self.optimizer.step()


@without("host-launching")
class Captured_item(Item):
    """All but the reads is one graph."""

    def __init__(self, repaired):
        super().__init__(repaired)
        self.replay = captured(self.norms)

    def norms(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.loss().backward()
        self.each = [parameter.grad.norm() for parameter in self.model.parameters()]
        self.optimizer.step()

    def step(self):
        self.replay()
        self.norm = sum(norm.item() ** 2 for norm in self.each) ** 0.5


@case("host-synchronization", "SS302", "step")
@without_kernels
class Print_loss(Training):
    """Reads the loss after each step, with as much work on the device as on the host; repaired: reads it seldom."""

    width, batch, length, heads = 512, 16, 256, 8

    def __init__(self, repaired):
        super().__init__(repaired)
        self.number, self.total = 0, 0.0

    def step(self):
        loss = self.train()
        self.number += 1
        if not self.repaired or self.number % 50 == 0:
            self.total += loss.item()


@without("host-launching")
class Captured_print_loss(Print_loss):
    """All but the read is one graph."""

    def __init__(self, repaired):
        super().__init__(repaired)
        self.replay = captured(self.keep_loss)

    def keep_loss(self):
        self.kept = self.train()

    def step(self):
        self.replay()
        self.total += self.kept.item()


@case("copies", "SS206", "step")
class Pageable:
    """Copies its input from pageable memory; repaired: from pinned memory, asynchronously."""

    def __init__(self, repaired):
        self.repaired = repaired
        self.images = torch.ones(32, 3, 448, 448)
        if repaired:
            self.images = self.images.pin_memory()
        self.filters = torch.nn.Conv2d(3, 32, 7, stride=4).cuda()

    def step(self):
        with torch.no_grad():
            self.filters(self.images.to("cuda", non_blocking=self.repaired)).mean()


@case("host-outside", "SS305", "batch_of_noise")
class Loader(Training):
    """Makes its input in the thread that launches; repaired: in threads of their own."""

    def __init__(self, repaired):
        super().__init__(repaired)
        torch.set_num_threads(1)
        self.ready = queue.Queue(8)
        if repaired:
            workers(lambda: self.ready.put(self.batch_of_noise()))

    def batch_of_noise(self):
        values = torch.rand(1_500_000)
        for _ in range(4):
            values = values.sin()
        return (values[:self.batch * self.length].abs() * (self.words - 1)).long().view(self.batch, self.length)

    def step(self):
        self.inputs.copy_(self.ready.get() if self.repaired else self.batch_of_noise())
        self.train()


class Samples(torch.utils.data.Dataset):
    """Of tokens, each made with some work."""

    def __init__(self, length, words):
        self.length, self.words = length, words

    def __len__(self):
        return 1 << 30

    def __getitem__(self, number):
        values = torch.rand(700_000)
        for _ in range(3):
            values = values.sin()
        return (values[:self.length].abs() * (self.words - 1)).long()


class Loaded(Training):
    """Takes its batches from a DataLoader."""

    workers = (0, 8)  # and repaired

    def __init__(self, repaired):
        super().__init__(repaired)
        torch.set_num_threads(1)
        count = self.workers[repaired]
        self.batches = iter(torch.utils.data.DataLoader(
            Samples(self.length, self.words), self.batch, num_workers=count, pin_memory=True, persistent_workers=count > 0))

    def step(self):
        self.inputs.copy_(next(self.batches), non_blocking=True)
        self.train()


@case("host-outside", "SS307", "__getitem__")
class Unloaded(Loaded):
    """Without workers; repaired: with eight."""


@case("host-outside", "SS307", "step")
class Underloaded(Loaded):
    """With one worker, which does not keep up; repaired: with eight."""

    workers = (1, 8)


@case("memory-management", "SS303", "step")
class Trimming(Training):
    """Gives its cached memory back after each step; repaired: keeps it."""

    layers, width, heads, batch, length = 8, 512, 8, 32, 256

    def step(self):
        self.train()
        if not self.repaired:
            torch.cuda.empty_cache()


@case("host-launching", "SS301", "chain")
class Tiny:
    """A thousand kernels of a microsecond; repaired: one graph."""

    def __init__(self, repaired):
        self.values = torch.ones(1024, device="cuda")
        self.step = captured(self.chain) if repaired else self.chain

    def chain(self):
        for _ in range(500):
            self.values.mul_(1.0001).add_(1e-6)


class Streamed:
    """Copies a batch on a stream of its own and works on it."""

    def __init__(self, repaired):
        self.repaired = repaired
        self.host = torch.ones(48, 1 << 18).pin_memory()
        self.device = [torch.empty(48, 1 << 18, device="cuda") for _ in range(2)]
        self.weights = torch.ones(4096, 4096, device="cuda")
        self.copies = torch.cuda.Stream()
        self.number = 0
        self.copied = [torch.cuda.Event() for _ in range(2)]
        self.used = [torch.cuda.Event() for _ in range(2)]
        for event in self.used:
            event.record()
        self.fetch(0)

    def fetch(self, number):
        with torch.cuda.stream(self.copies):
            self.used[number % 2].wait()
            self.device[number % 2].copy_(self.host, non_blocking=True)
            self.copied[number % 2].record()

    def work(self, number):
        batch = self.device[number % 2]
        sums = batch.view(-1, 4096)
        for _ in range(2):
            sums = torch.mm(sums, self.weights)
        batch.copy_(sums.view_as(batch))


@case("kernels", "SS306")
class Prefetch(Streamed):
    """Fetches the next batch only when the current one is done; repaired: while it works."""

    def step(self):
        if self.repaired:
            self.fetch(self.number + 1)
        self.copied[self.number % 2].wait()
        self.work(self.number)
        self.used[self.number % 2].record()
        if not self.repaired:
            self.copies.wait_stream(torch.cuda.current_stream())
            self.fetch(self.number + 1)
        self.number += 1


@case("host-launching", "SS301")
class Accumulation(Training):
    """Adds up the gradients of eight small batches; repaired: in one graph."""

    batch, rounds = 2, 8

    def __init__(self, repaired):
        super().__init__(repaired)
        self.step = captured(self.accumulate) if repaired else self.accumulate

    def accumulate(self):
        self.optimizer.zero_grad(set_to_none=True)
        for _ in range(self.rounds):
            (self.loss() / self.rounds).backward()
        self.optimizer.step()


@case("host-outside", "SS305", "pick")
class Postprocess:
    """Picks the best answers in the thread that launches; repaired: in threads of their own. Answers are copied into memory that is kept:
    new memory would add page faults to the copy, fewer of them in the repaired program."""

    threads = 8

    def __init__(self, repaired):
        torch.set_num_threads(1)
        self.repaired = repaired
        self.model = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024) for _ in range(8)), torch.nn.Linear(1024, 20000)).cuda()
        self.inputs = torch.randn(64, 1024, device="cuda")
        self.free, self.filled = queue.Queue(), queue.Queue()
        for _ in range(2 * self.threads):
            self.free.put(torch.zeros(64, 20000))
        if repaired:
            workers(lambda: self.pick(self.filled.get()), self.threads)

    def pick(self, answers):
        best = answers.softmax(dim=1).topk(5, dim=1).indices.tolist()
        self.free.put(answers)
        return best

    def step(self):
        answers = self.free.get()
        with torch.no_grad():
            answers.copy_(self.model(self.inputs))
        if self.repaired:
            self.filled.put(answers)
        else:
            self.best = self.pick(answers)


@case("host-synchronization", "SS302", "<lambda>")
@without_kernels
class Debugged(Training):
    """Waits for the device after each layer, as for an error message that names it; repaired: does not."""

    width, batch, length, heads = 512, 16, 256, 8

    def __init__(self, repaired):
        super().__init__(repaired)
        if not repaired:
            for module in self.model.modules():
                if isinstance(module, torch.nn.Linear):
                    module.register_forward_hook(lambda *_: torch.cuda.synchronize())


@without("host-launching")
class Captured_debugged(Debugged):
    """One graph; waits for it as often."""

    def __init__(self, repaired):
        super().__init__(True)
        self.replay = captured(self.train)
        self.waits = sum(isinstance(module, torch.nn.Linear) for module in self.model.modules())

    def step(self):
        self.replay()
        for _ in range(self.waits):
            torch.cuda.synchronize()


@case("host-synchronization", "SS302", "step")
class Masked:
    """Selects values by a mask, whose count the host needs; repaired: knows it."""

    count = 1 << 22

    def __init__(self, repaired):
        self.repaired = repaired
        self.values = torch.randn(self.count, device="cuda")
        self.limits = [-3.0 + 0.01 * number for number in range(24)]
        self.counts = [int((self.values > limit).sum()) for limit in self.limits]

    def step(self):
        values = self.values
        for limit, count in zip(self.limits, self.counts):
            mask = values > limit
            chosen = torch.nonzero_static(mask, size=count).squeeze(1) if self.repaired else mask
            self.total = values[chosen].sum()


@without("kernels")
class Small_masked(Masked):
    """As many kernels, which take next to no time."""

    count = 1 << 10


@without("host-launching")
class Captured_masked(Masked):
    """One graph, which cannot contain the reads either."""

    def __init__(self, repaired):
        super().__init__(True)
        work = super().step
        self.step = captured(work)


@case("kernels")
class Graph(Training):
    """One graph; the repair is a model of half the layers."""

    def __init__(self, repaired):
        self.layers = 3 if repaired else 6
        super().__init__(repaired)
        self.step = captured(self.train)


@case("host-launching", "SS301")
class Inference:
    """A convolutional network on one small picture; repaired: one graph."""

    def __init__(self, repaired):
        layers = []
        for width in (32, 64, 64, 128, 128, 128, 256, 256, 256, 256):
            layers += [torch.nn.LazyConv2d(width, 3, padding=1), torch.nn.LazyBatchNorm2d(), torch.nn.ReLU()]
        self.model = torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.LazyLinear(10)).cuda().eval()
        self.picture = torch.randn(1, 3, 32, 32, device="cuda")
        with torch.no_grad():
            self.model(self.picture)
        self.step = captured(self.answer) if repaired else self.answer

    def answer(self):
        with torch.no_grad():
            self.scores = self.model(self.picture).softmax(dim=1)


@case("kernels")
class Compiled(Training):
    """Compiled into graphs; the repair is a model of half the layers."""

    width, batch, length, heads = 512, 16, 256, 8

    def __init__(self, repaired):
        self.layers = 3 if repaired else 6
        super().__init__(repaired)
        self.compiled = torch.compile(self.model, mode="reduce-overhead")

    def loss(self):
        return torch.nn.functional.cross_entropy(self.compiled(self.inputs).view(-1, self.words), self.targets)

    def step(self):
        torch.compiler.cudagraph_mark_step_begin()
        self.train()


@case("kernels")
class Branches:
    """Two chains of kernels that use a part of the device each, on one stream; repaired: on two."""

    def __init__(self, repaired):
        self.repaired = repaired
        self.matrices = [torch.randn(512, 4096, device="cuda") / 64 for _ in range(2)]
        self.weights = torch.randn(4096, 4096, device="cuda") / 64
        self.streams = [torch.cuda.Stream() for _ in range(2)]

    def chain(self, number):
        values = self.matrices[number]
        for _ in range(20):
            values = torch.mm(values[:128], self.weights)

    def step(self):
        main = torch.cuda.current_stream()
        for number, stream in enumerate(self.streams):
            if self.repaired:
                stream.wait_stream(main)
            with torch.cuda.stream(stream if self.repaired else main):
                self.chain(number)
        if self.repaired:
            for stream in self.streams:
                main.wait_stream(stream)


@case("kernels", "SS309")
class Uneven:
    """Eight equal slices of work on two streams that join after each step: six on one, two on the other; repaired: four on each."""

    def __init__(self, repaired):
        self.on_first = 4 if repaired else 6
        self.slices = [torch.randn(128, 4096, device="cuda") for _ in range(8)]
        self.weights = torch.randn(4096, 4096, device="cuda") / 64
        self.streams = [torch.cuda.Stream() for _ in range(2)]

    def step(self):
        main = torch.cuda.current_stream()
        for stream in self.streams:
            stream.wait_stream(main)
        for _ in range(8):
            for number, values in enumerate(self.slices):
                with torch.cuda.stream(self.streams[number >= self.on_first]):
                    torch.mm(values, self.weights)
        for stream in self.streams:
            main.wait_stream(stream)


@case("host-outside", "SS305")
class Interpreter(Training):
    """Another thread keeps Python's lock; repaired: it is gone."""

    def __init__(self, repaired):
        super().__init__(repaired)
        sys.setswitchinterval(0.0005)
        if not repaired:
            threading.Thread(target=self.count, daemon=True).start()

    @staticmethod
    def count():
        number = 0
        while True:
            number += 1


def window(program, steps, mark):
    """ms per step."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(steps):
        with torch.cuda.nvtx.range("step") if mark else contextlib.nullcontext():
            program.step()
    torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - start) / steps


def variants(name, options):
    """{what a variant lacks: ms per step}, "before" of the program itself; the windows of all take turns, so that the host is equally fast."""
    kind, lacks, _, _ = CASES[name]
    programs = {"before": kind(False), lacks: kind(True), **{other: variant(False) for other, variant in VARIANTS[name].items()}}
    for program in programs.values():
        window(program, WARM_UP, False)
    spent = {variant: [] for variant in programs}
    for _ in range(options.windows):
        for variant, program in programs.items():
            spent[variant].append(window(program, options.steps, False))
    return {variant: statistics.median(times) for variant, times in spent.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=[*CASES, "list"])
    parser.add_argument("--repaired", action="store_true")
    parser.add_argument("--variants", action="store_true")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--windows", type=int, default=1)
    parser.add_argument("--mark", action="store_true")
    options = parser.parse_args()
    if options.case == "list":
        for name, (_, lacks, rule, place) in CASES.items():
            print(json.dumps({"case": name, "lacks": lacks, "rule": rule, "place": place, "others": list(VARIANTS.get(name, {}))}))
        return 0
    if not torch.cuda.is_available():
        print("SKIP: PyTorch sees no GPU", file=sys.stderr)
        return 77
    torch.backends.cuda.matmul.allow_tf32 = False
    if options.variants:
        print(json.dumps({"app": "torch_bounds", "ok": True, "case": options.case, "variants_ms": variants(options.case, options)}), flush=True)
        return 0
    program = CASES[options.case][0](options.repaired)
    window(program, WARM_UP, options.mark)
    spent = [window(program, options.steps, options.mark) for _ in range(options.windows)]
    print(json.dumps({"app": "torch_bounds", "ok": True, "case": options.case, "repaired": options.repaired,
                      "step_ms": statistics.median(spent), "windows_ms": spent}), flush=True)
    if threading.active_count() > 1:
        os._exit(0)  # the threads of some programs never end
    return 0


if __name__ == "__main__":
    sys.exit(main())

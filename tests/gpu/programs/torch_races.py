# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch programs with one missing dependency between streams, and the same with the dependency: torch_races.py CASE [--repaired]"""

import sys

import torch

COUNT = 4 << 20
ROUNDS = 3


def wait(waiter, awaited, repaired):
    if repaired:
        waiter.wait_stream(awaited)


def side_read(main, side, repaired):
    """The side stream reads what the main stream writes."""
    values, result = torch.empty(COUNT, device="cuda"), torch.empty(COUNT, device="cuda")
    side.wait_stream(main)
    for step in range(ROUNDS):
        wait(main, side, repaired)  # the value is still being read
        values.fill_(step)
        wait(side, main, repaired)
        with torch.cuda.stream(side):
            torch.mul(values, 2, out=result)
    return result


def side_write(main, side, repaired):
    """The main stream reads what the side stream writes."""
    values, result = torch.empty(COUNT, device="cuda"), torch.empty(COUNT, device="cuda")
    side.wait_stream(main)
    for step in range(ROUNDS):
        wait(side, main, repaired)
        with torch.cuda.stream(side):
            values.fill_(step)
        wait(main, side, repaired)
        torch.add(values, 1, out=result)
    return result


def copy_into_read(main, side, repaired):
    """A batch is copied into a tensor that the step before still reads."""
    host = torch.ones(COUNT).pin_memory()
    batch, result = torch.zeros(COUNT, device="cuda"), torch.zeros(COUNT, device="cuda")
    side.wait_stream(main)
    for _ in range(ROUNDS):
        wait(side, main, repaired)
        with torch.cuda.stream(side):
            batch.copy_(host, non_blocking=True)
        main.wait_stream(side)
        result.add_(batch)
    return result


def gemm_output(main, side, repaired, dtype=torch.float32):
    """The main stream uses a product that the side stream still computes."""
    left, right, product, result = (torch.ones(2048, 2048, device="cuda", dtype=dtype) for _ in range(4))
    torch.mm(left, right, out=product)  # makes the library's handle and workspace
    side.wait_stream(main)
    for _ in range(ROUNDS):
        wait(side, main, repaired)
        with torch.cuda.stream(side):
            torch.mm(left, right, out=product)
        wait(main, side, repaired)
        torch.add(product, 1, out=result)
    return result


def gemm_output_of_16_bits(main, side, repaired):
    """The same with kernels that copy by tensor maps (TMA), on Hopper and newer."""
    return gemm_output(main, side, repaired, torch.bfloat16)


def two_writers(main, side, repaired):
    """Both streams add to one tensor."""
    total = torch.zeros(COUNT, device="cuda")
    side.wait_stream(main)
    for _ in range(ROUNDS):
        total.add_(1)
        wait(side, main, repaired)
        with torch.cuda.stream(side):
            total.add_(2)
        wait(main, side, repaired)
    return total


def freed_while_read(main, side, repaired):
    """A tensor is given back while the side stream reads it, and its memory goes to the next one."""
    result = torch.zeros(COUNT, device="cuda")
    side.wait_stream(main)
    for step in range(ROUNDS):
        values = torch.full((COUNT,), float(step), device="cuda")
        side.wait_stream(main)
        with torch.cuda.stream(side):
            result.add_(values)
        if repaired:
            values.record_stream(side)
        del values
    return result


CASES = [side_read, side_write, copy_into_read, gemm_output, gemm_output_of_16_bits, two_writers, freed_while_read]


def main():
    case = {case.__name__: case for case in CASES}[sys.argv[1]]
    repaired = "--repaired" in sys.argv
    main_stream, side = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(main_stream):
        result = case(main_stream, side, repaired)
        torch.cuda.synchronize()
        print(case.__name__, float(result[-1].max()) if repaired else "done")


if __name__ == "__main__":
    main()

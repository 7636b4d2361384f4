# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""A program that is sampled: it computes, sleeps and encodes in turn, and prints how long each took.

    python3 samples.py SECONDS
"""

import ctypes
import json
import sys
import time

cuda = ctypes.CDLL("libcuda.so.1")
stream, event = ctypes.c_void_p(), ctypes.c_void_p()
assert cuda.cuInit(0) == 0
assert cuda.cuStreamCreate(ctypes.byref(stream), 0) == 0
assert cuda.cuEventCreate(ctypes.byref(event), 0) == 0
numbers = list(range(5000))


def busy():
    total = 0
    for i in range(150000):
        total += i * i
    return total


def rest():
    time.sleep(0.015)


def encode():
    json.dumps(numbers, indent=1)


def main():
    begin = time.perf_counter()
    spent = {"busy": 0.0, "rest": 0.0, "encode": 0.0}
    while time.perf_counter() < begin + float(sys.argv[1]):
        for step in (busy, rest, encode):
            before = time.perf_counter()
            step()  # the only place from which they are called
            spent[step.__name__] += time.perf_counter() - before
            assert cuda.cuEventRecord(event, stream) == 0
    spent["all"] = time.perf_counter() - begin
    print(json.dumps(spent))


main()

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Small CuPy programs, each with another way to use the GPU: cupy_programs.py CASE"""

import multiprocessing
import sys

import cupy

SCALE = r"""
extern "C" __global__ void scale(float* values, float factor, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= factor;
}
"""


def elementwise():
    """Expressions fused and not, and a reduction."""
    values = cupy.arange(1 << 20, dtype=cupy.float32)
    fused = cupy.fuse(lambda x: cupy.sqrt(x) * 2 + 1)
    return bool(cupy.isfinite((fused(values) + values).sum()))


def raw_kernel():
    """A kernel compiled at run time, launched by the driver."""
    kernel, values = cupy.RawKernel(SCALE, "scale"), cupy.ones(1 << 20, dtype=cupy.float32)
    for _ in range(10):
        kernel((values.size // 256,), (256,), (values, cupy.float32(2), values.size))
    return float(values[0])


def streams():
    """Four streams that do not wait for the default one, joined by events."""
    side = [cupy.cuda.Stream(non_blocking=True) for _ in range(4)]
    parts = []
    for number, stream in enumerate(side):
        with stream:
            parts.append(cupy.full(1 << 20, number, dtype=cupy.float32) * 2)
    for stream in side[1:]:
        side[0].wait_event(stream.record())
    with side[0]:
        total = sum(parts)
        side[0].synchronize()
        return float(total[0])


def graph():
    """A captured graph, launched often."""
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        values = cupy.ones(1 << 20, dtype=cupy.float32)
        values *= 2  # compiles before the capture
        stream.synchronize()
        stream.begin_capture()
        values *= 2
        captured = stream.end_capture()
        for _ in range(10):
            captured.launch(stream)
        stream.synchronize()
        return float(values[0])


def libraries():
    """cuBLAS, cuFFT, cuSOLVER, sorting and random numbers."""
    identity = cupy.eye(256, dtype=cupy.float32)
    solved = cupy.linalg.solve(identity * 2, identity)
    spectrum = cupy.fft.fft2(identity)
    ordered = cupy.sort(cupy.random.RandomState(3).rand(1 << 16))
    return float(solved.sum()), round(float(abs(spectrum).sum())), bool((cupy.diff(ordered) >= 0).all())


def stream_ordered_pool():
    """Memory from cudaMallocAsync."""
    cupy.cuda.set_allocator(cupy.cuda.MemoryAsyncPool().malloc)
    values = cupy.zeros(1 << 20, dtype=cupy.float32)
    for _ in range(20):
        values = values + 1
    return float(values[0])


def pinned_copies():
    """Copies from and to pinned memory while another stream works."""
    import numpy

    memory = cupy.cuda.alloc_pinned_memory(4 << 20)
    host = numpy.frombuffer(memory, numpy.float32, 1 << 20)
    host[:] = 3
    copying, working = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    with working:
        other = cupy.ones(1 << 20, dtype=cupy.float32) * 5
    with copying:
        values = cupy.empty(1 << 20, dtype=cupy.float32)
        values.set(host, copying)
        doubled = values * 2
        result = doubled.get(copying, blocking=True)
    working.synchronize()
    return float(result[0]), float(other[0])


def child(handle, size):
    pointer = cupy.cuda.runtime.ipcOpenMemHandle(handle)
    memory = cupy.cuda.UnownedMemory(pointer, size, None)
    values = cupy.ndarray((size // 4,), cupy.float32, cupy.cuda.MemoryPointer(memory, 0))
    values += 1
    cupy.cuda.runtime.deviceSynchronize()
    cupy.cuda.runtime.ipcCloseMemHandle(pointer)


def processes():
    """Memory of one process, written by two others in turn."""
    cupy.cuda.set_allocator(None)  # one allocation, which can be shared
    values = cupy.zeros(1 << 20, dtype=cupy.float32)
    cupy.cuda.runtime.deviceSynchronize()
    handle = cupy.cuda.runtime.ipcGetMemHandle(values.data.ptr)
    for _ in range(2):
        process = multiprocessing.get_context("spawn").Process(target=child, args=(handle, values.nbytes))
        process.start()
        process.join(60)
    return float(values[0])


CASES = [elementwise, raw_kernel, streams, graph, libraries, stream_ordered_pool, pinned_copies, processes]

if __name__ == "__main__":
    print(sys.argv[1], {case.__name__: case for case in CASES}[sys.argv[1]]())

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Small JAX programs, each with another way to use the GPU: jax_programs.py CASE"""

import os
import sys

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # others use the GPU at the same time

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402


def matmul():
    """One compiled product, called often."""
    product = jax.jit(lambda a, b: a @ b)
    values = jnp.eye(512)
    for _ in range(20):
        values = product(values, values)
    return float(values.sum())


def train():
    """Gradients and an update in one compiled step, with its buffers donated."""
    def loss(weights, inputs):
        return jnp.mean((jnp.tanh(inputs @ weights) - 1) ** 2)

    step = jax.jit(lambda weights, inputs: weights - 0.1 * jax.grad(loss)(weights, inputs), donate_argnums=0)
    weights, inputs = jnp.ones((256, 256)) / 256, jnp.ones((64, 256))
    for _ in range(20):
        weights = step(weights, inputs)
    return bool(jnp.isfinite(weights).all())


def scan():
    """A loop on the device."""
    body = jax.jit(lambda start: jax.lax.scan(lambda total, x: (total + x, total * x), start, jnp.arange(64.0)))
    return float(body(0.0)[0])


def while_loop():
    """A loop whose end the device decides."""
    return int(jax.jit(lambda: jax.lax.while_loop(lambda x: x < 1000, lambda x: x + 7, 0))())


def batched_fft():
    """vmap over a transform and a solver."""
    spectrum = jax.jit(jax.vmap(jnp.fft.fft))(jnp.ones((32, 1024)))
    solved = jax.jit(jax.vmap(jnp.linalg.solve))(jnp.stack([jnp.eye(16)] * 8), jnp.ones((8, 16, 1)))
    return round(float(jnp.abs(spectrum).sum())), float(solved.sum())


def transfers():
    """Arrays sent and fetched without waiting between."""
    double = jax.jit(lambda x: 2 * x)
    sent = [jax.device_put(jnp.full((1 << 18,), float(i))) for i in range(8)]
    results = [double(array) for array in sent]
    return [float(jax.device_get(result)[0]) for result in results]


def random_sort():
    """Random numbers, sorted and summed."""
    values = jax.jit(lambda key: jnp.sort(jax.random.normal(key, (1 << 18,))))(jax.random.key(5))
    return bool((jnp.diff(values) >= 0).all())


CASES = [matmul, train, scan, while_loop, batched_fft, transfers, random_sort]

if __name__ == "__main__":
    print(sys.argv[1], {case.__name__: case for case in CASES}[sys.argv[1]]())

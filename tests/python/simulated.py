# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Steps of a training loop on a simulated device, in this process."""

import ctypes
import os


class Steps:
    """Each step loads a batch, reads it in kernel gemm, and runs kernel AllGather beside it."""

    def __init__(self):
        self._library = ctypes.CDLL(os.environ["STREAMSCOPE_SIMULATED_STEPS"])
        self._library.steps_create.restype = ctypes.c_void_p
        self._steps = ctypes.c_void_p(self._library.steps_create())

    def step(self, racy=False, serial=False, gemm_us=20):
        """racy: does not wait until the last batch was read; serial: orders AllGather with gemm."""
        self._library.steps_step(self._steps, racy, serial, gemm_us)

    def finish(self):
        """Waits until all is done."""
        self._library.steps_finish(self._steps)

    def close(self):
        self._library.steps_destroy(self._steps)

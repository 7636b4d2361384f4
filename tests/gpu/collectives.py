# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Two NCCL communicators used in opposite order on two GPUs: a hang that is explained while it lasts."""

import glob

from hangs import explained


def find_nccl(harness):
    """The NCCL that PyTorch brought along, else the system's."""
    found = harness.run([harness.python, "-c", "import nvidia.nccl as n; print(list(n.__path__)[0])"], 30)
    bundled = glob.glob(f"{found.out.strip()}/lib/libnccl.so.2") if found.code == 0 else []
    return bundled[0] if bundled else "libnccl.so.2"


def run(harness):
    command = [harness.app("collectives"), find_nccl(harness)]
    gpus = harness.run(["nvidia-smi", "--list-gpus"], 30).out.count("GPU ")
    if gpus < 2:
        harness.skip("opposite-communicators", f"needs two GPUs, there are {gpus}")
        return
    loads = harness.run([harness.python, "-c", f"import ctypes; ctypes.CDLL({command[1]!r})"], 30)
    if loads.code != 0:
        harness.skip("opposite-communicators", f"no NCCL: {loads.why()}")
        return
    explained(harness, {"program": "opposite-communicators", "verdict": "collective", "culprit": "nccl.* waits for the other ranks"},
              command)

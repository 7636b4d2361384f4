# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Training steps of PyTorch between two files that somebody else makes: a recording is started and stopped meanwhile. The steps are an NVTX
range too, so that the same can be recorded by a capture range.

  torch_service.py STEPS FOLDER    makes FOLDER/ready, waits for FOLDER/go, makes FOLDER/done, waits for FOLDER/end
"""

import os
import pathlib
import sys
import time

import torch
from torch_parts import STEPS_AFTER, STEPS_BEFORE, Training, nvtx_range


def wait_for(file, limit_s=60):
    end = time.monotonic() + limit_s
    while not file.exists():
        if time.monotonic() > end:
            sys.exit(f"nobody made {file}")
        time.sleep(0.01)


def main():
    count, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    training = Training()
    training.steps(STEPS_BEFORE)
    torch.cuda.synchronize()
    (folder / "ready").write_text(f"{os.getpid()}\n")
    wait_for(folder / "go")
    with nvtx_range("part"):
        training.steps(count)
    (folder / "done").touch()
    wait_for(folder / "end")
    training.steps(STEPS_AFTER)
    torch.cuda.synchronize()


main()

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Python imports this before a program if its folder is in PYTHONPATH: the program waits for its turn (diagnosis.py) once the modules that take
seconds are read, so that only this is done beside the program whose turn it is."""
import os

turn = os.environ.pop("STREAMSCOPE_TURN", None)  # what the program starts does not wait for it
if turn:
    import fcntl

    import torch  # noqa: F401
    turn = open(turn)  # held until the process ends
    fcntl.flock(turn, fcntl.LOCK_EX)

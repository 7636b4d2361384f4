# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""A callback for PyTorch Lightning that marks training batches as iterations, and records some of them.

    trainer = Trainer(callbacks=[StepCallback("run.sqlite", first=10, count=20)])
"""

from __future__ import annotations

import contextlib
from typing import Any, Optional

from . import program, recording
from .error import Error
from .ranges import Range, step
from .trace import Trace

try:
    from lightning.pytorch import Callback
except ImportError:
    try:
        from pytorch_lightning import Callback
    except ImportError as error:
        raise Error("PyTorch Lightning is not installed", where="streamscope.lightning", remedy="pip install lightning") from error


class StepCallback(Callback):  # type: ignore[misc]
    """Makes each training batch an iteration named `name`.

    With `path`, records `count` batches, from batch `first` on, and replaces the file. `trace` is then the trace of these batches.
    """

    def __init__(self, path: Optional[program.Path] = None, *, first: int = 10, count: int = 20, name: str = "step") -> None:
        super().__init__()
        if path is not None:
            recording.require_collector()  # not only at the first batch to record
        self.trace: Optional[Trace] = None
        self._path = path
        self._first = first
        self._end = first + count
        self._name = name
        self._batch = 0
        self._step: Optional[Range] = None
        self._block = contextlib.ExitStack()

    def on_train_batch_start(self, *arguments: Any, **options: Any) -> None:
        if self._path is not None and self._batch == self._first:
            block = recording.record(self._path, force=True, iteration=f"nvtx:{self._name}")
            self.trace = self._block.enter_context(block)
        self._step = step(self._name)

    def on_train_batch_end(self, *arguments: Any, **options: Any) -> None:
        self._batch += 1
        if self._step is not None:
            self._step.end()
        if self._batch == self._end:
            self._block.close()

    def on_train_end(self, *arguments: Any, **options: Any) -> None:
        self._block.close()

    def on_exception(self, *arguments: Any, **options: Any) -> None:
        self._block.close()

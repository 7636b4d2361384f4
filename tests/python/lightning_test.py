# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The callback for PyTorch Lightning, called as Lightning's documentation says; Lightning itself is not installed here."""

import importlib
import sys

import pytest

import streamscope as package
from conftest import python


def test_without_lightning_the_remedy_is_named(monkeypatch):
    for name in ("lightning", "lightning.pytorch", "pytorch_lightning", "streamscope.lightning"):
        monkeypatch.setitem(sys.modules, name, None)
    del sys.modules["streamscope.lightning"]
    with pytest.raises(package.Error, match="PyTorch Lightning is not installed; pip install lightning"):
        importlib.import_module("streamscope.lightning")


TRAINING = """
import sys
import types

# The part of Lightning that a callback sees: its base class.
lightning = types.ModuleType("lightning.pytorch")
lightning.Callback = type("Callback", (), {})
sys.modules["lightning"] = types.ModuleType("lightning")
sys.modules["lightning.pytorch"] = lightning

from simulated import Steps
from streamscope.lightning import StepCallback

work = Steps()
callback = StepCallback(sys.argv[1] if len(sys.argv) > 1 else None, first=4, count=6)
for index in range(20):
    callback.on_train_batch_start(None, None, batch=index, batch_idx=index)
    work.step()
    work.finish()
    callback.on_train_batch_end(None, None, outputs=None, batch=index, batch_idx=index)
callback.on_train_end(None, None)
work.close()
"""


def test_does_nothing_in_a_process_that_is_not_recorded(work):
    (work / "train.py").write_text(TRAINING)
    done = python("train.py")
    assert done.returncode == 0, done.stdout
    done = python("train.py", "batches.sqlite")
    assert "this process is not recorded" in done.stdout


def test_records_the_batches_that_were_asked_for(work):
    (work / "train.py").write_text(TRAINING)
    done = python("train.py", "batches.sqlite", recorded=True)
    assert done.returncode == 0, done.stdout
    trace = package.open("batches.sqlite", iteration="nvtx:step", tables="rows")
    assert trace.diagnosis()["iteration"]["count"] == 6
    trace.assert_may_overlap("AllGather*", "gemm*")

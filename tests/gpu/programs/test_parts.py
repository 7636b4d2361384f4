# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Tests as a user of the pytest plugin writes them: those named good pass and the others fail, each for its own reason."""

import pytest
import torch


def side_read(repaired):
    """A stream reads what another one writes."""
    side, data = torch.cuda.Stream(), torch.zeros(1 << 22, device="cuda")
    torch.cuda.synchronize()
    data.add_(1)
    if repaired:
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        copy = data.clone()
    torch.cuda.synchronize()
    return copy


def overlapped(together):
    """Copies beside kernels, or behind them."""
    side, host = torch.cuda.Stream(), torch.zeros(1 << 20).pin_memory()
    device, data = torch.empty(1 << 20, device="cuda"), torch.randn(1024, 1024, device="cuda")
    torch.cuda.synchronize()
    for _ in range(8):
        if not together:
            side.wait_stream(torch.cuda.current_stream())
            torch.cuda.current_stream().wait_stream(side)
        with torch.cuda.stream(side):
            device.copy_(host, non_blocking=True)
        if not together:
            torch.cuda.current_stream().wait_stream(side)
        data @ data
    torch.cuda.synchronize()


@pytest.mark.parametrize("repaired", [pytest.param(True, id="good"), pytest.param(False, id="racy")])
def test_race(streamscope, repaired):
    with streamscope.record() as run:
        side_read(repaired)
    run.assert_no_findings()


@pytest.mark.parametrize("together", [pytest.param(True, id="good"), pytest.param(False, id="serial")])
def test_overlap(streamscope, together):
    overlapped(together)  # loads kernels
    with streamscope.record() as run:
        overlapped(together)
    run.assert_may_overlap("memcpy HtoD", "*gemm*")

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Prodigy_adv on a small transformer-like network."""
import torch

import steps
from captured import captured

options = steps.arguments()
from adv_optm.optim.Prodigy_adv import Prodigy_adv  # noqa: E402

torch.manual_seed(0)
model = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.LayerNorm(512), torch.nn.GELU()) for _ in range(24)]).cuda()
optimizer = Prodigy_adv(model.parameters(), lr=1.0)
data = torch.randn(256, 512, device="cuda")


def gradients():
    loss = model(data).square().mean()
    loss.backward()


def step():
    optimizer.zero_grad(set_to_none=True)
    gradients()
    optimizer.step()


if options.without == "launching":
    step()
    optimizer.d_denom, optimizer.d_numerator = (torch.zeros((), device="cuda") for _ in range(2))

    def on_device():
        optimizer.zero_grad(set_to_none=True)
        gradients()
        for group in optimizer.param_groups:
            for number, parameter in enumerate(group["params"]):
                optimizer.step_parameter(parameter, group, number)
    replay = captured(on_device)

    def as_graph():  # and the two reads of the whole step
        replay()
        optimizer.d_numerator.item(), optimizer.d_denom.item()
    steps.measured(as_graph, options)
else:
    steps.measured(step, options, steps=30)

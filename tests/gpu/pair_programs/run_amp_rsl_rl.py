# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""ReplayBuffer as the discriminator's training uses it."""
import torch

import steps
from captured import captured

options = steps.arguments()
from amp_rsl_rl.storage.replay_buffer import ReplayBuffer  # noqa: E402

torch.manual_seed(0)
buffer = ReplayBuffer(60, 200_000, "cuda")
for _ in range(50):
    buffer.insert(torch.randn(4096, 60, device="cuda"), torch.randn(4096, 60, device="cuda"))
network = torch.nn.Sequential(torch.nn.Linear(120, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1)).cuda()
optimizer = torch.optim.Adam(network.parameters())


def step():
    """One mini-batch, each from a new permutation, as where the generator is asked for one at a time."""
    for states, following in buffer.feed_forward_generator(1, 1024):
        loss = network(torch.cat([states, following], 1)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if options.without == "launching":  # sampled as before, trained by one graph launch
    inputs = torch.zeros(1024, 120, device="cuda")
    optimizer = torch.optim.Adam(network.parameters(), capturable=True)

    def on_device():
        optimizer.zero_grad(set_to_none=True)
        network(inputs).square().mean().backward()
        optimizer.step()
    replay = captured(on_device)

    def as_graph():
        for states, following in buffer.feed_forward_generator(1, 1024):
            inputs.copy_(torch.cat([states, following], 1))
            replay()
    steps.measured(as_graph, options)
else:
    steps.measured(step, options)

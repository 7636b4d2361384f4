# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Functions and classes of diffusers, taken out of their files, in steps as those who call them make them (--part)."""
import contextlib
import copy
import functools
import logging

import torch

import steps
from captured import captured

options = steps.arguments()
torch.manual_seed(0)


def taken(file, *path):
    return steps.taken(options.tree, file, *path, contextlib=contextlib, copy=copy, logger=logging.getLogger(file), is_transformers_available=lambda: False,
                       lru_cache_unless_export=functools.lru_cache)


def ema():
    """A training step of a network of many small layers, whose weights are averaged."""
    network = torch.nn.Sequential(*(layer for _ in range(60) for layer in (torch.nn.Linear(256, 256), torch.nn.SiLU()))).cuda()
    optimizer = torch.optim.AdamW(network.parameters(), fused=True)
    average = taken("training_utils.py", "EMAModel")(network.parameters(), **({"foreach": True} if options.tree == "after" else {}))
    inputs = torch.randn(64, 256, device="cuda")

    def step():
        network(inputs).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        average.step(network.parameters())
    return step


def mask():
    """Attention within and before the frames of a video."""
    frames, size = 4, 128
    masked = taken("autoencoder_kl_hunyuan_video.py", "prepare_causal_attention_mask")
    query, key, value = torch.randn(3, 1, 8, frames * size, 64, device="cuda", dtype=torch.half)

    @torch.no_grad()
    def step():
        allowed = masked(frames, size, torch.half, torch.device("cuda"), batch_size=1)
        torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
    return step


def rope():
    """Layers that turn queries by their position in an image."""
    embed = taken("transformer_qwenimage.py", "QwenEmbedRope")(theta=10000, axes_dim=[16, 56, 56], scale_rope=True)
    width = 128 if options.without == "kernels" else 1024  # then they take next to no time
    device, layers = torch.device("cuda"), [torch.nn.Linear(width, width, device="cuda") for _ in range(12)]
    hidden = torch.randn(1, 1024, width, device="cuda")

    @torch.no_grad()
    def step():
        image, text = embed([(1, 32, 28)], device=device, max_txt_seq_len=128)
        turns, turned = torch.cat([text, image]).unsqueeze(1), hidden
        for layer in layers:
            heads = torch.view_as_complex(layer(turned).view(1024, width // 128, 64, 2))
            turned = torch.view_as_real(heads * turns).reshape(1, 1024, width)
    return step


def noise():
    """A training step of a denoiser."""
    network = torch.nn.Sequential(torch.nn.Conv2d(4, 64, 3, padding=1), torch.nn.SiLU(), torch.nn.Conv2d(64, 4, 3, padding=1)).cuda()
    optimizer = torch.optim.AdamW(network.parameters(), fused=True)
    scheduler = type("Scheduler", (), {"add_noise": taken("scheduling_ddpm.py", "DDPMScheduler", "add_noise")})()
    scheduler.alphas_cumprod = torch.cumprod(1 - torch.linspace(0.0001, 0.02, 1000), dim=0)
    latents = torch.randn(4, 4, 32, 32, device="cuda")

    def step():
        added = torch.randn_like(latents)
        noisy = scheduler.add_noise(latents, added, torch.randint(0, 1000, (4,), device="cuda"))
        torch.nn.functional.mse_loss(network(noisy), added).backward()
        optimizer.step()
        optimizer.zero_grad()
    return step


chosen = {"ema": ema, "mask": mask, "rope": rope, "noise": noise}[options.part]()
steps.measured(captured(chosen) if options.without == "launching" else chosen, options)

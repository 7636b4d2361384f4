# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Parts of other projects, taken out of their files, in steps as those who call them make them (--part)."""
import contextlib
import copy
import logging
import math
import random
import types
import warnings

import torch

import steps
from captured import captured

options = steps.arguments()
repaired = options.tree == "after"
torch.manual_seed(0)


def layers(count, make):
    return torch.nn.Sequential(*(layer for _ in range(count) for layer in make())).cuda()


def linear_layers(count=60, width=256):
    return layers(count, lambda: (torch.nn.Linear(width, width), torch.nn.SiLU()))


def speaker():
    """PyTorch_Speaker_Verification: a training step with the repository's own sizes."""
    speakers, utterances, frames = 4, 5, 180
    sizes = types.SimpleNamespace(data=types.SimpleNamespace(nmels=40), model=types.SimpleNamespace(hidden=768, num_layer=3, proj=256))
    functions = steps.taken(options.tree, "utils.py", np=None, hp=sizes, F=torch.nn.functional)
    used = {name: functions[name] for name in ("get_centroids", "get_cossim", "calc_loss")}
    parts = steps.taken(options.tree, "speech_embedder_net.py", hp=sizes, **used)
    network, ge2e_loss = parts["SpeechEmbedder"]().cuda(), parts["GE2ELoss"](torch.device("cuda"))
    optimizer = torch.optim.SGD([{"params": network.parameters()}, {"params": ge2e_loss.parameters()}], lr=0.01)
    batch = torch.randn(speakers * utterances, frames, 40, device="cuda")

    def step():
        order = random.sample(range(len(batch)), len(batch))
        back = [order.index(number) for number in range(len(batch))]
        optimizer.zero_grad()
        embeddings = network(batch[order])[back].reshape(speakers, utterances, -1)
        ge2e_loss(embeddings).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 3.0)
        torch.nn.utils.clip_grad_norm_(ge2e_loss.parameters(), 1.0)
        optimizer.step()
    return step


def schedule_free():
    """schedule_free: a training step of a network of many small layers."""
    network = linear_layers()
    optimizer = steps.taken(options.tree, "adamw_schedulefree.py", "AdamWScheduleFree", math=math)(network.parameters())
    optimizer.train()
    inputs = torch.randn(64, 256, device="cuda")

    def step():
        network(inputs).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return step


def model_ema():
    """pytorch-image-models: a training step of convolutions, whose weights are averaged."""
    network = layers(40, lambda: (torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.BatchNorm2d(64), torch.nn.ReLU()))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, foreach=True)
    average = steps.taken(options.tree, "model_ema.py", "ModelEmaV2", deepcopy=copy.deepcopy)(network, **({"foreach": True} if repaired else {}))
    images = torch.randn(8, 64, 16, 16, device="cuda")

    def step():
        network(images).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        average.update(network)
    return step


def trainer():
    """torchebm: a training step by its trainer, of an energy that tells data from noise."""
    class Loss(torch.nn.Module):
        def __init__(self, energy):
            super().__init__()
            self.energy = energy

        def forward(self, batch, model_kwargs):
            return self.energy(batch).mean() - self.energy(torch.randn_like(batch)).mean()

    unused = dict.fromkeys(("BaseModel", "BaseSampler", "BaseLoss", "DataLoader"), object)
    made = steps.taken(options.tree, "base_trainer.py", nullcontext=contextlib.nullcontext, warnings=warnings, logger=logging.getLogger(), **unused)
    energy = torch.nn.Sequential(linear_layers(20), torch.nn.Linear(256, 1)).cuda()
    chosen = made["BaseTrainer"](energy, torch.optim.SGD(energy.parameters(), lr=1e-3), Loss(energy), device="cuda")
    batch = torch.randn(128, 256, device="cuda")
    return lambda: chosen.train_step(batch)


def repeated_words():
    """fairseq: a step of a beam search that repeats no three words."""
    sentences, beams, words, step_number = 5, 4, 32_000, 198
    block = steps.taken(options.tree, "ngram_repeat_block.py", math=math, warnings=warnings, EXTENSION_BUILT=False)["NGramRepeatBlock"](3, use_extension=False)
    output = torch.nn.Linear(512, words).cuda()
    hidden = torch.randn(sentences * beams, 512, device="cuda")
    tokens = torch.randint(300, (sentences * beams, step_number + 1), device="cuda")

    @torch.no_grad()
    def step():
        probabilities = torch.log_softmax(output(hidden), dim=-1)
        block(tokens, probabilities, sentences, beams, step_number)
        probabilities.topk(2 * beams)
    return step


chosen = {"speaker": speaker, "schedule_free": schedule_free, "model_ema": model_ema, "trainer": trainer, "repeated_words": repeated_words}[options.part]()
steps.measured(captured(chosen) if options.without == "launching" else chosen, options)

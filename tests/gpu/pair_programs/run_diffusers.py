# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""EulerDiscreteScheduler with a small denoiser; what the scheduler imports of its package is put in its place."""
import functools
import importlib.util
import inspect
import logging
import sys
import types

import torch

import steps
from captured import captured

options = steps.arguments()


class Config(dict):
    __getattr__ = dict.get


def register_to_config(init):
    @functools.wraps(init)
    def wrapped(self, *args, **kwargs):
        bound = inspect.signature(init).bind(self, *args, **kwargs)
        bound.apply_defaults()
        self.config = Config({name: value for name, value in bound.arguments.items() if name != "self"})
        init(self, *args, **kwargs)
    return wrapped


def module(name, **contents):
    made = types.ModuleType(name)
    made.__dict__.update(contents)
    made.__path__ = []
    sys.modules[name] = made


module("d")
module("d.schedulers")
module("d.configuration_utils", ConfigMixin=object, register_to_config=register_to_config)
module("d.utils", BaseOutput=object, logging=types.SimpleNamespace(get_logger=logging.getLogger))
module("d.utils.torch_utils", randn_tensor=lambda shape, generator=None, device=None, dtype=None: torch.randn(shape, device=device, dtype=dtype, generator=generator))
module("d.schedulers.scheduling_utils", KarrasDiffusionSchedulers=[], SchedulerMixin=type("SchedulerMixin", (), {}))
spec = importlib.util.spec_from_file_location("d.schedulers.scheduling_euler_discrete", f"{options.tree}/scheduling_euler_discrete.py")
loaded = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = loaded
spec.loader.exec_module(loaded)

torch.manual_seed(0)
scheduler = loaded.EulerDiscreteScheduler()
STEPS = 50
network = torch.nn.Sequential(torch.nn.Conv2d(4, 64, 3, padding=1), torch.nn.SiLU(), torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.SiLU(),
                              torch.nn.Conv2d(64, 4, 3, padding=1)).cuda().half()
latents = torch.randn(2, 4, 64, 64, device="cuda", dtype=torch.half)
state = {"left": iter(()), "sample": latents}


@torch.no_grad()
def step():
    timestep = next(state["left"], None)
    if timestep is None:
        scheduler.set_timesteps(STEPS, device="cuda")
        state["left"], state["sample"] = iter(scheduler.timesteps), latents * scheduler.init_noise_sigma
        timestep = next(state["left"])
    scaled = scheduler.scale_model_input(state["sample"], timestep)
    state["sample"] = scheduler.step(network(scaled.half()), timestep, state["sample"], return_dict=False)[0]


if options.without == "launching":
    scheduler.set_timesteps(STEPS, device="cuda")
    first = scheduler.timesteps[0]
    scheduler._init_step_index(first)
    sample = latents * scheduler.init_noise_sigma.to("cuda")

    @torch.no_grad()
    def on_device():
        scheduler._step_index = 10
        sample.copy_(scheduler.step(network(scheduler.scale_model_input(sample, first).half()), first, sample, return_dict=False)[0])
    steps.measured(captured(on_device), options, steps=100)
else:
    steps.measured(step, options, steps=100)

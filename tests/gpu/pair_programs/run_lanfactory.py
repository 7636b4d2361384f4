# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""ModelTrainerTorchMLP as its tests use it: files of simulated data, a loader with one worker, an MLP."""
import json
import pathlib
import pickle
import statistics
import sys
import tempfile
import time
import types

import numpy as np
import torch

import steps
from captured import captured

options = steps.arguments()
for name in ("lanfactory", "lanfactory.trainers"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [f"{options.tree}/{name.replace('.', '/')}"]
from lanfactory.trainers import torch_mlp  # noqa: E402

torch.manual_seed(0)
np.random.seed(0)
folder = pathlib.Path(tempfile.mkdtemp())
BATCH, BATCHES = 16384, 70
random = np.random.default_rng(0)
with open(folder / "data.pickle", "wb") as file:
    pickle.dump({"lan_data": random.random((BATCH * BATCHES, 6), dtype=np.float32), "lan_labels": random.random(BATCH * BATCHES, dtype=np.float32)}, file)


def loader():
    return torch_mlp.make_dataloader([folder / "data.pickle"], BATCH, shuffle=False, num_workers=1)


class Marked:
    """Batches, each in its range, and the times between them."""
    def __init__(self, batches):
        self.batches, self.times = batches, []

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        batches = iter(self.batches)
        while True:
            if options.mark:
                torch.cuda.nvtx.range_push("step")
            batch = next(batches, None)
            if options.mark and batch is None:
                torch.cuda.nvtx.range_pop()
            if batch is None:
                return
            self.times.append(time.perf_counter())
            yield batch
            if options.mark:
                torch.cuda.nvtx.range_pop()


config = {"layer_sizes": [100, 100, 1], "activations": ["tanh", "tanh", "linear"], "train_output_type": "logprob"}
training = {"n_epochs": 3, "loss": "huber", "optimizer": "adam", "learning_rate": 0.001, "lr_scheduler": None, "weight_decay": 0.0}
network = torch_mlp.TorchMLP(config, input_shape=6, network_type="lan")
batches = loader()
if options.without == "loading":
    batches = [tuple(part.pin_memory() for part in batch) for batch in batches]
marked = Marked(batches)
trainer = torch_mlp.ModelTrainerTorchMLP(network, training, marked, [tuple(part.cuda() for part in next(iter(loader())))])
if options.without == "launching":
    features, labels = (part.cuda() for part in next(iter(loader())))
    optimizer = torch.optim.Adam(trainer.model.parameters(), lr=0.001, capturable=True)
    kept = {}

    def on_device():
        optimizer.zero_grad(set_to_none=True)
        kept["loss"] = trainer.loss_fun(trainer.model(features), labels)
        kept["loss"].backward()
        optimizer.step()
    replay = captured(on_device)
    for _ in range(3):
        for xb, yb in marked:
            features.copy_(xb, non_blocking=True), labels.copy_(yb, non_blocking=True)
            replay()
            float(kept["loss"])
else:
    trainer.train_and_evaluate(output_folder=folder, save_outputs=False, verbose=0)
if not options.mark:
    # The steps of each epoch but its first ten, which wait for the loader to start and to read the file.
    epochs = [marked.times[number:number + BATCHES] for number in range(0, len(marked.times), BATCHES)]
    print(json.dumps({"step_ms": statistics.median((epoch[-1] - epoch[10]) / (len(epoch) - 11) for epoch in epochs) * 1e3}))

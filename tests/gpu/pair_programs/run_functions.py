# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Single functions of libraries, taken out of their files, in steps as those who call them make them (--part)."""
import math

import torch

import steps
from captured import captured

options = steps.arguments()
torch.manual_seed(0)


def taken(file, *path, **names):
    return steps.taken(options.tree, file, *path, Tensor=torch.Tensor, **names)


def of_kornia(name):
    """A function of kornia/enhance/adjust.py."""
    def same(function):
        return function
    elsewhere = dict.fromkeys(("hsv_to_rgb", "rgb_to_grayscale", "rgb_to_hsv", "KORNIA_CHECK_IS_COLOR_OR_GRAY"))
    return taken("adjust.py", F=torch.nn.functional, pi=math.pi, perform_keep_shape_image=same, perform_keep_shape_video=same, KORNIA_CHECK=lambda *_: True,
                 KORNIA_CHECK_IS_TENSOR=lambda *_: True, _torch_histc_cast=torch.histc, **elsewhere)[name]


def equalize():
    """kornia: equalizes a batch of images."""
    function = of_kornia("equalize")
    images = torch.rand(32, 3, 224, 224, device="cuda")
    return lambda: function(images)


def posterize():
    """kornia: reduces the bits of each image of a batch by as much as was drawn for it."""
    function = of_kornia("posterize")
    images = torch.rand(16, 3, 64, 64, device="cuda")
    bits = torch.randint(0, 9, (16,), device="cuda")
    return lambda: function(images, bits)


def channel_shuffle():
    """kornia: permutes the channels of each image of a batch."""
    function = taken("channel_shuffle.py", IntensityAugmentationBase2D=object)["RandomChannelShuffle"].apply_transform
    images = torch.rand(32, 3, 224, 224, device="cuda")
    drawn = {"channels": torch.stack([torch.randperm(3) for _ in images]).cuda()}
    return lambda: function(None, images, drawn, {})


def colors():
    """kornia: a training step of convolutions, whose images get another hue first."""
    functions = taken("hsv.py", math=math, Module=torch.nn.Module)
    network = torch.nn.Sequential(*(layer for _ in range(8) for layer in (torch.nn.Conv2d(3, 3, 3, padding=1), torch.nn.ReLU()))).cuda()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    images = torch.rand(16, 3, 128, 128, device="cuda")

    def step():
        with torch.no_grad():
            hue, saturation, value = functions["rgb_to_hsv"](images).unbind(1)
            changed = functions["hsv_to_rgb"](torch.stack(((hue + 0.5) % (2 * math.pi), saturation, value), 1))
        network(changed).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return step


def graph(nodes=4_000, degree=8):
    """The ends of the edges of a graph, sorted by target, and where those of each node begin."""
    source = torch.randint(nodes, (nodes * degree,), device="cuda")
    target = torch.arange(nodes, device="cuda").repeat_interleave(degree)
    return source, target, torch.arange(0, nodes * degree + 1, degree, device="cuda")


class Known:
    """What a library found when it was imported."""
    WITH_SOFTMAX = WITH_TORCH_SCATTER = False
    WITH_PT20 = True


Known.typing = Known


def edge_softmax():
    """pytorch_geometric: a forward pass of attention over the edges of a graph, six layers of four heads."""
    names = {"torch_geometric": Known, "is_compiling": lambda: False}
    segment = taken("_segment.py", scatter=None, **names)["segment"]
    softmax = taken("_softmax.py", segment=segment, scatter=None, pyg_lib=None, maybe_num_nodes=None, **names)["softmax"]
    source, target, first_edge = graph()
    layers = [torch.nn.Linear(64, 64).cuda() for _ in range(6)]
    scores = [torch.nn.Linear(64, 4).cuda() for _ in range(6)]
    features = torch.randn(first_edge.numel() - 1, 64, device="cuda")

    @torch.no_grad()
    def step():
        values = features
        for layer, score in zip(layers, scores):
            weights = softmax(torch.nn.functional.leaky_relu(score(values[source]) + score(values[target])), ptr=first_edge)
            messages = layer(values)[source].view(-1, 4, 16) * weights.unsqueeze(-1)
            values = torch.zeros_like(values).index_add_(0, target, messages.view(-1, 64)).relu()
    return step


def dense_batch():
    """pytorch_geometric: a forward pass of four layers of attention among the nodes of each graph of a batch."""
    def sums(values, index, dim, dim_size, reduce):
        return values.new_zeros(dim_size).scatter_add_(dim, index, values)
    function = taken("_to_dense_batch.py", scatter=sums, cumsum=taken("functions.py", "cumsum"), is_experimental_mode_enabled=lambda _: False,
                     disable_dynamic_shapes=lambda required_args: lambda function: function)["to_dense_batch"]
    graphs, most = 64, 96
    sizes = torch.randint(32, most, (graphs,))
    batch = torch.arange(graphs).repeat_interleave(sizes).cuda()
    features = torch.randn(int(sizes.sum()), 128, device="cuda")
    layers = [torch.nn.MultiheadAttention(128, 4, batch_first=True).cuda() for _ in range(4)]

    @torch.no_grad()
    def step():
        for layer in layers:
            values, known = function(features, batch, max_num_nodes=most, batch_size=graphs)
            layer(values, values, values, key_padding_mask=~known, need_weights=False)
    return step


def binary_scores():
    """torchmetrics: steps of an evaluation that count right and wrong answers."""
    others = {"normalize_logits_if_needed": taken("utilities/compute.py", "normalize_logits_if_needed")} if options.tree == "after" else {}
    elsewhere = dict.fromkeys(("_check_same_shape", "_input_format_classification", "_bincount", "select_topk", "tensor"))
    kinds = {name: type(name, (), {}) for name in ("AverageMethod", "ClassificationTask", "DataType", "MDMCAverageMethod")}
    functions = taken("functional/classification/stat_scores.py", **elsewhere, **kinds, **others)
    network = torch.nn.Sequential(*(layer for _ in range(20) for layer in (torch.nn.Linear(256, 256), torch.nn.SiLU())), torch.nn.Linear(256, 1)).cuda()
    inputs, target = torch.randn(1024, 256, device="cuda"), torch.randint(2, (1024, 1), device="cuda")
    counts = [torch.zeros((), dtype=torch.long, device="cuda") for _ in range(4)]

    @torch.no_grad()
    def step():
        answers = functions["_binary_stat_scores_format"](network(inputs), target)
        for count, more in zip(counts, functions["_binary_stat_scores_update"](*answers)):
            count.add_(more)
    return step


chosen = {"equalize": equalize, "posterize": posterize, "channel_shuffle": channel_shuffle, "colors": colors, "edge_softmax": edge_softmax,
          "dense_batch": dense_batch, "binary_scores": binary_scores}[options.part]()
steps.measured(captured(chosen) if options.without == "launching" else chosen, options)

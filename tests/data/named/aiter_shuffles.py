"""Weights and scales in AITER's layouts: pip install torch==2.15.0; pip install --pre --no-deps --target DIR
amd-aiter==0.1.7.post2.dev18; python aiter_shuffles.py DIR"""

import sys

import torch

from record import RUNS, numbers, one_module, places, row, write

shuffle = one_module(sys.argv[1], "aiter.ops.shuffle")
scales = one_module(sys.argv[1], "aiter.utility.fp4_utils", triton={}, triton__language={}, aiter__utility__dtypes={})
rows = []
TYPES = {"u8": torch.uint8, "bf16": torch.bfloat16}
for text, sizes in [("u8", [16, 32]), ("u8", [48, 96]), ("u8", [2, 32, 64]), ("bf16", [16, 32]), ("bf16", [32, 96])]:
    count = torch.Size(sizes).numel()
    width = TYPES[text].itemsize
    memories = []
    for run in range(RUNS):
        held = torch.tensor(numbers(run, count))
        # The function permutes elements of any type: the numbers go through it one byte, or two, at a time.
        parts = []
        for shift in range(0, 32, 8 * width):
            part = (held >> shift) & (256**width - 1)
            plain = part.to(torch.uint8) if width == 1 else part.to(torch.int32).to(torch.int16).view(torch.bfloat16)
            moved = shuffle.shuffle_weight(plain.reshape(sizes)).flatten()
            bits = moved.to(torch.int64) if width == 1 else moved.view(torch.int16).to(torch.int64) & 0xFFFF
            parts.append(bits << shift)
        memories.append(sum(parts).tolist())
    rows.append(row(f"aiter.shuffle_weight_16x16:{text}{sizes}".replace(" ", ""), places(memories, sizes), count * width))
for sizes in [[32, 8], [256, 8], [40, 9], [300, 20], [1, 1]]:
    count = sizes[0] * sizes[1]
    held = [scales.e8m0_shuffle(torch.tensor(numbers(run, count), dtype=torch.int32).reshape(sizes)) for run in range(RUNS)]
    memories = [memory.flatten().tolist() for memory in held]
    rows.append(row(f"aiter.shuffle_scale:f8e8m0fnu{sizes}".replace(" ", ""), places(memories, sizes), len(memories[0])))
write(__file__, "amd-aiter 0.1.7.post2.dev18", rows)

"""Int4 weights for CPUs of PyTorch, by its own packer: pip install torch==2.15.0 numpy==2.4.6

The order follows the width of a vector: ATEN_CPU_CAPABILITY=avx512, avx2 or default python torch_int4pack.py runs one of the three, so the
script runs itself three times.
"""

import os
import subprocess
import sys

from record import bit_places, row, write

LEVELS = {"avx512": 32, "avx2": 16, "default": 1}
SHAPES = [[64, 32], [128, 64], [96, 32], [80, 64], [48, 32]]


def packed(level, sizes):
    """The places of [N, K], and the bytes."""
    import torch

    def pack(values):
        weights = torch.tensor(values, dtype=torch.int32).reshape(sizes)
        return torch._convert_weight_to_int4pack_for_cpu(weights, 1).numpy().tobytes()

    return bit_places(pack, sizes, 4)


if len(sys.argv) > 1:
    level = sys.argv[1]
    import json

    for sizes in SHAPES:
        offsets, size = packed(level, sizes)
        layout = f"torch.int4pack_cpu<{LEVELS[level]}>:u4{sizes}".replace(" ", "")
        print(json.dumps(row(layout, offsets, size)))
else:
    rows = []
    for level in LEVELS:
        out = subprocess.run([sys.executable, __file__, level], env={**os.environ, "ATEN_CPU_CAPABILITY": level}, capture_output=True, text=True, check=True)
        import json

        rows.extend(json.loads(line) for line in out.stdout.splitlines())
    import torch

    write(__file__, f"torch {torch.__version__}", rows)

"""Block scales in the layout of cuBLASLt, by torchao's `to_blocked`: pip install torch==2.12.1 torchao==0.18.0 numpy==2.4.6"""

import torch
import torchao
from torchao.prototype.mx_formats.utils import to_blocked

from record import RUNS, numbers, places, row, write

rows = []
for sizes in [[1, 1], [5, 3], [128, 4], [130, 5], [200, 10], [31, 9], [257, 2]]:
    memories = []
    for run in range(RUNS):
        # Element numbers instead of scales: the function moves elements of any type.
        order = torch.tensor(numbers(run, sizes[0] * sizes[1]), dtype=torch.int32).reshape(sizes)
        memories.append(to_blocked(order).flatten().tolist())
    rows.append(row(f"nvidia.sf_128x4:f8e8m0fnu{sizes}".replace(" ", ""), places(memories, sizes), len(memories[0])))
write(__file__, f"torchao {torchao.__version__}", rows)

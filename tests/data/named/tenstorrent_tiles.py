"""Tiles of Tenstorrent in host memory, by ttnn without a device: pip install --no-deps ttnn==0.81.1 and
numpy==2.4.6 loguru pydantic pyyaml click graphviz networkx ml_dtypes (Python 3.10 or 3.12, Linux).

ttnn asks how large a device's tiles are, so it is told of a card by a description of a cluster (`TT_METAL_MOCK_CLUSTER_DESC_PATH`).
"""

import os
import pathlib
import tempfile

folder = tempfile.TemporaryDirectory()
cluster = pathlib.Path(folder.name, "n150.yaml")
cluster.write_text(
    "arch: {0: wormhole_b0}\nchips: {0: [0, 0, 0, 0]}\nethernet_connections: []\nchips_with_mmio: [{0: 0}]\n"
    "harvesting: {0: {noc_translation: true, harvest_mask: 0}}\n"
    f"boards:\n  - - {{board_id: {0x18 << 36}}}\n    - {{board_type: n150}}\n    - {{chips: [0]}}\n"
)
os.environ["TT_METAL_MOCK_CLUSTER_DESC_PATH"] = str(cluster)

import numpy  # noqa: E402
import ttnn  # noqa: E402

from record import RUNS, numbers, places, row, write  # noqa: E402

TYPES = {"f32": (ttnn.float32, numpy.float32), "s32": (ttnn.int32, numpy.int32), "u16": (ttnn.uint16, numpy.uint16)}
rows = []
for text, sizes in [
    ("f32", [32, 32]), ("f32", [40, 70]), ("f32", [2, 33, 20]), ("f32", [70]), ("s32", [5, 3]), ("s32", [2, 3, 17, 16]), ("u16", [33, 64]), ("u16", [1, 48]),
]:  # fmt: skip
    kind, data_type = TYPES[text]
    memories = []
    for run in range(RUNS):
        array = numpy.array(numbers(run, int(numpy.prod(sizes))), dtype=data_type).reshape(sizes)
        tensor = ttnn.Tensor(array, kind).to(ttnn.TILE_LAYOUT)
        count = int(numpy.prod(list(tensor.padded_shape)))
        file = pathlib.Path(folder.name, "tensor.tensorbin")
        ttnn.dump_tensor(str(file), tensor)
        # The memory of the tensor is the end of the file.
        memories.append([int(x) for x in numpy.frombuffer(file.read_bytes()[-count * array.itemsize :], data_type)])
    rows.append(row(f"tenstorrent.tile:{text}{sizes}".replace(" ", ""), places(memories, sizes), count * array.itemsize))
write(__file__, "ttnn 0.81.1", rows)

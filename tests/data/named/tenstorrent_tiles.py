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

from record import RUNS, numbers, places, row, samples, write  # noqa: E402

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


def places_of_one(kind, tiles, index):
    """The byte of the exponent and the element of the value that are not 0, in block floats of a 1 among zeros."""
    array = numpy.zeros((40, 70), dtype=numpy.float32)
    array[index] = 1
    file = pathlib.Path(folder.name, "tensor.tensorbin")
    ttnn.dump_tensor(str(file), ttnn.Tensor(array, kind, layout=ttnn.TILE_LAYOUT))
    memory = numpy.frombuffer(file.read_bytes()[-tiles:], numpy.uint8)
    exponent, value = memory.nonzero()[0].tolist()
    # A tile has one byte of exponent for 16 values, and a value is a byte or the low or high half of one.
    nibble = int(memory[value] > 15) if kind == ttnn.bfloat4_b else 0
    return exponent, value * (2 if kind == ttnn.bfloat4_b else 1) + nibble


for kind, name, text, tile in [(ttnn.bfloat8_b, "bfp8_b", "u8", 64 + 1024), (ttnn.bfloat4_b, "bfp4_b", "u4", 64 + 512)]:
    size = 6 * tile
    values = {index: places_of_one(kind, size, index)[1] for index in samples([40, 70])}
    exponents = {(h, c): places_of_one(kind, size, (h, 16 * c))[0] for h, c in samples([40, 5])}
    rows.append(row(f"tenstorrent.{name}.values:{text}[40,70]", values, size))
    rows.append(row(f"tenstorrent.{name}.exponents:u8[40,5]", exponents, size))
write(__file__, "ttnn 0.81.1", rows)

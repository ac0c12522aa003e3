"""Quantised weights of MLX, by its own dequantize: pip install mlx==0.32.4 mlx-cpu==0.32.4 numpy==2.4.6

The memory holds the bits of its own places, some in each run; scales are 1 and biases 0, so that dequantize gives the codes.
"""

import itertools

import mlx.core as mx
import numpy

from record import row, write

rows = []
for bits, sizes in [(2, [3, 64]), (4, [3, 64]), (8, [2, 96]), (3, [2, 64]), (5, [2, 32]), (6, [3, 32])]:
    group = 32 if sizes[1] % 64 else 64
    size = sizes[0] * sizes[1] * bits // 8
    ones = mx.ones((sizes[0], sizes[1] // group))
    single = bits not in (2, 4, 8)
    unit = 1 if single else bits
    count, found = size * 8 // unit, 0
    for run in range(-(-count.bit_length() // unit)):
        parts = (numpy.arange(count) >> (unit * run)) & ((1 << unit) - 1)
        memory = numpy.packbits(((parts[:, None] >> numpy.arange(unit)) & 1).reshape(-1).astype(numpy.uint8), bitorder="little")
        words = mx.array(memory.view(numpy.uint32).reshape(sizes[0], -1))
        codes = numpy.array(mx.dequantize(words, ones, 0 * ones, group_size=group, bits=bits)).astype(int)
        held = (codes[..., None] >> numpy.arange(bits)) & 1 if single else codes
        found = found + (held << (unit * run))
    offsets = {index: int(found[index]) for index in itertools.product(*map(range, found.shape))}
    assert sorted(offsets.values()) == list(range(count))
    name = f"mlx.weights_bits:u1{[*sizes, bits]}" if single else f"mlx.weights:u{bits}{sizes}"
    rows.append(row(name.replace(" ", ""), offsets, size))
write(__file__, f"mlx {mx.__version__}", rows)

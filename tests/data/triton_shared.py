#!/usr/bin/env python3
"""Records what Triton prints for layouts of shared memory, and which index each bit of an offset sets.

    pip install triton==3.9.0
    python triton_shared.py > triton_shared.tsv

Needs no GPU. `PaddedSharedLayout` has no linear layout of its own: its row has the bases that it was made from, and the padding.
"""

import random

from triton._C.libtriton import gluon_ir, ir
from triton.experimental.gluon.language import _layouts as gluon

random.seed(20261122)
context = ir.context()
ir.load_dialects(context)
builder = gluon_ir.GluonOpBuilder(context)
TYPES = {8: builder.get_int8_ty(), 16: builder.get_half_ty(), 32: builder.get_float_ty(), 64: builder.get_double_ty()}


def printed(layout, shape, bits):
    encoding = layout._to_ir(builder)
    return encoding, builder.get_shared_mem_desc_ty(TYPES[bits], shape, encoding, shape)


def sizes(rank, most):
    """Powers of two, the last one at least 2."""
    return [1 << random.randrange(number == rank - 1, most) for number in range(rank)]


def bases(shape):
    """Each bit of an index once, in any order of the axes."""
    axes = list(range(len(shape)))
    random.shuffle(axes)
    order, each = [], []
    for axis in axes:
        for bit in range(shape[axis].bit_length() - 1):
            each.append([(1 << bit) if other == axis else 0 for other in range(len(shape))])
    return each


def mixed(each):
    """Adds lower bases to some of them."""
    each = [list(basis) for basis in each]
    for number in range(1, len(each)):
        for lower in random.sample(range(number), random.randrange(min(number, 3))):
            each[number] = [value ^ other for value, other in zip(each[number], each[lower])]
    return each


def row(text, layout, each, padding=()):
    pairs = ",".join(f"{interval}:{pad}" for interval, pad in padding)
    print(f"{text}\t{';'.join(','.join(map(str, basis)) for basis in each)}\t{pairs}\t{layout!r}")


print("# triton 3.9.0: text, the index of each bit of an offset (from the lowest), interval:padding, what Gluon prints")
for _ in range(60):
    rank = random.choice([1, 2, 2, 2, 3])
    shape, order = sizes(rank, 8), list(range(rank))
    random.shuffle(order)
    layout = gluon.SwizzledSharedLayout(1 << random.randrange(5), 1 << random.randrange(4), 1 << random.randrange(4), order)
    encoding, text = printed(layout, shape, random.choice([8, 16, 32]))
    row(text, layout, builder.to_linear_layout(encoding, shape).offset_bases)
for width in [0, 32, 64, 128]:
    for bits in [8, 16, 32]:
        for transposed in [False, True]:
            for rank in [2, 2, 3]:
                shape = sizes(rank, 5)
                inner = 0 if transposed else rank - 1
                shape[inner] = max(8 * width // bits, 16) << random.randrange(4)
                # The rows of a span are at least 8.
                shape[rank - 1 if transposed else rank - 2] = 8 << random.randrange(7 if rank == 2 else 3)
                layout = gluon.NVMMASharedLayout(width, bits, rank, transposed)
                try:
                    encoding, text = printed(layout, shape, bits)
                    row(text, layout, builder.to_linear_layout(encoding, shape).offset_bases)
                except Exception as error:
                    print(f"# {error}")
layout = gluon.NVMMASharedLayout(128, 8, 2, False, True)
encoding, text = printed(layout, [16, 64], 8)
row(text, layout, builder.to_linear_layout(encoding, [16, 64]).offset_bases)
for _ in range(60):
    shape = sizes(random.choice([1, 2, 2, 3]), 6)
    layout = gluon.SharedLinearLayout(mixed(bases(shape)), [], 16)
    encoding, text = printed(layout, shape, 16)
    row(text, layout, builder.to_linear_layout(encoding, shape).offset_bases)
for number in range(40):
    shape = [1 << random.randrange(1, 7) for _ in range(random.choice([1, 2, 2, 3]))]
    each = bases(shape)
    if number % 4 == 3:
        random.shuffle(each)
    intervals = sorted(random.sample([1 << bit for bit in range(1, 9)], random.choice([1, 1, 2, 3])))
    padding = [(interval, 1 << random.randrange(5)) for interval in intervals]
    layout = gluon.PaddedSharedLayout([list(pair) for pair in padding], each, [], shape)
    row(printed(layout, shape, 16)[1], layout, each, padding)

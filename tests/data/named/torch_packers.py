"""Packed weights by the packers of five packages: the sources of hqq==0.2.8, optimum-quanto==0.2.7, autoawq==0.2.9, compressed-tensors==0.17.1
and ==0.20.1 (pip download --no-deps, unpacked), torch==2.15.0 and numpy==2.4.6

python torch_packers.py FOLDER, with the unpacked packages below it, compressed-tensors 0.17.1 in u17 and the wheels of the others in u.
"""

import ast
import math
import pathlib
import sys

import numpy
import torch

from record import bit_places, row, write


def function(file, name):
    """One function or class of a file of the packages, with what it needs of torch and NumPy."""
    [path] = pathlib.Path(sys.argv[1]).glob(f"**/{file}")
    tree = ast.parse(path.read_text())
    [node] = [node for node in tree.body if getattr(node, "name", "") == name]
    node.decorator_list, space = [], {"torch": torch, "np": numpy, "numpy": numpy, "math": math, "uint8": torch.uint8, "int32": torch.int32, "Tensor": torch.Tensor}
    exec(compile("from __future__ import annotations\n" + ast.unparse(node), str(path), "exec"), space)
    return space[name]


def values(numbers, sizes, data_type=torch.uint8):
    return torch.tensor(numbers, dtype=data_type).reshape(sizes)


BitPack = function("hqq/core/bitpack.py", "BitPack")
quanto = function("optimum/quanto/tensor/packed.py", "pack_weights")
awq = function("awq/modules/linear/gemv_fast.py", "pack_intweight")
old, new = (function(f"{folder}/compressed_tensors/compressors/pack_quantized/helpers.py", "pack_to_int32") for folder in ("u17", "u"))


def compressed(pack, sizes, bits):
    """The places of codes of 4 bits, or of the single bits of other codes: the packer adds half of the range to each value."""
    half = 1 << (bits - 1)
    as_values = lambda codes: (torch.tensor(codes, dtype=torch.int32) - half).to(torch.int8)
    if bits == 4:
        return bit_places(lambda numbers: pack(as_values(numbers).reshape(sizes), 4).numpy().tobytes(), sizes, 4)
    weights = [1 << bit for bit in range(bits)]

    def packed(ones):
        codes = (numpy.array(ones).reshape(*sizes, bits) * weights).sum(-1)
        return pack(as_values(codes.tolist()).reshape(sizes), bits).numpy().tobytes()

    return bit_places(packed, [*sizes, bits], 1)


rows = []
for bits, data_type in [(4, "u4"), (2, "u2")]:
    per = 8 // bits
    for sizes in [[8, 5], [16, 3]]:
        three = [per, sizes[0] // per, sizes[1]]
        pack = getattr(BitPack, f"pack_{bits}bit_u8")
        offsets, size = bit_places(lambda numbers: pack(values(numbers, sizes)).numpy().tobytes(), three, bits)
        rows.append(row(f"hqq.rows_apart:{data_type}{three}".replace(" ", ""), offsets, size))
        offsets, size = bit_places(lambda numbers: quanto(values(numbers, sizes), bits).numpy().tobytes(), sizes, bits)
        rows.append(row(f"quanto.packed:{data_type}{sizes}".replace(" ", ""), offsets, size))
for sizes in [[8, 128], [4, 64], [64, 128]]:
    offsets, size = bit_places(lambda numbers: awq(values(numbers, sizes, torch.int32), 4, 64).numpy().tobytes(), sizes, 4)
    rows.append(row(f"awq.gemv_fast:u4{sizes}".replace(" ", ""), offsets, size))
for sizes in [[3, 32], [2, 44]]:
    offsets, size = compressed(new, sizes, 4)
    rows.append(row(f"compressed_tensors.pack:u4{sizes}".replace(" ", ""), offsets, size))
for version, pack in [(17, old), (18, new)]:
    for sizes, bits in [([2, 64], 3), ([3, 40], 3), ([2, 13], 5), ([2, 32], 6)]:
        offsets, size = compressed(pack, sizes, bits)
        rows.append(row(f"compressed_tensors.pack_bits<{version}>:u1{[*sizes, bits]}".replace(" ", ""), offsets, size))
write(__file__, f"packers of hqq 0.2.8, optimum-quanto 0.2.7, autoawq 0.2.9, compressed-tensors 0.17.1 and 0.20.1 on torch {torch.__version__}", rows)

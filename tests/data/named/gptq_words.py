"""Weights of GPTQ by GPTQModel's own packers, without torch: the source of gptqmodel==7.7.0, unpacked

    python gptq_words.py FOLDER

planar_pack_rows (the format gptq_p) runs as it is on arrays of NumPy that have torch's names for methods; of pack_original, the loop over words that
packs 3 bits as a stream, which is NumPy.
"""

import ast
import pathlib
import sys
import types

import numpy

from record import bit_places, row, write


class Array(numpy.ndarray):
    """An array with the names that torch has for methods of NumPy."""

    device = "cpu"
    to = lambda self, dtype: self.astype(dtype)
    view = lambda self, *sizes: self.reshape(sizes)
    sum = lambda self, dim, dtype: numpy.ndarray.sum(self, axis=dim, dtype=dtype)


def array(values):
    return numpy.ndarray.view(numpy.array(values, numpy.int64), Array)


sys.modules["torch"] = types.SimpleNamespace(
    Tensor=Array, dtype=type, int32=numpy.int32, int64=numpy.int64,
    empty=lambda sizes, dtype, device: array(numpy.empty(sizes, dtype)), arange=lambda end, dtype, device: array(numpy.arange(end)),
)
[package] = pathlib.Path(sys.argv[1]).glob("**/gptqmodel/utils/planar_packing.py")
planar = {}
exec(compile(package.read_text(), str(package), "exec"), planar)
layer = ast.parse((package.parents[1] / "nn_modules/qlinear/__init__.py").read_text())
[original] = [node for node in ast.walk(layer) if getattr(node, "name", "") == "pack_original"]
loop = next(node for node in ast.walk(original) if isinstance(node, ast.While))
stream = compile(ast.Module([loop], []), "pack_original", "exec")


def words_of_bits(pack, sizes, bits):
    """The place of each bit: `pack` takes the codes [K, N] and returns words."""
    weights = [1 << bit for bit in range(bits)]
    codes = lambda ones: (numpy.array(ones).reshape(*sizes, bits) * weights).sum(-1)
    return bit_places(lambda ones: numpy.asarray(pack(codes(ones))).astype("<u4").tobytes(), [*sizes, bits], 1)


def packed_stream(codes):
    space = {"int_weight": codes.astype(numpy.uint32), "qweight": numpy.zeros((codes.shape[0] * 3 // 32, codes.shape[1]), numpy.uint32), "i": 0, "row": 0}
    exec(stream, space)
    return space["qweight"]


rows = []
for bits in [3, 5, 6, 7]:
    for sizes in [[32, 5], [96, 3]]:
        offsets, size = words_of_bits(lambda codes: planar["planar_pack_rows"](array(codes), bits), sizes, bits)
        rows.append(row(f"gptq.qweight_p:u1{[*sizes, bits]}".replace(" ", ""), offsets, size))
for tokens, columns in [(32, 5), (96, 3)]:
    # The name has a column's stream of bits as one axis.
    offsets, size = words_of_bits(packed_stream, [tokens, columns], 3)
    of_stream = {(n, 3 * k + bit): offset for (k, n, bit), offset in offsets.items()}
    rows.append(row(f"gptq.qweight_stream:u1[{columns},{3 * tokens}]", of_stream, size))
write(__file__, "packers of gptqmodel 7.7.0 on arrays of NumPy", rows)

"""Filters of ESP-DL and weights of AWQ's GEMV by the functions of their own packages, without torch: pip download --no-deps esp-ppq==1.3.12, and
the source of autoawq==0.2.9, both unpacked

    python esp_awq_weights.py FOLDER

The functions reshape, permute and join arrays, shift and add integers. They are run on arrays of NumPy that have torch's names for this.
"""

import ast
import pathlib
import sys
import types

import numpy

from record import RUNS, bit_places, numbers, places, row, write


class Array(numpy.ndarray):
    """An array with the names that torch has for methods of NumPy."""

    device = "cpu"
    permute = lambda self, *axes: self.transpose(*axes)
    to = lambda self, dtype: self.astype(dtype)


def array(values, data_type):
    return numpy.array(values, data_type).view(Array)


torch = types.SimpleNamespace(
    cat=lambda parts, dim=0: numpy.concatenate(parts, axis=dim).view(Array), round=numpy.round, zeros=lambda sizes, dtype, device: array(numpy.zeros(sizes), dtype),
    int=numpy.int32, int32=numpy.int32, float16=numpy.float16,
)


def source(file, name, method=None, **space):
    """A function or class of a file, or a method of the class, with what it needs in `space`."""
    [path] = pathlib.Path(sys.argv[1]).glob(f"**/{file}")
    of = lambda tree: next(node for node in tree.body if getattr(node, "name", "") == name)
    node = of(ast.parse(path.read_text()))
    if method:
        node = next(inner for inner in node.body if getattr(inner, "name", "") == method)
        node.decorator_list = []
    exec(compile("from __future__ import annotations\n" + ast.unparse(node), str(path), "exec"), space)
    return space[node.name]


class Platforms(type):
    def __getattr__(cls, name):
        return name


typedef = "esp_ppq/parser/espdl/espdl_typedef.py"
layouts, kinds = source(typedef, "LayoutAnnotation"), source(typedef, "EspQuantType")
space = {"torch": torch, "LayoutAnnotation": layouts, "EspQuantType": kinds, "TargetPlatform": Platforms("TargetPlatform", (), {})}
filters = source("esp_ppq/parser/espdl/export_patterns.py", "ResetParamLayoutPattern", "reset_conv_filter_layout", **space)
rows = []
for data_type, kind, element, stated in [("s8", kinds.S8, 1, layouts.N16HWC16_UNALIGNED), ("s16", kinds.S16, 2, layouts.N8HWC8_UNALIGNED)]:
    for sizes in [[20, 3, 3, 3], [36, 2, 1, 2], [5, 4, 2, 3]]:
        memories = []
        for run in range(RUNS):
            given = array(numbers(run, numpy.prod(sizes)), numpy.int64).reshape(sizes)
            laid, layout = filters(None, given, kind)
            assert layout == stated, layout
            memories.append(laid.reshape(-1).tolist())
        rows.append(row(f"esp_dl.filters:{data_type}{sizes}".replace(" ", ""), places(memories, sizes), len(memories[0]) * element))

divisible = source("awq/modules/linear/gemv.py", "make_divisible")
width = source("awq/modules/linear/gemv.py", "calculate_zeros_width", make_divisible=divisible)
from_linear = source("awq/modules/linear/gemv.py", "WQLinear_GEMV", "from_linear", torch=torch, calculate_zeros_width=width)
for sizes in [[8, 64], [16, 32]]:

    def pack(codes):
        # Scales of 1 and zero points of 0 give the codes back.
        weight = types.SimpleNamespace(data=array(codes, numpy.int64).reshape(sizes), device="cpu")
        linear = types.SimpleNamespace(weight=weight, in_features=sizes[1], out_features=sizes[0], bias=None)
        made = lambda bits, group, inner, outer, bias, device: types.SimpleNamespace(w_bit=bits, in_features=inner, out_features=outer)
        groups = (sizes[0], sizes[1] // 32)
        packed = from_linear(made, linear, 4, 32, scales=array(numpy.ones(groups), numpy.float16), zeros=array(numpy.zeros(groups), numpy.int32))
        return packed.qweight.view(numpy.ndarray).astype("<i4").tobytes()

    offsets, size = bit_places(pack, sizes, 4)
    rows.append(row(f"awq.gemv:u4{sizes}".replace(" ", ""), offsets, size))
write(__file__, "esp-ppq 1.3.12 and autoawq 0.2.9 on arrays of NumPy", rows)

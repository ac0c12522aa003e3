"""Layouts as NumPy, Halide, TVM and oneDNN print them, and where these libraries say that their elements are.

Prints the lines of printed_tools.tsv: the notation that reads the text, the text, the sizes, and the strides and the
offset in elements, or `:` and oneDNN's tag. Run with numpy 2.4.6, halide 21.0.0, apache-tvm 0.27.0.post1 and onednn
2026.1.0 (oneDNN 3.13); LIBDNNL is the path of libdnnl.so, whose SYCL build needs OCL_ICD_FILENAMES=libintelocl.so.
"""

import ctypes
import os
import sys
import tempfile

import halide
import numpy as np
from tvm.script import tirx as T
from tvm.tirx.layout import S, TileLayout


def line(notation, text, sizes, place):
    print("\t".join([notation, text, str(list(sizes)), place]))


def arrays():
    for dtype in ["float32", "int8", "float64", "float16", "uint16", "bool"]:
        whole = np.zeros((4, 6), dtype)
        yield from [whole, whole.T, whole[:, ::2], whole[1:3]]
    yield np.zeros((3, 5, 3), np.uint8).transpose(2, 0, 1)


def strides_of(array):
    return str([stride // array.itemsize for stride in array.strides])


def numpy_and_halide():
    for array in arrays():
        line("numpy", repr(array.__array_interface__), array.shape, f"{strides_of(array)} 0")
        printed = repr(halide.Buffer(array))
        if "type bool" not in printed and "type uint1 " not in printed:
            line("strides", printed, array.shape, f"{strides_of(array)} 0")


def tvm():
    for shape, dtype, strides in [((128, 128), "float32", (130, 1)), ((4, 6), "float16", None), ((4, 6), "int8", (1, 4))]:
        keywords = {} if strides is None else {"strides": list(strides)}
        buffer = T.Buffer(shape, dtype, **keywords)

        @T.prim_func
        def function(A: buffer):
            T.evaluate(0)

        text = function.script().split("(A: ")[1].split("):\n")[0]
        line("tvm", text, shape, f"{list(strides or (shape[1], 1))} 0")
    for sizes, strides in [((4, 6), (6, 1)), ((24,), (1,)), ((2, 3, 4), (1, 8, 2))]:
        line("cute", f"f32 {TileLayout(S[sizes:strides])!r}", sizes, f"{list(strides)} 0")


def onednn():
    library, dims = ctypes.CDLL(os.environ["LIBDNNL"]), ctypes.c_int64 * 12

    def made(name, *arguments):
        value = ctypes.c_void_p()
        status = library[name](ctypes.byref(value), *arguments)
        assert status == 0, (name, status)
        return value

    def described(type_, sizes, strides=None, tag=1):
        if strides is None:
            return made("dnnl_memory_desc_create_with_tag", len(sizes), dims(*sizes), type_, tag)
        return made("dnnl_memory_desc_create_with_strides", len(sizes), dims(*sizes), type_, dims(*strides))

    engine = made("dnnl_engine_create", 1, ctypes.c_size_t(0))
    for sizes, strides in [
        ((30, 35), (40, 1)),
        ((30, 35), (1, 40)),
        ((30, 35), (1, 30)),
        ((30, 35), (2, 60)),
        ((2, 3, 4, 3), (120, 1, 30, 10)),
        ((2, 3, 4, 3), (36, 12, 3, 1)),
    ]:
        for type_ in [3, 2, 5]:
            source = described(type_, sizes, strides)
            target = described(type_, sizes, tag=len(sizes) + 1)
            pair = made("dnnl_reorder_primitive_desc_create", source, engine, target, engine, None)
            made("dnnl_primitive_create", pair)
            expected.append(("src:", "strides", sizes, f"{list(strides)} 0"))
    for source_type, target_type in [(3, 3), (5, 4), (2, 2)]:
        source, target = described(source_type, (30, 70), tag=3), described(target_type, (30, 50), tag=3)
        pair = made("dnnl_matmul_primitive_desc_create", engine, source, described(source_type, (70, 50)), None, target, None)
        made("dnnl_primitive_create", pair)
        expected.append(("wei:", "onednn", (70, 50), None))


expected = []
os.environ["ONEDNN_VERBOSE"] = "2"
numpy_and_halide()
tvm()
# oneDNN writes its lines to the file descriptor of the standard output.
sys.stdout.flush()
kept = os.dup(1)
with tempfile.TemporaryFile() as log:
    os.dup2(log.fileno(), 1)
    onednn()
    ctypes.CDLL(None).fflush(None)
    os.dup2(kept, 1)
    log.seek(0)
    lines = [entry for entry in log.read().decode().splitlines() if "primitive,create" in entry]
assert len(lines) == len(expected), (len(lines), len(expected))
for entry, (argument, notation, sizes, place) in zip(lines, expected):
    field = next(field for field in entry.replace(",", " ").split() if field.startswith(argument))
    tag = field.split(":")
    kind = notation if tag[5] else "onednn" if any(c.isdigit() for c in tag[4]) else "axis_order"
    line(kind, f"{field} {'x'.join(map(str, sizes))}", sizes, place or f"{tag[1]}:{tag[4]}")

"""Tensors in oneDNN's format tags, by its own reorders: pip install onednn==2026.1.0 onednn-devel==2026.1.0 numpy==2.4.6

Run it with the folder of the environment, below which are lib/libdnnl.so and include/oneapi/dnnl, and with its OpenCL driver for CPUs:
LD_LIBRARY_PATH=$ENV/lib OCL_ICD_FILENAMES=$ENV/lib/libintelocl.so python onednn_tags.py $ENV
"""

import ctypes
import pathlib
import re
import sys

import numpy

from record import RUNS, numbers, places, row, write

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else sys.prefix)
for library in sorted(root.glob("lib/libtbb.so*")) + [root / "lib/libdnnl.so"]:
    dnnl = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


def enumeration(name):
    """The constants of a C enumeration in the headers."""
    constants = {}
    for header in ["dnnl_types.h", "dnnl_common_types.h"]:
        text = (root / "include/oneapi/dnnl" / header).read_text()
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
        body = re.search(r"typedef enum(?: \w+)? \{([^}]*)\} " + name + ";", text)
        last = -1
        for entry in body.group(1).split(",") if body else []:
            key, _, value = entry.strip().partition("=")
            if key:
                value = value.strip()
                last = constants.get(value, None) if value in constants else int(value, 0) if value else last + 1
                constants[key.strip()] = last
    return constants


TAGS = enumeration("dnnl_format_tag_t")
TYPES = enumeration("dnnl_data_type_t")
POINTER = ctypes.c_void_p
DTYPES = {"f32": numpy.float32, "s8": numpy.int8, "bf16": None}


def call(function, *arguments):
    status = getattr(dnnl, function)(*arguments)
    if status:
        raise RuntimeError(f"{function}: {status}")


def made(function, *arguments):
    pointer = POINTER()
    call(function, ctypes.byref(pointer), *arguments)
    return pointer


engine = made("dnnl_engine_create", 1, ctypes.c_size_t(0))
stream = made("dnnl_stream_create", engine, 1)
dnnl.dnnl_memory_desc_get_size.restype = ctypes.c_size_t
dnnl.dnnl_version.restype = ctypes.POINTER(ctypes.c_int)


def description(data_type, sizes, tag):
    dims = (ctypes.c_int64 * len(sizes))(*sizes)
    return made("dnnl_memory_desc_create_with_tag", len(sizes), dims, TYPES[f"dnnl_{data_type}"], TAGS[f"dnnl_{tag}"])


def reordered(values, data_type, tag):
    """The bytes of an array after oneDNN's reorder to the tag."""
    plain = description(data_type, values.shape, "abcdef"[: values.ndim])
    wanted = description(data_type, values.shape, tag)
    size = dnnl.dnnl_memory_desc_get_size(wanted)
    result = numpy.full(size, 0x5A, dtype=numpy.uint8)
    sides = [made("dnnl_memory_create", desc, engine, POINTER(array.ctypes.data)) for desc, array in [(plain, values), (wanted, result)]]
    primitive_desc = made("dnnl_reorder_primitive_desc_create", plain, engine, wanted, engine, None)
    primitive = made("dnnl_primitive_create", primitive_desc)

    class Argument(ctypes.Structure):
        _fields_ = [("arg", ctypes.c_int), ("memory", POINTER)]

    arguments = (Argument * 2)(Argument(1, sides[0]), Argument(17, sides[1]))
    call("dnnl_primitive_execute", primitive, stream, 2, arguments)
    call("dnnl_stream_wait", stream)
    return result


CASES = [
    ("onednn.BA16a64b4a:", "BA16a64b4a", "s8", [[3, 5], [20, 6], [65, 1], [10, 12]]),
    ("onednn.BA16a64b2a:", "BA16a64b2a", "bf16", [[3, 5], [33, 7], [40, 70]]),
    ("openvino.os_is_yx_isv16_osv16:", "OIhw16i16o", "f32", [[3, 5, 2, 1], [17, 20, 1, 2]]),
    ("openvino.os_is_yx_osv16_isv16:", "OIhw16o16i", "f32", [[3, 5, 2, 1], [17, 20, 1, 2]]),
    ("openvino.is_os_yx_isv16_osv16:", "IOhw16i16o", "f32", [[3, 5, 2, 1], [17, 20, 1, 2]]),
    ("openvino.os_is_yx_isv8_osv16_isv2:", "OIhw8i16o2i", "f32", [[3, 16, 2, 1], [17, 32, 1, 2]]),
    ("openvino.b_fs_yx_fsv4:", "nChw4c", "f32", [[2, 5, 3, 2], [1, 8, 2, 3]]),
    ("openvino.b_fs_yx_fsv16:", "nChw16c", "f32", [[2, 5, 3, 2], [1, 33, 2, 3]]),
    ("openvino.b_fs_yx_fsv32:", "nChw32c", "f32", [[2, 5, 3, 2], [1, 33, 2, 3]]),
    ("openvino.bs_fs_yx_bsv16_fsv16:", "NChw16n16c", "f32", [[2, 5, 3, 2], [17, 19, 1, 2]]),
    ("openvino.bs_fs_yx_bsv32_fsv32:", "NChw32n32c", "f32", [[2, 5, 3, 2], [33, 3, 1, 2]]),
    ("openvino.bs_fs_yx_bsv16_fsv32:", "NChw16n32c", "f32", [[2, 5, 3, 2], [17, 33, 1, 1]]),
    ("onnxruntime.OIhw16i16o:", "OIhw16i16o", "f32", [[3, 5, 2, 1], [17, 20, 1, 2]]),
    ("onnxruntime.OIhw8i8o:", "OIhw8i8o", "f32", [[3, 5, 2, 1], [17, 20, 1, 2]]),
    ("onnxruntime.Oihw16o:", "Oihw16o", "f32", [[3, 5, 2, 1], [17, 20, 1, 2]]),
    ("onnxruntime.Oihw8o:", "Oihw8o", "f32", [[3, 5, 2, 1], [17, 20, 1, 2]]),
    *[("", tag, "f32", [[50, 35, 2, 1], [3, 2, 3, 2]]) for tag in ["OhwI24o", "OhwI32o", "hwio", "OIhw4i16o4i", "OIhw8i16o2i", "IOhw16i16o"]],
    *[("", tag, "f32", [[2, 30, 3, 2, 1], [1, 3, 2, 3, 2]]) for tag in ["gOhwI24o", "gOhwI32o", "gOIhw16i16o"]],
    ("", "AB4a128b2a", "bf16", [[3, 5], [9, 130]]) if "dnnl_AB4a128b2a" in TAGS else ("", "AB16b16a", "bf16", [[3, 5], [20, 33]]),
    ("", "nhwc", "f32", [[2, 3, 4, 5]]),
    ("", "ldgoi", "f32", [[1, 2, 3, 4, 5]]),
]
rows = []
for name, tag, data_type, shapes in CASES:
    if f"dnnl_{tag}" not in TAGS:
        print("no such tag:", tag)
        continue
    for sizes in shapes:
        count = int(numpy.prod(sizes))
        memories = []
        for run in range(RUNS):
            order = numpy.array(numbers(run, count))
            if data_type == "bf16":
                # Numbers up to 256 are exact in bf16; larger ones are written as bits.
                bits = order.astype(numpy.uint16).reshape(sizes)
                memory = reordered(numpy.ascontiguousarray(bits), data_type, tag).view(numpy.uint16)
            else:
                memory = reordered(numpy.ascontiguousarray(order.astype(DTYPES[data_type]).reshape(sizes)), data_type, tag)
                memory = memory.view(DTYPES[data_type])
            memories.append([int(x) if abs(x) < 1e6 else 0 for x in memory.astype(numpy.float64)])
        text = f"{data_type}{sizes}".replace(" ", "")
        layout = f"{name}{text}" if name else f"{text}:{tag}"
        rows.append(row(layout, places(memories, sizes), memories and memory.nbytes))
# The sizes of strided tensors; `null` where oneDNN refuses them.
STRIDED = [
    ("f32", [3, 4], [6, 1]), ("f32", [3, 4], [1, 6]), ("f32", [3, 4], [0, 0]), ("f32", [3, 4], [0, 1]), ("f32", [2, 3, 5], [40, 5, 1]), ("s8", [5], [3]),
    ("s4", [4, 6], [8, 1]), ("s4", [4, 6], [7, 1]), ("u4", [3, 5], [5, 1]), ("u4", [2, 4], [1, 2]), ("u4", [2, 4], [1, 3]),
    ("f32", [3, 2, 4], [4, 12, 1]), ("s8", [2, 3, 4], [15, 5, 0]), ("f4_e2m1", [4, 2], [2, 1]), ("s4", [5], [3]),
    ("f32", [1, 8, 0, 128], [1024, 128, 128, 1]), ("f32", [0, 3], [3, 1]), ("f32", [3, 0], [1, 1]), ("f32", [3, 0], [0, 1]), ("u4", [0, 5], [5, 1]), ("f32", [3, 4, 0], [1, 2, 1]),
]
for data_type, sizes, strides in STRIDED:
    dims = [(ctypes.c_int64 * len(sizes))(*numbers) for numbers in (sizes, strides)]
    desc = POINTER()
    refused = dnnl.dnnl_memory_desc_create_with_strides(ctypes.byref(desc), len(sizes), dims[0], TYPES[f"dnnl_{data_type}"], dims[1])
    size = None if refused else dnnl.dnnl_memory_desc_get_size(desc)
    data_type = data_type.replace("f4_e2m1", "f4e2m1fn")
    rows.append({"layout": f"{data_type}{sizes}:{strides}".replace(" ", ""), "onednn_bytes": size, "offsets": []})
version = dnnl.dnnl_version()[:3]
write(__file__, "oneDNN " + ".".join(map(str, version)), rows)

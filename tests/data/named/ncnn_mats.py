"""Mats of ncnn, by its own packing: pip install ncnn==1.0.20261020 numpy==2.4.6"""

import ctypes
import itertools
import re

import ncnn
import numpy

from record import RUNS, numbers, places, row, write

TYPES = {"f32": numpy.float32, "f16": numpy.float16, "s8": numpy.int8}


def address(mat):
    return int(re.search(r"data=(?:0x)+([0-9a-f]+)", repr(mat)).group(1), 16)


def memory(mat, dtype):
    """The Mat's elements as they lie in memory, and its size in bytes."""
    size = mat.total() * mat.elemsize
    raw = (ctypes.c_char * size).from_address(address(mat))
    return [int(x) if abs(x) < 1e6 else 0 for x in numpy.frombuffer(raw, dtype).astype(numpy.float64)], size


def packed(values, elempack, option):
    source = ncnn.Mat(values).clone()
    packed = ncnn.convert_packing(source, elempack, option)
    return source, packed


option = ncnn.Option()
option.use_int8_packed = option.use_fp16_packed = True
SHAPES = [[5], [8], [16], [32], [3, 5], [8, 5], [16, 3], [32, 2], [3, 2, 3], [6, 3, 5], [8, 3, 1], [16, 2, 3], [20, 3, 1], [2, 2, 3, 5], [4, 3, 2, 3], [8, 1, 3, 5], [16, 2, 1, 3]]
rows = []
for name, dtype in TYPES.items():
    for sizes in SHAPES:
        count = int(numpy.prod(sizes))
        if name == "s8" and count > 126:
            continue
        for elempack in [1, 4, 8, 16]:
            arrays = [numpy.array(numbers(run, count)).astype(dtype).reshape(sizes) for run in range(RUNS)]
            mats = [packed(array, elempack, option) for array in arrays]
            if any(mat.elempack != elempack for _, mat in mats):
                assert sizes[0] % elempack, (sizes, elempack)
                continue
            read = [memory(mat, dtype) for _, mat in mats]
            layout = f"ncnn.elempack{elempack}:{name}{sizes}".replace(" ", "")
            rows.append(row(layout, places([memory for memory, _ in read], sizes), read[0][1]))

# Batches: where ncnn puts the images of a Mat that it makes itself, and its own distance of channels.
for name, size in [("f32", 4), ("f16", 2), ("s8", 1)]:
    for n, c, h, w in [(2, 16, 3, 5), (3, 16, 1, 7), (2, 32, 20, 9), (3, 16, 8, 8)]:
        for elempack in [1, 4, 8, 16]:
            mat = ncnn.Mat()
            mat.create(w, h, c // elempack, elemsize=size * elempack, elempack=elempack, n=n)
            images = [address(mat.batch(image)) - address(mat) for image in range(n)]
            offsets = {
                (image, channel, y, x): images[image] // size + (channel // elempack * mat.cstep + y * w + x) * elempack + channel % elempack
                for image, channel, y, x in itertools.product(range(n), range(c), range(h), range(w))
            }
            rows.append(row(f"ncnn.batch_elempack{elempack}:{name}[{n},{c},{h},{w}]", offsets))
write(__file__, f"ncnn {ncnn.__version__}", rows)

#!/usr/bin/env bash
# NumKong 7.8.6: the sizes of a tensor of int4 are numbers of elements to `astype` and `sum`, whose elements lie two in a byte, the first in the
# high half, and numbers of bytes to `strides`, `nbytes`, slices, `dot` and the packing of matrices. Of n elements, `dot` multiplies 2 n.
#
# Half of what `dot` multiplies are values that are not of the array. The slice [1:3] holds elements 2 and 3, and `ones` are zeros; uint4 has the
# same sizes. Seen for 1 to 7 and 0, written over bytes of ff:
#   int4: shape (8,), strides (1,), nbytes 8, memory 12345670ffffffff, sum 28, dot 148, [1:3] as f32 [3, 4], ones as f32 [0, 0, 0, 0]
#   uint4: shape (8,), strides (1,), nbytes 8, memory 12345670ffffffff, sum 28, dot 1940, [1:3] as f32 [3, 4], ones as f32 [0, 0, 0, 0]
#   a row of 4 int4 is packed as one of 8
#
# Exits with 1 if NumKong does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet numkong==7.8.6 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import ctypes
import sys

import numkong
import numpy

values = numpy.array([1, 2, 3, 4, 5, 6, 7, 0], numpy.float32)


def floats(tensor):
    return numpy.asarray(numkong.astype(tensor, "float32")).astype(int).tolist()


seen = []
for name in ("int4", "uint4"):
    tensor = numkong.zeros((8,), dtype=name)
    ctypes.memset(tensor.data_ptr, 0xFF, tensor.nbytes)
    numkong.astype(values, name, out=tensor)
    memory = ctypes.string_at(tensor.data_ptr, tensor.nbytes).hex()
    ones = floats(numkong.ones((4,), dtype=name))
    seen.append((tensor.shape, tensor.strides, tensor.nbytes, memory, int(tensor.sum()),
                 int(numkong.dot(tensor, tensor)), floats(tensor[1:3]), ones))
    assert floats(tensor) == values.tolist()
    print("{}: shape {}, strides {}, nbytes {}, memory {}, sum {}, dot {}, [1:3] as f32 {}, ones as f32 {}".format(name, *seen[-1]))
depth = numkong.dots_pack(numkong.zeros((3, 4), dtype="int4")).depth
print(f"a row of 4 int4 is packed as one of {depth}")
same = ((8,), (1,), 8, "12345670ffffffff", 28)
sys.exit(depth != 8 or seen != [(*same, dot, [3, 4], [0, 0, 0, 0]) for dot in (148, 1940)])
PYTHON

#!/usr/bin/env bash
# ncnn 1.0.20261020 for Python: a Mat of a NumPy array keeps its sizes and the width of its elements, neither
# its strides nor its type. Elements of a column-major array and of every second row are taken from one block
# of memory, and integers come back as floats of the same bits.
#
# What `numpy.array(mat)` names is the one type that ncnn has for that many bytes: float32 for 4, float16 for
# 2, int8 for 1. Nothing is refused. Seen for 0 to 5 in 2 rows of 3, and for 200 and 1 in other types:
#   column-major: [[0, 3, 1], [4, 2, 5]]
#   every second row of 4: [[0, 1, 2], [0, 1, 2]]
#   uint8: int8 [-56, 1]
#   uint16: float16 [1.1920928955078125e-05, 5.960464477539063e-08]
#   int32: float32 [2.802596928649634e-43, 1.401298464324817e-45]
#
# Exits with 1 if ncnn does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet ncnn==1.0.20261020 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import ncnn
import numpy

plain = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
assert (numpy.array(ncnn.Mat(plain)) == plain).all()
seen = []
for name, array in [("column-major", numpy.asfortranarray(plain)), ("every second row of 4", plain.repeat(2, axis=0)[::2])]:
    assert (array == plain).all()
    seen.append(f"{name}: {numpy.array(ncnn.Mat(array)).astype(int).tolist()}")
for kind in ("uint8", "uint16", "int32"):
    array = numpy.array([200, 1], kind)
    back = numpy.array(ncnn.Mat(array))
    assert back.tobytes() == array.tobytes()
    seen.append(f"{kind}: {back.dtype} {back.tolist()}")
print("\n".join(seen))
sys.exit(seen != """\
column-major: [[0, 3, 1], [4, 2, 5]]
every second row of 4: [[0, 1, 2], [0, 1, 2]]
uint8: int8 [-56, 1]
uint16: float16 [1.1920928955078125e-05, 5.960464477539063e-08]
int32: float32 [2.802596928649634e-43, 1.401298464324817e-45]""".splitlines())
PYTHON

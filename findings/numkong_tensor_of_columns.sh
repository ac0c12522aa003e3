#!/usr/bin/env bash
# NumKong 7.8.6: `Tensor(array)` keeps the stride from row to row of a NumPy array and takes the elements of a row from the ones that lie side by
# side, whatever their stride is. A transposed array, a column-major one and every second column become other numbers, without an error.
#
# The manual says that a tensor "preserves shape and byte strides", and it does for its own views: `Tensor(array).T` and slices of a tensor are
# right, and so is `astype`, which takes the same arrays. Seen for 0 to 11 in 3 rows of 4:
#   transposed: strides (12, 4), [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]], its sum 30 of 66
#   every second column: strides (8, 4), [[0, 1], [4, 5], [8, 9]], its sum 27 of 30
#   column-major: strides (16, 4), [[0, 4, 8, 1], [4, 8, 1, 5], [8, 1, 5, 9]], its sum 54 of 66
#   every second row: strides (16, 4), [[0, 1, 2, 3], [8, 9, 10, 11]], its sum 44 of 44
#
# Exits with 1 if NumKong does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet numkong==7.8.6 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numkong
import numpy

plain = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
arrays = {
    "transposed": plain.T,
    "every second column": plain[:, ::2],
    "column-major": numpy.asfortranarray(plain),
    "every second row": plain[::2],
}
seen = []
for name, array in arrays.items():
    tensor = numkong.Tensor(array)
    assert (numpy.asarray(numkong.astype(array, "float64")) == array).all()
    seen.append((tensor.strides, numpy.asarray(tensor).astype(int).tolist(), int(tensor.sum()), int(array.sum())))
    print("{}: strides {}, {}, its sum {} of {}".format(name, *seen[-1]))
tensor = numkong.Tensor(plain)
assert (numpy.asarray(tensor.T) == plain.T).all() and (numpy.asarray(tensor[:, ::2]) == plain[:, ::2]).all()
sys.exit(seen != [
    ((12, 4), [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]], 30, 66),
    ((8, 4), [[0, 1], [4, 5], [8, 9]], 27, 30),
    ((16, 4), [[0, 4, 8, 1], [4, 8, 1, 5], [8, 1, 5, 9]], 54, 66),
    ((16, 4), [[0, 1, 2, 3], [8, 9, 10, 11]], 44, 44),
])
PYTHON

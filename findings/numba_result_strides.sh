#!/usr/bin/env bash
# Numba 0.68.1: a compiled function gives right elements with other strides than NumPy. `stack` of column-major matrices has its new axis
# innermost, so the matrices lie element by element between each other and none of them is packed; NumPy's lie one behind another.
#
# A new axis of one (`expand_dims`) has a stride of 0, as if it were repeated. What is computed from transposed views is row-major, where NumPy
# keeps the order of the view. Seen for f32 [4, 6], strides in bytes:
#   stack of two column-major: NumPy (96, 4, 16), Numba (4, 8, 32)
#   expand_dims: NumPy (96, 24, 4), Numba (0, 24, 4)
#   sum of the transposed columns 0, 2, 4: NumPy (4, 12), Numba (16, 4)
#   zeros like one repeated row: NumPy (4, 16), Numba (24, 4)
#
# Exits with 1 if Numba or NumPy does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet numba==0.68.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numba
import numpy

rows = numpy.arange(24, dtype=numpy.float32).reshape(4, 6)
cases = {
    "stack of two column-major": (lambda a: numpy.stack((a, a)), numpy.asfortranarray(rows), ((96, 4, 16), (4, 8, 32))),
    "expand_dims": (lambda a: numpy.expand_dims(a, 0), rows, ((96, 24, 4), (0, 24, 4))),
    "sum of the transposed columns 0, 2, 4": (lambda a: a.T + a.T, rows[:, ::2], ((4, 12), (16, 4))),
    "zeros like one repeated row": (lambda a: numpy.zeros_like(a), numpy.broadcast_to(rows[0], (4, 6)), ((4, 16), (24, 4))),
}
right = True
for name, (function, array, expected) in cases.items():
    results = function(array), numba.njit(function)(array)
    assert (results[0] == results[1]).all()
    print(f"{name}: NumPy {results[0].strides}, Numba {results[1].strides}")
    right = right and tuple(result.strides for result in results) == expected
sys.exit(not right)
PYTHON

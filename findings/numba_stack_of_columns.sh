#!/usr/bin/env bash
# Numba 0.68.1: `stack` of column-major matrices in a compiled function has its new axis innermost, so the
# matrices lie element by element between each other and none of them is packed. NumPy's lie one behind another.
# The elements are the same by their indices.
#
# Seen for two f32 matrices of 4 rows of 6, strides in bytes:
#   row-major: NumPy (96, 24, 4), Numba (96, 24, 4)
#   column-major: NumPy (96, 4, 16), Numba (4, 8, 32)
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


def stack(matrix):
    return numpy.stack((matrix, matrix))


rows = numpy.arange(24, dtype=numpy.float32).reshape(4, 6)
seen = []
for name, matrix in {"row-major": rows, "column-major": numpy.asfortranarray(rows)}.items():
    results = stack(matrix), numba.njit(stack)(matrix)
    assert (results[0] == results[1]).all()
    seen.append(tuple(result.strides for result in results))
    print("{}: NumPy {}, Numba {}".format(name, *seen[-1]))
sys.exit(seen != [((96, 24, 4), (96, 24, 4)), ((96, 4, 16), (4, 8, 32))])
PYTHON

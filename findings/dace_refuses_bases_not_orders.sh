#!/usr/bin/env bash
# DaCe 1.0.2: a compiled program refuses a packed row-major array where it is a view, as
# `arange(12).reshape(3, 4)` is, and takes a column-major array that owns its memory, whose elements it pairs
# with the wrong indices without an error.
#
# Whether NumPy made a copy decides, not the strides: the copy of the first is computed right, the transpose
# of it refused, the column-major copy is wrong. The refusal speaks of sub-arrays and `A.T`. Seen for the sums
# of the rows of 0 to 11 in 3 rows of 4, which are 6, 22 and 38:
#   reshape of a range: strides (32, 8), refused
#   copy of it: strides (32, 8), [6, 22, 38]
#   column-major copy of it: strides (8, 24), [13, 22, 31]
#   transpose of a copy: strides (8, 24), refused
#
# Exits with 1 if DaCe does something else. Needs Python 3.10 to 3.12, a compiler for C++ and CMake.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet dace==1.0.2 numpy==1.26.4 networkx==3.4.2
cd "$folder"
cat > sums.py <<'PYTHON'
import sys

import dace
import numpy


@dace.program
def sums(matrix: dace.float64[3, 4]):
    return numpy.sum(matrix, axis=1)


whole = numpy.arange(12, dtype=numpy.float64).reshape(3, 4)
arrays = {
    "reshape of a range": whole,
    "copy of it": whole.copy(),
    "column-major copy of it": whole.copy(order="F"),
    "transpose of a copy": whole.T.copy().T,
}
seen = []
for name, array in arrays.items():
    assert (array == whole).all()
    try:
        result = sums(array).astype(int).tolist()
    except TypeError as error:
        result = "refused" if "numpy view" in str(error) else str(error)
    seen.append((array.strides, result))
    print("{}: strides {}, {}".format(name, *seen[-1]))
sys.exit(seen != [((32, 8), "refused"), ((32, 8), [6, 22, 38]), ((8, 24), [13, 22, 31]), ((8, 24), "refused")])
PYTHON
HOME="$folder" "$folder/env/bin/python" -W ignore sums.py

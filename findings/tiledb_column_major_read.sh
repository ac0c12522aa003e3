#!/usr/bin/env bash
# TileDB-Py 0.36.1: a dense array that is read in column-major order comes back with the right sizes and column-major strides, and its elements
# are at other indices than in the array: the stream of elements in column-major order is folded into rows before it is copied.
#
# The strides say that the answer is a view of the same tensor, and it is not; only arrays of one row or one column are right. Seen for 0 to 5 in
# 2 rows of 3:
#   row-major: strides (24, 8), [[0, 1, 2], [3, 4, 5]]
#   column-major: strides (8, 16), [[0, 3, 1], [4, 2, 5]]
#
# Exits with 1 if TileDB-Py does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet tiledb==0.36.1 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import tiledb

tiledb.from_numpy("array", numpy.arange(6, dtype=numpy.int64).reshape(2, 3))
seen = []
with tiledb.open("array") as array:
    for name, order in (("row-major", "C"), ("column-major", "F")):
        read = array.query(order=order)[:]
        read = read if isinstance(read, numpy.ndarray) else read[""]
        seen.append((read.strides, read.tolist()))
        print(f"{name}: strides {read.strides}, {read.tolist()}")
sys.exit(seen != [((24, 8), [[0, 1, 2], [3, 4, 5]]), ((8, 16), [[0, 3, 1], [4, 2, 5]])])
PYTHON

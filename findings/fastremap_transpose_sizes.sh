#!/usr/bin/env bash
# fastremap 1.21.0: `transpose`, which its manual calls a transposition in place of rectangular arrays, moves the elements of a matrix that is not
# square and returns it with its old sizes, so the elements are folded into rows of the wrong width. Square matrices are right. So is
# `asfortranarray`, which moves the same elements in the same memory and changes the strides.
#
# Seen for 0 to 11 in 4 rows of 3, and for 0 to 3 in 2 rows of 2:
#   transpose [4, 3]: [4, 3], strides (12, 4), [[0, 3, 6], [9, 1, 4], [7, 10, 2], [5, 8, 11]]
#   transpose [2, 2]: [2, 2], strides (8, 4), [[0, 2], [1, 3]]
#   asfortranarray [4, 3]: [4, 3], strides (4, 16), [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
#
# Exits with 1 if fastremap does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet fastremap==1.21.0 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import fastremap
import numpy

seen = []
for change, sizes in [(fastremap.transpose, [4, 3]), (fastremap.transpose, [2, 2]), (fastremap.asfortranarray, [4, 3])]:
    matrix = numpy.arange(sizes[0] * sizes[1], dtype=numpy.float32).reshape(sizes)
    changed = change(matrix)
    seen.append((list(changed.shape), changed.strides, changed.astype(int).tolist()))
    print(f"{change.__name__} {sizes}: {seen[-1][0]}, strides {seen[-1][1]}, {seen[-1][2]}")
sys.exit(seen != [
    ([4, 3], (12, 4), [[0, 3, 6], [9, 1, 4], [7, 10, 2], [5, 8, 11]]),
    ([2, 2], (8, 4), [[0, 2], [1, 3]]),
    ([4, 3], (4, 16), [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]),
])
PYTHON

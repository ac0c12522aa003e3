#!/usr/bin/env bash
# pyarrow 26.0.1: a sparse tensor of coordinates (SparseCOOTensor) that is made from a column-major matrix has wrong coordinates, some of them
# beyond its sizes, unless the matrix is square. From a row-major matrix, or from columns of a larger one, it is right.
#
# The elements are walked in the order of memory and counted as rows of the matrix's own width, and the count's axes are swapped at the end.
# Nothing is refused. Seen for 1 to 6:
#   [2, 3] row-major: 5 at [1, 1], 0 beyond the sizes, all right: True
#   [2, 3] column-major: 5 at [0, 1], 2 beyond the sizes, all right: False
#   [3, 2] column-major: 5 at [0, 2], 2 beyond the sizes, all right: False
#   [2, 2] row-major, columns of a larger one: 5 at [1, 1], 0 beyond the sizes, all right: True
#   [2, 2] column-major: 5 at [1, 1], 0 beyond the sizes, all right: True
#
# Exits with 1 if pyarrow does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet pyarrow==26.0.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import pyarrow

rows = numpy.arange(1, 7, dtype=numpy.float32).reshape(2, 3)


def wrong(matrix):
    """Where the coordinates say that 5 is, how many lie beyond the sizes, and whether all are right."""
    values, coordinates = pyarrow.SparseCOOTensor.from_dense_numpy(matrix).to_numpy()
    places = dict(zip(values.ravel().tolist(), coordinates.tolist()))
    beyond = sum(any(index >= size for index, size in zip(place, matrix.shape)) for place in places.values())
    right = all(place == numpy.argwhere(matrix == value)[0].tolist() for value, place in places.items())
    return places.get(5), beyond, right


seen = []
for name, matrix in [("row-major", rows), ("column-major", numpy.asfortranarray(rows)), ("column-major", rows.T),
                     ("row-major, columns of a larger one", rows[:, :2]),
                     ("column-major", numpy.asfortranarray(rows[:, :2]))]:
    seen.append(wrong(matrix))
    print(f"{list(matrix.shape)} {name}: 5 at {seen[-1][0]}, {seen[-1][1]} beyond the sizes, all right: {seen[-1][2]}")
sys.exit(seen != [([1, 1], 0, True), ([0, 1], 2, False), ([0, 2], 2, False), ([1, 1], 0, True), ([1, 1], 0, True)])
PYTHON

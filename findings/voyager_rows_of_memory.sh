#!/usr/bin/env bash
# voyager 2.2.3 (Spotify's index of nearest neighbours): `add_items` reads the vectors of an array from one
# block of memory, whatever its strides are. Of a column-major array, and of every second row or column, other
# vectors are stored, without an error.
#
# `query` reads the same way, so every such array finds itself at a distance of 0. The manual says no more
# than that a matrix has one vector a row. Seen for the vectors (1, 2, 3, 4) and (5, 6, 7, 8): what is stored,
# and the squared distance of the nearest to each in a query by the same array, then by a row-major one:
#   row-major: [[1, 2, 3, 4], [5, 6, 7, 8]], 0 and 0, 0 and 0
#   column-major: [[1, 5, 2, 6], [3, 7, 4, 8]], 0 and 0, 14 and 14
#   every second row: [[1, 2, 3, 4], [1, 2, 3, 4]], 0 and 0, 0 and 64
#   every second column: [[1, 1, 2, 2], [3, 3, 4, 4]], 0 and 0, 6 and 38
#
# Exits with 1 if voyager does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet voyager==2.2.3 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import voyager

plain = numpy.arange(1, 9, dtype=numpy.float32).reshape(2, 4)
arrays = {
    "row-major": plain,
    "column-major": numpy.asfortranarray(plain),
    "every second row": plain.repeat(2, axis=0)[::2],
    "every second column": plain.repeat(2, axis=1)[:, ::2],
}


def nearest(index, array):
    return " and ".join(str(int(distance)) for distance in index.query(array, k=1, num_threads=1)[1].ravel())


seen = []
for name, array in arrays.items():
    assert (array == plain).all()
    index = voyager.Index(voyager.Space.Euclidean, 4)
    places = index.add_items(array, num_threads=1)
    stored = index.get_vectors(places).astype(int).tolist()
    seen.append((stored, nearest(index, array), nearest(index, plain)))
    print("{}: {}, {}, {}".format(name, *seen[-1]))
sys.exit(seen != [
    ([[1, 2, 3, 4], [5, 6, 7, 8]], "0 and 0", "0 and 0"),
    ([[1, 5, 2, 6], [3, 7, 4, 8]], "0 and 0", "14 and 14"),
    ([[1, 2, 3, 4], [1, 2, 3, 4]], "0 and 0", "0 and 64"),
    ([[1, 1, 2, 2], [3, 3, 4, 4]], "0 and 0", "6 and 38"),
])
PYTHON

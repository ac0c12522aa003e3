#!/usr/bin/env bash
# pyarrow 26.0.1: a fixed-shape tensor has sizes in the order of memory and a permutation. An array of them and one of its scalars compute
# different strides from the same permutation. Of the three cases below the array's strides are wrong in one, where the permutation is not its
# own inverse, and the scalar's in two: elements overlap, and others are never reached.
#
# A reader gets other elements without an error. Seen, strides in bytes of one tensor of f32 (24 elements at 24 places are right):
#   sizes [2, 3], permutation [1, 0]: by NumPy (4, 12); array (4, 12), 6 places; scalar (4, 8), 5 places
#   sizes [2, 3, 4], permutation [0, 2, 1]: by NumPy (48, 4, 16); array (48, 4, 16), 24 places; scalar (48, 4, 16), 24 places
#   sizes [2, 3, 4], permutation [2, 0, 1]: by NumPy (4, 48, 16); array (4, 32, 8), 16 places; scalar (4, 24, 8), 14 places
#
# Exits with 1 if pyarrow does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet pyarrow==26.0.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import math
import sys

import numpy
import pyarrow

expected = [
    ([2, 3], [1, 0], (4, 12), (4, 12), 6, (4, 8), 5),
    ([2, 3, 4], [0, 2, 1], (48, 4, 16), (48, 4, 16), 24, (48, 4, 16), 24),
    ([2, 3, 4], [2, 0, 1], (4, 48, 16), (4, 32, 8), 16, (4, 24, 8), 14),
]
seen = []
for sizes, permutation, *_ in expected:
    count = math.prod(sizes)
    kind = pyarrow.fixed_shape_tensor(pyarrow.float32(), sizes, permutation=permutation)
    storage = pyarrow.array([list(range(count))], pyarrow.list_(pyarrow.float32(), count))
    array = pyarrow.ExtensionArray.from_storage(kind, storage)
    right = numpy.arange(count, dtype=numpy.float32).reshape(sizes).transpose(permutation).strides
    whole, one = array.to_numpy_ndarray()[0], array[0].to_numpy()
    places = [len(set(tensor.ravel().tolist())) for tensor in (whole, one)]
    seen.append((sizes, permutation, right, whole.strides, places[0], one.strides, places[1]))
    print(f"sizes {sizes}, permutation {permutation}: by NumPy {right}; array {whole.strides}, {places[0]} places; "
          f"scalar {one.strides}, {places[1]} places")
sys.exit(seen != expected)
PYTHON

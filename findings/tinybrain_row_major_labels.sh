#!/usr/bin/env bash
# tinybrain 1.7.0: `downsample_segmentation` by 2 x 2 x 2 takes the labels of a row-major array, NumPy's
# order, from wrong places without an error. Column-major arrays are right, and so are both orders by 2 x 2 x
# 1 and in `downsample_with_averaging`.
#
# The manual says "a 3d or 4d numpy array" and nothing of an order. A part of a larger array gets values from
# outside the part. Seen for labels [4, 4, 2, 1] that are 1, 2, 3 and 4 in blocks of 2 x 2 x 2, so each has
# one label:
#   column-major by (2, 2, 2): [[1, 3], [2, 4]]
#   row-major by (2, 2, 2): [[1, 1], [1, 1]]
#   part of a column-major one by (2, 2, 2): [[1, 9], [2, 3]]
#   row-major by (2, 2, 1): [[1, 3], [2, 4]]
#
# Exits with 1 if tinybrain does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet tinybrain==1.7.0 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import tinybrain

blocks = numpy.array([[1, 3], [2, 4]], numpy.uint8)
labels = numpy.ascontiguousarray(numpy.kron(blocks, numpy.ones((2, 2), numpy.uint8))[:, :, None, None].repeat(2, axis=2))
larger = numpy.full((5, 5, 2, 1), 9, numpy.uint8, order="F")
larger[:4, :4] = labels
cases = {
    "column-major by (2, 2, 2)": numpy.asfortranarray(labels),
    "row-major by (2, 2, 2)": labels,
    "part of a column-major one by (2, 2, 2)": larger[:4, :4],
    "row-major by (2, 2, 1)": labels,
}
seen = []
for name, array in cases.items():
    assert (array == labels).all()
    factor = (2, 2, 1) if name.endswith("1)") else (2, 2, 2)
    smaller = tinybrain.downsample_segmentation(array, factor)[0]
    averages = tinybrain.downsample_with_averaging(array, factor)[0]
    assert (averages == blocks[:, :, None, None]).all()
    seen.append(smaller[:, :, 0, 0].tolist())
    print(f"{name}: {seen[-1]}")
right = blocks.tolist()
sys.exit(seen != [right, [[1, 1], [1, 1]], [[1, 9], [2, 3]], right])
PYTHON

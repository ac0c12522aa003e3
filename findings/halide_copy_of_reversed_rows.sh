#!/usr/bin/env bash
# Halide 21.0.0: a copy of a buffer whose rows run backwards is column-major. HalideBuffer.h says of `copy` that the new image "has the same
# nesting order of dimensions": they are sorted by their strides with the sign, so an axis that is reversed becomes the innermost one.
#
# The view works in every pipeline, and its copy is refused by all that want pixels of a row side by side, which is what pipelines want where
# nothing else is said. An axis that is innermost and reversed stays where it is. Seen, strides from the innermost axis, for 0 to 11 in 3 rows of
# 4:
#   plain: strides [1, 4], copy [1, 4], runs
#   rows reversed: strides [1, -4], copy [3, 1], Constraint violated: p0.stride.0 (3) == 1 (1)
#   columns reversed: strides [-1, 4], copy [1, 4], runs
#
# Exits with 1 if Halide does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet halide==21.0.0 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import halide
import numpy

x, y = halide.Var("x"), halide.Var("y")
image = halide.ImageParam(halide.Float(32), 2, "p0")
pipeline = halide.Func("pipeline")
pipeline[x, y] = image[x, y] + 1


def strides(buffer):
    return [buffer.dim(axis).stride() for axis in range(buffer.dimensions())]


def run(buffer, array):
    image.set(buffer)
    try:
        result = numpy.asarray(pipeline.realize([4, 3]))
    except halide.HalideError as error:
        return str(error).removeprefix("Error: ").strip()
    return "runs" if (result == array + 1).all() else "wrong"


plain = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
seen = []
for name, array in [("plain", plain), ("rows reversed", plain[::-1]), ("columns reversed", plain[:, ::-1])]:
    view = halide.Buffer(array)
    copy = view.copy()
    assert (numpy.asarray(view) == array).all() and (numpy.asarray(copy) == array).all()
    assert name == "columns reversed" or run(view, array) == "runs"
    seen.append((strides(view), strides(copy), run(copy, array)))
    print("{}: strides {}, copy {}, {}".format(name, *seen[-1]))
sys.exit(seen != [
    ([1, 4], [1, 4], "runs"),
    ([1, -4], [3, 1], "Constraint violated: p0.stride.0 (3) == 1 (1)"),
    ([-1, 4], [1, 4], "runs"),
])
PYTHON

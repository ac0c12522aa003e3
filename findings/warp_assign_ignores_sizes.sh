#!/usr/bin/env bash
# Warp 1.19.0 (warp-lang): `array.assign` and `wp.copy` compare bytes, not sizes, where both arrays are packed. A source of other sizes, also a
# smaller one, is written to the start of the destination's memory as one stream, so its rows are folded into rows of another width. As soon
# as one of the two has strides, other sizes are refused.
#
# A type of the same width is no error either: the values of a NumPy array are converted, the bits of a Warp array are kept. The manual says that
# the destination must be at least as large as the source buffer and that elements must have one size. Seen for 1 to 6 in 2 rows of 3:
#   to f32 [3, 2]: [[1, 2], [3, 4], [5, 6]]
#   to f32 [3, 4]: [[1, 2, 3, 4], [5, 6, 0, 0], [0, 0, 0, 0]]
#   to the first 4 columns of f32 [3, 5]: refused
#   its transpose to f32 [2, 3]: refused
#   to i32 [2, 3], from NumPy: [[1, 2, 3], [4, 5, 6]]
#   to i32 [2, 3], from Warp: [[1065353216, 1073741824, 1077936128], [1082130432, 1084227584, 1086324736]]
#   to f64 [2, 3], from NumPy: [[1, 2, 3], [4, 5, 6]]
#   to f64 [2, 3], from Warp: refused
#
# Exits with 1 if Warp does something else. No GPU is used.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet warp-lang==1.19.0 numpy==2.4.6
WARP_CACHE_PATH="$folder/cache" "$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import warp

warp.config.quiet = True
warp.init()
values = numpy.arange(1, 7, dtype=numpy.float32).reshape(2, 3)
source = warp.array(values, device="cpu")


def zeros(kind, *sizes):
    return warp.zeros(sizes, dtype=kind, device="cpu")


def assign(name, target, given):
    try:
        target.assign(given)
        result = target.numpy().astype(int).tolist()
    except RuntimeError:
        result = "refused"
    print(f"{name}: {result}")
    return result


seen = [
    assign("to f32 [3, 2]", zeros(warp.float32, 3, 2), source),
    assign("to f32 [3, 4]", zeros(warp.float32, 3, 4), source),
    assign("to the first 4 columns of f32 [3, 5]", zeros(warp.float32, 3, 5)[:, :4], source),
    assign("its transpose to f32 [2, 3]", zeros(warp.float32, 2, 3), source.transpose()),
    assign("to i32 [2, 3], from NumPy", zeros(warp.int32, 2, 3), values),
    assign("to i32 [2, 3], from Warp", zeros(warp.int32, 2, 3), source),
    assign("to f64 [2, 3], from NumPy", zeros(warp.float64, 2, 3), values),
    assign("to f64 [2, 3], from Warp", zeros(warp.float64, 2, 3), source),
]
plain = values.astype(int).tolist()
folded = [[1, 2, 3, 4], [5, 6, 0, 0], [0, 0, 0, 0]]
bits = values.view(numpy.int32).tolist()
copied = zeros(warp.float32, 3, 4)
warp.copy(copied, source)
assert copied.numpy().tolist() == folded
sys.exit(seen != [[[1, 2], [3, 4], [5, 6]], folded, "refused", "refused", plain, bits, plain, "refused"])
PYTHON

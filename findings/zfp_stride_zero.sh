#!/usr/bin/env bash
# zfpy 1.0.1.post0 (zfp 1.0.1): an array that repeats its rows (stride 0) is compressed as if it were packed, because a stride of 0 means "none
# given" to zfp. Transposed, cut and reversed arrays are compressed by their strides and come back right.
#
# What comes back are the first row and then values that are not of the array, without an error. Here they are the rest of the larger array
# whose first row is repeated. Seen for the first row of 0 to 11 in 3 rows of 4, repeated three times:
#   compressed without loss and back: [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
#
# Exits with 1 if zfpy does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet zfpy==1.0.1.post0 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import zfpy

whole = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
for other in (whole.T, whole[:, :3], whole[::-1], whole.copy()):
    assert (zfpy.decompress_numpy(zfpy.compress_numpy(other)) == other).all()
repeated = numpy.broadcast_to(whole[0], (3, 4))
back = zfpy.decompress_numpy(zfpy.compress_numpy(repeated))
print(f"compressed without loss and back: {back.astype(int).tolist()}")
sys.exit(back.tolist() != whole.tolist())
PYTHON

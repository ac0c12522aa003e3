#!/usr/bin/env bash
# qoi 0.8.0 for Python: an image whose array is column-major throughout is encoded from its memory as if it were row-major, without an error. All
# other arrays that are not row-major are refused with "array should be C-contiguous".
#
# Packed memory of either order passes the check. The picture has the right sizes, and each of its pixels is made of values of several others.
# Seen for 0 to 23 in 2 rows of 4 pixels of 3 channels:
#   column-major: first row [[0, 12, 3], [15, 6, 18], [9, 21, 1], [13, 4, 16]], it is [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
#   every second row of 4: refused
#   channels in front: refused
#
# Exits with 1 if qoi does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet qoi==0.8.0 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import qoi

plain = numpy.arange(24, dtype=numpy.uint8).reshape(2, 4, 3)
assert (qoi.decode(qoi.encode(plain)) == plain).all()
arrays = {
    "column-major": numpy.asfortranarray(plain),
    "every second row of 4": numpy.repeat(plain, 2, axis=0)[::2],
    "channels in front": numpy.ascontiguousarray(plain.transpose(2, 0, 1)).transpose(1, 2, 0),
}
seen = []
for name, array in arrays.items():
    assert (array == plain).all()
    try:
        back = qoi.decode(qoi.encode(array))
        assert back.shape == array.shape
        seen.append(back[0].tolist())
        print(f"{name}: first row {seen[-1]}, it is {plain[0].tolist()}")
    except ValueError as error:
        seen.append("refused" if "should be C-contiguous" in str(error) else str(error))
        print(f"{name}: {seen[-1]}")
sys.exit(seen != [[[0, 12, 3], [15, 6, 18], [9, 21, 1], [13, 4, 16]], "refused", "refused"])
PYTHON

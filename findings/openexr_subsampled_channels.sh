#!/usr/bin/env bash
# OpenEXR 3.5.3 for Python: a channel that has a sample at every second pixel must be given with as many rows and columns as the whole image.
# Neither every second value of the array is stored nor its upper left part: its first values are, row after row, cut into rows of half the width.
#
# The channel comes back in half the sizes, with elements that no slice of the array has in these places, and there is no error. An array of half
# the sizes is refused, so what was read cannot be written again. Seen for a channel C of 0 to 23 in 4 rows of 6, beside a Y of one sample
# a pixel; the older interface of the package (`InputFile`) reads the same from the file:
#   every second column: [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]], C[::1, ::2] is [[0, 2, 4], [6, 8, 10], [12, 14, 16], [18, 20, 22]]
#   every second row and column: [[0, 1, 2], [3, 4, 5]], C[::2, ::2] is [[0, 2, 4], [12, 14, 16]]
#   given in half the sizes: channel shapes differ: Y=(4 6), C=(2 3)
#
# Exits with 1 if OpenEXR does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet OpenEXR==3.5.3 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import OpenEXR

y = numpy.zeros((4, 6), numpy.float32)
c = numpy.arange(24, dtype=numpy.float32).reshape(4, 6)


def write(array, columns, rows):
    channels = {"Y": OpenEXR.Channel(y, 1, 1), "C": OpenEXR.Channel(array, columns, rows)}
    OpenEXR.File({"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}, channels).write("file.exr")


seen = []
for name, columns, rows in (("column", 2, 1), ("row and column", 2, 2)):
    write(c, columns, rows)
    back = OpenEXR.File("file.exr").channels()["C"].pixels
    assert OpenEXR.InputFile("file.exr").channel("C") == back.tobytes()
    seen.append(back.astype(int).tolist())
    wanted = c[::rows, ::columns].astype(int).tolist()
    print(f"every second {name}: {seen[-1]}, C[::{rows}, ::{columns}] is {wanted}")
try:
    write(c[::2, ::2].copy(), 2, 2)
    refusal = "no error"
except ValueError as error:
    refusal = str(error)
print(f"given in half the sizes: {refusal}")
right = seen == [[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]], [[0, 1, 2], [3, 4, 5]]]
sys.exit(not right or not refusal.startswith("channel shapes differ"))
PYTHON

#!/usr/bin/env bash
# pillow-heif 1.8.1: the NumPy array of an image whose rows are padded has as many columns as whole pixels fit
# into a row and its padding, and no strides. Of 7 pixels of 3 bytes in rows of 24 it has 8 columns; in rows
# of 32 it has 10, packed, so each row begins 2 bytes earlier than it should and the columns slant.
#
# The image itself knows its size and its row pitch, and `to_pillow` and `save` take both into account. Seen
# for 7 x 3 pixels, sizes of the array, and the first pixel of the second row, which is 21, 22, 23:
#   rows of 21 bytes: [3, 7, 3], 21, 22, 23
#   rows of 23 bytes: [3, 7, 3], 0, 0, 21
#   rows of 24 bytes: [3, 8, 3], 21, 22, 23
#   rows of 32 bytes: [3, 10, 3], 0, 0, 21
#
# Exits with 1 if pillow-heif does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet pillow-heif==1.8.1 pillow==13.0.0 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import pillow_heif

pixels = numpy.arange(63, dtype=numpy.uint8).reshape(3, 7, 3)
seen = []
for pitch in (21, 23, 24, 32):
    rows = numpy.zeros((3, pitch), numpy.uint8)
    rows[:, :21] = pixels.reshape(3, 21)
    image = pillow_heif.from_bytes("RGB", (7, 3), rows.tobytes(), stride=pitch)
    assert image.size == (7, 3) and image.stride == pitch
    assert (numpy.asarray(image.to_pillow()) == pixels).all()
    array = numpy.asarray(image)
    seen.append((list(array.shape), ", ".join(map(str, array[1, 0]))))
    print("rows of {} bytes: {}, {}".format(pitch, *seen[-1]))
sys.exit(seen != [
    ([3, 7, 3], "21, 22, 23"), ([3, 7, 3], "0, 0, 21"), ([3, 8, 3], "21, 22, 23"), ([3, 10, 3], "0, 0, 21"),
])
PYTHON

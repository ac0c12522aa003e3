#!/usr/bin/env bash
# Pillow 13.0.0: as an Arrow array, an image of unsigned 16-bit pixels (mode I;16) is one of signed integers:
# 40000 becomes -25536, without an error. `Image.fromarrow` refuses uint16 for this mode and takes int16.
#
# The pixel is 40000 to Pillow and to NumPy. Seen for an image of one pixel, and for 30000 given to Pillow:
#   I;16: Arrow int16 [-25536], NumPy uint16 [40000]
#   from uint16: refused, from int16: 30000
#
# Exits with 1 if Pillow does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet pillow==13.0.0 pyarrow==26.0.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import pyarrow
from PIL import Image

image = Image.new("I;16", (1, 1))
image.putpixel((0, 0), 40000)
assert image.getpixel((0, 0)) == 40000
lent, array = pyarrow.array(image), numpy.asarray(image)
taken = []
for kind in (pyarrow.uint16(), pyarrow.int16()):
    try:
        taken.append(Image.fromarrow(pyarrow.array([30000], kind), "I;16", (1, 1)).getpixel((0, 0)))
    except ValueError:
        taken.append("refused")
seen = [
    f"I;16: Arrow {lent.type} {lent.to_pylist()}, NumPy {array.dtype.name} {array[0].tolist()}",
    f"from uint16: {taken[0]}, from int16: {taken[1]}",
]
print("\n".join(seen))
sys.exit(seen != ["I;16: Arrow int16 [-25536], NumPy uint16 [40000]", "from uint16: refused, from int16: 30000"])
PYTHON

#!/usr/bin/env bash
# Pillow 13.0.0: as an Arrow array, an image of unsigned 16-bit pixels (mode I;16) is one of signed integers: 40000 becomes -25536. An image in
# the other byte order (I;16B) has the same type, with the two bytes of each value exchanged. `Image.fromarrow` refuses uint16 and takes int16.
#
# An image of a colour and an opacity (LA, PA) is one of four bytes a pixel, the first three the same. All of this is the memory of the image,
# lent as it lies; NumPy arrays of the same images have two channels and are unsigned. Seen for a pixel of 40000, and one of 7 and 9:
#   I;16: Arrow int16 [-25536], NumPy uint16 [40000]
#   I;16B: Arrow int16 [16540], NumPy >u2 [40000]
#   LA: Arrow 4 of uint8 [[7, 7, 7, 9]], NumPy uint8 [[7, 9]]
#   PA: Arrow 4 of uint8 [[7, 7, 7, 9]], NumPy uint8 [[7, 9]]
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

seen = []
for mode, pixel in [("I;16", 40000), ("I;16B", 40000), ("LA", (7, 9)), ("PA", (7, 9))]:
    image = Image.new(mode, (1, 1))
    image.putpixel((0, 0), pixel)
    assert image.getpixel((0, 0)) == pixel
    lent, array = pyarrow.array(image), numpy.asarray(image)
    kind = lent.type
    kind = f"{kind.list_size} of {kind.value_type}" if pyarrow.types.is_fixed_size_list(kind) else str(kind)
    name = array.dtype.name if array.dtype.isnative else array.dtype.str
    seen.append(f"{mode}: Arrow {kind} {lent.to_pylist()}, NumPy {name} {array[0].tolist()}")
    print(seen[-1])
taken = []
for kind in (pyarrow.uint16(), pyarrow.int16()):
    try:
        taken.append(Image.fromarrow(pyarrow.array([30000], kind), "I;16", (1, 1)).getpixel((0, 0)))
    except ValueError:
        taken.append("refused")
seen.append(f"from uint16: {taken[0]}, from int16: {taken[1]}")
print(seen[-1])
sys.exit(seen != """\
I;16: Arrow int16 [-25536], NumPy uint16 [40000]
I;16B: Arrow int16 [16540], NumPy >u2 [40000]
LA: Arrow 4 of uint8 [[7, 7, 7, 9]], NumPy uint8 [[7, 9]]
PA: Arrow 4 of uint8 [[7, 7, 7, 9]], NumPy uint8 [[7, 9]]
from uint16: refused, from int16: 30000""".splitlines())
PYTHON

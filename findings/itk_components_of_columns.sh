#!/usr/bin/env bash
# ITK 5.4.7 for Python: `image_from_array(array, is_vector=True)` of a column-major array has the rows for
# components: of 2 rows of 4 pixels of 3 channels it makes an image of 4 x 3 pixels of 2 components.
#
# The manual says that the image of an array and of its transpose are the same, so a column-major gray image
# is transposed, and nothing of components. Arrays that are in neither order are copied and right: the same
# pixels with the channels in front, or in every second row of memory, make the image that the row-major array
# makes. SimpleITK 2.5.6 makes one image of all of them. Seen, size and components, and the first pixel:
#   row-major: [4, 2] of 3, [0, 1, 2]; SimpleITK [4, 2] of 3
#   column-major: [4, 3] of 2, [0, 12]; SimpleITK [4, 2] of 3
#   channels in front: [4, 2] of 3, [0, 1, 2]; SimpleITK [4, 2] of 3
#   every second row: [4, 2] of 3, [0, 1, 2]; SimpleITK [4, 2] of 3
#   gray, row-major: [3, 2]; column-major: [2, 3]
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet itk-core==5.4.7 itk-numerics==5.4.7 SimpleITK==2.5.6 numpy==2.4.6
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import sys

import itk
import numpy
import SimpleITK

plain = numpy.arange(24, dtype=numpy.uint8).reshape(2, 4, 3)
arrays = {
    "row-major": plain,
    "column-major": numpy.asfortranarray(plain),
    "channels in front": numpy.ascontiguousarray(plain.transpose(2, 0, 1)).transpose(1, 2, 0),
    "every second row": plain.repeat(2, axis=0)[::2],
}
seen = []
for name, array in arrays.items():
    assert (array == plain).all()
    image = itk.image_from_array(array, is_vector=True)
    other = SimpleITK.GetImageFromArray(array, isVector=True)
    assert (SimpleITK.GetArrayFromImage(other) == plain).all()
    first = itk.array_from_image(image)[0, 0].tolist()
    seen.append(f"{name}: {list(itk.size(image))} of {image.GetNumberOfComponentsPerPixel()}, {first}; "
                f"SimpleITK {list(other.GetSize())} of {other.GetNumberOfComponentsPerPixel()}")
gray = numpy.arange(6, dtype=numpy.uint8).reshape(2, 3)
sizes = [list(itk.size(itk.image_from_array(array))) for array in (gray, numpy.asfortranarray(gray))]
seen.append(f"gray, row-major: {sizes[0]}; column-major: {sizes[1]}")
print("\n".join(seen))
sys.exit(seen != """\
row-major: [4, 2] of 3, [0, 1, 2]; SimpleITK [4, 2] of 3
column-major: [4, 3] of 2, [0, 12]; SimpleITK [4, 2] of 3
channels in front: [4, 2] of 3, [0, 1, 2]; SimpleITK [4, 2] of 3
every second row: [4, 2] of 3, [0, 1, 2]; SimpleITK [4, 2] of 3
gray, row-major: [3, 2]; column-major: [2, 3]""".splitlines())
PYTHON

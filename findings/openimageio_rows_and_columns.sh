#!/usr/bin/env bash
# OpenImageIO 3.2.2.0 for Python: of a packed array [rows, columns], the image of one channel that `write_image`, `write_scanlines` and
# `set_pixels` make has the strides of rows and columns exchanged: a square image is transposed, a tall one is elements of wrong places.
#
# All three report success. The same array as [rows, columns, 1], flat, or given to `ImageBuf` itself is right, and so is an array of
# [pixels, channels]. Seen for 0 to 8 in 3 rows of 3 and 0 to 11 in 4 rows of 3, written with `write_image` and read back:
#   [3, 3]: [[0, 3, 6], [1, 4, 7], [2, 5, 8]]
#   [3, 3, 1]: [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
#   [4, 3]: [[0, 3, 6], [1, 4, 7], [2, 5, 8], [3, 6, 9]]
#   [4, 3, 1]: [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
#
# Exits with 1 if OpenImageIO does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet OpenImageIO==3.2.2.0 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import OpenImageIO

seen = []
for rows in (3, 4):
    plain = numpy.arange(rows * 3, dtype=numpy.float32).reshape(rows, 3)
    spec = OpenImageIO.ImageSpec(3, rows, 1, "float")

    def written(array, scanlines=False):
        output = OpenImageIO.ImageOutput.create("file.tif")
        assert output.open("file.tif", spec)
        assert output.write_scanlines(0, rows, 0, array) if scanlines else output.write_image(array)
        output.close()
        return OpenImageIO.ImageInput.open("file.tif").read_image("float").reshape(rows, 3)

    for array in (plain, plain[:, :, None]):
        back = written(array)
        buffer = OpenImageIO.ImageBuf(spec)
        assert buffer.set_pixels(OpenImageIO.ROI(0, 3, 0, rows, 0, 1, 0, 1), array)
        assert (buffer.get_pixels("float").reshape(rows, 3) == back).all()
        assert (written(array, scanlines=True) == back).all()
        seen.append(back.astype(int).tolist())
        print(f"{list(array.shape)}: {seen[-1]}")
        if array.ndim == 3:
            assert (back == plain).all()
    assert (written(plain.ravel()) == plain).all()
    assert (OpenImageIO.ImageBuf(plain).get_pixels("float").reshape(rows, 3) == plain).all()
pixels = numpy.arange(12, dtype=numpy.float32).reshape(4, 3)
buffer = OpenImageIO.ImageBuf(OpenImageIO.ImageSpec(2, 2, 3, "float"))
assert buffer.set_pixels(OpenImageIO.ROI(0, 2, 0, 2, 0, 1, 0, 3), pixels)
assert (buffer.get_pixels("float") == pixels.reshape(2, 2, 3)).all()
square = [[0, 3, 6], [1, 4, 7], [2, 5, 8]]
sys.exit(seen[0] != square or seen[2] != [*square, [3, 6, 9]])
PYTHON

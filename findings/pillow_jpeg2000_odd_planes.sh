#!/usr/bin/env bash
# Pillow 13.0.0: a JPEG 2000 picture with subsampled chroma and an odd number of columns or rows has its
# chroma planes read from wrong places, without an error. A picture of one colour comes back in two, as
# samples of the first chroma plane are taken for the second one.
#
# The planes have the sizes divided by the subsampling and rounded up, 8 x 4 for 15 x 7. Pillow rounds down,
# so rows begin too early, and so does the second plane. Even sizes are right, and so are full chroma planes.
# imagecodecs 2026.3.6 (OpenJPEG 2.5.4) reads all of these right, FFmpeg 8.1.2 (PyAV 18.1.0) wrote them. Seen
# for luma 100 and chroma 90 and 200 throughout, which are 200, 62, 33 in RGB (Pillow has 1 less of two): how
# many pixels have which colour
#   4:4:4, 15 x 7: 105 of 200, 61, 32
#   4:2:2, 16 x 8: 128 of 200, 61, 32
#   4:2:2, 15 x 8: 103 of 200, 61, 32, 17 of 46, 140, 32
#   4:2:0, 16 x 8: 128 of 200, 61, 32
#   4:2:0, 16 x 7: 80 of 200, 61, 32, 32 of 46, 140, 32
#   4:2:0, 15 x 8: 104 of 200, 61, 32, 16 of 46, 140, 32
#   4:2:0, 15 x 7: 59 of 200, 61, 32, 46 of 46, 140, 32
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pillow==13.0.0 imagecodecs==2026.3.6 av==18.1.0 numpy==2.4.6
cat > planes.py <<'PYTHON'
import io
import sys
from collections import Counter
from fractions import Fraction

import av
import imagecodecs
import numpy
import PIL.Image


def written(subsampling, columns, rows):
    frame = av.VideoFrame(columns, rows, subsampling)
    for plane, value in zip(frame.planes, [100, 90, 200]):
        plane.update(bytes([value]) * plane.buffer_size)
    frame.pts = 0
    encoder = av.CodecContext.create("jpeg2000", "w")
    encoder.width, encoder.height, encoder.pix_fmt = columns, rows, subsampling
    encoder.time_base = Fraction(1, 25)
    encoder.options = {"pred": "dwt53"}
    return b"".join(bytes(packet) for packet in [*encoder.encode(frame), *encoder.encode(None)])


seen = []
for columns, rows, text in [(15, 7, "444"), (16, 8, "422"), (15, 8, "422"), (16, 8, "420"), (16, 7, "420"), (15, 8, "420"), (15, 7, "420")]:
    data = written(f"yuv{text}p", columns, rows)
    assert (imagecodecs.jpeg2k_decode(data) == [200, 62, 33]).all()
    pixels = numpy.asarray(PIL.Image.open(io.BytesIO(data))).reshape(-1, 3).tolist()
    colours = Counter(", ".join(map(str, pixel)) for pixel in pixels).most_common()
    seen.append(f"{':'.join(text)}, {columns} x {rows}: " + ", ".join(f"{number} of {colour}" for colour, number in colours))
print("\n".join(seen))
sys.exit(seen != [
    "4:4:4, 15 x 7: 105 of 200, 61, 32",
    "4:2:2, 16 x 8: 128 of 200, 61, 32",
    "4:2:2, 15 x 8: 103 of 200, 61, 32, 17 of 46, 140, 32",
    "4:2:0, 16 x 8: 128 of 200, 61, 32",
    "4:2:0, 16 x 7: 80 of 200, 61, 32, 32 of 46, 140, 32",
    "4:2:0, 15 x 8: 104 of 200, 61, 32, 16 of 46, 140, 32",
    "4:2:0, 15 x 7: 59 of 200, 61, 32, 46 of 46, 140, 32",
])
PYTHON
venv/bin/python planes.py

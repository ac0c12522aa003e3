#!/usr/bin/env bash
# tifffile 2026.3.3: an image of three booleans a pixel, side by side, is written with eight bits of red, then
# eight of green and eight of blue, and the file says that it has one bit a sample, interleaved. Neither
# tifffile nor GDAL reads the picture that was written, and there is no error.
#
# By TIFF the bits of a pixel lie side by side as its samples do. A row is rounded up to bytes once for every
# sample, so it is longer than a reader takes it to be. The same bits as numbers from 0 to 3 (bitspersample=2)
# are interleaved and right, and so are booleans of one channel or in planes. Seen for a row of 5 pixels, red
# throughout, the bytes of the row, and the pixels that are read by tifffile and by GDAL 3.10.3 (rasterio
# 1.4.4):
#   booleans: f80000, [111, 110, 000, 000, 000], [111, 110, 000, 000, 000]
#   booleans in planes: f8, [100, 100, 100, 100, 100], [100, 100, 100, 100, 100]
#   two bits: 41041040, [100, 100, 100, 100, 100], [100, 100, 100, 100, 100]
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet tifffile==2026.3.3 imagecodecs==2026.3.6 rasterio==1.4.4 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy
import rasterio
import tifffile

red = numpy.zeros((1, 5, 3), bool)
red[..., 0] = True


def pixels(image):
    return "[" + ", ".join("".join(str(int(sample)) for sample in pixel) for pixel in image[0]) + "]"


seen = []
for name, image, options, axes in [
    ("booleans", red, {}, (0, 1, 2)),
    ("booleans in planes", red.transpose(2, 0, 1), {"planarconfig": "separate"}, (1, 2, 0)),
    ("two bits", red.astype(numpy.uint8), {"bitspersample": 2}, (0, 1, 2)),
]:
    tifffile.imwrite("bits.tif", image, photometric="rgb", **options)
    with tifffile.TiffFile("bits.tif") as file, open("bits.tif", "rb") as bytes_of:
        page = file.pages[0]
        assert page.samplesperpixel == 3 and page.bitspersample == options.get("bitspersample", 1)
        bytes_of.seek(page.dataoffsets[0])
        row = bytes_of.read(page.databytecounts[0]).hex()
        by_tifffile = page.asarray().reshape(image.shape).transpose(axes)
    with rasterio.open("bits.tif") as file:
        by_gdal = file.read().transpose(1, 2, 0)
    seen.append(f"{name}: {row}, {pixels(by_tifffile)}, {pixels(by_gdal)}")
print("\n".join(seen))
sys.exit(seen != """\
booleans: f80000, [111, 110, 000, 000, 000], [111, 110, 000, 000, 000]
booleans in planes: f8, [100, 100, 100, 100, 100], [100, 100, 100, 100, 100]
two bits: 41041040, [100, 100, 100, 100, 100], [100, 100, 100, 100, 100]""".splitlines())
PYTHON

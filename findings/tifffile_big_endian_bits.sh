#!/usr/bin/env bash
# tifffile 2026.3.3: into a big-endian file, pixels of 9 to 15 or 17 to 31 bits are packed from values whose
# bytes have been exchanged. The high bits of the exchanged values are cut off and lost, without an error.
#
# The manual says that the values "are packed into bytes as tightly as possible", and of no byte order. Up to
# 8, 16 and 32 bits are right, little-endian files too, and so is tifffile's reading of GDAL's big-endian file,
# whose packed bytes are those of the little-endian one. Seen for 1 to 4, the bytes of a little- and of a
# big-endian file, and what tifffile and GDAL 3.10.3 (rasterio 1.4.4) read from the second:
#   4 bits: 1234, 1234; [1, 2, 3, 4], [1, 2, 3, 4]
#   10 bits: 0040200c04, 40200c0000; [256, 512, 768, 0], [256, 512, 768, 0]
#   12 bits: 001002003004, 100200300400; [256, 512, 768, 1024], [256, 512, 768, 1024]
#   16 bits: 0100020003000400, 0001000200030004; [1, 2, 3, 4], [1, 2, 3, 4]
#   24 bits: 000001000002000003000004, 000000000000000000000000; [0, 0, 0, 0], [0, 0, 0, 0]
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

pixels = numpy.array([[1, 2, 3, 4]])


def stored(path):
    with tifffile.TiffFile(path) as file, open(path, "rb") as bytes_of:
        bytes_of.seek(file.pages[0].dataoffsets[0])
        return bytes_of.read(file.pages[0].databytecounts[0]).hex()


seen = []
for bits, type in [(4, "u1"), (10, "u2"), (12, "u2"), (16, "u2"), (24, "u4")]:
    for order, path in [("<", "little.tif"), (">", "big.tif")]:
        tifffile.imwrite(path, pixels.astype(type), byteorder=order, bitspersample=bits, photometric="minisblack")
    assert (tifffile.imread("little.tif") == pixels).all()
    with rasterio.open("big.tif") as file:
        by_gdal = file.read(1)[0].tolist()
    by_tifffile = tifffile.imread("big.tif")[0].tolist()
    seen.append(f"{bits} bits: {stored('little.tif')}, {stored('big.tif')}; {by_tifffile}, {by_gdal}")
with rasterio.open("gdal.tif", "w", driver="GTiff", width=4, height=1, count=1, dtype="uint16", nbits=12,
                   endianness="BIG") as file:
    file.write(pixels.astype("u2"), 1)
assert stored("gdal.tif") == "001002003004" and (tifffile.imread("gdal.tif") == pixels).all()
print("\n".join(seen))
sys.exit(seen != """\
4 bits: 1234, 1234; [1, 2, 3, 4], [1, 2, 3, 4]
10 bits: 0040200c04, 40200c0000; [256, 512, 768, 0], [256, 512, 768, 0]
12 bits: 001002003004, 100200300400; [256, 512, 768, 1024], [256, 512, 768, 1024]
16 bits: 0100020003000400, 0001000200030004; [1, 2, 3, 4], [1, 2, 3, 4]
24 bits: 000001000002000003000004, 000000000000000000000000; [0, 0, 0, 0], [0, 0, 0, 0]""".splitlines())
PYTHON

#!/usr/bin/env bash
# GDAL 3.10.3 (rasterio 1.4.4): a raster that is written with NBITS=2 or 4 has the first pixel in the low bits of a byte in an Erdas Imagine file
# (HFA) and in the high bits in a GeoTIFF. In a NITF file it has a byte of its own, though all three say NBITS of the band when they are read.
#
# A reader of the memory cannot go by that number. HFA writes whole blocks of 64 x 64 pixels, a GeoTIFF rows of whole bytes, and NBITS=3 is a
# stream of 3 bits in a GeoTIFF and 8 bits, NBITS forgotten, in HFA. Seen for 1, 2, 3, .. in 3 rows of 5, the bytes that hold the first row:
#   NBITS=2: GTiff 6c40, HFA 3901, NITF 0102030001
#   NBITS=3: GTiff 29ca, HFA 0102030405, NITF 0102030405
#   NBITS=4: GTiff 123450, HFA 214305, NITF 0102030405
#   read back: GTiff 2, 3, 4; HFA 2, None, 4; NITF 2, 3, 4
#
# Exits with 1 if GDAL does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet rasterio==1.4.4 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy
import rasterio

expected = {
    2: {"GTiff": "6c40", "HFA": "3901", "NITF": "0102030001"},
    3: {"GTiff": "29ca", "HFA": "0102030405", "NITF": "0102030405"},
    4: {"GTiff": "123450", "HFA": "214305", "NITF": "0102030405"},
}
right = rasterio.__gdal_version__ == "3.10.3"
said = {name: [] for name in expected[2]}
for bits, rows in expected.items():
    array = ((numpy.arange(15) + 1) % 2**bits).astype(numpy.uint8).reshape(3, 5)
    row = array[0].tolist()
    high = sum(value << bits * (7 - place) for place, value in enumerate(row)).to_bytes(bits, "big")
    low = sum(value << bits * place for place, value in enumerate(row)).to_bytes(bits, "little")
    length = (5 * bits + 7) // 8
    candidates = {text.hex(): text for text in (high[:length], low[:length], bytes(row))}
    seen = {}
    for name in rows:
        path = f"{name}{bits}"
        with rasterio.open(path, "w", driver=name, width=5, height=3, count=1, dtype="uint8", nbits=bits) as file:
            file.write(array, 1)
        with rasterio.open(path) as file:
            assert (file.read(1) == array).all()
            said[name].append(file.tags(1, ns="IMAGE_STRUCTURE").get("NBITS"))
        memory = open(path, "rb").read()
        seen[name] = ", ".join(text for text, value in candidates.items() if value in memory)
    print(f"NBITS={bits}:", ", ".join(f"{name} {text}" for name, text in seen.items()))
    right = right and seen == rows
print("read back:", "; ".join(f"{name} {', '.join(map(str, bits))}" for name, bits in said.items()))
sys.exit(not right or said != {"GTiff": ["2", "3", "4"], "HFA": ["2", None, "4"], "NITF": ["2", "3", "4"]})
PYTHON

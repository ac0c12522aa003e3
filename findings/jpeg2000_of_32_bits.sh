#!/usr/bin/env bash
# JPEG 2000 without loss in imagecodecs 2026.3.6 (OpenJPEG 2.5.4): of an image of uint32 every 0 comes back as
# 1, so the background of an image of labels is a label, without an error. The values need not be large: 0, 1
# and 2 are enough, and uint8, uint16 and int32 of the same values are right.
#
# Nothing above 2^25 is kept either: in int32 it comes back as 0 or with another sign, in uint32 as 1.
# OpenJPEG keeps a coefficient in 32 bits of which 6 are a fraction, and 2^31 is subtracted from unsigned
# pixels before. The same pixels are right where the file says that they have 24 or 25 bits, and wrong for 8,
# 16 and 26 of them. Seen for 0, 1 and 2 times a factor in 8 x 8, the first three pixels and how many of 64
# differ:
#   uint16, by 1: [0, 1, 2], 0
#   int32, by 1: [0, 1, 2], 0
#   int32, by 2^23: [0, 8388608, 16777216], 0
#   int32, by 2^24: [0, 16777216, -33554431], 21
#   int32, by 2^26: [0, 0, 0], 42
#   uint32, by 1: [1, 1, 2], 22
#   uint32, by 2^24: [1, 16777216, 33554432], 22
#   uint32, by 2^26: [1, 1, 1], 64
#   uint32, by 1, of 25 bits: [0, 1, 2], 0
#   uint32, by 1, of 26 bits: [1, 1, 2], 22
#   uint32, by 1, of 16 bits: [1, 1, 2], 22
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet imagecodecs==2026.3.6 numpy==2.4.6
cat > pixels.py <<'PYTHON'
import sys

import imagecodecs
import numpy

seen = []
for name, exponent, bits in [("uint16", 0, None), ("int32", 0, None), ("int32", 23, None), ("int32", 24, None), ("int32", 26, None),
                             ("uint32", 0, None), ("uint32", 24, None), ("uint32", 26, None), ("uint32", 0, 25), ("uint32", 0, 26),
                             ("uint32", 0, 16)]:
    pixels = (numpy.arange(64).reshape(8, 8) % 3 * 2**exponent).astype(name)
    read = imagecodecs.jpeg2k_decode(imagecodecs.jpeg2k_encode(pixels, level=0, reversible=True, bitspersample=bits))
    assert read.dtype == pixels.dtype and read.shape == pixels.shape
    factor = f"2^{exponent}" if exponent else "1"
    seen.append(f"{name}, by {factor}{f', of {bits} bits' if bits else ''}: {read[0, :3].tolist()}, {(read != pixels).sum()}")
print("\n".join(seen))
sys.exit(seen != [
    "uint16, by 1: [0, 1, 2], 0",
    "int32, by 1: [0, 1, 2], 0",
    "int32, by 2^23: [0, 8388608, 16777216], 0",
    "int32, by 2^24: [0, 16777216, -33554431], 21",
    "int32, by 2^26: [0, 0, 0], 42",
    "uint32, by 1: [1, 1, 2], 22",
    "uint32, by 2^24: [1, 16777216, 33554432], 22",
    "uint32, by 2^26: [1, 1, 1], 64",
    "uint32, by 1, of 25 bits: [0, 1, 2], 0",
    "uint32, by 1, of 26 bits: [1, 1, 2], 22",
    "uint32, by 1, of 16 bits: [1, 1, 2], 22",
])
PYTHON
venv/bin/python pixels.py

#!/usr/bin/env bash
# imagecodecs 2026.3.6: big-endian images are encoded by JPEG 2000, HTJ2K and TIFF with the two bytes of each
# value exchanged, without an error. All other formats with more than 8 bits refuse them.
#
# On the way back all formats but NumPy's own take a big-endian array as `out` and fill it with numbers in the
# order of the machine, so the values that it has afterwards are others: the check of `out` compares the sizes
# and the width of an element. `astype` to the native type before and after is right. Seen for 8 x 8 pixels of
# 0, 1, 2, .. as uint16, the second pixel after encoding the big-endian image and decoding it, and of a
# big-endian `out`:
#   apng: refused, 256
#   htj2k: 256, 256
#   jpeg2k: 256, 256
#   jpegls: refused, 256
#   jpegxl: refused, 256
#   jpegxr: refused, 256
#   lerc: refused, 256
#   ljpeg: refused, 256
#   png: refused, 256
#   tiff: 256, 256
#   zfp: refused, 4.6e-41 (of float32)
#
# Exits with 1 if imagecodecs does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet imagecodecs==2026.3.6 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import imagecodecs
import numpy

seen = []
for name in ("apng", "htj2k", "jpeg2k", "jpegls", "jpegxl", "jpegxr", "lerc", "ljpeg", "png", "tiff", "zfp"):
    encode, decode = (getattr(imagecodecs, f"{name}_{way}code") for way in ("en", "de"))
    native = numpy.arange(64, dtype=numpy.float32 if name == "zfp" else numpy.uint16).reshape(8, 8)
    big = native.astype(native.dtype.newbyteorder(">"))
    encoded = encode(native)
    assert (decode(encoded) == native).all() and (big == native).all()
    try:
        value = decode(encode(big))[0, 1]
    except (ValueError, RuntimeError):
        value = "refused"
    out = numpy.zeros_like(big)
    decode(encoded, out=out)
    seen.append(f"{name}: {value}, " + (f"{out[0, 1]:.1e} (of float32)" if name == "zfp" else f"{out[0, 1]}"))
print("\n".join(seen))
sys.exit(seen != """\
apng: refused, 256
htj2k: 256, 256
jpeg2k: 256, 256
jpegls: refused, 256
jpegxl: refused, 256
jpegxr: refused, 256
lerc: refused, 256
ljpeg: refused, 256
png: refused, 256
tiff: 256, 256
zfp: refused, 4.6e-41 (of float32)""".splitlines())
PYTHON

#!/usr/bin/env bash
# astropy 8.0.2: a compressed FITS image of float32 that is not to be quantized (`quantize_level=0`) loses its
# fractions where the tiles are of RICE_1, the compression that is taken if none is named, HCOMPRESS_1 or
# PLIO_1, without an error. GZIP_1 and GZIP_2 keep them.
#
# The floats are converted to whole numbers, these are compressed, and nothing in the file says so. astropy
# reads whole floats back; CFITSIO (fitsio 1.4.2) takes the same tiles for bits of floats, so 1 is 1.401e-45.
# fitsio refuses to write such a file, as the manual of CFITSIO says that only GZIP is for floats as they are.
# The other way round, 16-bit unsigned pixels that CFITSIO puts into PLIO_1 tiles have 32768 added by astropy,
# modulo 65536, as the header has an offset that CFITSIO leaves out for this compression. Seen for 0.25, 1.5,
# -3.75 and 7.9 (PLIO_1: 3.75) in each row of 4 x 4, by astropy and by fitsio, and then for 1, 2, 3, 40000:
#   no compression named: [0.0, 1.0, -3.0, 7.0]; [0.0, 1.401e-45, nan, 9.809e-45]
#   HCOMPRESS_1: [0.0, 1.0, -3.0, 7.0]; [0.0, 1.401e-45, nan, 9.809e-45]
#   PLIO_1: [0.0, 1.0, 3.0, 7.0]; [0.0, 1.401e-45, 4.204e-45, 9.809e-45]
#   GZIP_1: [0.25, 1.5, -3.75, 7.9]; [0.25, 1.5, -3.75, 7.9]
#   PLIO_1 of uint16 by fitsio: [32769, 32770, 32771, 7232]; [1, 2, 3, 40000]
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet astropy==8.0.2 fitsio==1.4.2 numpy==2.4.6
cat > tiles.py <<'PYTHON'
import sys

import fitsio
import numpy
from astropy.io import fits


def read(name):
    with fits.open(name) as file:
        return file[1].data[0].tolist(), fitsio.read(name)[0].tolist()


def rounded(values):
    return [float(f"{value:.4g}") for value in values]


seen = []
for text, options, third in [("no compression named", {}, -3.75), ("HCOMPRESS_1", {"compression_type": "HCOMPRESS_1"}, -3.75),
                             ("PLIO_1", {"compression_type": "PLIO_1"}, 3.75), ("GZIP_1", {"compression_type": "GZIP_1"}, -3.75)]:
    pixels = numpy.tile(numpy.array([0.25, 1.5, third, 7.9], "f4"), (4, 1))
    fits.CompImageHDU(pixels, quantize_level=0, **options).writeto("a.fits", overwrite=True)
    by_astropy, by_fitsio = read("a.fits")
    seen.append(f"{text}: {rounded(by_astropy)}; {rounded(by_fitsio)}")
fitsio.write("b.fits", numpy.array([[1, 2, 3, 40000]], "u2"), compress="PLIO")
by_astropy, by_fitsio = read("b.fits")
seen.append(f"PLIO_1 of uint16 by fitsio: {by_astropy}; {by_fitsio}")
try:
    fitsio.write("c.fits", pixels, compress="RICE", qlevel=0)
    seen.append("taken by fitsio")
except OSError:
    pass
print("\n".join(seen))
sys.exit(seen != [
    "no compression named: [0.0, 1.0, -3.0, 7.0]; [0.0, 1.401e-45, nan, 9.809e-45]",
    "HCOMPRESS_1: [0.0, 1.0, -3.0, 7.0]; [0.0, 1.401e-45, nan, 9.809e-45]",
    "PLIO_1: [0.0, 1.0, 3.0, 7.0]; [0.0, 1.401e-45, 4.204e-45, 9.809e-45]",
    "GZIP_1: [0.25, 1.5, -3.75, 7.9]; [0.25, 1.5, -3.75, 7.9]",
    "PLIO_1 of uint16 by fitsio: [32769, 32770, 32771, 7232]; [1, 2, 3, 40000]",
])
PYTHON
venv/bin/python tiles.py

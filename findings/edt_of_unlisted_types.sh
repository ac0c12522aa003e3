#!/usr/bin/env bash
# edt 3.1.2: the distances inside labels whose type is not one of its own, which big-endian integers, float16
# and complex numbers are, are all 0, without an error. The signed distances are 0 inside and right outside.
#
# The manual gives no list of types. crackle-codec 0.55.0, of the same author, which compresses labels, takes
# the bits of all these types for unsigned integers: big-endian labels have their bytes exchanged, labels of
# float16 and float32 become integers, without an error. connected-components-3d 4.1.1, fill-voids 2.1.2 and
# fastremap 1.21.0 refuse big-endian labels. Seen for the row 1, 1, 1, 0, 2, 2, distances, then the labels
# compressed and back:
#   uint16: 3, 2, 1, 0, 1, 2; 1, 1, 1, 0, 2, 2
#   float32: 3, 2, 1, 0, 1, 2; 1065353216, 1065353216, 1065353216, 0, 1073741824, 1073741824
#   big-endian uint16: 0, 0, 0, 0, 0, 0; 256, 256, 256, 0, 512, 512
#   big-endian float32: 0, 0, 0, 0, 0, 0; 32831, 32831, 32831, 0, 64, 64
#   float16: 0, 0, 0, 0, 0, 0; 15360, 15360, 15360, 0, 16384, 16384
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet edt==3.1.2 crackle-codec==0.55.0 connected-components-3d==4.1.1 fill-voids==2.1.2 \
    fastremap==1.21.0 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import cc3d
import crackle
import edt
import fastremap
import fill_voids
import numpy

values = [1, 1, 1, 0, 2, 2]
distances, compressed = "3, 2, 1, 0, 1, 2", "1, 1, 1, 0, 2, 2"
zeros = "0, 0, 0, 0, 0, 0"
expected = {
    "uint16": ("<u2", distances, compressed),
    "float32": ("<f4", distances, "1065353216, 1065353216, 1065353216, 0, 1073741824, 1073741824"),
    "big-endian uint16": (">u2", zeros, "256, 256, 256, 0, 512, 512"),
    "big-endian float32": (">f4", zeros, "32831, 32831, 32831, 0, 64, 64"),
    "float16": ("<f2", zeros, "15360, 15360, 15360, 0, 16384, 16384"),
}


def row(function, *arguments):
    try:
        return ", ".join(str(int(value)) for value in function(*arguments)[0].ravel())
    except (TypeError, ValueError, KeyError):
        return "refused"


right = True
for name, (kind, *wanted) in expected.items():
    labels = numpy.array([values] * 3, kind)
    seen = [row(edt.edt, labels), row(lambda: crackle.decompress(crackle.compress(labels)))]
    print(f"{name}: {'; '.join(seen)}")
    right = right and seen == wanted
    if kind == ">u2":
        others = (cc3d.connected_components, fill_voids.fill, lambda array: fastremap.renumber(array)[0])
        right = right and all(row(other, labels) == "refused" for other in others)
        right = right and row(edt.sdf, labels) == "0, 0, 0, -1, 0, 0"
sys.exit(not right)
PYTHON

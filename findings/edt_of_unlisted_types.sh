#!/usr/bin/env bash
# edt 3.1.2: the distances inside labels whose type is not one of its own, which big-endian numbers, float16 and
# complex numbers are, are all 0, without an error. The signed distances are 0 inside and right outside.
#
# The manual gives no list of types. connected-components-3d 4.1.1, of the same author, refuses big-endian
# labels. Seen for the row 1, 1, 1, 0, 2, 2, distances and signed distances:
#   uint16: 3, 2, 1, 0, 1, 2; 3, 2, 1, -1, 1, 2
#   float32: 3, 2, 1, 0, 1, 2; 3, 2, 1, -1, 1, 2
#   big-endian uint16: 0, 0, 0, 0, 0, 0; 0, 0, 0, -1, 0, 0
#   big-endian float32: 0, 0, 0, 0, 0, 0; 0, 0, 0, -1, 0, 0
#   float16: 0, 0, 0, 0, 0, 0; 0, 0, 0, -1, 0, 0
#   complex64: 0, 0, 0, 0, 0, 0; 0, 0, 0, -1, 0, 0
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet edt==3.1.2 connected-components-3d==4.1.1 numpy==2.4.6
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import sys

import cc3d
import edt
import numpy

right, zeros = "3, 2, 1, 0, 1, 2; 3, 2, 1, -1, 1, 2", "0, 0, 0, 0, 0, 0; 0, 0, 0, -1, 0, 0"
refused = False
seen = []
for name, kind in {"uint16": "<u2", "float32": "<f4", "big-endian uint16": ">u2", "big-endian float32": ">f4",
                   "float16": "<f2", "complex64": "<c8"}.items():
    labels = numpy.array([[1, 1, 1, 0, 2, 2]] * 3, kind)
    seen.append("; ".join(", ".join(str(int(value)) for value in of(labels)[0]) for of in (edt.edt, edt.sdf)))
    print(f"{name}: {seen[-1]}")
    if kind == ">u2":
        try:
            cc3d.connected_components(labels)
        except (TypeError, ValueError):
            refused = True
sys.exit(not refused or seen != [right] * 2 + [zeros] * 4)
PYTHON

#!/usr/bin/env bash
# PyVista 0.49.1 (VTK 9.7.2): a big-endian array that is set as data of a mesh has its bytes exchanged in the
# caller's memory. The mesh is right, the array keeps its type, and its values are others from then on.
#
# Set a second time, the array is right again and the mesh is wrong. Seen for 1, 2, 3:
#   set once: mesh [1, 2, 3], array [256, 512, 768] of >i2
#   set twice: mesh [256, 512, 768], array [1, 2, 3] of >i2
#   little-endian: mesh [1, 2, 3], array [1, 2, 3] of <i2
#
# Exits with 1 if PyVista does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet pyvista==0.49.1 vtk==9.7.2 numpy==2.4.6
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy
import pyvista

big, little = (numpy.array([1, 2, 3], kind) for kind in (">i2", "<i2"))
seen = []
for name, array in [("set once", big), ("set twice", big), ("little-endian", little)]:
    mesh = pyvista.PolyData(numpy.eye(3))
    mesh["numbers"] = array
    seen.append(f"{name}: mesh {numpy.array(mesh['numbers']).tolist()}, array {array.tolist()} of {array.dtype.str}")
print("\n".join(seen))
sys.exit(seen != """\
set once: mesh [1, 2, 3], array [256, 512, 768] of >i2
set twice: mesh [256, 512, 768], array [1, 2, 3] of >i2
little-endian: mesh [1, 2, 3], array [1, 2, 3] of <i2""".splitlines())
PYTHON

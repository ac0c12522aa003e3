#!/usr/bin/env bash
# PyVista 0.49.1 (VTK 9.7.2): a big-endian array that is set as data of a mesh has its bytes exchanged in the
# caller's memory. The mesh is right, the array keeps its type, and its values are others from then on.
#
# Set a second time, the array is right again and the mesh is wrong. Points of a mesh are not exchanged but
# taken in the order of the machine, as VTK's `numpy_to_vtk` takes all arrays, without an error. Of a view
# that is no packed array a copy is exchanged, and both are right. Seen for 1, 2, 3 as >i2 (points: x of
# three, >f8):
#   set once: mesh [1, 2, 3], array [256, 512, 768] of >i2
#   set twice: mesh [256, 512, 768], array [1, 2, 3] of >i2
#   every second of six: mesh [1, 2, 3], array [1, 2, 3] of >i2
#   little-endian: mesh [1, 2, 3], array [1, 2, 3] of <i2
#   numpy_to_vtk: [256, 512, 768], array [1, 2, 3] of >i2
#   points: below 1e-300 [True, True, True], array [1, 2, 3] of >f8
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet pyvista==0.49.1 vtk==9.7.2 numpy==2.4.6
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy
import pyvista
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy

numbers = numpy.array([1, 2, 3])
big, views, little = numbers.astype(">i2"), numbers.repeat(2).astype(">i2")[::2], numbers.astype("<i2")
seen = []


def set_data(name, array):
    mesh = pyvista.PolyData(numpy.eye(3))
    mesh["numbers"] = array
    seen.append(f"{name}: mesh {numpy.array(mesh['numbers']).tolist()}, array {array.tolist()} of {array.dtype.str}")


set_data("set once", big)
set_data("set twice", big)
set_data("every second of six", views)
set_data("little-endian", little)
seen.append(f"numpy_to_vtk: {vtk_to_numpy(numpy_to_vtk(big)).tolist()}, array {big.tolist()} of {big.dtype.str}")
points = numpy.zeros((3, 3), ">f8")
points[:, 0] = numbers
small = (numpy.abs(pyvista.PolyData(points).points[:, 0]) < 1e-300).tolist()
seen.append(f"points: below 1e-300 {small}, array {points[:, 0].astype(int).tolist()} of {points.dtype.str}")
print("\n".join(seen))
sys.exit(seen != """\
set once: mesh [1, 2, 3], array [256, 512, 768] of >i2
set twice: mesh [256, 512, 768], array [1, 2, 3] of >i2
every second of six: mesh [1, 2, 3], array [1, 2, 3] of >i2
little-endian: mesh [1, 2, 3], array [1, 2, 3] of <i2
numpy_to_vtk: [256, 512, 768], array [1, 2, 3] of >i2
points: below 1e-300 [True, True, True], array [1, 2, 3] of >f8""".splitlines())
PYTHON

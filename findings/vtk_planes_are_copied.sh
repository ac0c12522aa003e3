#!/usr/bin/env bash
# VTK 9.7.2 for Python: `vtk_to_numpy` says that its array "actually points to the same data". Of an array whose components are planes of their
# own (SOA) it is a packed copy with the components side by side: what is written into it is lost, without an error, and later changes do not
# show.
#
# Of an array that interleaves its components (AOS) both ways are seen. The two NumPy arrays have the same sizes, strides and elements. Seen for
# 0 to 11 in 4 tuples of 3:
#   AOS: strides (12, 4), 99 written by NumPy reads 99 in VTK, 77 written by VTK reads 77 in NumPy
#   SOA: strides (12, 4), 99 written by NumPy reads 0 in VTK, 77 written by VTK reads 1 in NumPy
#
# Exits with 1 if VTK does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet vtk==9.7.2 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import vtk
from vtk.util.numpy_support import vtk_to_numpy

assert "points to the same data" in " ".join(vtk_to_numpy.__doc__.split())
arrays = {"AOS": vtk.vtkFloatArray(), "SOA": vtk.vtkSOADataArrayTemplate[numpy.float32]()}
seen = []
for name, array in arrays.items():
    array.SetNumberOfComponents(3)
    array.SetNumberOfTuples(4)
    for place in range(12):
        array.SetComponent(*divmod(place, 3), place)
    view = vtk_to_numpy(array)
    assert view.tolist() == numpy.arange(12).reshape(4, 3).tolist()
    view[0, 0] = 99
    array.SetComponent(0, 1, 77)
    seen.append((view.strides, int(array.GetComponent(0, 0)), int(view[0, 1])))
    print("{}: strides {}, 99 written by NumPy reads {} in VTK, 77 written by VTK reads {} in NumPy".format(name, *seen[-1]))
sys.exit(seen != [((12, 4), 99, 77), ((12, 4), 0, 1)])
PYTHON

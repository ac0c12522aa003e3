#!/usr/bin/env bash
# meshio 5.3.5: points of float32 are written to a binary Ansys file as they are, in a section whose code says
# that they are float64. meshio reads its own file without an error: two points make one, and for the second
# half of the points it goes on reading in the words that close the section and open the next one.
#
# float64 is right, and so are both types in a text file, where the section has another code. Seen for the
# corners of a square, (0, 0, 0), (1, 0, 0), (1, 1, 0) and (0, 1, 0):
#   float64: right
#   float32: [0, 0.007812, 0], [0.007813, 0, 5.264e-315], [2.645e+185, 3.037e-152, 1.816e-152] and one more
#   the third of these, as bytes: b'\n)End of Binary Section '
#   float32, text: right
#
# Exits with 1 if meshio does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet meshio==5.3.5 numpy==2.4.6
cat > points.py <<'PYTHON'
import sys

import meshio
import numpy

corners = numpy.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
seen = []
for text, kind, binary in [("float64", "f8", True), ("float32", "f4", True), ("float32, text", "f4", False)]:
    mesh = meshio.Mesh(corners.astype(kind), [("quad", numpy.array([[0, 1, 2, 3]]))])
    mesh.write("a.msh", file_format="ansys", binary=binary)
    points = meshio.read("a.msh", file_format="ansys").points
    assert points.shape == (4, 3)
    if (points == corners).all():
        seen.append(f"{text}: right")
    else:
        first_three = ", ".join(f"[{', '.join(f'{value:.4g}' for value in point)}]" for point in points[:3])
        seen += [f"{text}: {first_three} and one more", f"the third of these, as bytes: {points[2].astype('<f8').tobytes()}"]
print("\n".join(seen))
sys.exit(seen != [
    "float64: right",
    "float32: [0, 0.007812, 0], [0.007813, 0, 5.264e-315], [2.645e+185, 3.037e-152, 1.816e-152] and one more",
    r"the third of these, as bytes: b'\n)End of Binary Section '",
    "float32, text: right",
])
PYTHON
venv/bin/python points.py

#!/usr/bin/env bash
# ADIOS2 2.12.1 for Python: the strides of a NumPy array are ignored on both ways, without an error.
#
# What is written are as many elements as the array has, one behind another from its first one: a transposed array, or the columns of
# another one, is stored under the right sizes with elements at wrong indices. What is read into the columns of a larger array fills whole
# rows of the larger one, elements between the columns included. The same array after `ascontiguousarray` is right. Seen for 0 to 23 in 4
# rows of 6, and for a read of 6 rows of 4 into the first four columns of 6 rows of 8:
#   written a.T: first row [0, 1, 2, 3], it is [0, 6, 12, 18]
#   written a[:, :3]: second row [3, 4, 5], it is [6, 7, 8]
#   read into big[:, :4]: first row of big [0, 1, 2, 3, 4, 5, 6, 7], the fourth still [-1, -1, -1, -1, -1, -1, -1, -1]
#
# Exits with 1 if ADIOS2 does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet adios2==2.12.1.1001 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import sys

import adios2
import adios2.bindings as bindings
import numpy

a = numpy.arange(24, dtype=numpy.float32).reshape(4, 6)
with adios2.Stream("file.bp", "w") as stream:
    stream.write("turned", a.T, [6, 4], [0, 0], [6, 4])
    stream.write("columns", a[:, :3], [4, 3], [0, 0], [4, 3])
    stream.write("plain", numpy.ascontiguousarray(a.T), [6, 4], [0, 0], [6, 4])
with adios2.Stream("file.bp", "r") as stream:
    for _ in stream.steps():
        turned, columns, plain = (stream.read(name) for name in ("turned", "columns", "plain"))

adios = bindings.ADIOS()
reader = adios.DeclareIO("reader")
engine = reader.Open("file.bp", bindings.Mode.Read)
engine.BeginStep()
big = numpy.full((6, 8), -1, numpy.float32)
engine.Get(reader.InquireVariable("turned"), big[:, :4], bindings.Mode.Sync)
engine.EndStep()
engine.Close()

seen = [turned[0].tolist(), columns[1].tolist(), big[0].tolist(), big[3].tolist()]
print(f"written a.T: first row {seen[0]}, it is {a.T[0].tolist()}")
print(f"written a[:, :3]: second row {seen[1]}, it is {a[1, :3].tolist()}")
print(f"read into big[:, :4]: first row of big {seen[2]}, the fourth still {seen[3]}")
right = (plain == a.T).all() and turned.shape == (6, 4) and columns.shape == (4, 3)
sys.exit(not right or seen != [[0, 1, 2, 3], [3, 4, 5], [0, 1, 2, 3, 4, 5, 6, 7], [-1] * 8])
PYTHON

#!/usr/bin/env bash
# ADIOS2 2.12.1 for Python: a variable that is read into the columns of a larger NumPy array fills whole rows of
# the larger one, elements between the columns included, and leaves its last rows as they were, without an error.
#
# As many elements as the variable has are put one behind another from the first element of the target on; its
# strides are not asked for. A target that is packed is right. Seen for a variable of 6 rows of 4, 0 to 23, read
# into the first four columns of 6 rows of 8 that were -1:
#   packed: rows [0, 1, 2, 3], [4, 5, 6, 7] and so on
#   columns: row 0 [0, 1, 2, 3, 4, 5, 6, 7], row 2 [16, 17, 18, 19, 20, 21, 22, 23], rows 3 to 5 all -1
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

numbers = numpy.arange(24, dtype=numpy.float32).reshape(6, 4)
with adios2.Stream("file.bp", "w") as stream:
    stream.write("numbers", numbers, [6, 4], [0, 0], [6, 4])

packed = numpy.full((6, 4), -1, numpy.float32)
large = numpy.full((6, 8), -1, numpy.float32)
adios = bindings.ADIOS()
reader = adios.DeclareIO("reader")
engine = reader.Open("file.bp", bindings.Mode.Read)
engine.BeginStep()
for target in (packed, large[:, :4]):
    engine.Get(reader.InquireVariable("numbers"), target, bindings.Mode.Sync)
engine.EndStep()
engine.Close()

rows = [[int(value) for value in row] for row in large]
print(f"packed: rows {packed[0].astype(int).tolist()}, {packed[1].astype(int).tolist()} and so on")
print(f"columns: row 0 {rows[0]}, row 2 {rows[2]}, rows 3 to 5 {'all -1' if (large[3:] == -1).all() else rows[3:]}")
sys.exit(not (packed == numbers).all() or rows != [*numpy.arange(24).reshape(3, 8).tolist(), *[[-1] * 8] * 3])
PYTHON

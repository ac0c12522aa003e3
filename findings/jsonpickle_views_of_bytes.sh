#!/usr/bin/env bash
# jsonpickle 4.1.4 (with its NumPy handlers): a field of records, and numbers that are a view of an array of
# bytes, come back as big-endian numbers in the memory of little-endian ones, without an error.
#
# A view is stored as its base, an offset and strides. For its byte order it is compared with its base, and an
# array of bytes or of records has none, so the two differ and the view is marked as exchanged. Copies, views
# of numbers as other numbers, and slices are right. The manual of the handlers says of bases only that they
# must be contiguous. Seen for 1, 2, 3 as int32:
#   array: [1, 2, 3] of int32
#   slice: [1, 2, 3] of int32
#   view of float32: [1, 2, 3] of int32
#   view of uint8: [16777216, 33554432, 50331648] of >i4
#   field of records: [16777216, 33554432, 50331648] of >i4
#   copy of the field: [1, 2, 3] of int32
#   the records: [1, 2, 3] of int32
#
# Exits with 1 if jsonpickle does something else. Needs a little-endian machine.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet jsonpickle==4.1.4 numpy==2.4.6
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import sys

import jsonpickle
import jsonpickle.ext.numpy
import numpy

jsonpickle.ext.numpy.register_handlers()
numbers = numpy.array([1, 2, 3], numpy.int32)
floats = numpy.empty(3, numpy.float32)
floats.view(numpy.int32)[:] = numbers
memory = numpy.empty(12, numpy.uint8)
memory.view(numpy.int32)[:] = numbers
records = numpy.zeros(3, [("value", numpy.int32), ("beside", numpy.uint16)])
records["value"] = numbers
exchanged = [16777216, 33554432, 50331648]
right = True
for name, array, wanted in [
    ("array", numbers, [1, 2, 3]),
    ("slice", numpy.array([0, 1, 2, 3], numpy.int32)[1:], [1, 2, 3]),
    ("view of float32", floats.view(numpy.int32), [1, 2, 3]),
    ("view of uint8", memory.view(numpy.int32), exchanged),
    ("field of records", records["value"], exchanged),
    ("copy of the field", records["value"].copy(), [1, 2, 3]),
    ("the records", records, [1, 2, 3]),
]:
    result = jsonpickle.decode(jsonpickle.encode(array))
    if name == "the records":
        array, result = array["value"], result["value"]
    assert array.tolist() == [1, 2, 3]
    print(f"{name}: {result.tolist()} of {result.dtype}")
    right = right and result.tolist() == wanted and result.dtype.isnative == (wanted == [1, 2, 3])
sys.exit(not right)
PYTHON

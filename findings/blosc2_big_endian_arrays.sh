#!/usr/bin/env bash
# blosc2 4.14.1 for Python: an array of a big-endian type is stored and read back right, and arithmetic with it
# takes the bytes of its elements in the order of the machine: 1 becomes 256, without an error.
#
# The type of the result is called native. `sum` and the comparison take them the same way, `matmul` and `astype`
# do not, nor does an expression of NumPy arrays (`lazyexpr`), and `max` is right for int16 and wrong for float64.
# `arange` of such a type stores other numbers. Seen for 1, 2, 3, 4 as little- and as big-endian int16:
#   read back: [1, 2, 3, 4]; [1, 2, 3, 4]
#   plus 1: [2, 3, 4, 5]; [257, 513, 769, 1025]
#   plus 1, by lazyexpr: [2, 3, 4, 5]; [2, 3, 4, 5]
#   plus the other one: [257, 514, 771, 1028]; [257, 514, 771, 1028]
#   greater than 2: [False, False, True, True]; [True, True, True, True]
#   sum: 10; 2560
#   maximum: 4; 4
#   maximum as float64: 4.0; 1.0
#   matmul with itself: 30; 30
#   as float32: [1.0, 2.0, 3.0, 4.0]; [1.0, 2.0, 3.0, 4.0]
#   arange of 4: [0, 1, 2, 3]; [0, 256, 512, 768]
#
# Exits with 1 if blosc2 does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet blosc2==4.14.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import blosc2
import numpy

cases = {
    "read back": lambda a, b, other: b[:],
    "plus 1": lambda a, b, other: (b + 1)[:],
    "plus 1, by lazyexpr": lambda a, b, other: blosc2.lazyexpr("a + 1", operands={"a": a})[:],
    "plus the other one": lambda a, b, other: (b + other)[:],
    "greater than 2": lambda a, b, other: (b > 2)[:],
    "sum": lambda a, b, other: b.sum(),
    "maximum": lambda a, b, other: b.max(),
    "maximum as float64": lambda a, b, other: blosc2.asarray(a.astype(a.dtype.str[0] + "f8")).max(),
    "matmul with itself": lambda a, b, other: blosc2.matmul(b, b)[()],
    "as float32": lambda a, b, other: blosc2.astype(b, numpy.float32)[:],
    "arange of 4": lambda a, b, other: blosc2.arange(4, dtype=a.dtype)[:],
}
little, big = (numpy.array([1, 2, 3, 4], type) for type in ("<i2", ">i2"))
stored = {array.dtype.str: blosc2.asarray(array) for array in (little, big)}
assert (stored[">i2"] + 1).dtype == numpy.dtype("=i2") and stored[">i2"].dtype == numpy.dtype(">i2")
seen = []
for name, compute in cases.items():
    results = [numpy.asarray(compute(array, stored[array.dtype.str], stored[other.dtype.str])).tolist()
               for array, other in ((little, big), (big, little))]
    seen.append(f"{name}: {results[0]}; {results[1]}")
print("\n".join(seen))
sys.exit(seen != """\
read back: [1, 2, 3, 4]; [1, 2, 3, 4]
plus 1: [2, 3, 4, 5]; [257, 513, 769, 1025]
plus 1, by lazyexpr: [2, 3, 4, 5]; [2, 3, 4, 5]
plus the other one: [257, 514, 771, 1028]; [257, 514, 771, 1028]
greater than 2: [False, False, True, True]; [True, True, True, True]
sum: 10; 2560
maximum: 4; 4
maximum as float64: 4.0; 1.0
matmul with itself: 30; 30
as float32: [1.0, 2.0, 3.0, 4.0]; [1.0, 2.0, 3.0, 4.0]
arange of 4: [0, 1, 2, 3]; [0, 256, 512, 768]""".splitlines())
PYTHON

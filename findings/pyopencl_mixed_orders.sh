#!/usr/bin/env bash
# PyOpenCL 2026.1.4 (on Intel's runtime 2026.2.0 for CPUs): arithmetic of a row-major and a column-major array of the same sizes pairs the
# elements by their places in memory, not by their indices, without an error.
#
# An assignment of one order to the other is refused, and the sum of two arrays of one order is right. Seen for 1 to 6 in 2 rows of 3, row-major
# (C) and column-major (F):
#   C: strides (12, 4), [[1, 2, 3], [4, 5, 6]]
#   F: strides (4, 8), [[1, 2, 3], [4, 5, 6]]
#   F + F: strides (4, 8), [[2, 4, 6], [8, 10, 12]]
#   C + F: strides (12, 4), [[2, 6, 5], [9, 8, 12]]
#   F + C: strides (4, 8), [[2, 5, 8], [6, 9, 12]]
#   C == F: strides (3, 1), [[1, 0, 0], [0, 0, 1]]
#   C[:] = F: refused
#
# Exits with 1 if PyOpenCL does something else. Needs Linux on x86-64. No GPU is used.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet pyopencl==2026.1.4 intel-opencl-rt==2026.2.0 intel-cmplr-lib-rt==2026.2.0 siphash24==1.9 numpy==2.4.6
mkdir "$folder/vendors"
echo "$folder/env/lib/libintelocl.so" > "$folder/vendors/intel.icd"
export OCL_ICD_VENDORS="$folder/vendors" LD_LIBRARY_PATH="$folder/env/lib" PYOPENCL_NO_CACHE=1
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy
import pyopencl
import pyopencl.array

intel = next(platform for platform in pyopencl.get_platforms() if "Intel" in platform.name)
context = pyopencl.Context(intel.get_devices()[:1])
queue = pyopencl.CommandQueue(context)
a = numpy.arange(1, 7, dtype=numpy.float32).reshape(2, 3)
C, F = (pyopencl.array.to_device(queue, numpy.array(a, order=order)) for order in "CF")


def assigned():
    C[:] = F
    return C


seen = []
for name, compute in [("C", lambda: C), ("F", lambda: F), ("F + F", lambda: F + F), ("C + F", lambda: C + F), ("F + C", lambda: F + C),
                      ("C == F", lambda: C == F), ("C[:] = F", assigned)]:
    try:
        result = compute()
        seen.append(f"{name}: strides {result.strides}, {result.get().astype(int).tolist()}")
    except NotImplementedError:
        seen.append(f"{name}: refused")
    print(seen[-1])
sys.exit(seen != """\
C: strides (12, 4), [[1, 2, 3], [4, 5, 6]]
F: strides (4, 8), [[1, 2, 3], [4, 5, 6]]
F + F: strides (4, 8), [[2, 4, 6], [8, 10, 12]]
C + F: strides (12, 4), [[2, 6, 5], [9, 8, 12]]
F + C: strides (4, 8), [[2, 5, 8], [6, 9, 12]]
C == F: strides (3, 1), [[1, 0, 0], [0, 0, 1]]
C[:] = F: refused""".splitlines())
PYTHON

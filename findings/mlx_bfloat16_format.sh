#!/usr/bin/env bash
# mlx 0.32.4: an array of bfloat16 lends its memory by the buffer protocol with the format `bfloat16`, which is no format of the module struct or of
# PEP 3118. NumPy refuses it.
#
# A reader of formats has to know the names of types too. Seen:
#   format: bfloat16, itemsize 2
#   NumPy: ValueError
#
# Exits with 1 if mlx does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet 'mlx[cpu]==0.32.4' numpy
"$folder/env/bin/python" - <<'PYTHON'
import sys

import mlx.core as mx
import numpy

array = mx.array([1.0, 2.0]).astype(mx.bfloat16)
view = memoryview(array)
print(f"format: {view.format}, itemsize {view.itemsize}")
try:
    seen = numpy.asarray(array).dtype.name
except ValueError as error:
    seen = type(error).__name__
print("NumPy:", seen)
sys.exit((view.format, view.itemsize, seen) != ("bfloat16", 2, "ValueError"))
PYTHON

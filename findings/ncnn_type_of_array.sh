#!/usr/bin/env bash
# ncnn 1.0.20261020 for Python: a Mat of a NumPy array keeps the width of its elements and forgets their type.
# Integers come back as floats of the same bits, and 200 of uint8 as -56.
#
# What `numpy.array(mat)` names is the one type that ncnn has for that many bytes: float32 for 4, float16 for
# 2, int8 for 1. Nothing is refused. Seen for 200 and 1:
#   uint8: int8 [-56, 1]
#   uint16: float16 [1.1920928955078125e-05, 5.960464477539063e-08]
#   int32: float32 [2.802596928649634e-43, 1.401298464324817e-45]
#
# Exits with 1 if ncnn does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet ncnn==1.0.20261020 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import ncnn
import numpy

seen = []
for kind in ("uint8", "uint16", "int32"):
    array = numpy.array([200, 1], kind)
    back = numpy.array(ncnn.Mat(array))
    assert back.tobytes() == array.tobytes()
    seen.append(f"{kind}: {back.dtype} {back.tolist()}")
print("\n".join(seen))
sys.exit(seen != """\
uint8: int8 [-56, 1]
uint16: float16 [1.1920928955078125e-05, 5.960464477539063e-08]
int32: float32 [2.802596928649634e-43, 1.401298464324817e-45]""".splitlines())
PYTHON

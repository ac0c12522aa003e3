#!/usr/bin/env bash
# Paddle 3.3.1: NumPy gets a tensor of bfloat16 as numbers of 16 bits: 1.0 is 16256. By DLPack the same tensor says bfloat16.
#
# Which numbers a copy has depends on the way by which it reads. Seen:
#   numpy.asarray: uint16 [16256, 16384]
#
# Exits with 1 if Paddle does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet paddlepaddle==3.3.1 numpy
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import paddle

array = numpy.asarray(paddle.to_tensor([1.0, 2.0]).astype("bfloat16"))
print("numpy.asarray:", array.dtype, array.tolist())
sys.exit((array.dtype.name, array.tolist()) != ("uint16", [16256, 16384]))
PYTHON

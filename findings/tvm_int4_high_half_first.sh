#!/usr/bin/env bash
# TVM 0.27.0 (apache-tvm 0.27.0.post1): a tensor of int4 or float4_e2m1fn has two elements in a byte, and `numpy()` gives the one in the high
# half of the byte first. ONNX (onnx 1.23.2) has the first element in the low half.
#
# ONNX's bytes that are handed over without unpacking them come back with each pair swapped. Seen for the bytes 21 43, which are 1, 2, 3, 4 and
# 0.5, 1, 1.5, 2 in ONNX:
#   int4: [2.0, 1.0, 4.0, 3.0]
#   float4_e2m1fn: [1.0, 0.5, 2.0, 1.5] (the codes 2, 1, 4, 3)
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet apache-tvm==0.27.0.post1 onnx==1.23.2 numpy==2.4.6 ml_dtypes==0.6.0
"$folder/env/bin/python" - <<'PYTHON'
import sys

import ml_dtypes
import numpy
import tvm
from onnx import numpy_helper

words = tvm.runtime.tensor(numpy.array([0x21, 0x43], dtype=numpy.int8))
for name, values in {"int4": [1, 2, 3, 4], "float4_e2m1fn": [0.5, 1, 1.5, 2]}.items():
    assert numpy_helper.from_array(numpy.array(values).astype(getattr(ml_dtypes, name))).raw_data == bytes([0x21, 0x43])
seen = {}
for name in ("int4", "float4_e2m1fn"):
    seen[name] = words._create_view((4,), name).numpy().astype(numpy.float32).tolist()
    print(f"{name}: {seen[name]}")
sys.exit(seen != {"int4": [2.0, 1.0, 4.0, 3.0], "float4_e2m1fn": [1.0, 0.5, 2.0, 1.5]})
PYTHON

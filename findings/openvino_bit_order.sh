#!/usr/bin/env bash
# OpenVINO 2026.4.1: of types below a byte, u2 and u4 have their first element in the low bits of the first byte, and u1 has it in the high bit.
#
# Code that unpacks every width from the low bits up reads u1 backwards in each byte. Seen, for the elements 1, 0, 0, 0, 0, 0, 0, 0:
#   u1: 80
#   u2: 0100
#   u4: 01000000
#
# Exits with 1 if OpenVINO does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet openvino==2026.4.1
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import openvino
import openvino.opset13 as opset

seen = {}
for name in ("u1", "u2", "u4"):
    constant = opset.constant([1, 0, 0, 0, 0, 0, 0, 0], dtype=getattr(openvino.Type, name))
    seen[name] = numpy.asarray(constant.data).view(numpy.uint8).tobytes().hex()
    print(f"{name}: {seen[name]}")
sys.exit(seen != {"u1": "80", "u2": "0100", "u4": "01000000"})
PYTHON

#!/usr/bin/env bash
# ncnn 1.0.20261020: `convert_packing` to elempack 4 returns a Mat of elempack 1, without an error, where the number of channels is no multiple of 4.
#
# Code that asked for elempack 4 and computes offsets by it reads other elements. Seen:
#   6 channels, asked for elempack 4: elempack 1, 6 channels, cstep 16
#   8 channels, asked for elempack 4: elempack 4, 2 channels, cstep 15
#
# Exits with 1 if ncnn does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet ncnn==1.0.20261020 numpy
"$folder/env/bin/python" - <<'PYTHON'
import sys

import ncnn
import numpy

seen = []
for channels in (6, 8):
    mat = ncnn.Mat(numpy.ones((channels, 3, 5), dtype=numpy.float32)).clone()
    packed = ncnn.convert_packing(mat, 4, ncnn.Option())
    print(f"{channels} channels, asked for elempack 4: elempack {packed.elempack}, {packed.c} channels, cstep {packed.cstep}")
    seen.append((packed.elempack, packed.c, packed.cstep))
sys.exit(seen != [(1, 6, 16), (4, 2, 15)])
PYTHON

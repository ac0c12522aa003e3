#!/usr/bin/env bash
# torch 2.15.0: a tensor with its negative bit set (the imaginary part of a conjugate) is lent by DLPack without a word, and the consumer reads the
# numbers with the other sign. A tensor with its conjugate bit set is refused.
#
# The copy of a consumer differs from `contiguous()` in every sign. Seen:
#   torch: [-2.0, 4.0]
#   DLPack: [2.0, -4.0]
#
# Exits with 1 if torch does something else. Downloads 2 GB.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet torch==2.15.0 numpy
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import torch

tensor = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
own, lent = tensor.tolist(), numpy.from_dlpack(tensor).tolist()
print("torch:", own)
print("DLPack:", lent)
sys.exit((tensor.is_neg(), own, lent) != (True, [-2.0, 4.0], [2.0, -4.0]))
PYTHON

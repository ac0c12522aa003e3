#!/usr/bin/env bash
# Aidge 0.10.1 (aidge-core, aidge-backend-cpu): the part of a tensor that `extract` gives, added to itself, is
# not twice the part. One operand of the sum is the part and the other begins elsewhere, without an error.
#
# The sizes of the part are right, and so is its `clone`, of which the sum is twice the clone. The manual says
# of `extract` that `t.extract([1])` of a CHW tensor is the image of channel 1. Seen for 0 to 11 in 3 rows of 4:
#   row 1: clone [4, 5, 6, 7], clone + clone [8, 10, 12, 14]
#     part + part [4, 6, 8, 10], which is the part plus [0, 1, 2, 3]
#   columns 1 and 2: clone [1, 2, 5, 6, 9, 10], clone + clone [2, 4, 10, 12, 18, 20]
#     part + part [1, 3, 7, 9, 13, 15], which is the part plus [0, 1, 2, 3, 4, 5]
#
# Exits with 1 if Aidge does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet aidge-core==0.10.1 aidge-backend-cpu==0.10.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import aidge_backend_cpu
import aidge_core
import numpy


def list_of(tensor):
    return numpy.array(tensor).ravel().astype(int).tolist()


whole = aidge_core.Tensor(numpy.arange(12, dtype=numpy.float32).reshape(3, 4))
seen = []
for name, sizes, part in [("row 1", [4], ([1],)), ("columns 1 and 2", [3, 2], ([0, 1], [3, 2]))]:
    tensor = whole.extract(*part)
    clone = tensor.clone()
    assert list(tensor.dims) == list(clone.dims) == sizes
    right, twice, added = list_of(clone), list_of(clone + clone), list_of(tensor + tensor)
    other = [value - minus for value, minus in zip(added, right)]
    seen.append((right, twice, other))
    print(f"{name}: clone {right}, clone + clone {twice}\n  part + part {added}, which is the part plus {other}")
sys.exit(seen != [
    ([4, 5, 6, 7], [8, 10, 12, 14], [0, 1, 2, 3]),
    ([1, 2, 5, 6, 9, 10], [2, 4, 10, 12, 18, 20], [0, 1, 2, 3, 4, 5]),
])
PYTHON

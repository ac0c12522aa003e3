#!/usr/bin/env bash
# Paddle 3.3.1: the strides of a new tensor without elements are its sizes, so [2, 0, 3] has the strides 2, 0,
# 3. A reshape of it has those of a packed tensor, with the axis of 0 counted as one of 1.
#
# The tensor counts as contiguous with its sizes for strides, and not with those of the reshape. Its DLPack
# tensor has the sizes for strides too. NumPy's strides are 0, and Paddle's of [2, 1, 3] are 3, 3, 1. Seen:
#   zeros [0, 3]: strides [0, 3], contiguous; reshaped to [3, 0]: [1, 1], not contiguous
#   zeros [3, 0]: strides [3, 0], contiguous; reshaped to [0, 3]: [3, 1], not contiguous
#   zeros [2, 0, 3]: strides [2, 0, 3], contiguous; reshaped to [3, 0, 2]: [2, 2, 1], not contiguous
#
# Exits with 1 if Paddle does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet paddlepaddle==3.3.1 numpy==2.4.6
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy
import paddle

seen = []
for sizes in ([0, 3], [3, 0], [2, 0, 3]):
    tensor = paddle.zeros(sizes)
    same = (paddle.empty(sizes), paddle.to_tensor(numpy.zeros(sizes, numpy.float32)), tensor + 1)
    assert all(other.strides == tensor.strides for other in same)
    texts = []
    for made in (tensor, tensor.reshape(sizes[::-1])):
        texts.append(f"{made.strides}, {'' if made.is_contiguous() else 'not '}contiguous")
    seen.append(f"zeros {sizes}: strides {texts[0]}; reshaped to {sizes[::-1]}: {texts[1]}")
    print(seen[-1])
assert paddle.zeros([2, 1, 3]).strides == [3, 3, 1]
sys.exit(seen != """\
zeros [0, 3]: strides [0, 3], contiguous; reshaped to [3, 0]: [1, 1], not contiguous
zeros [3, 0]: strides [3, 0], contiguous; reshaped to [0, 3]: [3, 1], not contiguous
zeros [2, 0, 3]: strides [2, 0, 3], contiguous; reshaped to [3, 0, 2]: [2, 2, 1], not contiguous""".splitlines())
PYTHON

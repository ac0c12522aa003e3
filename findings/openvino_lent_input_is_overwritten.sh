#!/usr/bin/env bash
# OpenVINO 2026.4.1 for Python: an array that was given to a request's `infer` with `share_inputs=True` stays
# the memory of that input, so the next `infer` without it copies its own array into the first one.
#
# The manual says that without `share_inputs` data is copied "safely", "to existing Tensors". What happens to
# the caller's array is decided by its order and its sizes: a column-major one is left alone, as it was copied
# before, a larger one is overwritten in its first elements as if it had the other sizes, and a smaller one
# makes the second call fail. Of a larger array whose part is lent as a tensor, that part is overwritten. Calls
# of the compiled model itself keep the two apart. Seen for arrays of nines, and then 0 to 5 in 2 rows of 3:
#   row-major: right, then [[0, 1, 2], [3, 4, 5]]
#   column-major: right, then [[9, 9, 9], [9, 9, 9]]
#   2 rows of 4: right, then [[0, 1, 2, 3], [4, 5, 9, 9]]
#   1 row of 3: refused, then [[9, 9, 9]]
#   part of 3 rows of 4: right, then [[9, 9, 9, 9], [9, 0, 1, 2], [9, 3, 4, 5]]
#   row-major, by the model: right, then [[9, 9, 9], [9, 9, 9]]
#
# Exits with 1 if OpenVINO does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet openvino==2026.4.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import openvino
from openvino import opset13

given = opset13.parameter([-1, -1], numpy.float32)
model = openvino.Model([opset13.add(given, numpy.float32(0))], [given])
data = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)


def then(lent, name, part=None):
    compiled = openvino.compile_model(model, "CPU")
    run = compiled if name.endswith("the model") else compiled.create_infer_request().infer
    run([lent if part is None else part], share_inputs=True)
    try:
        says = "right" if (run([data])[0] == data).all() else "wrong"
    except RuntimeError:
        says = "refused"
    print(f"{name}: {says}, then {lent.astype(int).tolist()}")
    return says, lent.tolist()


def nines(rows, columns, order="C"):
    return numpy.full((rows, columns), 9, numpy.float32, order)


larger = nines(3, 4)
part = openvino.Tensor(openvino.Tensor(larger, shared_memory=True), [1, 1], [3, 4])
seen = [
    then(nines(2, 3), "row-major"),
    then(nines(2, 3, "F"), "column-major"),
    then(nines(2, 4), "2 rows of 4"),
    then(nines(1, 3), "1 row of 3"),
    then(larger, "part of 3 rows of 4", part),
    then(nines(2, 3), "row-major, by the model"),
]
untouched = [[9, 9, 9], [9, 9, 9]]
sys.exit(seen != [
    ("right", [[0, 1, 2], [3, 4, 5]]),
    ("right", untouched),
    ("right", [[0, 1, 2, 3], [4, 5, 9, 9]]),
    ("refused", [[9, 9, 9]]),
    ("right", [[9, 9, 9, 9], [9, 0, 1, 2], [9, 3, 4, 5]]),
    ("right", untouched),
])
PYTHON

#!/usr/bin/env bash
# OpenVINO 2026.4.1: a constant of a float16 array that is transposed, column-major or every second column is
# one of int16 that holds the bits: 1 becomes 15360, without an error. A program that converts it computes
# with these numbers.
#
# Row-major arrays are right, float32, float64 and integers of 8 to 64 bits are right in any order, and so is a
# `Tensor` of the same arrays. To name the type (`dtype=numpy.float16`) does not help, to name float32 does.
# Seen for 0, 1, 2, type of the constant, its values, and what the CPU makes of it by a conversion to float32:
#   row-major: float16 [0.0, 1.0, 2.0], converted [0.0, 1.0, 2.0]
#   transposed: int16_t [0, 15360, 16384], converted [0.0, 15360.0, 16384.0]
#   column-major: int16_t [0, 15360, 16384], converted [0.0, 15360.0, 16384.0]
#   every second column: int16_t [0, 15360, 16384], converted [0.0, 15360.0, 16384.0]
#   transposed, by name: int16_t [0, 15360, 16384], converted [0.0, 15360.0, 16384.0]
#   transposed, as float32: float32 [0.0, 1.0, 2.0], converted [0.0, 1.0, 2.0]
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

orders = {
    "row-major": lambda array: array,
    "transposed": lambda array: numpy.ascontiguousarray(array.T).T,
    "column-major": numpy.asfortranarray,
    "every second column": lambda array: array.repeat(2, axis=1)[:, ::2],
}
plain = numpy.arange(6, dtype=numpy.float16).reshape(2, 3)
cases = [(order, order, {}) for order in orders]
cases.append(("transposed, by name", "transposed", {"dtype": numpy.float16}))
cases.append(("transposed, as float32", "transposed", {"dtype": numpy.float32}))
seen = []
for name, order, options in cases:
    array = orders[order](plain)
    assert (array == plain).all() and (openvino.Tensor(array).data == plain).all()
    constant = opset13.constant(array, **options)
    model = openvino.Model([opset13.result(opset13.convert(constant, "f32"))], [])
    converted = openvino.compile_model(model, "CPU")([])[0]
    kind = str(constant.get_element_type()).split("'")[1]
    seen.append(f"{name}: {kind} {constant.data[0].tolist()}, converted {converted[0].tolist()}")
for order in orders.values():
    for other in "f4 f8 i1 i2 i4 i8 u1 u2 u4 u8".split():
        data = opset13.constant(order(plain.astype(other))).data
        assert data.dtype == other and (data == plain).all()
print("\n".join(seen))
sys.exit(seen != """\
row-major: float16 [0.0, 1.0, 2.0], converted [0.0, 1.0, 2.0]
transposed: int16_t [0, 15360, 16384], converted [0.0, 15360.0, 16384.0]
column-major: int16_t [0, 15360, 16384], converted [0.0, 15360.0, 16384.0]
every second column: int16_t [0, 15360, 16384], converted [0.0, 15360.0, 16384.0]
transposed, by name: int16_t [0, 15360, 16384], converted [0.0, 15360.0, 16384.0]
transposed, as float32: float32 [0.0, 1.0, 2.0], converted [0.0, 1.0, 2.0]""".splitlines())
PYTHON

#!/usr/bin/env bash
# OpenVINO 2026.4.1: a constant of a float16 array that is transposed, column-major or every second column is
# one of int16 that holds the bits: 1 becomes 15360, without an error. A program that converts it computes
# with these numbers.
#
# Row-major arrays, float32 and all integers are right in any order, and so is a `Tensor` of the same arrays.
# To name the type (`dtype=numpy.float16`) does not help, to name float32 does. Of a big-endian array every
# constant and every `Tensor` has the bytes exchanged. Seen for 0, 1, 2, type of the constant, its values,
# and what the CPU makes of it by a conversion to float32:
#   row-major: float16 [0.0, 1.0, 2.0], converted [0.0, 1.0, 2.0]
#   transposed: int16_t [0, 15360, 16384], converted [0.0, 15360.0, 16384.0]
#   column-major: int16_t [0, 15360, 16384], converted [0.0, 15360.0, 16384.0]
#   every second column: int16_t [0, 15360, 16384], converted [0.0, 15360.0, 16384.0]
#   transposed, by name: int16_t [0, 15360, 16384], converted [0.0, 15360.0, 16384.0]
#   transposed, as float32: float32 [0.0, 1.0, 2.0], converted [0.0, 1.0, 2.0]
#   big-endian int16: int16_t [0, 256, 512], converted [0.0, 256.0, 512.0]
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

plain = numpy.arange(6, dtype=numpy.float16).reshape(2, 3)
transposed = numpy.ascontiguousarray(plain.T).T
cases = {
    "row-major": (plain, {}),
    "transposed": (transposed, {}),
    "column-major": (numpy.asfortranarray(plain), {}),
    "every second column": (plain.repeat(2, axis=1)[:, ::2], {}),
    "transposed, by name": (transposed, {"dtype": numpy.float16}),
    "transposed, as float32": (transposed, {"dtype": numpy.float32}),
    "big-endian int16": (plain.astype(">i2"), {}),
}
seen = []
for name, (array, options) in cases.items():
    assert (array == plain).all()
    constant = opset13.constant(array, **options)
    assert (openvino.Tensor(array).data == plain).all() == array.dtype.isnative
    model = openvino.Model([opset13.result(opset13.convert(constant, "f32"))], [])
    converted = openvino.compile_model(model, "CPU")([])[0]
    kind = str(constant.get_element_type()).split("'")[1]
    seen.append(f"{name}: {kind} {constant.data[0].tolist()}, converted {converted[0].tolist()}")
print("\n".join(seen))
sys.exit(seen != """\
row-major: float16 [0.0, 1.0, 2.0], converted [0.0, 1.0, 2.0]
transposed: int16_t [0, 15360, 16384], converted [0.0, 15360.0, 16384.0]
column-major: int16_t [0, 15360, 16384], converted [0.0, 15360.0, 16384.0]
every second column: int16_t [0, 15360, 16384], converted [0.0, 15360.0, 16384.0]
transposed, by name: int16_t [0, 15360, 16384], converted [0.0, 15360.0, 16384.0]
transposed, as float32: float32 [0.0, 1.0, 2.0], converted [0.0, 1.0, 2.0]
big-endian int16: int16_t [0, 256, 512], converted [0.0, 256.0, 512.0]""".splitlines())
PYTHON

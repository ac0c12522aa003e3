#!/usr/bin/env bash
# ONNX Runtime 1.32.0: `OrtValue.ortvalue_from_numpy_with_onnx_type` takes the array's sizes as numbers of elements and its memory as elements
# of the named type, packed from the start. For INT4 neither ONNX's own array of int4 (a byte each) nor an array of packed bytes gives the
# tensor, and there is no error: of both, half the bytes are not read. Right is a byte array of the tensor's sizes whose first half is packed.
#
# The manual says that the type "is expected to be the same size". Seen for 1 to 7 and 0 in 2 rows of 4:
#   int4 of onnx [2, 4]: [2, 4], 4 bytes, [[1, 0, 2, 0], [3, 0, 4, 0]]
#   packed bytes [2, 2]: [2, 2], 2 bytes, [[1, 2], [3, 4]]
#   packed bytes and 4 more [2, 4]: [2, 4], 4 bytes, [[1, 2, 3, 4], [5, 6, 7, 0]]
#
# Exits with 1 if ONNX Runtime does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6 ml_dtypes==0.6.0
"$folder/env/bin/python" - <<'PYTHON'
import sys

import ml_dtypes
import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper


def as_floats(array, code):
    value = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(array, code)
    given = helper.make_tensor_value_info("x", code, ["rows", "columns"])
    result = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["rows", "columns"])
    cast = helper.make_node("Cast", ["x"], ["y"], to=onnx.TensorProto.FLOAT)
    graph = helper.make_graph([cast], "cast", [given], [result])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    floats = session.run_with_ort_values(["y"], {"x": value})[0].numpy()
    return value.shape(), value.tensor_size_in_bytes(), floats.astype(int).tolist()


int4 = onnx.TensorProto.INT4
elements = numpy.array([[1, 2, 3, 4], [5, 6, 7, 0]], ml_dtypes.int4)
tensor = numpy_helper.from_array(elements)
packed = numpy.frombuffer(tensor.raw_data, numpy.uint8).reshape(2, 2).copy()
assert tensor.data_type == int4 and packed.tolist() == [[0x21, 0x43], [0x65, 0x07]]
longer = numpy.zeros((2, 4), numpy.uint8)
longer.flat[:4] = packed.flat
seen = []
cases = {"int4 of onnx": numpy_helper.to_array(tensor), "packed bytes": packed, "packed bytes and 4 more": longer}
for name, array in cases.items():
    seen.append(as_floats(array, int4))
    print("{} {}: {}, {} bytes, {}".format(name, list(array.shape), *seen[-1]))
sys.exit(seen != [
    ([2, 4], 4, [[1, 0, 2, 0], [3, 0, 4, 0]]),
    ([2, 2], 2, [[1, 2], [3, 4]]),
    ([2, 4], 4, [[1, 2, 3, 4], [5, 6, 7, 0]]),
])
PYTHON

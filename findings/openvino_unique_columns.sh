#!/usr/bin/env bash
# OpenVINO 2026.4.1: `Unique` of ONNX along the columns of a matrix gives columns twice where they begin like
# another one, without an error. Along rows, of the same numbers transposed, it is right.
#
# A column is compared with all that were found before. Where one comparison gets to the second row, the next
# one seems to begin there and not at the top; this tells the answers for 72 of 80 random matrices of zeros
# and ones, of which 60 are right. The reference evaluator of onnx 1.23.2 returns all columns where the result
# need not be sorted. ONNX Runtime 1.32.0 is right. Seen for two rows, the columns that are found and which of
# them each one is, by ONNX Runtime and then OpenVINO:
#   [[4, 1, 1], [2, 3, 3]]: [[4, 1], [2, 3]], [0, 1, 1]; [[4, 1], [2, 3]], [0, 1, 1]
#   [[1, 1, 1], [2, 3, 3]]: [[1, 1], [2, 3]], [0, 1, 1]; [[1, 1, 1], [2, 3, 3]], [0, 1, 2]
#   [[1, 1, 1, 1, 1], [2, 3, 3, 3, 2]]: [[1, 1], [2, 3]], [0, 1, 1, 1, 0]; [[1, 1, 1, 1], [2, 3, 3, 3]], [0, 1, 2, 3, 0]
#   the last one as rows: [[1, 2], [1, 3]], [0, 1, 1, 1, 0]; [[1, 2], [1, 3]], [0, 1, 1, 1, 0]
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6
"$folder/env/bin/python" -W ignore - "$folder/model.onnx" <<'PYTHON'
import sys

import numpy
import onnx
import onnxruntime
import openvino
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

path = sys.argv[1]


def results(matrix, axis):
    outputs = ["values", "first", "numbers"]
    node = helper.make_node("Unique", ["matrix"], outputs, axis=axis, sorted=0)
    kinds = [TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT64]
    graph = helper.make_graph([node], "graph", [helper.make_tensor_value_info("matrix", TensorProto.FLOAT, matrix.shape)],
                              [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(outputs, kinds)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=8), path)
    runtime = onnxruntime.InferenceSession(path).run(None, {"matrix": matrix})
    answer = openvino.Core().compile_model(path, "CPU")([matrix])
    reference = ReferenceEvaluator(path).run(None, {"matrix": matrix})
    assert axis == 0 or reference[0].tolist() == matrix.tolist()
    return [(values.astype(int).tolist(), numbers.tolist()) for values, numbers in
            ((runtime[0], runtime[2]), (answer[0], answer[2]))]


right = True
for matrix, axis, wanted in [
    ([[4, 1, 1], [2, 3, 3]], 1, [([[4, 1], [2, 3]], [0, 1, 1])] * 2),
    ([[1, 1, 1], [2, 3, 3]], 1, [([[1, 1], [2, 3]], [0, 1, 1]), ([[1, 1, 1], [2, 3, 3]], [0, 1, 2])]),
    ([[1, 1, 1, 1, 1], [2, 3, 3, 3, 2]], 1,
     [([[1, 1], [2, 3]], [0, 1, 1, 1, 0]), ([[1, 1, 1, 1], [2, 3, 3, 3]], [0, 1, 2, 3, 0])]),
    ([[1, 1, 1, 1, 1], [2, 3, 3, 3, 2]], 0, [([[1, 2], [1, 3]], [0, 1, 1, 1, 0])] * 2),
]:
    array = numpy.array(matrix, numpy.float32)
    seen = results(array if axis else array.T.copy(), axis)
    name = matrix if axis else "the last one as rows"
    print(f"{name}: " + "; ".join(f"{values}, {numbers}" for values, numbers in seen))
    right = right and seen == wanted
sys.exit(not right)
PYTHON

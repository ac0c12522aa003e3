#!/usr/bin/env bash
# onnx 1.23.2: the reference evaluator pads other sides than the model says in a `MaxPool` of images whose
# strides are 1. A model that pads left and right is padded at the bottom and on the right, and its result has
# other sizes than ONNX's, without an error.
#
# ONNX lists all first sides and then all last ones (top, left, bottom, right), and the evaluator reads top,
# bottom, left, right. With strides of 2 and in `AveragePool` the same pads are right, and so is every padding
# whose left and bottom are equal. Where all sides are padded, the indices of the maxima count the padding,
# and some are below zero. ONNX Runtime 1.32.0 and the text of ONNX agree. Seen for windows of 2 x 2 over 1 to
# 9 in 3 x 3, reference and then ONNX Runtime:
#   MaxPool, pads [0, 1, 0, 1]: 3 x 3, [5, 6, 6, 8, 9, 9, 8, 9, 9]; 2 x 4, [4, 5, 6, 6, 7, 8, 9, 9]
#   MaxPool, pads [1, 0, 1, 0]: 3 x 3, [1, 2, 3, 4, 5, 6, 7, 8, 9]; 4 x 2, [2, 3, 5, 6, 8, 9, 8, 9]
#   MaxPool, pads [1, 1, 0, 0]: 4 x 2, [2, 3, 5, 6, 8, 9, 8, 9]; 3 x 3, [1, 2, 3, 4, 5, 6, 7, 8, 9]
#   MaxPool, pads [1, 0, 0, 1]: 3 x 3, [2, 3, 3, 5, 6, 6, 8, 9, 9]; 3 x 3, [2, 3, 3, 5, 6, 6, 8, 9, 9]
#   MaxPool, pads [1, 1, 0, 0], strides of 2: 2 x 2, [1, 3, 7, 9]; 2 x 2, [1, 3, 7, 9]
#   indices, pads [1, 1, 1, 1]: [-4, 0, 1, -1, 2, 3, 4, 4, 5, 6, 7, 7, 5, 7, 8, 8]; [0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 6, 7, 8, 8]
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

image = numpy.arange(1, 10, dtype=numpy.float32).reshape(1, 1, 3, 3)


def results(pads, stride, output):
    node = helper.make_node("MaxPool", ["image"], ["largest", "indices"][:output + 1], kernel_shape=[2, 2], strides=[stride] * 2, pads=pads)
    outputs = [helper.make_tensor_value_info("largest", TensorProto.FLOAT, None),
               helper.make_tensor_value_info("indices", TensorProto.INT64, None)]
    graph = helper.make_graph([node], "graph", [helper.make_tensor_value_info("image", TensorProto.FLOAT, image.shape)],
                              outputs[:output + 1])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return [run(None, {"image": image})[output] for run in (ReferenceEvaluator(model).run, session.run)]


rows = list(range(1, 10))
right = True
for pads, stride, wanted in [
    ([0, 1, 0, 1], 1, [((3, 3), [5, 6, 6, 8, 9, 9, 8, 9, 9]), ((2, 4), [4, 5, 6, 6, 7, 8, 9, 9])]),
    ([1, 0, 1, 0], 1, [((3, 3), rows), ((4, 2), [2, 3, 5, 6, 8, 9, 8, 9])]),
    ([1, 1, 0, 0], 1, [((4, 2), [2, 3, 5, 6, 8, 9, 8, 9]), ((3, 3), rows)]),
    ([1, 0, 0, 1], 1, [((3, 3), [2, 3, 3, 5, 6, 6, 8, 9, 9])] * 2),
    ([1, 1, 0, 0], 2, [((2, 2), [1, 3, 7, 9])] * 2),
]:
    seen = [(result.shape[2:], result.astype(int).ravel().tolist()) for result in results(pads, stride, 0)]
    name = f"MaxPool, pads {pads}" + (", strides of 2" if stride == 2 else "")
    print(f"{name}: " + "; ".join(f"{height} x {width}, {values}" for (height, width), values in seen))
    right = right and seen == wanted
seen = [result.ravel().tolist() for result in results([1, 1, 1, 1], 1, 1)]
print("indices, pads [1, 1, 1, 1]:", "; ".join(map(str, seen)))
right = right and seen == [[-4, 0, 1, -1, 2, 3, 4, 4, 5, 6, 7, 7, 5, 7, 8, 8], [0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 6, 7, 8, 8]]
sys.exit(not right)
PYTHON

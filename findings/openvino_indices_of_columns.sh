#!/usr/bin/env bash
# `MaxPool` of ONNX has an attribute for the order in which the indices of the maxima are counted
# (`storage_order`, 1 is column-major). OpenVINO 2026.4.1 counts them row-major all the same and transposes
# the tensor that they lie in, sizes included, so the index of one maximum is found beside another one,
# without an error.
#
# ONNX says that the attribute serves to make one number of an index of several axes, and nothing else. ONNX
# Runtime 1.32.0, tract 0.23.9 and the reference evaluator of onnx 1.23.2 count along columns, within a
# channel of an image. The maxima are the same in all of them. Where they lie alike in rows and columns of a
# square image, as in 0 to 15, both answers are one. Seen for windows of 2 x 2 over 4 rows of 6 and of 4, by
# ONNX Runtime and then OpenVINO:
#   0 to 23, row-major: [[7, 9, 11], [19, 21, 23]]; [[7, 9, 11], [19, 21, 23]]
#   0 to 23, column-major: [[5, 13, 21], [7, 15, 23]]; [[7, 19], [9, 21], [11, 23]]
#   0 to 15, column-major: [[5, 13], [7, 15]]; [[5, 13], [7, 15]]
#   0 to 15, 20 at index 2, row-major: [[5, 2], [13, 15]]; [[5, 2], [13, 15]]
#   0 to 15, 20 at index 2, column-major: [[5, 8], [7, 15]]; [[5, 13], [2, 15]]
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 tract==0.23.9 numpy==2.4.6
"$folder/env/bin/python" -W ignore - "$folder/model.onnx" <<'PYTHON'
import sys

import numpy
import onnx
import onnxruntime
import openvino
import tract
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

path = sys.argv[1]


def write(sizes, order):
    node = helper.make_node("MaxPool", ["image"], ["largest", "indices"], kernel_shape=[2, 2], strides=[2, 2], storage_order=order)
    graph = helper.make_graph(
        [node], "graph", [helper.make_tensor_value_info("image", TensorProto.FLOAT, sizes)],
        [helper.make_tensor_value_info("largest", TensorProto.FLOAT, None), helper.make_tensor_value_info("indices", TensorProto.INT64, None)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=8), path)


def with_tract(image):
    model = tract.onnx().load(path)
    model.set_input_fact(0, ",".join(map(str, image.shape)) + ",f32")
    return [tensor.to_numpy() for tensor in model.into_model().into_runnable().run([image])]


def with_openvino(image):
    results = openvino.Core().compile_model(path, "CPU")([image])
    return [results[0], results[1]]


engines = [lambda image: onnxruntime.InferenceSession(path).run(None, {"image": image}),
           lambda image: ReferenceEvaluator(path).run(None, {"image": image}), with_tract, with_openvino]
wide, square, other = (numpy.arange(4 * columns, dtype=numpy.float32).reshape(1, 1, 4, columns) for columns in (6, 4, 4))
other[0, 0, 0, 2] = 20
right = True
for name, image, order, counted, seen_in_openvino in [
    ("0 to 23, row-major", wide, 0, [[7, 9, 11], [19, 21, 23]], [[7, 9, 11], [19, 21, 23]]),
    ("0 to 23, column-major", wide, 1, [[5, 13, 21], [7, 15, 23]], [[7, 19], [9, 21], [11, 23]]),
    ("0 to 15, column-major", square, 1, [[5, 13], [7, 15]], [[5, 13], [7, 15]]),
    ("0 to 15, 20 at index 2, row-major", other, 0, [[5, 2], [13, 15]], [[5, 2], [13, 15]]),
    ("0 to 15, 20 at index 2, column-major", other, 1, [[5, 8], [7, 15]], [[5, 13], [2, 15]]),
]:
    write(image.shape, order)
    largest, indices = zip(*(engine(image) for engine in engines))
    assert all((values == largest[0]).all() for values in largest)
    seen = [values[0, 0].tolist() for values in indices]
    print(f"{name}: {seen[0]}; {seen[3]}")
    right = right and seen == [counted] * 3 + [seen_in_openvino]
sys.exit(not right)
PYTHON

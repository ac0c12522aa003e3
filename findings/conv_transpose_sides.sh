#!/usr/bin/env bash
# `ConvTranspose` of ONNX may be given the size of its result, and the engine finds out how much to cut off in
# front and behind. OpenVINO 2026.4.1 cuts an odd number on the wrong side for SAME_UPPER, and tract 0.23.9
# cuts all of it off behind where no `auto_pad` is given, so the result lies one place or more further left or
# right, without an error.
#
# ONNX has a formula for it: SAME_UPPER cuts the smaller half in front, all others the larger one. ONNX
# Runtime 1.32.0 keeps to it. The reference evaluator of onnx 1.23.2 puts a zero in front, not behind, where
# the size is one more than there is, and refuses a size without `auto_pad`. Seen for a row (1, 2, 3) and the
# kernel (1, 10, 100) with strides of 2, which make the row 1, 10, 102, 20, 203, 30, 300:
#   6, SAME_UPPER: ONNX Runtime [1, 10, 102, 20, 203, 30], OpenVINO [10, 102, 20, 203, 30, 300], reference [1, 10, 102, 20, 203, 30]
#   6, SAME_LOWER: ONNX Runtime [10, 102, 20, 203, 30, 300], OpenVINO [10, 102, 20, 203, 30, 300], reference [10, 102, 20, 203, 30, 300]
#   6, NOTSET: ONNX Runtime [10, 102, 20, 203, 30, 300], OpenVINO [10, 102, 20, 203, 30, 300], tract [1, 10, 102, 20, 203, 30]
#   5, NOTSET: ONNX Runtime [10, 102, 20, 203, 30], OpenVINO [10, 102, 20, 203, 30], tract [1, 10, 102, 20, 203]
#   4, SAME_UPPER: ONNX Runtime [10, 102, 20, 203], OpenVINO [102, 20, 203, 30], reference [10, 102, 20, 203]
#   8, SAME_UPPER: ONNX Runtime [1, 10, 102, 20, 203, 30, 300, 0], OpenVINO [1, 10, 102, 20, 203, 30, 300, 0], reference [0, 1, 10, 102, 20, 203, 30, 300]
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
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

path = sys.argv[1]
row = numpy.array([[[1, 2, 3]]], numpy.float32)
kernel = numpy_helper.from_array(numpy.array([[[1, 10, 100]]], numpy.float32), "kernel")


def with_openvino():
    return openvino.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([row])[0]


def with_tract():
    model = tract.onnx().load(path)
    model.set_input_fact(0, "1,1,3,f32")
    return model.into_model().into_runnable().run([row])[0].to_numpy()


engines = {
    "ONNX Runtime": lambda: onnxruntime.InferenceSession(path).run(None, {"row": row})[0],
    "OpenVINO": with_openvino,
    "reference": lambda: ReferenceEvaluator(path).run(None, {"row": row})[0],
    "tract": with_tract,
}
all_of_it = [1, 10, 102, 20, 203, 30, 300]
right = True
for size, auto_pad, wanted in [
    (6, "SAME_UPPER", [all_of_it[:6], all_of_it[1:], all_of_it[:6]]),
    (6, "SAME_LOWER", [all_of_it[1:]] * 3),
    (6, "NOTSET", [all_of_it[1:], all_of_it[1:], all_of_it[:6]]),
    (5, "NOTSET", [all_of_it[1:6], all_of_it[1:6], all_of_it[:5]]),
    (4, "SAME_UPPER", [all_of_it[1:5], all_of_it[2:6], all_of_it[1:5]]),
    (8, "SAME_UPPER", [all_of_it + [0], all_of_it + [0], [0] + all_of_it]),
]:
    node = helper.make_node("ConvTranspose", ["row", "kernel"], ["result"], strides=[2], output_shape=[size], auto_pad=auto_pad)
    graph = helper.make_graph([node], "graph", [helper.make_tensor_value_info("row", TensorProto.FLOAT, row.shape)],
                              [helper.make_tensor_value_info("result", TensorProto.FLOAT, [1, 1, size])], [kernel])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=8), path)
    names = ["ONNX Runtime", "OpenVINO", "tract" if auto_pad == "NOTSET" else "reference"]
    seen = [engines[name]().round().astype(int).ravel().tolist() for name in names]
    print(f"{size}, {auto_pad}: " + ", ".join(f"{name} {values}" for name, values in zip(names, seen)))
    right = right and seen == wanted
sys.exit(not right)
PYTHON

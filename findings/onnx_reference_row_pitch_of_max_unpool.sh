#!/usr/bin/env bash
# onnx 1.23.2: `MaxPool` and then `MaxUnpool` to the sizes that the image had put maxima at other places than
# they came from, in the reference evaluator, where the image has columns that no window covers. There is no
# error as long as no index is too large.
#
# `MaxUnpool` takes the sizes of its result as an input since several images have one pooled size. `MaxPool`
# counts the indices in its image; the evaluator reads them in rows of the size that it infers without that
# input, 4 columns here, and then widens the rows. ONNX's own test of this operator has such indices. ONNX
# Runtime 1.32.0 reads them in the rows that the result has, and is right. Rows that no window covers do no
# harm in one channel. Seen for windows of 2 x 2 over descending numbers, reference and then ONNX Runtime:
#   5 x 4: [[20, 0, 18, 0], [0, 0, 0, 0], [12, 0, 10, 0], [0, 0, 0, 0], [0, 0, 0, 0]]; right
#   4 x 5: [[20, 0, 18, 0, 0], [0, 0, 0, 0, 0], [0, 0, 10, 0, 0], [8, 0, 0, 0, 0]]; right
#   4 x 5, ascending: refused; right
#   two channels of 3 x 2: [[[6, 0], [0, 0], [0, 0]], [[0, 0], [6, 0], [0, 0]]]; right
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
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator


def there_and_back(image):
    windows = {"kernel_shape": [2, 2], "strides": [2, 2]}
    nodes = [helper.make_node("MaxPool", ["image"], ["largest", "indices"], **windows),
             helper.make_node("MaxUnpool", ["largest", "indices", "sizes"], ["back"], **windows)]
    graph = helper.make_graph(
        nodes, "graph", [helper.make_tensor_value_info("image", TensorProto.FLOAT, image.shape)],
        [helper.make_tensor_value_info("back", TensorProto.FLOAT, None)], [numpy_helper.from_array(numpy.array(image.shape), "sizes")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=8)
    try:
        reference = ReferenceEvaluator(model).run(None, {"image": image})[0].astype(int)
        reference = reference[0, 0] if image.shape[1] == 1 else reference[0]
    except IndexError:
        reference = None
    back = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"image": image})[0]
    places = back != 0
    rows, columns = (size // 2 for size in image.shape[2:])
    return reference, places.sum() == image.shape[1] * rows * columns and (back[places] == image[places]).all()


def descending(*sizes):
    return numpy.broadcast_to(numpy.arange(sizes[-2] * sizes[-1], 0, -1, dtype=numpy.float32).reshape(sizes[-2:]), sizes).copy()


right = True
for name, image, wanted in [
    ("5 x 4", descending(1, 1, 5, 4), [[20, 0, 18, 0], [0, 0, 0, 0], [12, 0, 10, 0], [0, 0, 0, 0], [0, 0, 0, 0]]),
    ("4 x 5", descending(1, 1, 4, 5), [[20, 0, 18, 0, 0], [0, 0, 0, 0, 0], [0, 0, 10, 0, 0], [8, 0, 0, 0, 0]]),
    ("4 x 5, ascending", 21 - descending(1, 1, 4, 5), None),
    ("two channels of 3 x 2", descending(1, 2, 3, 2), [[[6, 0], [0, 0], [0, 0]], [[0, 0], [6, 0], [0, 0]]]),
]:
    reference, runtime_is_right = there_and_back(image)
    seen = None if reference is None else reference.tolist()
    print(f"{name}: {'refused' if seen is None else seen}; {'right' if runtime_is_right else 'wrong'}")
    right = right and seen == wanted and runtime_is_right
sys.exit(not right)
PYTHON

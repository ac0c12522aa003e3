"""Filters of convolutions in the optimised models of ONNX Runtime, on a CPU with AVX-512: pip install onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6

Two convolutions in a row; the second one has blocked inputs (OIhw16i16o), the first one planes of 3 channels (Oihw16o).
"""

import pathlib
import tempfile

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from record import RUNS, numbers, places, row, write


def optimised(first, second):
    """The filters of both convolutions as the optimised model has them."""
    arrays = {"first": first, "second": second}
    tensors = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    pads = lambda array: [(size - 1) // 2 for size in array.shape[2:]] * 2
    nodes = [
        helper.make_node("Conv", ["x", "first"], ["y"], kernel_shape=first.shape[2:], pads=pads(first)),
        helper.make_node("Conv", ["y", "second"], ["z"], kernel_shape=second.shape[2:], pads=pads(second)),
    ]
    value = lambda name, sizes: helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)
    graph = helper.make_graph(nodes, "g", [value("x", [1, first.shape[1], 8, 8])], [value("z", None)], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.optimized_model_filepath = str(pathlib.Path(folder) / "o.onnx")
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        graph = onnx.load(options.optimized_model_filepath).graph
    held = {tensor.name: numpy_helper.to_array(tensor).reshape(-1) for tensor in graph.initializer}
    filters = [node.input[1] for node in graph.node if node.op_type == "Conv" and node.domain == "com.microsoft.nchwc"]
    assert len(filters) == 2, [(node.domain, node.op_type) for node in graph.node]
    return [held[name] for name in filters]


rows = []
for shapes in [([20, 3, 3, 3], [36, 20, 1, 1]), ([32, 3, 1, 1], [16, 32, 3, 3]), ([40, 2, 3, 3], [20, 40, 1, 1])]:
    memories = ([], [])
    for run in range(RUNS):
        arrays = [numpy.array(numbers(run, int(numpy.prod(sizes))), numpy.float32).reshape(sizes) for sizes in shapes]
        for memory, held in zip(memories, optimised(*arrays)):
            memory.append([int(value) for value in held])
    for name, memory, sizes in zip(["Oihw16o", "OIhw16i16o"], memories, shapes):
        rows.append(row(f"onnxruntime.{name}:f32{sizes}".replace(" ", ""), places(memory, sizes), 4 * len(memory[0])))
write(__file__, f"onnxruntime {onnxruntime.__version__}", rows)

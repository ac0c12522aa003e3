"""Blocked activations of ONNX Runtime, by a lone ReorderInput node: pip install onnxruntime==1.31.1 onnx==1.23.2 numpy==2.4.6

The size of the blocks is that of the CPU: 16 channels with AVX-512, 8 without, as in `qemu-x86_64-static -cpu Haswell python`. The rows of
the other size are kept.
"""

import json
import pathlib

import numpy
import onnxruntime
from onnx import TensorProto, helper

from record import RUNS, numbers, places, row, write


def reordered(array):
    """The elements of the array after ReorderInput as they lie in memory."""
    domain = "com.microsoft.nchwc"
    node = helper.make_node("ReorderInput", ["x"], ["y"], domain=domain)
    sides = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in [("x", array.shape), ("y", None)]]
    graph = helper.make_graph([node], "reorder", sides[:1], sides[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)])
    model.ir_version = 8
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": array})[0]


block = reordered(numpy.zeros([1, 4, 1, 1], dtype=numpy.float32)).shape[1]
recorded = pathlib.Path(__file__).with_suffix(".jsonl").read_text().splitlines()[1:]
rows = [kept for kept in map(json.loads, recorded) if f"NCHWc{block}:" not in kept["layout"]]
for sizes in [[1, 4, 2, 3], [2, 12, 3, 2], [1, 20, 2, 2], [2, 32, 1, 3], [3, 16, 2, 1]]:
    count = int(numpy.prod(sizes))
    memories = []
    for run in range(RUNS):
        memory = reordered(numpy.array(numbers(run, count), dtype=numpy.float32).reshape(sizes))
        memories.append([int(x) for x in memory.ravel()])
    rows.append(row(f"onnxruntime.NCHWc{block}:f32{sizes}".replace(" ", ""), places(memories, sizes), memory.nbytes))
write(__file__, f"onnxruntime {onnxruntime.__version__}", rows)
